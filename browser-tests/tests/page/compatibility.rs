//! Training in WebGPU's compatibility mode, which every adapter of Chromium has.

use browser_tests::{Chromium, Page, Setup, drive};

use crate::run::assert_completed;

/// Three small steps of each network of the quick suite.
const RUN: &str = "/?batch=8&steps=3";
const REFUSE_CORE: &str = include_str!("faults/refuse_core.js");

async fn assert_says_compatibility_mode(page: &Chromium, css: &str) {
    let text = page.wait_for_text(css, "compatibility mode").await;
    assert!(text.contains("SwiftShader, compatibility mode"), "{css}: {text}");
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_browser_without_core_adapters_trains_in_compatibility_mode() {
    drive(Setup { worker_script: Some(REFUSE_CORE), ..Setup::USUAL }, async |page| {
        page.add_init_script(REFUSE_CORE).await;
        page.open_to(RUN, "button", "Benchmark").await;
        assert_says_compatibility_mode(page, "[data-figure=gpu]").await;
        page.wait_for_text(".device", "ranked as a separate device").await;
        page.train(RUN).await;
        let record = page.record().await;
        assert_eq!(record["workloads"].as_array().unwrap().len(), 2, "{record}");
        assert_completed(&record);
        assert_eq!(record["device"]["adapter"]["compatibility"], true, "{record}");
        let departures = record["departures"].as_array().unwrap();
        assert!(departures.iter().all(|departure| departure["kind"] != "without"), "{record}");
        assert_says_compatibility_mode(page, ".finish .lead").await;
        page.upload().await;
        let run_id = record["run_id"].as_str().unwrap();
        page.open_to(&format!("/runs/{run_id}"), "link", "All runs of this device").await;
        assert_says_compatibility_mode(page, "h1").await;
        assert_says_compatibility_mode(page, ".facts").await;
        page.open_to("/leaderboard?leaderboard=runs", "table", "Leaderboard").await;
        assert_says_compatibility_mode(page, &format!("tr[data-run='{run_id}']")).await;
        page.open(&format!("/runs/{run_id}")).await;
        page.click("link", "All runs of this device").await;
        page.wait_for("table", "Latest results").await;
        assert_says_compatibility_mode(page, "h1").await;
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn withholding_core_webgpu_opens_a_compatibility_device_and_is_never_ranked() {
    let fault = include_str!("faults/refuse_core_devices.js");
    drive(Setup { worker_script: Some(fault), ..Setup::USUAL }, async |page| {
        page.open_to("/?workload=keras-mnist-mlp&batch=8&steps=3&without=core", "button", "Benchmark").await;
        assert_says_compatibility_mode(page, "[data-figure=gpu]").await;
        page.click("button", "Benchmark").await;
        page.watch_to_the_end().await;
        let record = page.record().await;
        assert_completed(&record);
        assert_eq!(record["device"]["adapter"]["compatibility"], true, "{record}");
        let departures = record["departures"].as_array().unwrap();
        assert!(departures.iter().any(|departure| departure["feature"] == "core"), "{record}");
        let caveats = page.text(".particulars .caveats").await.unwrap();
        assert!(caveats.contains("without core"), "{caveats}");
    });
}
