//! A stranger in front of the page: everything is found by role and accessible name.

use std::time::Duration;

use browser_tests::{
    Browser, CANCELLING, CANCELLING_AT_ITS_START, PATIENCE, Page, Setup, drive, wait_for_training, watch_to_the_end,
};
use fantoccini::Locator;
use fantoccini::actions::{InputSource, KeyAction, KeyActions};
use fantoccini::key::Key;
use serde_json::Value;

/// SwiftShader needs about a second for three steps of this size.
const SMALL_RUN: &str = "/?workload=keras-mnist-mlp&batch=32&steps=40";
const LONG_RUN: &str = "/?workload=keras-mnist-mlp&batch=32&seconds=600";
/// As narrow as phones come.
const PHONE: Setup = Setup { size: (320, 640), ..Setup::USUAL };

#[test]
fn one_click_trains_and_the_result_is_uploaded_found_and_deleted() {
    drive(Setup::default(), async |page| {
        page.open(SMALL_RUN).await;
        page.click("button", "Benchmark").await;
        page.wait_for("progressbar", "Progress of the benchmark", PATIENCE).await;
        let seen = watch_to_the_end(page).await;
        assert!(seen.progress.len() >= 3 && seen.progress.is_sorted(), "{seen:?}");
        assert!(seen.losses.len() >= 2, "{seen:?}");
        assert!(seen.losses.last() < seen.losses.first(), "the loss falls: {seen:?}");

        let headline = page.text("[role=status]").await.unwrap();
        assert!(headline.contains("test accuracy"), "{headline}");
        let table = page.by_role("table", "Results").await.unwrap().text().await.unwrap();
        assert!(table.contains("Test accuracy") && table.contains('%'), "{table}");
        let cards = page.text(".cards").await.unwrap();
        assert!(cards.contains("samples") && !cards.contains('–'), "a figure that there is none of: {cards}");

        let json = page.text("details pre").await.unwrap();
        let record: Value = serde_json::from_str(&json).unwrap();
        let workload = &record["workloads"][0];
        assert_eq!(workload["outcome"]["kind"], "completed");
        assert_eq!(workload["correctness"]["passed"], true);
        // Forty steps of 32 samples are enough to do better than one in ten by far.
        assert!(workload["evaluations"][0]["accuracy"].as_f64().unwrap() > 0.3, "{json}");
        assert_eq!(record["device"]["adapter"]["software"], true);

        page.click("button", "Upload").await;
        page.wait_for("link", "Permalink", PATIENCE).await;
        // Weights may have gone before, which the leaderboard asked for.
        assert_eq!(page.sent_bodies("PUT").await.last(), Some(&json), "what was shown is what was sent");
        let run_id = record["run_id"].as_str().unwrap();
        find_in_leaderboard(page, run_id).await;
        its_own_page_shows_it(page, &record).await;
        its_device_has_a_page(page, run_id).await;
        delete(page, run_id).await;
    });
}

/// The uploaded run is in the table, without another click.
async fn find_in_leaderboard(page: &Browser, run_id: &str) {
    page.wait_for("table", "Leaderboard", PATIENCE).await;
    let row = format!("table[aria-label=Leaderboard] tr[data-run='{run_id}']");
    let row = page.client().wait().at_most(PATIENCE).for_element(Locator::Css(&row)).await.unwrap();
    let text = row.text().await.unwrap();
    assert!(text.contains("yours") && text.contains("software adapter, not ranked"), "{text}");
}

async fn its_own_page_shows_it(page: &Browser, record: &Value) {
    page.click("link", "Permalink").await;
    page.wait_for("table", "Results", PATIENCE).await;
    let path = page.client().current_url().await.unwrap().path().to_owned();
    assert_eq!(path, format!("/runs/{}", record["run_id"].as_str().unwrap()));
    let stored: Value = serde_json::from_str(&page.text("details pre").await.unwrap()).unwrap();
    assert_eq!(stored["workloads"], record["workloads"]);
    assert_eq!(stored["nonce"], Value::Null);
    page.set_appearance(PHONE).await.unwrap();
    page.assert_never_scrolls_sideways().await;
    page.set_appearance(Setup::default()).await.unwrap();
}

/// The device is an emulated one, which is shown and compared with none.
async fn its_device_has_a_page(page: &Browser, run_id: &str) {
    page.wait_for_text(".standing", "compared with no GPU").await;
    page.click("link", "All results of this device").await;
    let table = page.wait_for("table", "Latest results", PATIENCE).await;
    assert!(table.html(false).await.unwrap().contains(run_id));
    let address = page.client().current_url().await.unwrap();
    assert!(address.path().starts_with("/devices/"), "{address}");
    assert!(page.text("#device .callout").await.unwrap().contains("no place"));
    let (name, title) = (page.text("h1").await.unwrap(), page.client().title().await.unwrap());
    assert_eq!(title, format!("{name} – Gradmark"));
    page.set_appearance(PHONE).await.unwrap();
    page.assert_never_scrolls_sideways().await;
    page.set_appearance(Setup::default()).await.unwrap();
    page.client().back().await.unwrap();
    page.wait_for("table", "Results", PATIENCE).await;
}

async fn delete(page: &Browser, run_id: &str) {
    page.click("link", "Delete this result").await;
    page.click("button", "Delete this result").await;
    page.wait_for_status(PATIENCE, |text| text.contains("deleted")).await;
    page.open("/").await;
    page.wait_for("table", "Leaderboard", PATIENCE).await;
    // “All runs”; the button itself is transparent, so that it cannot be found by its role.
    let all = page.client().find(Locator::Css("#leaderboard .choice label:last-of-type input")).await.unwrap();
    all.click().await.unwrap();
    page.wait_for_text("table[aria-label=Leaderboard] thead", "Checked").await;
    let table = page.wait_for("table", "Leaderboard", PATIENCE).await;
    assert!(!table.html(false).await.unwrap().contains(run_id));
}

#[test]
fn a_run_is_cancelled_in_the_middle_and_another_can_begin() {
    drive(Setup::default(), async |page| {
        page.open(LONG_RUN).await;
        page.click("button", "Benchmark").await;
        wait_for_training(page).await;
        page.click("button", "Cancel").await;
        page.wait_for_status(CANCELLING, |text| text.starts_with("Cancelled")).await;
        assert!(page.by_role("table", "Results").await.is_none());
        page.click("button", "Benchmark").await;
        page.wait_for("progressbar", "Progress of the benchmark", PATIENCE).await;
        page.click("button", "Cancel").await;
        page.wait_for_status(CANCELLING_AT_ITS_START, |text| text.starts_with("Cancelled")).await;
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn networks_are_chosen_on_the_page_and_a_recurrent_one_trains() {
    drive(Setup::default(), async |page| {
        page.open("/?batch=8&steps=3").await;
        page.client()
            .wait()
            .for_element(Locator::Css("details.networks summary"))
            .await
            .unwrap()
            .click()
            .await
            .unwrap();
        page.click("checkbox", "bAbI task 2, recurrent network (Keras)").await;
        page.click("checkbox", "MNIST, multilayer perceptron (Keras)").await;
        page.click("checkbox", "MNIST, LeNet (Caffe)").await;
        page.click("button", "Benchmark").await;
        watch_to_the_end(page).await;
        let record: Value = serde_json::from_str(&page.text("details pre").await.unwrap()).unwrap();
        let workloads = record["workloads"].as_array().unwrap();
        assert_eq!(workloads.len(), 1, "{record}");
        assert_eq!(workloads[0]["workload"], "keras-babi-rnn");
        assert_eq!(workloads[0]["correctness"]["passed"], true, "{record}");
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_precision_that_the_device_lacks_is_refused() {
    drive(Setup::default(), async |page| {
        page.open("/?workload=keras-mnist-mlp&steps=3&precision=f16").await;
        page.click("button", "Benchmark").await;
        // SwiftShader has no f16; training in f32 instead would be another measurement.
        page.wait_for_status(PATIENCE, |text| text.contains("f16")).await;
        assert!(page.by_role("table", "Results").await.is_none());
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_page_that_was_hidden_for_a_while_waited_and_says_so_in_its_record() {
    drive(Setup::default(), async |page| {
        page.open("/?workload=keras-mnist-mlp&batch=32&seconds=20").await;
        page.click("button", "Benchmark").await;
        wait_for_training(page).await;
        let driver = page.client();
        let benchmark = driver.window().await.unwrap();
        let other = driver.new_window(true).await.unwrap().handle;
        driver.switch_to_window(other).await.unwrap();
        tokio::time::sleep(Duration::from_secs(2)).await;
        driver.close_window().await.unwrap();
        driver.switch_to_window(benchmark).await.unwrap();
        watch_to_the_end(page).await;
        let warnings = page.text(".caveats").await.unwrap();
        assert!(warnings.contains("The page was hidden for") && warnings.contains("the run waited for"), "{warnings}");
        let record: Value = serde_json::from_str(&page.text("details pre").await.unwrap()).unwrap();
        let timeline = record["workloads"][0]["timeline"].as_array().unwrap();
        let waited = timeline.iter().filter(|stretch| stretch["phase"] == "paused");
        let waited: f64 = waited.map(|stretch| stretch["seconds"].as_f64().unwrap()).sum();
        // A window of about a second may have been under way.
        assert!((0.5..6.0).contains(&waited), "{waited} s: {timeline:?}");
    });
}

#[test]
fn without_webgpu_the_page_says_what_to_do_and_still_shows_the_leaderboard() {
    drive(Setup { webgpu: false, ..Setup::default() }, async |page| {
        page.open("/").await;
        page.wait_for("heading", "WebGPU is missing", PATIENCE).await;
        let button = page.wait_for("button", "Benchmark", PATIENCE).await;
        assert!(!button.is_enabled().await.unwrap());
        let advice = page.text(".advice").await.unwrap();
        assert!(advice.contains("chrome://flags"), "{advice}");
        page.wait_for("button", "Demonstrate on the processor", PATIENCE).await;
        page.wait_for("table", "Leaderboard", PATIENCE).await;
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn the_processor_demonstrates_training_and_offers_no_upload() {
    drive(Setup { webgpu: false, ..Setup::default() }, async |page| {
        page.open("/").await;
        page.click("button", "Demonstrate on the processor").await;
        let seen = watch_to_the_end(page).await;
        assert!(seen.losses.last() < seen.losses.first(), "the loss falls: {seen:?}");
        assert!(page.by_role("button", "Upload").await.is_none());
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn the_keyboard_alone_starts_and_cancels_a_run() {
    drive(Setup::default(), async |page| {
        page.open(LONG_RUN).await;
        page.wait_for("button", "Benchmark", PATIENCE).await;
        tab_to(page, "Benchmark").await;
        press(page, Key::Enter).await;
        page.wait_for("progressbar", "Progress of the benchmark", PATIENCE).await;
        // The focus went along, from the button that is gone to the one that took its place.
        assert_eq!(focused(page).await, "Cancel");
        press(page, Key::Enter).await;
        page.wait_for_status(CANCELLING_AT_ITS_START, |text| text.starts_with("Cancelled")).await;
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
fn without_the_leaderboard_a_run_still_trains_and_can_be_uploaded_as_unverified_later() {
    drive(Setup::default(), async |page| {
        page.open(SMALL_RUN).await;
        page.block(&["*/api/*"]).await;
        page.click("button", "Benchmark").await;
        watch_to_the_end(page).await;
        let warnings = page.text(".caveats").await.unwrap();
        assert!(warnings.contains("gave no seed"), "{warnings}");
        page.block(&[]).await;
        page.click("button", "Upload").await;
        page.wait_for("link", "Permalink", PATIENCE).await;
        let tier = page.text(".upload .tier").await.unwrap();
        assert_eq!(tier, "unverified");
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn two_tabs_do_not_train_at_once() {
    drive(Setup::default(), async |page| {
        page.open(LONG_RUN).await;
        page.click("button", "Benchmark").await;
        wait_for_training(page).await;
        let driver = page.client();
        let first = driver.window().await.unwrap();
        let second = driver.new_window(true).await.unwrap().handle;
        driver.switch_to_window(second).await.unwrap();
        page.open(SMALL_RUN).await;
        page.click("button", "Benchmark").await;
        page.wait_for_status(PATIENCE, |text| text.starts_with("Another tab of this browser is training")).await;
        driver.close_window().await.unwrap();
        driver.switch_to_window(first).await.unwrap();
        page.click("button", "Cancel").await;
        page.wait_for_status(CANCELLING, |text| text.starts_with("Cancelled")).await;
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_worker_that_cannot_start_is_told_and_not_waited_for() {
    drive(Setup { missing: &["worker.js"], ..Setup::default() }, async |page| {
        page.open(SMALL_RUN).await;
        page.click("button", "Benchmark").await;
        page.wait_for_status(PATIENCE, |text| text.contains("worker stopped working") && text.contains("worker.js"))
            .await;
        page.wait_for("button", "Benchmark", PATIENCE).await;
    });
}

#[test]
fn a_wrong_setting_in_the_address_is_named_and_nothing_can_be_started() {
    drive(Setup::default(), async |page| {
        page.open("/?workload=resnet").await;
        let button = page.wait_for("button", "Benchmark", PATIENCE).await;
        assert!(!button.is_enabled().await.unwrap());
        let note = page.text("#benchmark-note").await.unwrap();
        assert!(note.contains("resnet") && note.contains("keras-mnist-mlp"), "{note}");
    });
}

#[test]
fn a_phone_never_scrolls_sideways() {
    drive(Setup { webgpu: false, ..PHONE }, async |page| {
        page.open("/").await;
        page.wait_for("table", "Leaderboard", PATIENCE).await;
        page.assert_never_scrolls_sideways().await;
        // One network's name is longer than their number.
        page.open("/?workload=keras-mnist-mlp").await;
        page.wait_for("table", "Leaderboard", PATIENCE).await;
        page.client().find(Locator::Css("details.engines summary")).await.unwrap().click().await.unwrap();
        page.assert_never_scrolls_sideways().await;
        for path in ["/compare", "/file"] {
            page.open(path).await;
            page.wait_for("link", "Show a result file", PATIENCE).await;
            page.assert_never_scrolls_sideways().await;
        }
    });
}
