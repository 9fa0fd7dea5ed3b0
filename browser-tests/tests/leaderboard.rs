//! What is seen of others' results, and how it is asked for.

use browser_tests::{Browser, PATIENCE, Page, Setup, drive};
use fantoccini::Locator;
use serde_json::Value;

/// Nothing is trained here.
const NO_GPU: Setup = Setup { webgpu: false, ..Setup::USUAL };

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
        assert_eq!(seen, serde_json::json!(["All runs", "MNIST, LeNet (Caffe)", "burn-wgpu"]));
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
