//! Firefox, whose WebGPU is another implementation than Chromium's: Mozilla's, on wgpu and naga.

use std::time::{Duration, Instant};

use browser_tests::{
    PATIENCE, Page, RUN_PATIENCE, Setup, drive_firefox, skipped, watch_to_the_end, what_is_said_of_frameworks,
};
use serde_json::Value;

#[test]
#[ignore = "needs Firefox"]
fn one_click_trains_and_the_result_is_uploaded_and_found() {
    drive_firefox(Setup::default(), async |page| {
        page.open("/?workload=keras-mnist-mlp&batch=32&steps=40").await;
        page.click("button", "Benchmark").await;
        page.wait_for("progressbar", "Progress of the benchmark", PATIENCE).await;
        let seen = watch_to_the_end(page).await;
        assert!(seen.losses.last() < seen.losses.first(), "the loss falls: {seen:?}");

        let json = page.text("details pre").await.unwrap();
        let record: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(record["provenance"]["client"]["name"], "Firefox");
        let workload = &record["workloads"][0];
        assert_eq!(workload["outcome"]["kind"], "completed");
        assert_eq!(workload["correctness"]["passed"], true, "{json}");
        // Forty steps of 32 samples are enough to do better than one in ten by far.
        assert!(workload["evaluations"][0]["accuracy"].as_f64().unwrap() > 0.3, "{json}");

        page.click("button", "Upload").await;
        page.wait_for("link", "Permalink", PATIENCE).await;
        // Weights may have gone before, which the leaderboard asked for.
        assert_eq!(page.sent_bodies("PUT").await.last(), Some(&json), "what was shown is what was sent");
        let row = format!("table[aria-label=Leaderboard] tr[data-run='{}']", record["run_id"].as_str().unwrap());
        page.wait_for_text(&row, "yours").await;
    });
}

#[test]
#[ignore = "needs Firefox"]
fn without_webgpu_firefox_is_told_how_to_turn_it_on() {
    drive_firefox(Setup { webgpu: false, ..Setup::USUAL }, async |page| {
        page.open("/").await;
        page.wait_for("heading", "WebGPU is missing", PATIENCE).await;
        page.wait_for_text(".advice", "Firefox").await;
        page.wait_for("table", "Leaderboard", PATIENCE).await;
    });
}

/// Firefox tells up to a tenth of a second late that work is done, which must not count as work.
#[test]
#[ignore = "needs Firefox"]
fn a_network_gets_less_out_of_a_device_in_firefox_than_the_device_does_at_best() {
    drive_firefox(Setup::default(), async |page| {
        page.open("/?workload=keras-mnist-mlp&batch=128&seconds=6").await;
        page.click("button", "Benchmark").await;
        watch_to_the_end(page).await;
        let record: Value = serde_json::from_str(&page.text("details pre").await.unwrap()).unwrap();
        let summary = &record["workloads"][0]["summary"];
        let share = summary["share_of_peak"].as_f64().unwrap_or_else(|| panic!("no peak was measured: {summary}"));
        assert!(share > 0.0 && share < 1.0, "{share} of the device's peak");
    });
}

/// Headless, it has no WebGL. The worker of a framework starts threads, so that nobody may look on meanwhile.
#[test]
#[ignore = "needs Firefox"]
fn frameworks_train_in_firefox_after_one_that_it_lacks_webgl_for() {
    if what_is_said_of_frameworks().unwrap()["state"] != "ready" {
        return skipped("the page has no TensorFlow.js and no jax-js");
    }
    drive_firefox(Setup::default(), async |page| {
        let compared = "compare=tfjs-webgl,tfjs-wasm,jax-js-wasm";
        page.open(&format!("/compare?workload=keras-mnist-mlp&batch=8&steps=4&{compared}&autostart=1")).await;
        let start = Instant::now();
        while page.call("() => window.gradmark?.state ?? null", Value::Null).await != "finished" {
            assert!(start.elapsed() < RUN_PATIENCE, "it says: {:?}", page.text("[role=status]").await);
            page.leave_alone(Duration::from_secs(5)).await;
        }
        page.wait_for_text("tr[data-backend=tfjs-webgl]", "cannot open its back end webgl here").await;
        page.set_appearance(Setup { size: (360, 780), ..Setup::USUAL }).await.unwrap();
        let on_a_phone = "() => document.querySelector('tr[data-backend=tfjs-webgl]').innerText";
        let on_a_phone = page.call(on_a_phone, Value::Null).await;
        assert!(on_a_phone.as_str().unwrap().contains("cannot open its back end webgl here"), "{on_a_phone}");
        for backend in ["tfjs-wasm", "jax-js-wasm"] {
            let accuracy = format!("tr[data-backend={backend}] td:nth-of-type(5)");
            assert!(page.number(&accuracy, "data-value").await.is_some(), "{backend} has an accuracy");
        }
    });
}
