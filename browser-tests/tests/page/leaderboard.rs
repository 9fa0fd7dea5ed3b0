//! The leaderboard: its filters, columns and results.

use browser_tests::{Chromium, Page, Setup, drive};
use fantoccini::Locator;
use serde_json::{Value, json};

/// Clicks a filter's radio button or checkbox. It is transparent, so it cannot be found by role.
async fn choose(page: &Chromium, title: &str) {
    let button = format!("//section[@id='leaderboard']//label[span='{title}']/input");
    page.find(Locator::XPath(&button)).await.click().await.unwrap();
}

/// Returns the labels of the selected filters, in page order.
pub(crate) async fn selected_filters(page: &Chromium) -> Value {
    let titles =
        "() => [...document.querySelectorAll('#leaderboard input[type=radio]:checked + span, #leaderboard option:checked')]
        .map((choice) => choice.textContent)";
    page.ask(titles).await
}

async fn query(page: &Chromium) -> String {
    let url = page.client().current_url().await.unwrap();
    url.query().unwrap_or_default().to_owned()
}

#[test]
fn filters_and_columns_are_kept_in_the_url_and_unknown_values_ignored() {
    drive(Setup::NO_GPU, async |page| {
        let wrong = "leaderboard=unheard-of&leaderboard-suite=unheard-of&leaderboard-client=toaster";
        page.open(&format!("/leaderboard?{wrong}&leaderboard-class=processor")).await;
        page.wait_for_text("#leaderboard .callout", "No device has a place").await;
        assert_eq!(selected_filters(page).await, json!(["Score", "Processors", "All", "f32", "Quick"]));
        assert_eq!(query(page).await, "leaderboard-class=processor");

        page.click_css("#leaderboard summary").await;
        choose(page, "Browser").await;
        choose(page, "f16").await;
        choose(page, "Runs").await;
        page.wait_for_text("table[aria-label=Leaderboard] thead", "Network").await;
        let network = page.find(Locator::Css("#leaderboard select")).await;
        network.select_by_label("MNIST, LeNet (Caffe)").await.unwrap();
        page.wait_for_text("#leaderboard .note", "Fastest first.").await;
        let summary = page.find(Locator::Css("#leaderboard summary")).await;
        summary.send_keys("\u{e007}").await.unwrap();
        for (label, choice) in
            [("Backend", "burn-wgpu"), ("Browser", "Firefox"), ("System", "macOS"), ("Order", "Oldest first")]
        {
            page.choose(label, choice).await;
        }
        page.wait_for_text("#leaderboard .note", "Oldest first.").await;
        page.wait_for_text("table[aria-label=Leaderboard]", "No results yet").await;
        page.find(Locator::XPath("//summary[.='Columns']")).await.click().await.unwrap();
        for column in ["Time to target", "Time per epoch", "Batch size"] {
            choose(page, column).await;
        }
        let sent = query(page).await;
        for part in [
            "leaderboard=runs",
            "leaderboard-class=processor",
            "leaderboard-client=browser",
            "leaderboard-precision=f16",
            "leaderboard-network=caffe-mnist",
            "leaderboard-backend=burn-wgpu",
            "leaderboard-run-sort=oldest",
            "leaderboard-run-browser=Firefox",
            "leaderboard-run-system=macOS",
            "leaderboard-columns=samples_per_second%2Caccuracy%2Cseconds_per_epoch%2Cbatch_size%2Cprogram",
        ] {
            assert!(sent.contains(part), "{part} is not in {sent}");
        }
        choose(page, "MNIST, LeNet (Caffe)").await;
        page.wait_for_text("#leaderboard .callout", "No device has a place").await;
        let places = ["MNIST, LeNet (Caffe)", "Processors", "Browser", "f16", "Quick"];
        assert_eq!(selected_filters(page).await, json!(places));
        assert!(query(page).await.starts_with("leaderboard=caffe-mnist&"));
        assert_restores(page, &sent).await;

        page.tolerate(&["api/v1/devices/reported-unheard-of"]);
        page.open_to("/devices/reported-unheard-of", "heading", "This device cannot be shown").await;
        page.click("link", "All devices").await;
        page.wait_for("heading", "Which device trains a network fastest?").await;
    });
}

/// Opens a URL with filters and columns, and more filters, and fails if the page does not show them.
async fn assert_restores(page: &Chromium, sent: &str) {
    page.open_to("/", "heading", "Leaderboard").await;
    let more = "&leaderboard-run-since=2026-11-01&leaderboard-run-device=reported-unheard-of";
    page.open(&format!("/leaderboard?{sent}{more}")).await;
    page.wait_for_text("#leaderboard", "Oldest first.").await;
    let seen = selected_filters(page).await;
    for choice in ["Runs", "MNIST, LeNet (Caffe)", "burn-wgpu", "Oldest first", "Firefox", "macOS"] {
        assert!(seen.as_array().unwrap().contains(&choice.into()), "{seen}");
    }
    let heads = "() => [...document.querySelectorAll('table[aria-label=Leaderboard] thead th')]
            .map((head) => head.textContent)";
    let heads = page.ask(heads).await;
    let has = |column: &str| heads.as_array().unwrap().contains(&column.into());
    assert!(has("Time per epoch") && has("Batch size") && !has("Time to target"), "{heads}");
    let day = "() => document.querySelector('#leaderboard input[type=date]').value";
    assert_eq!(page.ask(day).await, "2026-11-01");
    page.wait_for("link", "reported-unheard-of").await;
    page.click("button", "All devices").await;
    page.wait_for_text("#leaderboard .note", "Oldest first.").await;
    assert!(!query(page).await.contains("leaderboard-run-device"));
}

/// Imports two accurate results of one network, derived from a short run here, and returns their IDs.
///
/// Reaching the target accuracy on an emulated GPU would take too long. The results have no run ID, so the leaderboard
/// treats them as unregistered.
async fn import_two_accurate_results(page: &Chromium) -> Vec<String> {
    page.train("/?workload=keras-mnist-mlp&batch=32&seconds=15").await;
    let mut record = page.record().await;
    assert!(record["workloads"][0]["summary"]["samples_per_second"].is_f64(), "the run was too short: {record}");
    record["run_id"] = Value::Null;
    record["nonce"] = Value::Null;
    let workload = &mut record["workloads"][0];
    let evaluation = workload["evaluations"].as_array_mut().unwrap().last_mut().unwrap();
    evaluation["accuracy"] = 0.98.into();
    let (step, seconds) = (evaluation["step"].clone(), evaluation["training_seconds"].clone());
    (workload["target"]["reached_step"], workload["target"]["reached_seconds"]) = (step, seconds.clone());
    (workload["summary"]["accuracy"], workload["summary"]["seconds_to_target"]) = (0.98.into(), seconds);
    let mut ids = Vec::new();
    for name in ["Example A", "Example B"] {
        record["device"]["adapter"]["name"] = name.into();
        let import = "async (record) => {
            const headers = { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID().repeat(2) };
            const answer = await fetch('/api/v1/runs/import', { method: 'POST', headers, body: record });
            return [answer.status, await answer.json()];
        }";
        let answer = page.call(import, record.to_string().into()).await;
        assert_eq!(answer[0], 201, "{answer}");
        ids.push(answer[1]["run_id"].as_str().unwrap().to_owned());
    }
    ids
}

/// Compares the second result with the first, found by its link and then by its name.
async fn assert_compared(page: &Chromium, ids: &[String]) {
    page.open_to(&format!("/runs/{}", ids[1]), "table", "Results").await;
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
    let shown = "() => [...document.querySelectorAll('table[aria-label=\"Side by side\"] thead a')]
        .map((link) => link.pathname)";
    assert_eq!(page.ask(shown).await, json!([format!("/runs/{}", ids[1]), format!("/runs/{}", ids[0])]));
    page.assert_fits_phones().await;
}

#[test]
#[ignore = "all browser tests take ten minutes"]
fn results_are_shown_in_a_chart_and_side_by_side() {
    drive(Setup::USUAL, async |page| {
        let ids = import_two_accurate_results(page).await;
        page.open("/leaderboard?leaderboard=runs&leaderboard-network=keras-mnist-mlp").await;
        page.wait_for_text("table[aria-label=Leaderboard]", "Example A").await;
        page.click_css("[data-part=scatter] > summary").await;
        page.assert_fits_phones().await;
        let names = "() => [...document.querySelectorAll('a.point')]
            .map((point) => point.getAttribute('aria-label')).sort()";
        let names = page.ask(names).await;
        assert_eq!(names.as_array().unwrap().len(), 2, "{names}");
        assert!(names[0].as_str().unwrap().starts_with("Example A, wgsl: "), "{names}");
        page.ask("() => document.querySelector('a.point').focus()").await;
        page.wait_for_text(".pointed", "samples per second, target after").await;
        page.click_css("[data-part=scatter] figure summary").await;
        page.wait_for_text("table[aria-label='Data: Speed and time to target']", "Example B").await;

        let files = "async () => {
            const links = [...document.querySelectorAll('.exports a[data-format]')];
            const text = async (link) => (await fetch(link.href)).text();
            return [links.map((link) => link.getAttribute('href')), await text(links[0]), await text(links[2])];
        }";
        let files = page.ask(files).await;
        let [links, csv, lines] = [0, 1, 2].map(|index| &files[index]);
        assert_eq!(links[2], "/api/v1/export?format=jsonl&workload=keras-mnist-mlp");
        let rows = csv.as_str().unwrap().lines().count() - 1;
        assert_eq!((rows, lines.as_str().unwrap().lines().count()), (2, 2), "only the filtered results are exported");

        page.call(
            "() => document.querySelector('a.point').dispatchEvent(new MouseEvent('click', { bubbles: true }))",
            Value::Null,
        )
        .await;
        page.wait_for("table", "Results").await;
        assert_compared(page, &ids).await;
    });
}
