//! A visitor's path through the page, from the start to a result. Elements are found by role and accessible name.

use std::time::{Duration, Instant};

use browser_tests::{
    Chromium, MAX_CANCEL_TIME, MAX_CANCEL_TIME_AT_START, Page, RUN_TIMEOUT, Seen, Setup, TIMEOUT, drive,
};
use fantoccini::Locator;
use fantoccini::actions::{InputSource, KeyAction, KeyActions, MOUSE_BUTTON_LEFT, MouseActions, PointerAction};
use fantoccini::key::Key;
use serde_json::Value;

use crate::leaderboard::selected_filters;

/// URL of a run that takes SwiftShader a few seconds.
const SMALL_RUN: &str = "/?workload=keras-mnist-mlp&batch=32&steps=80";
const LONG_RUN: &str = "/?workload=keras-mnist-mlp&batch=32&seconds=600";

#[test]
fn a_run_is_trained_uploaded_found_and_deleted() {
    drive(Setup::USUAL, async |page| {
        page.open_to(SMALL_RUN, "button", "Benchmark").await;
        let note = page.text("#benchmark-note").await.unwrap();
        assert!(note.starts_with("About a minute") && note.contains("70 MB of the GPU's memory"), "{note}");
        let (seen, record) = train_and_learn(page).await;
        assert!(seen.progress.len() >= 3 && seen.progress.is_sorted(), "{seen:?}");

        let headline = page.text("[role=status]").await.unwrap();
        assert!(headline.contains("test accuracy"), "{headline}");
        let table = page.by_role("table", "Results").await.unwrap().text().await.unwrap();
        assert!(table.contains("Test accuracy") && table.contains('%'), "{table}");
        let sentence = page.text(".networks-done").await.unwrap();
        assert!(sentence.contains("samples") && !sentence.contains('–'), "{sentence}");

        assert_eq!(record["device"]["adapter"]["software"], true);
        assert_recognizes_drawn_digit(page).await;
        page.wait_for_text("#benchmark-note", "as last time").await;

        upload_what_is_shown(page).await;
        let run_id = record["run_id"].as_str().unwrap();
        assert_shows_result(page, &record).await;
        assert_device_has_page(page, run_id).await;
        let result = page.client().current_url().await.unwrap().path().to_owned();
        assert_in_leaderboard(page, run_id).await;
        // The duration with other settings is unknown.
        page.open("/?workload=keras-mnist-mlp&batch=32&steps=50").await;
        page.wait_for_text("#benchmark-note", "About a minute").await;
        page.open(&result).await;
        delete_result(page, run_id).await;
    });
}

/// Trains one network on MNIST, and fails unless it computes correctly and learns something.
pub(crate) async fn train_and_learn(page: &impl Page) -> (Seen, Value) {
    page.click("button", "Benchmark").await;
    page.wait_for("progressbar", "Progress of the benchmark").await;
    let seen = page.watch_to_the_end().await;
    assert!(seen.losses.last() < seen.losses.first(), "the loss does not fall: {seen:?}");
    let record = page.record().await;
    assert_learned(&record);
    (seen, record)
}

fn assert_learned(record: &Value) {
    assert_completed(record);
    // Forty steps of 32 samples do much better than chance, which is 0.1.
    assert!(record["workloads"][0]["evaluations"][0]["accuracy"].as_f64().unwrap() > 0.3, "{record}");
}

/// Fails unless every network of a record was computed correctly.
pub(crate) fn assert_completed(record: &Value) {
    let workloads = record["workloads"].as_array().unwrap();
    assert!(!workloads.is_empty(), "{record}");
    for workload in workloads {
        assert_eq!(workload["outcome"]["kind"], "completed", "{record}");
        assert_eq!(workload["correctness"]["passed"], true, "{record}");
    }
}

pub(crate) async fn upload_what_is_shown(page: &impl Page) {
    let json = page.text("details.json pre").await;
    page.upload().await;
    // The page may have uploaded weights before, at the leaderboard's request.
    assert_eq!(page.sent_bodies("PUT").await.pop(), json, "the uploaded record differs from the one shown");
}

/// Runs with `GRADMARK_TEST_GPU=1`, as in CI on macOS.
#[test]
fn a_run_trains_on_a_gpu() {
    drive(Setup::GPU, async |page| {
        page.train("/?workload=keras-mnist-mlp&batch=32&steps=40").await;
        let record = page.record().await;
        assert_learned(&record);
        assert_eq!(record["device"]["adapter"]["software"], false, "{}", record["device"]);
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_language_model_writes_during_and_after_its_training() {
    drive(Setup::USUAL, async |page| {
        page.start("/?workload=gpt-nano&steps=10").await;
        page.wait_until_text(".texts p:nth-child(2)", RUN_TIMEOUT, |text| text.starts_with("The ")).await;
        page.watch_to_the_end().await;
        assert_completed(&page.record().await);
        page.wait_for_text("[role=status]", "bits per character").await;
        page.wait_for_text(".written", "The ").await;
        page.click("button", "Continue").await;
        // The beginning is followed by 400 characters.
        let is_whole = |text: &str| text.starts_with("Whales") && text.chars().count() == 406;
        page.wait_until_text(".written", TIMEOUT, is_whole).await;
        page.assert_fits_phones().await;
    });
}

async fn assert_recognizes_drawn_digit(page: &Chromium) {
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
    page.wait_until_text(".draw-answer", TIMEOUT, str::is_empty).await;
}

async fn assert_in_leaderboard(page: &Chromium, run_id: &str) {
    page.open_to("/leaderboard?leaderboard=runs", "table", "Leaderboard").await;
    let row = format!("table[aria-label=Leaderboard] tr[data-run='{run_id}']");
    let text = page.wait_for_text(&row, "yours").await;
    assert!(text.contains("Not ranked: a software adapter is not a GPU"), "{text}");
}

async fn assert_shows_result(page: &Chromium, record: &Value) {
    page.click("link", "Permalink").await;
    page.wait_for("table", "Results").await;
    let path = page.client().current_url().await.unwrap().path().to_owned();
    assert_eq!(path, format!("/runs/{}", record["run_id"].as_str().unwrap()));
    let stored: Value = page.record().await;
    assert_eq!(stored["workloads"], record["workloads"]);
    assert_eq!(stored["nonce"], Value::Null);
    page.assert_fits_phones().await;
}

/// Follows the link to the device's page, which shows the emulated device without a rank, and goes back.
async fn assert_device_has_page(page: &Chromium, run_id: &str) {
    page.wait_for_text(".standing", "Not ranked").await;
    page.click("link", "All runs of this device").await;
    let table = page.wait_for("table", "Latest results").await;
    assert!(table.html(false).await.unwrap().contains(run_id));
    let address = page.client().current_url().await.unwrap();
    assert!(address.path().starts_with("/devices/"), "{address}");
    assert!(page.text("#device .callout").await.unwrap().contains("no place"));
    let (name, title) = (page.text("h1").await.unwrap(), page.client().title().await.unwrap());
    assert_eq!(title, format!("{name} – Gradmark"));
    page.assert_fits_phones().await;
    page.client().back().await.unwrap();
    page.wait_for("table", "Results").await;
}

async fn delete_result(page: &Chromium, run_id: &str) {
    page.click("link", "Delete this result").await;
    page.click("button", "Delete this result").await;
    page.wait_for_status(TIMEOUT, |text| text.contains("deleted")).await;
    page.open_to("/leaderboard?leaderboard=runs", "table", "Leaderboard").await;
    let table = page.wait_for("table", "Leaderboard").await;
    assert!(!table.html(false).await.unwrap().contains(run_id));
}

#[test]
fn invalid_settings_prevent_a_run_and_a_keyboard_starts_and_cancels_one() {
    drive(Setup::USUAL, async |page| {
        page.open("/?workload=resnet").await;
        assert!(!page.is_enabled("Benchmark").await);
        let note = page.text("#benchmark-note").await.unwrap();
        assert!(note.contains("resnet") && note.contains("keras-mnist-mlp"), "{note}");
        page.open_to(LONG_RUN, "button", "Benchmark").await;
        tab_to(page, "Benchmark").await;
        press(page, Key::Enter).await;
        page.wait_for_training().await;
        // The focus moves to the button that replaces the one pressed.
        assert_eq!(focused_text(page).await, "Cancel");
        press(page, Key::Enter).await;
        page.wait_for_status(MAX_CANCEL_TIME, |text| text.starts_with("Cancelled")).await;
        assert_eq!(page.text("#result-title").await, None);
        assert_eq!(focused_text(page).await, "Benchmark");
        press(page, Key::Enter).await;
        page.wait_for("progressbar", "Progress of the benchmark").await;
        press(page, Key::Enter).await;
        page.wait_for_status(MAX_CANCEL_TIME_AT_START, |text| text.starts_with("Cancelled")).await;
    });
}

async fn tab_to(page: &Chromium, name: &str) {
    const MAX_PRESSES: usize = 15;
    let mut visited = Vec::new();
    for _ in 0..MAX_PRESSES {
        press(page, Key::Tab).await;
        visited.push(focused_text(page).await);
        if visited.last().is_some_and(|last| last == name) {
            return;
        }
    }
    panic!("Tab does not reach “{name}”, only {visited:?}");
}

async fn focused_text(page: &Chromium) -> String {
    page.client().active_element().await.unwrap().text().await.unwrap()
}

async fn press(page: &Chromium, key: Key) {
    let value = key.into();
    let keys = KeyActions::new("keyboard".to_owned()).then(KeyAction::Down { value }).then(KeyAction::Up { value });
    page.client().perform_actions(keys).await.unwrap();
}

#[test]
fn a_phone_without_webgpu_shows_advice_and_published_hardware() {
    drive(Setup { size: Setup::PHONE.size, ..Setup::NO_GPU }, async |page| {
        page.open_to("/", "heading", "WebGPU is missing").await;
        assert!(!page.is_enabled("Benchmark").await);
        let advice = page.text(".advice").await.unwrap();
        assert!(advice.contains("chrome://flags"), "{advice}");
        page.wait_for("button", "Demonstrate on the processor").await;
        page.wait_for("table", "Published hardware").await;
        page.assert_never_scrolls_sideways().await;
        // The name of a single network is longer than a number of networks.
        page.open_to("/?workload=keras-mnist-mlp", "table", "Published hardware").await;
        page.click_css("details.options > summary").await;
        page.assert_never_scrolls_sideways().await;
        for path in ["/compare", "/file"] {
            page.open_to(path, "link", "Show a result file").await;
            page.assert_never_scrolls_sideways().await;
        }
        // An empty leaderboard has no filters.
        page.open_to("/leaderboard", "table", "Published hardware").await;
        page.wait_for("link", "Run the benchmark and upload your result").await;
        assert_eq!(selected_filters(page).await, serde_json::json!(["Score"]));
        assert!(page.by_role("button", "Filters: Quick, GPUs, f32").await.is_none());
        page.assert_never_scrolls_sideways().await;
        page.open_to("/devices?network=airbench94", "table", "Published hardware").await;
        assert!(page.text("table").await.unwrap().contains("A100"));
        page.assert_never_scrolls_sideways().await;
    });
}

async fn set_hidden(page: &Chromium, hidden: bool) {
    let set_state = "(hidden) => {
        if (hidden) Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
        else delete document.visibilityState;
        document.dispatchEvent(new Event('visibilitychange'));
    }";
    page.call(set_state, hidden.into()).await;
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_run_locks_its_tab_and_others_and_pauses_while_hidden() {
    // A run pauses after its current window, which takes up to 6 s on a busy machine.
    const HIDDEN: Duration = Duration::from_secs(10);
    drive(Setup::USUAL, async |page| {
        page.open("/?workload=keras-mnist-mlp&batch=32&seconds=24").await;
        assert!(!leaving_needs_confirmation(page).await);
        page.click("button", "Benchmark").await;
        page.wait_for_training().await;
        assert!(leaving_needs_confirmation(page).await);
        // The published curve is of another batch size.
        assert_eq!(page.text("[data-figure=published]").await, None);
        let driver = page.client();
        let first = driver.window().await.unwrap();
        let second = driver.new_window(true).await.unwrap().handle;
        let hidden = Instant::now();
        driver.switch_to_window(second).await.unwrap();
        page.start(SMALL_RUN).await;
        page.wait_for_status(TIMEOUT, |text| text.starts_with("Another tab of this browser is training")).await;
        tokio::time::sleep(HIDDEN.saturating_sub(hidden.elapsed())).await;
        driver.close_window().await.unwrap();
        driver.switch_to_window(first).await.unwrap();
        let hidden = hidden.elapsed();
        page.wait_for_status(TIMEOUT, |text| text.ends_with("training")).await;

        let hiding = Instant::now();
        set_hidden(page, true).await;
        page.wait_for_status(TIMEOUT, |text| text.contains("waiting, because this tab is hidden")).await;
        let waiting = Instant::now();
        let step = async || page.number("[data-figure=step]", "data-value").await.unwrap();
        // The page may still render earlier events.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let before = step().await;
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!(step().await, before, "the run trains while the page is hidden");
        set_hidden(page, false).await;
        let least = waiting.elapsed().as_secs_f64() + 1.0;
        let most = (hidden + hiding.elapsed()).as_secs_f64() + 2.0;
        page.wait_for_status(TIMEOUT, |text| text.contains("training")).await;
        page.watch_to_the_end().await;
        let warnings = page.text(".particulars .caveats").await.unwrap();
        assert!(warnings.contains("The page was hidden for") && warnings.contains("the run waited for"), "{warnings}");
        let record = page.record().await;
        assert!(record["workloads"][0]["summary"]["steps"].as_f64() > Some(before), "the run does not continue");
        let timeline = record["workloads"][0]["timeline"].as_array().unwrap();
        let waited = timeline.iter().filter(|stretch| stretch["phase"] == "paused");
        let waited: f64 = waited.map(|stretch| stretch["seconds"].as_f64().unwrap()).sum();
        assert!((least..most).contains(&waited), "{waited} s: {timeline:?}");
        assert!(!leaving_needs_confirmation(page).await);
    });
}

/// Returns true if the page asks for confirmation before it is left. Requires that all links load documents.
async fn leaving_needs_confirmation(page: &Chromium) -> bool {
    let asks = "() => {
        const event = new Event('beforeunload', { cancelable: true });
        window.dispatchEvent(event);
        return event.defaultPrevented && [...document.links].every((link) => link.href.startsWith('http'));
    }";
    page.ask(asks).await.as_bool().unwrap()
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_run_of_the_recipe_shows_images_and_a_published_curve() {
    drive(Setup::USUAL, async |page| {
        page.start_training("/?workload=keras-mnist-mlp&seconds=600").await;
        let published = page.text("[data-figure=published]").await.unwrap();
        assert!(published.contains("98.46 % after 20 epochs") && published.contains("Bhatia"), "{published}");
        assert!(page.text("line.published").await.is_some(), "no line in the chart");
        let shown = "() => [...document.querySelectorAll('.examples li')].map((item) => {
            const image = item.querySelector('img');
            return [item.className, item.querySelector('b').textContent, image.alt, image.naturalWidth];
        })";
        let shown: Vec<(String, String, String, u32)> = serde_json::from_value(page.ask(shown).await).unwrap();
        let labels: Vec<&str> = shown.iter().filter_map(|(_, _, alt, _)| alt.get(..1)).collect();
        assert_eq!(labels.concat(), "721041495906", "not the first images of the MNIST test set");
        for (class, mark, alt, width) in &shown {
            let is_correct = alt.contains("answered correctly");
            assert_eq!((class.as_str(), mark.as_str()), if is_correct { ("right", "✓") } else { ("wrong", "✗") });
            assert!(is_correct || alt.contains("incorrectly answered"), "{alt}");
            assert_eq!(*width, 28, "the browser cannot read the image");
        }
        set_hidden(page, true).await;
        page.wait_for_status(TIMEOUT, |text| text.contains("waiting, because this tab is hidden")).await;
        page.cancel().await;

        // Answers update between evaluations. On an emulated GPU, half an epoch of such small batches takes longer than
        // this test waits.
        page.start_training("/?workload=keras-mnist-mlp&batch=2&seconds=600").await;
        let count = "() => document.querySelectorAll('.examples li.right').length";
        let end = Instant::now() + TIMEOUT;
        let mut correct = 0;
        while correct < 8 && Instant::now() < end {
            tokio::time::sleep(Duration::from_millis(500)).await;
            correct = page.ask(count).await.as_u64().unwrap();
        }
        assert!(correct >= 8, "only {correct} of 12 images are answered correctly, {TIMEOUT:?} after training began");
        page.cancel().await;
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn the_page_warns_of_cpu_load_and_unsuitable_gpus() {
    drive(Setup::USUAL, async |page| {
        let details = Locator::Css("details[data-figure=integrated] summary");
        // Ignore other programs that use the CPU during the test.
        page.add_init_script("delete window.PressureObserver;").await;
        page.open("/").await;
        page.wait_for_text("[data-figure=gpu]", "SwiftShader").await;
        assert!(page.client().find(details).await.is_err(), "a software adapter is not an integrated GPU");
        assert_eq!(page.text("[data-figure=pressed]").await, None);
        page.add_init_script(
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
        page.wait_for_text("[data-figure=pressed]", "using the processor").await;
        page.find(details).await.click().await.unwrap();
        let advice = page.text("details[data-figure=integrated] .advice").await.unwrap();
        assert!(advice.contains("DRI_PRIME=1") && advice.contains("Force High Performance GPU"), "{advice}");

        page.add_init_script("navigator.gpu.requestAdapter = () => Promise.resolve(null)").await;
        page.open_to("/", "heading", "WebGPU is missing").await;
        page.wait_for_text("[aria-labelledby=no-gpu]", "found no GPU that it may use").await;
        assert!(page.text("#no-gpu ~ .advice").await.unwrap().contains("chrome://"));
        page.wait_for("button", "Demonstrate on the processor").await;
    });
}
