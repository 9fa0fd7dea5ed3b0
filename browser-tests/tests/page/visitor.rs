//! Other visitor actions: settings, stored runs, files, side-by-side results and scripts.

use browser_tests::{Page, Setup, TIMEOUT, drive};
use fantoccini::Locator;
use serde_json::Value;

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_failed_upload_is_kept_and_offered_again() {
    drive(Setup::USUAL, async |page| {
        page.train("/?workload=keras-mnist-mlp&batch=32&steps=5").await;
        page.block(&["*/api/*"]).await;
        page.click("button", "Upload").await;
        page.wait_for_text(".upload .refusal", "It is kept under “Your runs”").await;
        page.block(&[]).await;

        page.open_to("/", "table", "Your runs").await;
        page.click("button", "Upload it now").await;
        page.wait_for_text("#own-runs [role=status]", "Uploaded").await;
        page.click("link", "Result").await;
        page.wait_for("table", "Results").await;
        page.click("link", "Delete this result").await;
        page.click("button", "Delete this result").await;
        page.wait_for_status(TIMEOUT, |text| text.contains("deleted")).await;
        page.open_to("/", "table", "Published hardware").await;
        assert!(page.by_role("table", "Your runs").await.is_none(), "the deleted run is still listed");
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn scripts_and_visitors_get_a_run_or_the_invalid_setting() {
    drive(Setup::USUAL, async |page| {
        page.open("/?workload=keras-mnist-mlp&batch=32&steps=5&seed=7&learning-rate=0.05&autostart=1&sede=8").await;
        page.wait_for_text("[data-figure=unknown]", "Unknown settings in the address: sede.").await;
        let finished = page.ask("async () => await window.gradmark.finished").await;
        assert_eq!(finished["state"], "finished", "{finished}");
        let record = &finished["record"];
        assert_eq!(record["requested"]["seed"], 7);
        assert_eq!(record["run_id"], Value::Null, "the leaderboard registers only runs with its own seeds");
        let settings = &record["workloads"][0]["settings"];
        assert_eq!((&settings["learning_rate"], &settings["batch_size"]), (&0.05.into(), &32.into()), "{settings}");
        let departures = record["departures"].to_string();
        assert!(departures.contains("learning_rate") && departures.contains("batch_size"), "{departures}");

        for (settings, part) in
            [("batch=many", "batch must be a whole number"), ("seed=1&seed=2", "seed can be given only once")]
        {
            page.open_to(&format!("/?{settings}&autostart=1"), "button", "Benchmark").await;
            let finished = page.ask("async () => await window.gradmark.finished").await;
            assert_eq!(finished["state"], "failed", "{finished}");
            assert!(finished["sentence"].as_str().unwrap().contains(part), "{finished}");
        }
        page.open_to("/?workload=foo&batch=32", "link", "Use the default settings").await;
        page.click("link", "Use the default settings").await;
        page.wait_for_text(".controls .callout", "This run is never ranked: batch size 32").await;
        assert!(page.is_enabled("Benchmark").await);

        page.click_css("details.options > summary").await;
        let batch = page.find(Locator::Css("input[name=batch]")).await;
        batch.clear().await.unwrap();
        batch.send_keys("many\u{E004}").await.unwrap();
        page.wait_for_text("#benchmark-note", "batch must be a whole number").await;
        assert!(!page.is_enabled("Benchmark").await);
        batch.clear().await.unwrap();
        batch.send_keys("64\u{E004}").await.unwrap();
        page.wait_for_text(".controls .callout", "This run is never ranked: batch size 64").await;
        assert!(page.is_enabled("Benchmark").await);
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_demonstration_is_not_uploaded_but_its_file_is_shown() {
    drive(Setup::NO_GPU, async |page| {
        page.open("/").await;
        page.click("button", "Demonstrate on the processor").await;
        let seen = page.watch_to_the_end().await;
        assert!(seen.losses.last() < seen.losses.first(), "the loss does not fall: {seen:?}");
        assert!(page.by_role("button", "Upload").await.is_none());
        let json = page.text("details.json pre").await.unwrap();
        page.open_to("/file", "heading", "Show a result file").await;
        let drop = "(json) => {
            const files = new DataTransfer();
            files.items.add(new File([json], 'run.json', { type: 'application/json' }));
            files.items.add(new File(['{}'], 'other.json', { type: 'application/json' }));
            const event = new DragEvent('drop', { dataTransfer: files, bubbles: true, cancelable: true });
            document.querySelector('.drop').dispatchEvent(event);
        }";
        page.call(drop, json.into()).await;
        page.wait_for("table", "Results").await;
        page.wait_for_text("[data-file='run.json'] .note", "was not verified").await;
        page.wait_for_text("main > [role=status] .refusal", "other.json is not a readable result").await;
    });
}
