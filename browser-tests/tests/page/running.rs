//! What the page shows and does before and during a run.

use std::time::{Duration, Instant};

use browser_tests::{
    Browser, CANCELLING, PATIENCE, Page, RUN_PATIENCE, Setup, drive, wait_for_training, watch_to_the_end,
};
use fantoccini::Locator;
use serde_json::Value;

const SMALL_RUN: &str = "/?workload=keras-mnist-mlp&batch=32&steps=40";
const LONG_RUN: &str = "/?workload=keras-mnist-mlp&batch=32&seconds=600";

/// Lets the page believe that it is hidden, or shown again.
async fn pretend_hidden(page: &Browser, hidden: bool) {
    let state = if hidden { "hidden" } else { "visible" };
    let script = format!(
        "Object.defineProperty(document, 'visibilityState', {{ value: '{state}', configurable: true }});
         document.dispatchEvent(new Event('visibilitychange'));"
    );
    page.client().execute(&script, Vec::new()).await.unwrap();
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_hidden_page_says_that_it_waits_goes_on_when_shown_and_can_be_cancelled_meanwhile() {
    drive(Setup::default(), async |page| {
        page.open(LONG_RUN).await;
        page.click("button", "Benchmark").await;
        wait_for_training(page).await;
        pretend_hidden(page, true).await;
        page.wait_for_status(PATIENCE, |text| text.contains("waiting, because this tab is hidden")).await;
        let step = async || page.number("[data-figure=step]", "data-value").await.unwrap();
        // What was announced before it waits may still be drawn.
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
        cancel(page).await;
    });
}

/// Returns true if the browser asks before it leaves the page. The links of the page load other documents.
async fn asks_before_leaving(page: &Browser) -> bool {
    let script = "const event = new Event('beforeunload', { cancelable: true });
        window.dispatchEvent(event);
        return event.defaultPrevented && [...document.links].every((link) => link.href.startsWith('http'));";
    page.client().execute(script, Vec::new()).await.unwrap().as_bool().unwrap()
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn page_asks_before_it_is_left_during_a_run_only() {
    drive(Setup::default(), async |page| {
        page.open(LONG_RUN).await;
        assert!(!asks_before_leaving(page).await);
        page.click("button", "Benchmark").await;
        wait_for_training(page).await;
        assert!(asks_before_leaving(page).await);
        cancel(page).await;
        assert!(!asks_before_leaving(page).await);
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn test_images_show_what_the_network_answers_with_marks_and_in_words() {
    drive(Setup::default(), async |page| {
        page.open(LONG_RUN).await;
        page.click("button", "Benchmark").await;
        wait_for_training(page).await;
        let script = "return [...document.querySelectorAll('.examples li')].map((item) => {
            const image = item.querySelector('img');
            return [item.className, item.querySelector('b').textContent, image.alt, image.naturalWidth];
        });";
        let shown: Vec<(String, String, String, u32)> =
            serde_json::from_value(page.client().execute(script, Vec::new()).await.unwrap()).unwrap();
        let labels: Vec<&str> = shown.iter().filter_map(|(_, _, words, _)| words.get(..1)).collect();
        assert_eq!(labels.concat(), "721041495906", "the first images of the test set of MNIST");
        for (class, mark, words, width) in &shown {
            let is_right = words.contains("answered rightly");
            assert_eq!((class.as_str(), mark.as_str()), if is_right { ("right", "✓") } else { ("wrong", "✗") });
            assert!(is_right || words.contains("wrongly answered"), "{words}");
            assert_eq!(*width, 28, "the browser cannot read the image");
        }
        cancel(page).await;
    });
}

/// Half an epoch in such small batches takes a program that acts as a GPU longer than this test waits.
#[test]
#[ignore = "all browser tests take ten minutes"]
fn the_answers_to_test_images_follow_the_training_between_looks_at_the_test_set() {
    drive(Setup::default(), async |page| {
        page.open("/?workload=keras-mnist-mlp&batch=2&seconds=600").await;
        page.click("button", "Benchmark").await;
        wait_for_training(page).await;
        let count = "() => document.querySelectorAll('.examples li.right').length";
        let end = Instant::now() + PATIENCE;
        let mut right = 0;
        while right < 8 && Instant::now() < end {
            tokio::time::sleep(Duration::from_millis(500)).await;
            right = page.call(count, Value::Null).await.as_u64().unwrap();
        }
        assert!(right >= 8, "only {right} of 12 images are answered rightly, {PATIENCE:?} after training began");
        cancel(page).await;
    });
}

/// Ends a run that was begun.
async fn cancel(page: &Browser) {
    page.click("button", "Cancel").await;
    page.wait_for_status(CANCELLING, |text| text.starts_with("Cancelled")).await;
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn what_was_published_of_the_same_recipe_stands_beside_the_run() {
    drive(Setup::default(), async |page| {
        page.open("/?workload=keras-mnist-mlp&seconds=600").await;
        page.click("button", "Benchmark").await;
        wait_for_training(page).await;
        let published = page.text("[data-figure=published]").await.unwrap();
        assert!(published.contains("98.46 % after 20 passes") && published.contains("Bhatia"), "{published}");
        assert!(page.text("line.published").await.is_some(), "no line in the chart");
        cancel(page).await;
        // Batches of another size are another recipe.
        page.open(LONG_RUN).await;
        page.click("button", "Benchmark").await;
        wait_for_training(page).await;
        assert_eq!(page.text("[data-figure=published]").await, None);
        cancel(page).await;
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn the_page_says_before_a_run_what_it_takes_and_how_long_the_last_one_took() {
    drive(Setup::default(), async |page| {
        page.open(SMALL_RUN).await;
        page.wait_for("button", "Benchmark", PATIENCE).await;
        let note = page.text("#benchmark-note").await.unwrap();
        assert!(note.starts_with("About a minute") && note.contains("70 MB of the GPU's memory"), "{note}");
        page.click("button", "Benchmark").await;
        watch_to_the_end(page).await;
        page.wait_for_text("#benchmark-note", "as the last time in this browser").await;
        // With other settings nobody knows.
        page.open("/?workload=keras-mnist-mlp&batch=32&steps=50").await;
        page.wait_for_text("#benchmark-note", "About a minute").await;
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn other_programs_and_a_gpu_inside_the_processor_are_told_before_a_run_and_only_where_they_are() {
    drive(Setup::default(), async |page| {
        let details = Locator::Css("details[data-figure=integrated] summary");
        // Whatever else the machine does during the test.
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
        let summary = page.client().wait().at_most(PATIENCE).for_element(details).await.unwrap();
        summary.click().await.unwrap();
        let advice = page.text("details[data-figure=integrated] .advice").await.unwrap();
        assert!(advice.contains("DRI_PRIME=1") && advice.contains("Force High Performance GPU"), "{advice}");
    });
}
