//! A stranger in front of the page, from the start to a result: everything is found by role and accessible name.

use std::time::{Duration, Instant};

use browser_tests::{Browser, MAX_CANCEL_TIME_AT_START, PATIENCE, Page, RUN_PATIENCE, Setup, drive};
use fantoccini::Locator;
use fantoccini::actions::{InputSource, KeyAction, KeyActions, MOUSE_BUTTON_LEFT, MouseActions, PointerAction};
use fantoccini::key::Key;
use serde_json::Value;

/// SwiftShader needs about a second for three steps of this size.
const SMALL_RUN: &str = "/?workload=keras-mnist-mlp&batch=32&steps=40";
const LONG_RUN: &str = "/?workload=keras-mnist-mlp&batch=32&seconds=600";

#[test]
fn a_run_is_trained_uploaded_found_and_deleted() {
    drive(Setup::USUAL, async |page| {
        page.start(SMALL_RUN).await;
        page.wait_for("progressbar", "Progress of the benchmark").await;
        let seen = page.watch_to_the_end().await;
        assert!(seen.progress.len() >= 3 && seen.progress.is_sorted(), "{seen:?}");
        assert!(seen.losses.len() >= 2, "{seen:?}");
        assert!(seen.losses.last() < seen.losses.first(), "the loss falls: {seen:?}");

        let headline = page.text("[role=status]").await.unwrap();
        assert!(headline.contains("test accuracy"), "{headline}");
        let table = page.by_role("table", "Results").await.unwrap().text().await.unwrap();
        assert!(table.contains("Test accuracy") && table.contains('%'), "{table}");
        let sentence = page.text(".networks-done").await.unwrap();
        assert!(sentence.contains("samples") && !sentence.contains('–'), "{sentence}");

        let json = page.text("details pre").await.unwrap();
        let record: Value = serde_json::from_str(&json).unwrap();
        let workload = &record["workloads"][0];
        assert_eq!(workload["outcome"]["kind"], "completed");
        assert_eq!(workload["correctness"]["passed"], true);
        // Forty steps of 32 samples are enough to do better than one in ten by far.
        assert!(workload["evaluations"][0]["accuracy"].as_f64().unwrap() > 0.3, "{json}");
        assert_eq!(record["device"]["adapter"]["software"], true);
        a_drawn_digit_is_recognized(page).await;

        page.upload().await;
        // Weights may have gone before, which the leaderboard asked for.
        assert_eq!(page.sent_bodies("PUT").await.last(), Some(&json), "what was shown is what was sent");
        let run_id = record["run_id"].as_str().unwrap();
        its_own_page_shows_it(page, &record).await;
        its_device_has_a_page(page, run_id).await;
        let result = page.client().current_url().await.unwrap().path().to_owned();
        find_in_leaderboard(page, run_id).await;
        page.open(&result).await;
        delete(page, run_id).await;
    });
}

/// The network just trained reads a 7.
async fn a_drawn_digit_is_recognized(page: &Browser) {
    page.ask("() => document.querySelector('.draw-board').scrollIntoView({ block: 'center' })").await;
    let element = page.find(Locator::Css(".draw-board")).await;
    let duration = Some(Duration::from_millis(50));
    let stroke = MouseActions::new("mouse".to_owned())
        .then(PointerAction::MoveToElement { element, duration, x: -50.0, y: -65.0 })
        .then(PointerAction::Down { button: MOUSE_BUTTON_LEFT })
        .then(PointerAction::MoveBy { duration, x: 100.0, y: 0.0 })
        .then(PointerAction::MoveBy { duration, x: -65.0, y: 140.0 })
        .then(PointerAction::Up { button: MOUSE_BUTTON_LEFT });
    page.client().perform_actions(stroke).await.unwrap();
    page.wait_for_text(".draw-answer", "Prediction: 7").await;
    let best = page.text(".draw .best").await.unwrap();
    assert!(best.starts_with('7') && best.ends_with('%'), "{best}");
    page.click("button", "Clear").await;
    page.wait_until_it_says(".draw-answer", PATIENCE, str::is_empty).await;
}

/// The uploaded run is in the table, with the reason why it has no place.
async fn find_in_leaderboard(page: &Browser, run_id: &str) {
    page.open_to("/leaderboard?leaderboard=runs", "table", "Leaderboard").await;
    let row = format!("table[aria-label=Leaderboard] tr[data-run='{run_id}']");
    let row = page.find(Locator::Css(&row)).await;
    let text = row.text().await.unwrap();
    assert!(text.contains("yours") && text.contains("Not ranked: a software adapter is not a GPU"), "{text}");
}

async fn its_own_page_shows_it(page: &Browser, record: &Value) {
    page.click("link", "Permalink").await;
    page.wait_for("table", "Results").await;
    let path = page.client().current_url().await.unwrap().path().to_owned();
    assert_eq!(path, format!("/runs/{}", record["run_id"].as_str().unwrap()));
    let stored: Value = page.record().await;
    assert_eq!(stored["workloads"], record["workloads"]);
    assert_eq!(stored["nonce"], Value::Null);
    page.set_appearance(Setup::PHONE).await.unwrap();
    page.assert_never_scrolls_sideways().await;
    page.set_appearance(Setup::USUAL).await.unwrap();
}

/// The device is an emulated one, which is shown and compared with none.
async fn its_device_has_a_page(page: &Browser, run_id: &str) {
    page.wait_for_text(".standing", "not ranked").await;
    page.click("link", "All runs of this device").await;
    let table = page.wait_for("table", "Latest results").await;
    assert!(table.html(false).await.unwrap().contains(run_id));
    let address = page.client().current_url().await.unwrap();
    assert!(address.path().starts_with("/devices/"), "{address}");
    assert!(page.text("#device .callout").await.unwrap().contains("no place"));
    let (name, title) = (page.text("h1").await.unwrap(), page.client().title().await.unwrap());
    assert_eq!(title, format!("{name} – Gradmark"));
    page.set_appearance(Setup::PHONE).await.unwrap();
    page.assert_never_scrolls_sideways().await;
    page.set_appearance(Setup::USUAL).await.unwrap();
    page.client().back().await.unwrap();
    page.wait_for("table", "Results").await;
}

async fn delete(page: &Browser, run_id: &str) {
    page.click("link", "Delete this result").await;
    page.click("button", "Delete this result").await;
    page.wait_for_status(PATIENCE, |text| text.contains("deleted")).await;
    page.open_to("/leaderboard?leaderboard=runs", "table", "Leaderboard").await;
    let table = page.wait_for("table", "Leaderboard").await;
    assert!(!table.html(false).await.unwrap().contains(run_id));
}

#[test]
fn cancelled_run_can_be_followed_by_another() {
    drive(Setup::USUAL, async |page| {
        page.start_training(LONG_RUN).await;
        page.cancel().await;
        assert_eq!(page.text("#result-title").await, None);
        page.click("button", "Benchmark").await;
        page.wait_for("progressbar", "Progress of the benchmark").await;
        page.click("button", "Cancel").await;
        page.wait_for_status(MAX_CANCEL_TIME_AT_START, |text| text.starts_with("Cancelled")).await;
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn page_selects_networks_and_trains_a_recurrent_one() {
    drive(Setup::USUAL, async |page| {
        page.open("/?batch=8&steps=3").await;
        page.click_css("details.options > summary").await;
        page.click("checkbox", "bAbI task 2, recurrent network (Keras)").await;
        page.click("checkbox", "MNIST, multilayer perceptron (Keras)").await;
        page.click("checkbox", "MNIST, LeNet (Caffe)").await;
        page.click("button", "Benchmark").await;
        page.watch_to_the_end().await;
        let record = page.record().await;
        let workloads = record["workloads"].as_array().unwrap();
        assert_eq!(workloads.len(), 1, "{record}");
        assert_eq!(workloads[0]["workload"], "keras-babi-rnn");
        assert_eq!(workloads[0]["correctness"]["passed"], true, "{record}");
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_precision_that_the_device_lacks_is_refused() {
    drive(Setup::USUAL, async |page| {
        page.start("/?workload=keras-mnist-mlp&steps=3&precision=f16").await;
        // SwiftShader has no f16; training in f32 instead would be another measurement.
        page.wait_for_status(PATIENCE, |text| text.contains("f16")).await;
        assert_eq!(page.text("#result-title").await, None);
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_record_has_the_time_while_the_page_was_hidden() {
    drive(Setup::USUAL, async |page| {
        page.start_training("/?workload=keras-mnist-mlp&batch=32&seconds=20").await;
        let driver = page.client();
        let benchmark = driver.window().await.unwrap();
        let other = driver.new_window(true).await.unwrap().handle;
        driver.switch_to_window(other).await.unwrap();
        tokio::time::sleep(Duration::from_secs(2)).await;
        driver.close_window().await.unwrap();
        driver.switch_to_window(benchmark).await.unwrap();
        page.watch_to_the_end().await;
        let warnings = page.text(".caveats").await.unwrap();
        assert!(warnings.contains("The page was hidden for") && warnings.contains("the run waited for"), "{warnings}");
        let record = page.record().await;
        let timeline = record["workloads"][0]["timeline"].as_array().unwrap();
        let waited = timeline.iter().filter(|stretch| stretch["phase"] == "paused");
        let waited: f64 = waited.map(|stretch| stretch["seconds"].as_f64().unwrap()).sum();
        // A window of about a second may have been under way.
        assert!((0.5..6.0).contains(&waited), "{waited} s: {timeline:?}");
    });
}

#[test]
fn without_webgpu_the_page_has_advice_and_the_leaderboard() {
    drive(Setup::NO_GPU, async |page| {
        page.open_to("/", "heading", "WebGPU is missing").await;
        assert!(!page.is_enabled("Benchmark").await);
        let advice = page.text(".advice").await.unwrap();
        assert!(advice.contains("chrome://flags"), "{advice}");
        page.wait_for("button", "Demonstrate on the processor").await;
        page.wait_for("table", "Published hardware").await;
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn the_processor_demonstrates_training_and_offers_no_upload() {
    drive(Setup::NO_GPU, async |page| {
        page.open("/").await;
        page.click("button", "Demonstrate on the processor").await;
        let seen = page.watch_to_the_end().await;
        assert!(seen.losses.last() < seen.losses.first(), "the loss falls: {seen:?}");
        assert!(page.by_role("button", "Upload").await.is_none());
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn the_keyboard_alone_starts_and_cancels_a_run() {
    drive(Setup::USUAL, async |page| {
        page.open_to(LONG_RUN, "button", "Benchmark").await;
        tab_to(page, "Benchmark").await;
        press(page, Key::Enter).await;
        page.wait_for("progressbar", "Progress of the benchmark").await;
        // The focus went along, from the button that is gone to the one that took its place.
        assert_eq!(focused(page).await, "Cancel");
        press(page, Key::Enter).await;
        page.wait_for_status(MAX_CANCEL_TIME_AT_START, |text| text.starts_with("Cancelled")).await;
        assert_eq!(focused(page).await, "Benchmark");
    });
}

async fn tab_to(page: &Browser, name: &str) {
    const AT_MOST: usize = 15;
    let mut passed = Vec::new();
    for _ in 0..AT_MOST {
        press(page, Key::Tab).await;
        passed.push(focused(page).await);
        if passed.last().is_some_and(|last| last == name) {
            return;
        }
    }
    panic!("Tab does not come to “{name}”, but to {passed:?}");
}

async fn focused(page: &Browser) -> String {
    page.client().active_element().await.unwrap().text().await.unwrap()
}

async fn press(page: &Browser, key: Key) {
    let value = key.into();
    let keys = KeyActions::new("keyboard".to_owned()).then(KeyAction::Down { value }).then(KeyAction::Up { value });
    page.client().perform_actions(keys).await.unwrap();
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_run_without_the_leaderboard_is_uploaded_later_as_unverified() {
    drive(Setup::USUAL, async |page| {
        page.open(SMALL_RUN).await;
        page.block(&["*/api/*"]).await;
        page.click("button", "Benchmark").await;
        page.watch_to_the_end().await;
        let warnings = page.text(".caveats").await.unwrap();
        assert!(warnings.contains("gave no seed"), "{warnings}");
        page.block(&[]).await;
        page.upload().await;
        let tier = page.text(".upload .tier").await.unwrap();
        assert_eq!(tier, "unverified");
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn two_tabs_do_not_train_at_once() {
    drive(Setup::USUAL, async |page| {
        page.start_training(LONG_RUN).await;
        let driver = page.client();
        let first = driver.window().await.unwrap();
        let second = driver.new_window(true).await.unwrap().handle;
        driver.switch_to_window(second).await.unwrap();
        page.start(SMALL_RUN).await;
        page.wait_for_status(PATIENCE, |text| text.starts_with("Another tab of this browser is training")).await;
        driver.close_window().await.unwrap();
        driver.switch_to_window(first).await.unwrap();
        page.cancel().await;
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn worker_start_failure_is_reported_immediately() {
    drive(Setup { missing: &["worker.js"], ..Setup::USUAL }, async |page| {
        page.start(SMALL_RUN).await;
        page.wait_for_status(PATIENCE, |text| text.contains("worker stopped working") && text.contains("worker.js"))
            .await;
        page.wait_for("button", "Benchmark").await;
    });
}

#[test]
fn a_wrong_setting_in_the_address_prevents_the_start() {
    drive(Setup::USUAL, async |page| {
        page.open("/?workload=resnet").await;
        assert!(!page.is_enabled("Benchmark").await);
        let note = page.text("#benchmark-note").await.unwrap();
        assert!(note.contains("resnet") && note.contains("keras-mnist-mlp"), "{note}");
    });
}

#[test]
fn a_phone_never_scrolls_sideways() {
    drive(Setup { size: Setup::PHONE.size, ..Setup::NO_GPU }, async |page| {
        page.open_to("/", "table", "Published hardware").await;
        page.assert_never_scrolls_sideways().await;
        // One network's name is longer than their number.
        page.open_to("/?workload=keras-mnist-mlp", "table", "Published hardware").await;
        page.click_css("details.options > summary").await;
        page.assert_never_scrolls_sideways().await;
        for path in ["/compare", "/file"] {
            page.open_to(path, "link", "Show a result file").await;
            page.assert_never_scrolls_sideways().await;
        }
    });
}

/// Lets the page believe that it is hidden, or shown again.
async fn pretend_hidden(page: &Browser, hidden: bool) {
    let state = if hidden { "hidden" } else { "visible" };
    let pretend = "(state) => {
        Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
    }";
    page.call(pretend, state.into()).await;
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_run_waits_while_its_page_is_hidden() {
    drive(Setup::USUAL, async |page| {
        page.start_training(LONG_RUN).await;
        pretend_hidden(page, true).await;
        page.wait_for_status(PATIENCE, |text| text.contains("waiting, because this tab is hidden")).await;
        let step = async || page.number("[data-figure=step]", "data-value").await.unwrap();
        // Earlier events may still be drawn.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let before = step().await;
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!(step().await, before, "it trains although it is hidden");
        pretend_hidden(page, false).await;
        page.wait_for_status(PATIENCE, |text| text.contains("training")).await;
        let start = Instant::now();
        while step().await <= before {
            assert!(start.elapsed() < RUN_PATIENCE, "it does not go on");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        pretend_hidden(page, true).await;
        page.wait_for_status(PATIENCE, |text| text.contains("waiting, because this tab is hidden")).await;
        page.cancel().await;
    });
}

/// Returns true if the browser asks before it leaves the page. The links of the page load other documents.
async fn asks_before_leaving(page: &Browser) -> bool {
    let asks = "() => {
        const event = new Event('beforeunload', { cancelable: true });
        window.dispatchEvent(event);
        return event.defaultPrevented && [...document.links].every((link) => link.href.startsWith('http'));
    }";
    page.ask(asks).await.as_bool().unwrap()
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn page_asks_before_it_is_left_during_a_run_only() {
    drive(Setup::USUAL, async |page| {
        page.open(LONG_RUN).await;
        assert!(!asks_before_leaving(page).await);
        page.click("button", "Benchmark").await;
        page.wait_for_training().await;
        assert!(asks_before_leaving(page).await);
        page.cancel().await;
        assert!(!asks_before_leaving(page).await);
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn test_images_show_answers_with_marks_and_in_words() {
    drive(Setup::USUAL, async |page| {
        page.start_training(LONG_RUN).await;
        let shown = "() => [...document.querySelectorAll('.examples li')].map((item) => {
            const image = item.querySelector('img');
            return [item.className, item.querySelector('b').textContent, image.alt, image.naturalWidth];
        })";
        let shown: Vec<(String, String, String, u32)> = serde_json::from_value(page.ask(shown).await).unwrap();
        let labels: Vec<&str> = shown.iter().filter_map(|(_, _, words, _)| words.get(..1)).collect();
        assert_eq!(labels.concat(), "721041495906", "the first images of the test set of MNIST");
        for (class, mark, words, width) in &shown {
            let is_right = words.contains("answered correctly");
            assert_eq!((class.as_str(), mark.as_str()), if is_right { ("right", "✓") } else { ("wrong", "✗") });
            assert!(is_right || words.contains("incorrectly answered"), "{words}");
            assert_eq!(*width, 28, "the browser cannot read the image");
        }
        page.cancel().await;
    });
}

/// Half an epoch in such small batches takes a program that acts as a GPU longer than this test waits.
#[test]
#[ignore = "all browser tests take ten minutes"]
fn answers_to_test_images_follow_the_training_between_evaluations() {
    drive(Setup::USUAL, async |page| {
        page.start_training("/?workload=keras-mnist-mlp&batch=2&seconds=600").await;
        let count = "() => document.querySelectorAll('.examples li.right').length";
        let end = Instant::now() + PATIENCE;
        let mut right = 0;
        while right < 8 && Instant::now() < end {
            tokio::time::sleep(Duration::from_millis(500)).await;
            right = page.ask(count).await.as_u64().unwrap();
        }
        assert!(right >= 8, "only {right} of 12 images are answered correctly, {PATIENCE:?} after training began");
        page.cancel().await;
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn published_learning_of_the_same_recipe_is_shown() {
    drive(Setup::USUAL, async |page| {
        page.start_training("/?workload=keras-mnist-mlp&seconds=600").await;
        let published = page.text("[data-figure=published]").await.unwrap();
        assert!(published.contains("98.46 % after 20 epochs") && published.contains("Bhatia"), "{published}");
        assert!(page.text("line.published").await.is_some(), "no line in the chart");
        page.cancel().await;
        // Batches of another size are another recipe.
        page.start_training(LONG_RUN).await;
        assert_eq!(page.text("[data-figure=published]").await, None);
        page.cancel().await;
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn the_page_shows_the_cost_and_the_last_duration() {
    drive(Setup::USUAL, async |page| {
        page.open_to(SMALL_RUN, "button", "Benchmark").await;
        let note = page.text("#benchmark-note").await.unwrap();
        assert!(note.starts_with("About a minute") && note.contains("70 MB of the GPU's memory"), "{note}");
        page.click("button", "Benchmark").await;
        page.watch_to_the_end().await;
        page.wait_for_text("#benchmark-note", "as last time").await;
        // With other settings the time is unknown.
        page.open("/?workload=keras-mnist-mlp&batch=32&steps=50").await;
        page.wait_for_text("#benchmark-note", "About a minute").await;
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn warns_of_other_programs_and_integrated_gpus() {
    drive(Setup::USUAL, async |page| {
        let details = Locator::Css("details[data-figure=integrated] summary");
        // Other programs may use the processor during the test.
        page.pretend("delete window.PressureObserver;").await;
        page.open("/").await;
        page.wait_for_text("[data-figure=gpu]", "SwiftShader").await;
        assert!(page.client().find(details).await.is_err(), "a software adapter is something else");
        assert_eq!(page.text("[data-figure=pressed]").await, None);
        page.pretend(
            "window.PressureObserver = class {
                 constructor(changed) { this.changed = changed; }
                 async observe() { this.timer = setInterval(() => this.changed([{ state: 'critical' }]), 100); }
                 disconnect() { clearInterval(this.timer); }
             };
             const info = { vendor: 'intel', architecture: 'xe-lpg', description: '', isFallbackAdapter: false };
             navigator.gpu.requestAdapter = async () => ({ info, isFallbackAdapter: false });",
        )
        .await;
        page.open("/").await;
        page.wait_for_text("[data-figure=pressed]", "use the processor").await;
        page.find(details).await.click().await.unwrap();
        let advice = page.text("details[data-figure=integrated] .advice").await.unwrap();
        assert!(advice.contains("DRI_PRIME=1") && advice.contains("Force High Performance GPU"), "{advice}");
    });
}
