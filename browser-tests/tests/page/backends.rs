//! Burn and the frameworks of JavaScript in the page, and comparisons of backends.

use browser_tests::{
    Browser, PATIENCE, Page, RUN_PATIENCE, Server, Setup, drive, drive_with_server, file_of_page, skipped,
};
use fantoccini::Locator;
use serde_json::Value;

/// Runs `body` where the page has Burn; `cargo xtask test --no-burn-page` builds one without, and says so to the tests.
/// Without that word a page whose bundle is not ready is a failure.
fn drive_with_burn(setup: Setup, body: impl AsyncFnOnce(&Browser)) {
    drive_with_burn_and_server(setup, async |page, _| body(page).await);
}

fn drive_with_burn_and_server(setup: Setup, body: impl AsyncFnOnce(&Browser, &Server)) {
    if std::env::var("GRADMARK_NO_BURN_PAGE").is_ok_and(|value| value == "1") {
        return skipped("the page was built without Burn");
    }
    let said = file_of_page("burn.json").unwrap();
    assert_eq!(said["state"], "ready", "the page has no Burn: {said}; `cargo xtask test` builds it");
    drive_with_server(setup, body);
}

/// Files of the Burn bundle that the page has requested.
async fn asked_of_burn(page: &Browser) -> Vec<Value> {
    page.ask("() => performance.getEntriesByType('resource').map(e => e.name).filter(n => n.includes('/burn-'))")
        .await
        .as_array()
        .unwrap()
        .clone()
}

#[test]
#[ignore = "needs Burn in the page"]
fn burn_is_fetched_when_chosen_and_trains_on_the_processor() {
    // Without WebGPU, which this back end does not need.
    drive_with_burn(Setup::NO_GPU, async |page| {
        page.open_to("/?workload=keras-mnist-mlp&batch=8&steps=6", "heading", "WebGPU is missing").await;
        let driver = page.client();
        driver.find(Locator::Css("details.options > summary")).await.unwrap().click().await.unwrap();
        driver.find(Locator::Css("input[value=burn-flex]")).await.unwrap().click().await.unwrap();
        let note = page.text("#benchmark-note").await.unwrap();
        assert!(note.contains("MB (Burn)"), "{note}");
        assert_eq!(asked_of_burn(page).await, Vec::<Value>::new());

        page.click("button", "Benchmark").await;
        page.watch_to_the_end().await;
        assert!(!asked_of_burn(page).await.is_empty());
        let fetched = page.text("[data-figure=bundle]").await.unwrap();
        assert!(fetched.contains(" MB fetched and started in"), "{fetched}");
        let record = page.record().await;
        assert_eq!(record["device"]["backend"], "burn-flex");
        let workload = &record["workloads"][0];
        assert_eq!(workload["correctness"]["passed"], true, "{record}");
        assert_eq!(workload["outcome"]["kind"], "completed");
    });
}

#[test]
#[ignore = "needs Burn in the page"]
fn missing_burn_is_reported_and_another_try_succeeds() {
    let setup = Setup { missing: &["worker_bg.wasm"], ..Setup::USUAL };
    drive_with_burn_and_server(setup, async |page, server| {
        page.start("/?workload=keras-mnist-mlp&batch=8&seconds=600&backend=burn-flex").await;
        let told =
            |text: &str| text.contains("could not be loaded") && text.contains("404") && text.contains("try again");
        page.wait_for_status(PATIENCE, told).await;
        server.restore_missing().unwrap();
        page.click("button", "Benchmark").await;
        page.wait_for_status(RUN_PATIENCE, |text| text.ends_with(": training")).await;
        page.cancel().await;
    });
}

/// Opens the page that compares, and does so. The page keeps every status that it shows from then on.
async fn compare(page: &Browser, path: &str) {
    page.open_to(path, "heading", "Compare frameworks").await;
    let keep = "() => {
        window.statuses = [];
        new MutationObserver(() => {
            const text = document.querySelector('[role=status]')?.textContent;
            if (text && window.statuses.at(-1) !== text) window.statuses.push(text);
        }).observe(document.body, { subtree: true, childList: true, characterData: true });
    }";
    page.ask(keep).await;
    page.wait_for_text("#compare-note", "train in turn").await;
    page.click("button", "Compare").await;
}

#[test]
#[ignore = "needs Burn in the page"]
fn a_cancelled_comparison_keeps_its_finished_backends() {
    drive_with_burn(Setup::USUAL, async |page| {
        compare(page, "/compare?workload=keras-mnist-mlp&batch=8&steps=6&compare=wgsl,burn-wgpu,burn-flex").await;
        page.wait_for_status(RUN_PATIENCE, |text| text.starts_with("WGSL (Gradmark) (1 of 3)")).await;
        // It trains once its first losses agree with the reference. The test set would take minutes on an emulated GPU.
        let trains = |text: &str| text.starts_with("Burn on WebGPU (2 of 3)") && text.ends_with(": training");
        page.wait_for_status(RUN_PATIENCE, trains).await;
        page.click("button", "Cancel").await;
        page.wait_for_status(PATIENCE, |text| text == "The comparison is below.").await;
        let row = page.text("tr[data-backend=wgsl]").await.unwrap();
        assert!(row.contains('%'), "{row}");
        assert!(page.text("tr[data-backend=burn-flex]").await.is_none());
    });
}

/// Beginning, until the first colon, of each status shown since [`compare`], each once.
async fn turns_of(page: &Browser) -> Vec<String> {
    let statuses = page.ask("() => window.statuses").await;
    let statuses = statuses.as_array().unwrap().iter().map(|status| status.as_str().unwrap());
    let mut turns: Vec<String> = statuses.filter_map(|status| Some(status.split_once(": ")?.0.to_owned())).collect();
    turns.dedup();
    turns
}

/// A row of the comparison: text and unrounded value of each of its cells, in the order of the columns.
async fn cells_of(page: &Browser, backend: &str) -> Vec<(String, Option<f64>)> {
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
    drive_with_burn(Setup::USUAL, async |page| {
        // Burn on an emulated GPU would take minutes to test.
        let compared = "&compare=wgsl,burn-flex&seeds=2";
        compare(page, &format!("/compare?workload=keras-mnist-mlp&batch=32&steps=20{compared}")).await;
        page.wait_for_status(RUN_PATIENCE, |text| text == "The comparison is below.").await;
        // They take turns in going first.
        let (ours, burn) = ("WGSL (Gradmark)", "Burn on the processor");
        let turn = |(backend, place)| format!("{backend} ({place} of 4)");
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
                    // These few steps give no throughput, and therefore no time per epoch.
                    assert_eq!((name, text.as_str()), ("time per epoch", "–"));
                    continue;
                };
                let ratio = format!("{:.2} ×", seconds / fastest);
                assert!(*seconds > 0.0 && text.contains(&ratio) == both, "{name}: is {ratio} in “{text}”?");
            }
        }
        let accuracies = rows.each_ref().map(|row| row[4].1.unwrap());
        // Twenty steps of 32 samples are enough to do better than one in ten by far.
        assert!(accuracies.iter().all(|accuracy| *accuracy > 0.3), "{accuracies:?}");
        let winner = page.text(".winner").await.unwrap();
        assert_eq!(winner, "Too short to measure a difference. Train for longer.");
        let verdict = page.text(".verdict").await.unwrap();
        assert!(verdict.starts_with("Final accuracies: no difference found; "), "{verdict}");
        let apart = format!("differ by up to {:.2} points", 100.0 * (accuracies[0] - accuracies[1]).abs());
        assert!(verdict.contains(&apart), "{apart} is not in “{verdict}”");
        all_of_it_can_be_taken_along(page).await;
    });
}

/// Both curves are in one chart, and the metrics in files; a link repeats the comparison.
async fn all_of_it_can_be_taken_along(page: &Browser) {
    let picture = page.attribute(".sheet figure.chart svg", "aria-label").await.unwrap();
    assert!(picture.contains("WGSL (Gradmark): ") && picture.contains("Burn on the processor: "), "{picture}");
    let catch = "() => {
        window.saved = [];
        const make = URL.createObjectURL;
        URL.createObjectURL = (blob) => { window.saved.push(blob); return make.call(URL, blob); };
    }";
    page.ask(catch).await;
    page.click("button", "Download (JSON)").await;
    page.click("button", "Download (CSV)").await;
    let saved = page.ask("() => Promise.all(window.saved.map((blob) => blob.text()))").await;
    let document: Value = serde_json::from_str(saved[0].as_str().unwrap()).unwrap();
    assert_eq!(document["comparisons"][0]["rows"].as_array().unwrap().len(), 2, "{document}");
    assert_eq!(document["records"].as_array().unwrap().len(), 4, "each run is there whole");
    let table = saved[1].as_str().unwrap();
    let lines: Vec<_> = table.lines().map(|line| line.split(',').take(2).collect::<Vec<_>>().join(",")).collect();
    assert_eq!(lines, ["workload,backend", "keras-mnist-mlp,wgsl", "keras-mnist-mlp,burn-flex"], "{table}");

    // Headless browsers keep no clipboard, and then the page shows the link.
    let catch = "() => { navigator.clipboard.writeText = async (text) => { window.copied = text; }; }";
    page.ask(catch).await;
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
fn an_impossible_comparison_ends_with_the_reason_of_each_backend() {
    drive_with_burn(Setup::USUAL, async |page| {
        // SwiftShader has no f16, and Burn is not asked for it.
        let compared = "compare=wgsl,burn-wgpu,burn-flex&seeds=3";
        compare(page, &format!("/compare?workload=keras-mnist-mlp&batch=8&steps=3&precision=f16&{compared}")).await;
        page.wait_for_status(RUN_PATIENCE, |text| text == "The comparison is below.").await;
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
            let said =
                "Der Benchmark ist fehlgeschlagen: das Gerät beherrscht dieses Zahlenformat nicht (auf Englisch: „";
            assert!(reason.starts_with(said) && reason.contains("f16"), "{backend}: {reason}");
        }
        let told = page.ask("() => window.gradmark.comparison.unavailable[0].reason").await;
        assert!(told.as_str().unwrap().starts_with("The benchmark failed: "), "for machines it is in English: {told}");
    });
}

const NO_BURN: &str = r#"{"state":"missing","note":"the page was built without it (--no-burn-page)"}"#;

/// Runs `body` where the page has the bundles, which are made where npm is and its registry answers.
fn drive_with_frameworks(setup: Setup, body: impl AsyncFnOnce(&Browser)) {
    let said = file_of_page("frameworks.json").unwrap();
    if said["state"] == "ready" {
        drive(setup, body);
    } else {
        skipped(&format!("the page has no TensorFlow.js and no jax-js: {}", said["note"]));
    }
}

/// Framework files that the page and its workers have requested.
async fn asked_of_frameworks(page: &Browser) -> Value {
    page.ask("() => performance.getEntriesByType('resource').map(e => e.name).filter(n => n.includes('/framework-'))")
        .await
}

/// Trains a few steps, and holds the record to what every one must be.
async fn trains(page: &Browser, backend: &str, framework: &str) {
    page.open_to(&format!("/?workload=keras-mnist-mlp&batch=8&steps=4&backend={backend}"), "button", "Benchmark").await;
    let note = page.wait_until_it_says("#benchmark-note", PATIENCE, |text| text.contains(" MB (")).await;
    assert!(note.contains(&format!("MB ({framework})")), "{note}");
    assert_eq!(asked_of_frameworks(page).await, Value::Array(Vec::new()), "it is fetched only when it trains");

    page.click("button", "Benchmark").await;
    page.watch_to_the_end().await;
    let fetched = page.text("[data-figure=bundle]").await.unwrap();
    let told = fetched.starts_with(&format!("{framework}: ")) && fetched.contains("fetched and started in");
    assert!(told && fetched.contains("MB"), "{fetched}");
    let record = page.record().await;
    assert_eq!(record["device"]["backend"], backend);
    assert_eq!(record["device"]["adapter"]["api"], framework);
    let workload = &record["workloads"][0];
    assert_eq!(workload["correctness"]["passed"], true, "{record}");
    assert_eq!(workload["outcome"]["kind"], "completed", "{record}");
    if framework == "jax-js" {
        // Both were tried, and the record says which was faster.
        let variants = workload["settings"]["variants"].to_string();
        assert!(
            variants.contains("steps: each waited for") || variants.contains("steps: several in flight"),
            "{variants}"
        );
    }
    assert!(record["departures"].to_string().contains(&format!(r#""program":"{backend}""#)), "{record}");
    assert!(page.by_role("button", "Upload").await.is_none());
    page.wait_for_text("[aria-labelledby=result-title] > .callout", "the leaderboard cannot prove or rank them").await;
}

#[test]
#[ignore = "needs other frameworks in the page"]
fn frameworks_train_with_and_without_webgpu() {
    drive_with_frameworks(Setup::USUAL, async |page| {
        trains(page, "tfjs-webgpu", "TensorFlow.js").await;
        trains(page, "jax-js-webgpu", "jax-js").await;
        trains(page, "jax-js-wasm", "jax-js").await;
    });
    drive_with_frameworks(Setup::NO_GPU, async |page| {
        trains(page, "tfjs-webgl", "TensorFlow.js").await;
        trains(page, "tfjs-wasm", "TensorFlow.js").await;
    });
}

#[test]
#[ignore = "needs other frameworks in the page"]
fn frameworks_are_compared_with_our_kernels_by_default() {
    drive_with_frameworks(Setup { burn: Some(NO_BURN), ..Setup::USUAL }, async |page| {
        page.open("/compare?workload=keras-mnist-mlp&batch=8&steps=6").await;
        page.wait_for_text("#compare-note", "3 backends train in turn").await;
        page.click("button", "Compare").await;
        page.wait_for_status(RUN_PATIENCE, |text| text == "The comparison is below.").await;
        let script = "() => [...document.querySelectorAll('tr[data-backend]')]
            .map((row) => [row.dataset.backend, row.children[5].dataset.value ?? null])";
        let rows = page.ask(script).await;
        let names: Vec<_> = rows.as_array().unwrap().iter().map(|row| row[0].as_str().unwrap()).collect();
        assert_eq!(names, ["wgsl", "tfjs-webgpu", "jax-js-webgpu"], "{rows}");
        assert!(rows.as_array().unwrap().iter().all(|row| row[1].is_string()), "each has an accuracy: {rows}");
        let verdict = page.text(".verdict").await.unwrap();
        assert!(verdict.contains("no difference found"), "{verdict}");
        let fetched = page.text("[data-figure=fetched]").await.unwrap();
        assert!(fetched.contains("TensorFlow.js: ") && fetched.contains("jax-js: "), "{fetched}");
        // Scripts get the same.
        let finished = page.ask("async () => await window.gradmark.finished").await;
        assert_eq!(finished["state"], "finished", "{finished}");
        let told = finished["comparison"]["comparisons"][0]["rows"].as_array().unwrap();
        let told: Vec<_> = told.iter().map(|row| row["contender"]["backend"].as_str().unwrap()).collect();
        assert_eq!(told, names);
    });
}

#[test]
#[ignore = "needs other frameworks in the page"]
fn a_shared_comparison_has_a_page_and_is_no_result() {
    drive_with_frameworks(Setup { burn: Some(NO_BURN), ..Setup::USUAL }, async |page| {
        page.open("/compare?workload=keras-mnist-mlp&batch=8&steps=4&compare=wgsl,tfjs-wasm").await;
        page.wait_for_text("#compare-note", "2 backends train in turn").await;
        page.click("button", "Compare").await;
        page.wait_for_status(RUN_PATIENCE, |text| text == "The comparison is below.").await;
        let cells = "() => [...document.querySelectorAll('table.compared tbody tr')].map((row) => row.innerText)";
        let seen = page.ask(cells).await;
        assert_eq!(seen.as_array().unwrap().len(), 2, "{seen}");
        page.click("button", "Upload").await;
        page.click("link", "Permalink").await;
        page.wait_for("heading", "Comparison of backends").await;
        page.wait_for_text(".verdict", "no difference found").await;
        let place = page.client().current_url().await.unwrap().path().to_owned();
        assert_eq!(page.ask(cells).await, seen, "what the comparing person saw");
        page.set_appearance(Setup::PHONE).await.unwrap();
        page.assert_never_scrolls_sideways().await;
        let results = "async () => (await (await fetch('/api/v1/runs')).json()).total";
        assert_eq!(page.ask(results).await, 0, "no result of a framework is in a list");

        page.click("link", "Delete this comparison").await;
        page.click("button", "Delete this comparison").await;
        page.wait_for_status(PATIENCE, |text| text == "The comparison is deleted.").await;
        page.tolerate(&["api/v1/comparisons"]);
        page.open_to(&place, "heading", "This cannot be shown").await;
    });
}

#[test]
#[ignore = "needs other frameworks in the page"]
fn a_failing_framework_ends_the_run_with_the_reason() {
    drive_with_frameworks(Setup::USUAL, async |page| {
        page.start("/?workload=caffe-mnist&batch=8&steps=3&backend=tfjs-wasm").await;
        page.wait_for_status(PATIENCE, |text| text.contains("has no kernel Conv2DBackpropFilter")).await;
        page.open_to("/?workload=keras-mnist-mlp&batch=8&steps=4&backend=tfjs-wasm", "button", "Benchmark").await;
        let gone = "() => {
            const { Worker } = window;
            const found = (address) => (address.includes('/framework-') ? '/gone.js' : address);
            window.Worker = function (address) { return new Worker(found(address)); };
        }";
        page.ask(gone).await;
        page.tolerate(&["gone.js"]);
        page.click("button", "Benchmark").await;
        page.wait_for_status(PATIENCE, |text| text.contains("its script cannot be fetched; check the connection"))
            .await;
    });
}

#[test]
#[ignore = "needs other frameworks in the page"]
fn without_bundles_only_our_kernels_can_be_chosen() {
    let setup = Setup { missing: &["frameworks.json"], ..Setup::USUAL };
    drive(setup, async |page| {
        page.tolerate(&["frameworks.json"]);
        page.open_to("/?workload=keras-mnist-mlp&batch=8&steps=3", "button", "Benchmark").await;
        page.click_css("details.options > summary").await;
        page.wait_for_text(".engines", "the page was built without it").await;
        for backend in ["tfjs-webgpu", "jax-js-wasm"] {
            let choice = page.find(Locator::Css(&format!("input[value={backend}]"))).await;
            assert!(!choice.is_enabled().await.unwrap(), "{backend}");
        }
        let choice = page.find(Locator::Css("input[value=wgsl]")).await;
        assert!(choice.is_enabled().await.unwrap());
    });
}
