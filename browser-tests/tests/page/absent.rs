//! Missing or unfinished optional parts: the page reports them, and everything else works.

use std::collections::BTreeSet;
use std::time::Duration;

use browser_tests::{Chromium, Page, PageServer, RUN_TIMEOUT, Setup, drive_with_server};
use fantoccini::Locator;
use serde_json::json;

use crate::run::assert_completed;

const BUILDING: &str = r#"{"state":"building","note":"compiling Burn for the page"}"#;
const READY: &str = r#"{"state":"ready","bundles":[
    {"name":"burn","folder":"burn-0123456789abcdef","compressed_bytes":3440000,"bytes":12000000}]}"#;
const MISSING: &str = r#"{"state":"missing","note":"the page was built without Burn (--no-burn-page)"}"#;
const CIFAR10: &[&str] = &["cifar10-train.bin", "cifar10-test.bin"];
const LONG_RUN: &str = "/?workload=keras-mnist-mlp&batch=32&seconds=600";
const LINK_TO_BURN: &str = "/?workload=keras-mnist-mlp&batch=8&steps=3&backend=burn-flex";

/// Returns true if a visitor can select this input, and the text of its label.
async fn choice(page: &Chromium, input: &str) -> (bool, String) {
    let is_enabled = page.find(Locator::Css(input)).await.is_enabled().await.unwrap();
    (is_enabled, page.text(&format!("label:has({input})")).await.unwrap())
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn burn_is_offered_once_built_but_not_during_a_run() {
    drive_with_server(Setup { burn: Some(BUILDING), ..Setup::USUAL }, async |page, server| {
        page.open(LINK_TO_BURN).await;
        page.wait_for_text("#benchmark-note", "Burn on the processor is being built: compiling Burn").await;
        assert!(!page.is_enabled("Benchmark").await);
        server.set_burn_state(READY).unwrap();
        page.wait_for_text("#benchmark-note", "3.4 MB (Burn)").await;
        assert!(page.is_enabled("Benchmark").await);

        server.set_burn_state(BUILDING).unwrap();
        page.open("/?workload=keras-mnist-mlp&batch=8&steps=3").await;
        page.wait_for_text("[data-burn=building]", "Burn is being built").await;
        let failed = r#"{"state":"missing","note":"building Burn failed: no space left on the disk"}"#;
        server.set_burn_state(failed).unwrap();
        let reason = "Burn is not on this server: building Burn failed: no space left on the disk.";
        page.wait_for_text(".controls", reason).await;
        assert!(page.is_enabled("Benchmark").await);

        server.set_burn_state(BUILDING).unwrap();
        page.open_to(LONG_RUN, "button", "Benchmark").await;
        page.ask("() => { window.marked = true; }").await;
        page.wait_for_text("[data-burn=building]", "Burn is being built: compiling Burn for the page").await;
        assert!(page.is_enabled("Benchmark").await, "our kernels do not need Burn");
        page.click_css("details.options > summary").await;
        for input in ["input[value=burn-wgpu]", "input[value=burn-flex]"] {
            let (is_enabled, label) = choice(page, input).await;
            assert!(!is_enabled && label.contains("It is being built: compiling Burn for the page."), "{label}");
        }
        server.set_burn_state(&BUILDING.replace("compiling", "compressing")).unwrap();
        page.wait_for_text("[data-burn=building]", "compressing Burn for the page").await;

        page.click("button", "Benchmark").await;
        page.wait_for_status(RUN_TIMEOUT, |text| text.ends_with(": training")).await;
        let requests = "() => performance.getEntriesByName(location.origin + '/burn.json').length";
        let before = page.ask(requests).await;
        assert_ne!(before, 0, "the page requested it on opening");
        // More than two polling intervals.
        tokio::time::sleep(Duration::from_secs(7)).await;
        assert_eq!(page.ask(requests).await, before);
        server.set_burn_state(READY).unwrap();
        page.cancel().await;
        page.wait_for_text(".controls", "Burn is ready.").await;
        page.click_css("details.options > summary").await;
        page.wait_for_text(".engines", "3.4 MB to fetch").await;
        assert!(choice(page, "input[value=burn-flex]").await.0);
        page.click_css("input[value=burn-flex]").await;
        page.wait_for_text("#benchmark-note", "3.4 MB (Burn)").await;
        assert_eq!(page.ask("() => window.marked").await, true, "the page was reloaded");
        assert_explains_missing_burn(page, server).await;
    });
}

async fn assert_explains_missing_burn(page: &Chromium, server: &PageServer) {
    server.set_burn_state(MISSING).unwrap();
    page.open(LINK_TO_BURN).await;
    let reason = "is not on this server: the page was built without Burn (--no-burn-page).";
    let note = page.wait_for_text("#benchmark-note", reason).await;
    assert!(note.starts_with("Burn on the processor"), "{note}");
    page.click_css("details.options > summary").await;
    let (is_enabled, label) = choice(page, "input[value=burn-wgpu]").await;
    assert!(!is_enabled && label.contains(reason), "{label}");
    // The other backend is still available.
    page.click_css("input[value=wgsl]").await;
    assert!(page.is_enabled("Benchmark").await);

    page.click("link", "Compare backends").await;
    page.wait_for("heading", "Compare frameworks").await;
    page.wait_for_text(".networks", "It is not on this server: the page was built without Burn").await;
    assert!(!choice(page, "input[value=burn-wgpu]").await.0 && choice(page, "input[value=wgsl]").await.0);
    let selected =
        "() => ['burn-wgpu', 'wgsl'].map((value) => document.querySelector(`input[value=${value}]`).checked)";
    assert_eq!(page.ask(selected).await, json!([false, true]));
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn without_cifar10_its_networks_are_disabled_and_selected_ones_are_trained() {
    drive_with_server(Setup { missing_data: CIFAR10, ..Setup::USUAL }, async |page, server| {
        page.open("/?suite=complete").await;
        let note = page.wait_for_text("#benchmark-note", "The complete suite needs CIFAR-10").await;
        assert!(note.contains("not on this server"), "{note}");
        assert!(!page.is_enabled("Benchmark").await);

        page.open("/?workload=keras-mnist-mlp,theano-cifar10&batch=32&steps=3").await;
        page.wait_for_text("#benchmark-note", "needs CIFAR-10, which is not on this server").await;
        page.click_css("details.options > summary").await;
        page.click_css("input[value=theano-cifar10]").await;
        assert!(!choice(page, "input[value=theano-cifar10]").await.0, "a missing network can be selected again");
        assert!(page.is_enabled("Benchmark").await);

        page.open("/?batch=8&steps=3").await;
        let notice = page.wait_for_text("#missing-data", "CIFAR-10 is not on this server").await;
        assert!(notice.contains("cifar10-train.bin is missing in its data folder"), "{notice}");
        assert!(notice.contains("8 of the 22 networks"), "{notice}");
        page.click_css("details.options > summary").await;
        let (is_enabled, label) = choice(page, "input[name=suite][value=complete]").await;
        assert!(
            !is_enabled && label.contains("8 of its 16 networks need data that is not on this server (CIFAR-10)."),
            "{label}"
        );
        let boxes = "() => [...document.querySelectorAll('input[type=checkbox]:disabled')]
            .map((box) => [box.getAttribute('aria-describedby'), box.closest('label').textContent])";
        let boxes: Vec<(String, String)> = serde_json::from_value(page.ask(boxes).await).unwrap();
        let is_explained =
            |(note, label): &(String, String)| note == "missing-data" && label.contains("its data is missing");
        assert!(boxes.len() == 8 && boxes.iter().all(is_explained), "{boxes:?}");

        page.click("checkbox", "bAbI task 2, recurrent network (Keras)").await;
        page.click("checkbox", "MNIST, LeNet (Caffe)").await;
        page.click("button", "Benchmark").await;
        page.watch_to_the_end().await;
        let record = page.record().await;
        assert_completed(&record);
        let trained = record["workloads"].as_array().unwrap().iter().map(|workload| workload["workload"].as_str());
        assert_eq!(trained.collect::<BTreeSet<_>>(), [Some("keras-babi-rnn"), Some("keras-mnist-mlp")].into());

        // The page finds data that is added later, here after a reload.
        server.restore_missing().unwrap();
        page.open("/?suite=complete").await;
        page.wait_for_text("#benchmark-note", "170 MB (CIFAR-10)").await;
        assert!(page.is_enabled("Benchmark").await);
    });
}
