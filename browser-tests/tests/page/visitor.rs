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
fn a_script_starts_a_run_and_waits_for_its_record() {
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
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn invalid_settings_in_the_url_are_reported_to_scripts() {
    drive(Setup::USUAL, async |page| {
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
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn invalid_settings_are_named_until_corrected() {
    drive(Setup::USUAL, async |page| {
        page.open_to("/", "button", "Benchmark").await;
        page.click_css("details.options > summary").await;
        let batch = page.find(Locator::Css("input[name=batch]")).await;
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
fn two_results_are_shown_side_by_side() {
    drive(Setup::USUAL, async |page| {
        let mut ids = Vec::new();
        for batch in [32, 64] {
            page.train(&format!("/?workload=keras-mnist-mlp&batch={batch}&steps=5")).await;
            page.upload().await;
            let record = page.record().await;
            ids.push(record["run_id"].as_str().unwrap().to_owned());
        }
        page.click("link", "Permalink").await;
        page.wait_for("table", "Results").await;
        let link = page.find(Locator::Css(".compare-with input")).await;
        link.send_keys("somewhere else").await.unwrap();
        page.click("button", "Compare").await;
        page.wait_for_text(".compare-with .refusal", "paste a link").await;
        link.clear().await.unwrap();
        let mut address = page.client().current_url().await.unwrap();
        address.set_path(&format!("/runs/{}", ids[0]));
        link.send_keys(address.as_str()).await.unwrap();
        page.click("button", "Compare").await;
        page.wait_for("table", "Side by side").await;
        page.open_to(&format!("/runs/{}", ids[1]), "table", "Results").await;
        // Search by name and select with the keyboard. Only one other result exists.
        let search = page.find(Locator::Css(".compare-with input")).await;
        search.send_keys("WGSL").await.unwrap();
        page.wait_for_text(".found", "wgsl").await;
        page.find(Locator::Css(".found input")).await.send_keys(" ").await.unwrap();
        page.click("button", "Compare").await;
        let table = page.wait_for("table", "Side by side").await;
        let text = table.text().await.unwrap();
        assert!(text.contains("Test accuracy") && text.contains("Batch size"), "{text}");
        let head = page.client().find_all(Locator::Css("table[aria-label='Side by side'] thead a")).await.unwrap();
        let mut shown = Vec::new();
        for link in head {
            shown.push(link.attr("href").await.unwrap().unwrap());
        }
        assert_eq!(shown, [format!("/runs/{}", ids[1]), format!("/runs/{}", ids[0])]);
        page.set_appearance(Setup::PHONE).await.unwrap();
        page.assert_never_scrolls_sideways().await;
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_chosen_theme_is_stored_and_overrides_the_system() {
    drive(Setup::NO_GPU, async |page| {
        page.open_to("/", "table", "Published hardware").await;
        let background = "() => getComputedStyle(document.body).backgroundColor";
        let light = page.ask(background).await;
        let choice = page.find(Locator::XPath("//label[span='Colors']/select")).await;
        choice.select_by_label("Dark").await.unwrap();
        let dark = page.ask(background).await;
        assert_ne!(dark, light);
        page.open_to("/compare", "heading", "Compare frameworks").await;
        assert_eq!(page.ask(background).await, dark, "the theme is not stored");
        page.set_appearance(Setup { dark: true, ..Setup::NO_GPU }).await.unwrap();
        let choice = page.find(Locator::XPath("//label[span='Colors']/select")).await;
        choice.select_by_label("Light").await.unwrap();
        assert_eq!(page.ask(background).await, light, "the system overrides the theme");
    });
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn a_result_file_is_shown_and_another_file_refused() {
    drive(Setup::NO_GPU, async |page| {
        page.open("/").await;
        page.click("button", "Demonstrate on the processor").await;
        page.watch_to_the_end().await;
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
