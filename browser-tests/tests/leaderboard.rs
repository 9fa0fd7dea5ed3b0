//! What is seen of others' results, and how it is asked for.

use browser_tests::{Browser, PATIENCE, Page, Setup, drive};
use fantoccini::Locator;
use serde_json::Value;

/// Nothing is trained here.
const NO_GPU: Setup = Setup { webgpu: false, ..Setup::USUAL };

/// What the lists of the runs' filters show at first, in their order.
const NOTHING_CHOSEN: [&str; 8] = [
    "As usual",
    "All suites",
    "All precisions",
    "Programs and browsers",
    "All browsers",
    "All systems",
    "All vendors",
    "All tiers",
];

/// Chooses among the buttons that look like one. They are transparent themselves, so that no role finds them.
async fn choose(page: &Browser, title: &str) {
    let button = format!("//section[@id='leaderboard']//label[span='{title}']/input");
    let wait = page.client().wait();
    wait.at_most(PATIENCE).for_element(Locator::XPath(&button)).await.unwrap().click().await.unwrap();
}

/// The titles of what is chosen, in the order of the page.
async fn chosen(page: &Browser) -> Value {
    let titles =
        "() => [...document.querySelectorAll('#leaderboard input:checked + span, #leaderboard option:checked')]
        .map((choice) => choice.textContent)";
    page.call(titles, Value::Null).await
}

async fn address(page: &Browser) -> String {
    let address = page.client().current_url().await.unwrap();
    format!("{}#{}", address.query().unwrap_or_default(), address.fragment().unwrap_or_default())
}

#[test]
fn filters_are_kept_and_an_address_shows_what_its_sender_saw() {
    drive(NO_GPU, async |page| {
        page.open("/?workload=caffe-mnist").await;
        page.wait_for("table", "Leaderboard", PATIENCE).await;
        choose(page, "Browsers").await;
        choose(page, "f16").await;
        choose(page, "All runs").await;
        page.wait_for_text("table[aria-label=Leaderboard] thead", "Network").await;
        let network = page.client().find(Locator::Css("#leaderboard select")).await.unwrap();
        network.select_by_label("MNIST, LeNet (Caffe)").await.unwrap();
        page.wait_for_text("#leaderboard .note", "fastest first").await;
        let backend = page.client().find(Locator::XPath("//label[span='Back end']/select")).await.unwrap();
        backend.select_by_label("burn-wgpu").await.unwrap();
        let sent = address(page).await;
        assert_eq!(
            sent,
            "workload=caffe-mnist&leaderboard=runs&leaderboard-client=browser&leaderboard-precision=f16\
             &leaderboard-network=caffe-mnist&leaderboard-backend=burn-wgpu#leaderboard"
        );
        choose(page, "Devices").await;
        page.wait_for_text("table[aria-label=Leaderboard] thead", "Finished").await;
        assert_eq!(chosen(page).await, serde_json::json!(["Devices", "GPUs", "Browsers", "f16", "Quick"]));

        page.open("/").await;
        page.wait_for("table", "Leaderboard", PATIENCE).await;
        page.open(&format!("/?{sent}")).await;
        page.wait_for_text("#leaderboard .note", "fastest first").await;
        let seen = chosen(page).await;
        let expected = ["All runs", "MNIST, LeNet (Caffe)", "burn-wgpu"].into_iter().chain(NOTHING_CHOSEN);
        assert_eq!(seen, serde_json::json!(expected.collect::<Vec<_>>()));
    });
}

#[test]
fn filters_of_runs_are_in_the_address_and_can_be_used_with_the_keyboard() {
    drive(NO_GPU, async |page| {
        page.open("/?leaderboard=runs").await;
        page.wait_for_text("#leaderboard .note", "newest first").await;
        let summary = page.client().find(Locator::Css("#leaderboard summary")).await.unwrap();
        summary.send_keys("\u{e007}").await.unwrap();
        for (label, choice) in [("Browser", "Firefox"), ("System", "macOS"), ("Order", "Oldest first")] {
            let list = format!("//section[@id='leaderboard']//label[span='{label}']/select");
            let list = page.client().find(Locator::XPath(&list)).await.unwrap();
            list.select_by_label(choice).await.unwrap();
        }
        page.wait_for_text("#leaderboard .note", "oldest first").await;
        page.wait_for_text("table[aria-label=Leaderboard]", "No result fits").await;
        let sent = address(page).await;
        assert_eq!(
            sent,
            "leaderboard=runs&leaderboard-run-sort=oldest&leaderboard-run-browser=Firefox\
             &leaderboard-run-system=macOS#leaderboard"
        );
        page.open("/").await;
        page.wait_for("table", "Leaderboard", PATIENCE).await;
        let more = "&leaderboard-run-since=2026-11-01&leaderboard-run-device=reported-unheard-of";
        page.open(&format!("/?{}", sent.replace('#', &format!("{more}#")))).await;
        page.wait_for_text("#leaderboard", "oldest first").await;
        let seen = chosen(page).await;
        for choice in ["Oldest first", "Firefox", "macOS"] {
            assert!(seen.as_array().unwrap().contains(&choice.into()), "{seen}");
        }
        let day = "() => document.querySelector('#leaderboard input[type=date]').value";
        assert_eq!(page.call(day, Value::Null).await, "2026-11-01");
        page.wait_for("link", "reported-unheard-of", PATIENCE).await;
        page.click("button", "All devices").await;
        page.wait_for_text("#leaderboard .note", "oldest first").await;
        assert!(!address(page).await.contains("leaderboard-run-device"));
    });
}

#[test]
fn what_an_address_asks_for_and_nobody_knows_is_shown_as_usual() {
    drive(NO_GPU, async |page| {
        page.open("/?leaderboard-suite=unheard-of&leaderboard-client=toaster&leaderboard-class=processor").await;
        page.wait_for_text("table[aria-label=Leaderboard]", "No processor has a place yet").await;
        assert_eq!(chosen(page).await, serde_json::json!(["Devices", "Processors", "All", "f32", "Quick"]));
        assert_eq!(address(page).await, "leaderboard-class=processor#leaderboard");
    });
}

#[test]
fn a_device_that_nobody_uploaded_a_result_of_is_said_to_be_unknown() {
    drive(NO_GPU, async |page| {
        page.tolerate(&["api/v1/devices/reported-unheard-of"]);
        page.open("/devices/reported-unheard-of").await;
        page.wait_for("heading", "No such device", PATIENCE).await;
        page.click("link", "All devices").await;
        page.wait_for("table", "Leaderboard", PATIENCE).await;
    });
}
