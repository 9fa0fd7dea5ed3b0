//! Firefox, whose WebGPU is another implementation than Chromium's: Mozilla's, on wgpu and naga.

use browser_tests::{PATIENCE, Page, Setup, drive_firefox, watch_to_the_end};
use serde_json::Value;

#[test]
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
fn without_webgpu_firefox_is_told_how_to_turn_it_on() {
    drive_firefox(Setup { webgpu: false, ..Setup::USUAL }, async |page| {
        page.open("/").await;
        page.wait_for("heading", "WebGPU is missing", PATIENCE).await;
        page.wait_for_text(".advice", "Firefox").await;
        page.wait_for("table", "Leaderboard", PATIENCE).await;
    });
}
