//! Burn and JavaScript frameworks in the page, and comparisons of backends.

use browser_tests::{
    Chromium, Page, PageServer, RUN_TIMEOUT, Setup, TIMEOUT, drive, drive_with_server, read_page_json, skipped,
};
use fantoccini::Locator;
use serde_json::{Value, json};

use crate::run::assert_completed;

/// Runs `body` if the page has Burn. A missing bundle is a failure.
fn drive_with_burn(setup: Setup, body: impl AsyncFnOnce(&Chromium, &PageServer)) {
    let state = read_page_json("burn.json").unwrap();
    assert_eq!(state["state"], "ready", "the page has no Burn: {state}; `cargo xtask test` builds it");
    drive_with_server(setup, body);
}

/// Returns the addresses of requests to folders that begin with this name.
async fn requests(page: &Chromium, folder: &str) -> Value {
    let requests = "(folder) => performance.getEntriesByType('resource')
        .map((entry) => entry.name).filter((name) => name.includes(folder))";
    page.call(requests, folder.into()).await
}

/// Starts a run, and returns its record. Fails if the framework is fetched before the run, or is not described.
async fn train_with(page: &Chromium, framework: &str, folder: &str) -> Value {
    let note = page.wait_for_text("#benchmark-note", " MB (").await;
    assert!(note.contains(&format!("MB ({framework})")), "{note}");
    assert_eq!(requests(page, folder).await, json!([]), "it is fetched before it trains");
    page.click("button", "Benchmark").await;
    page.watch_to_the_end().await;
    let fetched = page.text("[data-figure=bundle]").await.unwrap();
    let is_shown = fetched.starts_with(&format!("{framework}: ")) && fetched.contains(" MB fetched and started in");
    assert!(is_shown, "{fetched}");
    let record = page.record().await;
    assert_completed(&record);
    record
}

#[test]
#[ignore = "needs Burn in the page"]
fn burn_is_fetched_when_needed_and_trains_on_the_cpu() {
    // This backend does not need WebGPU.
    drive_with_burn(Setup::NO_GPU, async |page, _| {
        page.open_to("/?workload=keras-mnist-mlp&batch=8&steps=6", "heading", "WebGPU is missing").await;
        page.click_css("details.options > summary").await;
        page.click_css("input[value=burn-flex]").await;
        let record = train_with(page, "Burn", "/burn-").await;
        assert_eq!(record["device"]["backend"], "burn-flex");
        assert_ne!(requests(page, "/burn-").await, json!([]));
    });
}

#[test]
#[ignore = "needs Burn in the page"]
fn missing_burn_is_reported_and_a_retry_succeeds() {
    let setup = Setup { missing: &["worker_bg.wasm"], ..Setup::USUAL };
    drive_with_burn(setup, async |page, server| {
        page.start("/?workload=keras-mnist-mlp&batch=8&seconds=600&backend=burn-flex").await;
        let is_reported =
            |text: &str| text.contains("could not be loaded") && text.contains("404") && text.contains("try again");
        page.wait_for_status(TIMEOUT, is_reported).await;
        server.restore_missing().unwrap();
        page.click("button", "Benchmark").await;
        page.wait_for_status(RUN_TIMEOUT, |text| text.ends_with(": training")).await;
        page.cancel().await;
    });
}

/// Opens the comparison page and starts a comparison. Records every status that the page shows from then on.
async fn compare(page: &Chromium, path: &str) {
    page.open_to(path, "heading", "Compare frameworks").await;
    let record_statuses = "() => {
        window.statuses = [];
        new MutationObserver(() => {
            const text = document.querySelector('[role=status]')?.textContent;
            if (text && window.statuses.at(-1) !== text) window.statuses.push(text);
        }).observe(document.body, { subtree: true, childList: true, characterData: true });
    }";
    page.ask(record_statuses).await;
    page.wait_for_text("#compare-note", "train in turn").await;
    page.click("button", "Compare").await;
}

/// Returns each status shown since [`compare`], up to its first colon, without consecutive duplicates.
async fn turns_of(page: &Chromium) -> Vec<String> {
    let statuses = page.ask("() => window.statuses").await;
    let statuses = statuses.as_array().unwrap().iter().map(|status| status.as_str().unwrap());
    let mut turns: Vec<String> = statuses.filter_map(|status| Some(status.split_once(": ")?.0.to_owned())).collect();
    turns.dedup();
    turns
}

/// Returns the text and the unrounded value of each cell in a backend's row of the comparison.
async fn cells_of(page: &Chromium, backend: &str) -> Vec<(String, Option<f64>)> {
    let cells = "(backend) => [...document.querySelectorAll(`tr[data-backend=${backend}] td`)]
        .map((cell) => [cell.textContent, cell.dataset.value ?? null])";
    let cells = page.call(cells, backend.into()).await;
    let cell = |cell: &Value| {
        let value = cell[1].as_str().map(|value| value.parse().unwrap());
        (cell[0].as_str().unwrap().to_owned(), value)
    };
    cells.as_array().unwrap().iter().map(cell).collect()
}

#[test]
#[ignore = "needs Burn in the page"]
fn a_comparison_of_several_seeds_has_ratios_and_a_verdict() {
    drive_with_burn(Setup::USUAL, async |page, _| {
        // Evaluating Burn on an emulated GPU would take minutes.
        let compared = "&compare=wgsl,burn-flex&seeds=2";
        compare(page, &format!("/compare?workload=keras-mnist-mlp&batch=32&steps=20{compared}")).await;
        page.wait_for_status(RUN_TIMEOUT, |text| text == "The comparison is below.").await;
        // The backends take turns at going first.
        let (ours, burn) = ("WGSL (Gradmark)", "Burn on the processor");
        let turn = |(backend, number)| format!("{backend} ({number} of 4)");
        assert_eq!(turns_of(page).await, [ours, burn, burn, ours].into_iter().zip(1..).map(turn).collect::<Vec<_>>());

        let table = page.by_role("table", "Comparison: MNIST, multilayer perceptron (Keras)").await.unwrap();
        assert_eq!(table.find_all(Locator::Css("tbody tr")).await.unwrap().len(), 2);
        let rows = [cells_of(page, "wgsl").await, cells_of(page, "burn-flex").await];
        for (column, name) in [(1, "time per epoch"), (2, "training"), (3, "testing"), (6, "start")] {
            let cells: Vec<_> = rows.iter().map(|row| &row[column]).collect();
            let fastest = cells.iter().filter_map(|cell| cell.1).fold(f64::INFINITY, f64::min);
            let both = cells.iter().all(|cell| cell.1.is_some());
            for (text, seconds) in cells {
                let Some(seconds) = seconds else {
                    // So few steps yield no throughput, and therefore no time per epoch.
                    assert_eq!((name, text.as_str()), ("time per epoch", "–"));
                    continue;
                };
                let ratio = format!("{:.2} ×", seconds / fastest);
                assert!(
                    *seconds > 0.0 && text.contains(&ratio) == both,
                    "{name}: unexpected or missing {ratio} in “{text}”"
                );
            }
        }
        let accuracies = rows.each_ref().map(|row| row[4].1.unwrap());
        // Twenty steps of 32 samples do much better than chance, which is 0.1.
        assert!(accuracies.iter().all(|accuracy| *accuracy > 0.3), "{accuracies:?}");
        let winner = page.text(".winner").await.unwrap();
        assert_eq!(winner, "Too short to measure a difference. Train for longer.");
        let verdict = page.text(".verdict").await.unwrap();
        assert!(verdict.starts_with("Final accuracies: no difference found; "), "{verdict}");
        let apart = format!("differ by up to {:.2} points", 100.0 * (accuracies[0] - accuracies[1]).abs());
        assert!(verdict.contains(&apart), "{apart} is not in “{verdict}”");
        check_exports(page).await;
    });
}

/// Checks the chart, the downloaded files and the link of a finished comparison.
async fn check_exports(page: &Chromium) {
    let picture = page.attribute(".sheet figure.chart svg", "aria-label").await.unwrap();
    assert!(picture.contains("WGSL (Gradmark): ") && picture.contains("Burn on the processor: "), "{picture}");
    let catch_files = "() => {
        window.saved = [];
        const create = URL.createObjectURL;
        URL.createObjectURL = (blob) => { window.saved.push(blob); return create.call(URL, blob); };
    }";
    page.ask(catch_files).await;
    page.click("button", "Download (JSON)").await;
    page.click("button", "Download (CSV)").await;
    let saved = page.ask("() => Promise.all(window.saved.map((blob) => blob.text()))").await;
    let document: Value = serde_json::from_str(saved[0].as_str().unwrap()).unwrap();
    assert_eq!(document["comparisons"][0]["rows"].as_array().unwrap().len(), 2, "{document}");
    assert_eq!(document["records"].as_array().unwrap().len(), 4, "the file lacks records");
    let table = saved[1].as_str().unwrap();
    let lines: Vec<_> = table.lines().map(|line| line.split(',').take(2).collect::<Vec<_>>().join(",")).collect();
    assert_eq!(lines, ["workload,backend", "keras-mnist-mlp,wgsl", "keras-mnist-mlp,burn-flex"], "{table}");

    // Headless browsers have no clipboard.
    let catch_link = "() => { navigator.clipboard.writeText = async (text) => { window.copied = text; }; }";
    page.ask(catch_link).await;
    page.click("button", "Copy the link").await;
    let link = page.ask("() => window.copied").await;
    let (_, query) = link.as_str().unwrap().split_once("/compare?").unwrap();
    let seed = document["records"][0]["requested"]["seed"].as_u64().unwrap();
    for part in ["workload=keras-mnist-mlp", "compare=wgsl,burn-flex", "seeds=2", &format!("seed={seed}"), "steps=20"] {
        assert!(query.split('&').any(|pair| pair == part), "{part} is not in {query}");
    }
}

#[test]
#[ignore = "needs Burn in the page"]
fn cancelled_and_impossible_comparisons_show_what_finished_and_why() {
    drive_with_burn(Setup::USUAL, async |page, _| {
        // SwiftShader has no f16, and the Burn backends do not support it.
        let compared = "compare=wgsl,burn-wgpu,burn-flex&seeds=3";
        compare(page, &format!("/compare?workload=keras-mnist-mlp&batch=8&steps=3&precision=f16&{compared}")).await;
        page.wait_for_status(RUN_TIMEOUT, |text| text == "The comparison is below.").await;
        for backend in ["wgsl", "burn-wgpu", "burn-flex"] {
            let cells = cells_of(page, backend).await;
            assert_eq!(cells, vec![("–".to_owned(), None); 7], "{backend}");
            let reason = page.text(&format!("tr[data-backend={backend}] th .explain")).await.unwrap();
            assert!(reason.contains("f16"), "{backend}: {reason}");
        }
        let verdict = page.text(".verdict").await.unwrap();
        assert_eq!(verdict, "Accuracies were not compared: fewer than two back ends finished.");
        page.wait_for("button", "Compare").await;
        page.choose("Language", "Deutsch").await;
        page.wait_for("button", "Vergleichen").await;
        for backend in ["wgsl", "burn-wgpu", "burn-flex"] {
            let reason = page.text(&format!("tr[data-backend={backend}] th .explain")).await.unwrap();
            let prefix =
                "Der Benchmark ist fehlgeschlagen: das Gerät beherrscht dieses Zahlenformat nicht (auf Englisch: „";
            assert!(reason.starts_with(prefix) && reason.contains("f16"), "{backend}: {reason}");
        }
        let reason = page.ask("() => window.gradmark.comparison.unavailable[0].reason").await;
        assert!(reason.as_str().unwrap().starts_with("The benchmark failed: "), "scripts need English: {reason}");

        // A cancelled comparison keeps its finished backends.
        page.choose("Sprache", "English").await;
        compare(page, "/compare?workload=keras-mnist-mlp&batch=8&steps=6&compare=wgsl,burn-wgpu,burn-flex").await;
        page.wait_for_status(RUN_TIMEOUT, |text| text.starts_with("WGSL (Gradmark) (1 of 3)")).await;
        // Cancel before the evaluation, which would take minutes on an emulated GPU.
        let has_begun = |text: &str| text.starts_with("Burn on WebGPU (2 of 3): Network 1 of 1");
        page.wait_for_status(RUN_TIMEOUT, has_begun).await;
        page.click("button", "Cancel").await;
        page.wait_for_status(TIMEOUT, |text| text == "The comparison is below.").await;
        let row = page.text("tr[data-backend=wgsl]").await.unwrap();
        assert!(row.contains('%'), "{row}");
        assert!(page.text("tr[data-backend=burn-flex]").await.is_none());
    });
}

const NO_BURN: &str = r#"{"state":"missing","note":"the page was built without it (--no-burn-page)"}"#;

/// Reports a skipped test if the page lacks the framework bundles. Building them needs npm and its registry.
pub(crate) fn has_frameworks() -> bool {
    let state = read_page_json("frameworks.json").unwrap();
    if state["state"] != "ready" {
        skipped(&format!("the page has no TensorFlow.js and no jax-js: {}", state["note"]));
    }
    state["state"] == "ready"
}

fn drive_with_frameworks(setup: Setup, body: impl AsyncFnOnce(&Chromium)) {
    if has_frameworks() {
        drive(setup, body);
    }
}

fn assert_trained(record: &Value, backend: &str, framework: &str) {
    assert_eq!(record["device"]["backend"], backend);
    assert_eq!(record["device"]["adapter"]["api"], framework);
    assert_completed(record);
    if framework == "jax-js" {
        // The record names the faster variant.
        let variants = record["workloads"][0]["settings"]["variants"].to_string();
        assert!(
            variants.contains("steps: each waited for") || variants.contains("steps: several in flight"),
            "{variants}"
        );
    }
    assert!(record["departures"].to_string().contains(&format!(r#""program":"{backend}""#)), "{record}");
}

#[test]
#[ignore = "needs other frameworks in the page"]
fn frameworks_train_without_webgpu_when_fetched() {
    drive_with_frameworks(Setup::NO_GPU, async |page| {
        for (backend, framework) in
            [("tfjs-webgl", "TensorFlow.js"), ("tfjs-wasm", "TensorFlow.js"), ("jax-js-wasm", "jax-js")]
        {
            let path = format!("/?workload=keras-mnist-mlp&batch=8&steps=4&backend={backend}");
            page.open_to(&path, "button", "Benchmark").await;
            assert_trained(&train_with(page, framework, "/framework-").await, backend, framework);
            assert!(page.by_role("button", "Upload").await.is_none());
            let callout = "[aria-labelledby=result-title] .callout";
            page.wait_for_text(callout, "the leaderboard cannot prove or rank them").await;
        }
    });
}

#[test]
#[ignore = "needs other frameworks in the page"]
fn frameworks_are_compared_with_wgsl_by_default_and_shared() {
    drive_with_frameworks(Setup { burn: Some(NO_BURN), ..Setup::USUAL }, async |page| {
        page.open("/compare?workload=keras-mnist-mlp&batch=8&steps=6").await;
        page.wait_for_text("#compare-note", "3 backends train in turn").await;
        page.click("button", "Compare").await;
        page.wait_for_status(RUN_TIMEOUT, |text| text == "The comparison is below.").await;
        let script = "() => [...document.querySelectorAll('tr[data-backend]')]
            .map((row) => [row.dataset.backend, row.children[5].dataset.value ?? null])";
        let rows = page.ask(script).await;
        let names: Vec<_> = rows.as_array().unwrap().iter().map(|row| row[0].as_str().unwrap()).collect();
        assert_eq!(names, ["wgsl", "tfjs-webgpu", "jax-js-webgpu"], "{rows}");
        assert!(rows.as_array().unwrap().iter().all(|row| row[1].is_string()), "a backend has no accuracy: {rows}");
        let verdict = page.text(".verdict").await.unwrap();
        assert!(verdict.contains("no difference found"), "{verdict}");
        let fetched = page.text("[data-figure=fetched]").await.unwrap();
        assert!(fetched.contains("TensorFlow.js: ") && fetched.contains("jax-js: "), "{fetched}");
        // Scripts get the same rows.
        let finished = page.ask("async () => await window.gradmark.finished").await;
        assert_eq!(finished["state"], "finished", "{finished}");
        let rows = finished["comparison"]["comparisons"][0]["rows"].as_array().unwrap();
        let reported: Vec<_> = rows.iter().map(|row| row["contender"]["backend"].as_str().unwrap()).collect();
        assert_eq!(reported, names);
        let records = finished["comparison"]["records"].as_array().unwrap();
        assert_trained(&records[1], "tfjs-webgpu", "TensorFlow.js");
        assert_trained(&records[2], "jax-js-webgpu", "jax-js");

        // A shared comparison has a page, but no results.
        let cells = "() => [...document.querySelectorAll('table.compared tbody tr')].map((row) => row.innerText)";
        let seen = page.ask(cells).await;
        assert_eq!(seen.as_array().unwrap().len(), 3, "{seen}");
        page.click("button", "Upload").await;
        page.click("link", "Permalink").await;
        page.wait_for("heading", "Comparison of backends").await;
        page.wait_for_text(".verdict", "no difference found").await;
        let path = page.client().current_url().await.unwrap().path().to_owned();
        assert_eq!(page.ask(cells).await, seen, "the shared comparison differs from the original");
        page.assert_fits_phones().await;
        let results = "async () => (await (await fetch('/api/v1/runs')).json()).total";
        assert_eq!(page.ask(results).await, 0, "the results of a framework are listed");

        page.click("link", "Delete this comparison").await;
        page.click("button", "Delete this comparison").await;
        page.wait_for_status(TIMEOUT, |text| text == "The comparison is deleted.").await;
        page.tolerate(&["api/v1/comparisons"]);
        page.open_to(&path, "heading", "This cannot be shown").await;
    });
}

#[test]
#[ignore = "needs other frameworks in the page"]
fn a_framework_failure_is_reported_with_its_reason() {
    drive_with_frameworks(Setup::USUAL, async |page| {
        page.open("/?workload=caffe-mnist&batch=8&steps=3&backend=tfjs-wasm").await;
        page.wait_for_text("#benchmark-note", "it has no gradients of convolutions").await;
        page.open_to("/?workload=keras-mnist-mlp&batch=8&steps=4&backend=tfjs-wasm", "button", "Benchmark").await;
        let break_url = "() => {
            const { Worker } = window;
            const redirect = (url) => (url.includes('/framework-') ? '/gone.js' : url);
            window.Worker = function (url) { return new Worker(redirect(url)); };
        }";
        page.ask(break_url).await;
        page.tolerate(&["gone.js"]);
        page.click("button", "Benchmark").await;
        page.wait_for_status(TIMEOUT, |text| text.contains("its script cannot be fetched; check the connection")).await;
    });
}
