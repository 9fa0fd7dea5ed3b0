//! Burn's back ends in the page, and comparisons of back ends.

use browser_tests::{
    Browser, CANCELLING, PATIENCE, Page, RUN_PATIENCE, Server, Setup, drive_with_server, skipped, watch_to_the_end,
    what_is_said_of_burn,
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
    let said = what_is_said_of_burn().unwrap();
    assert_eq!(said["state"], "ready", "the page has no Burn: {said}; `cargo xtask test` builds it");
    drive_with_server(setup, body);
}

/// Files of the bundle with Burn that the page has asked for.
async fn asked_of_burn(page: &Browser) -> Vec<Value> {
    let script = "return performance.getEntriesByType('resource').map(e => e.name).filter(n => n.includes('/burn-'))";
    page.client().execute(script, Vec::new()).await.unwrap().as_array().unwrap().clone()
}

#[test]
#[ignore = "needs Burn in the page"]
fn burn_is_fetched_when_it_is_chosen_and_trains_on_the_processor() {
    // Without WebGPU, which this back end does not need.
    drive_with_burn(Setup { webgpu: false, ..Setup::default() }, async |page| {
        page.open("/?workload=keras-mnist-mlp&batch=8&steps=6").await;
        page.wait_for("heading", "WebGPU is missing", PATIENCE).await;
        let driver = page.client();
        driver.find(Locator::Css("details.engines summary")).await.unwrap().click().await.unwrap();
        driver.find(Locator::Css("input[value=burn-flex]")).await.unwrap().click().await.unwrap();
        let note = page.text("#benchmark-note").await.unwrap();
        assert!(note.contains("MB of Burn"), "{note}");
        assert_eq!(asked_of_burn(page).await, Vec::<Value>::new());

        page.click("button", "Benchmark").await;
        watch_to_the_end(page).await;
        assert!(!asked_of_burn(page).await.is_empty());
        let fetched = page.text("[data-figure=bundle]").await.unwrap();
        assert!(fetched.contains("unpacked) fetched and started in"), "{fetched}");
        let record: Value = serde_json::from_str(&page.text("details pre").await.unwrap()).unwrap();
        assert_eq!(record["device"]["backend"], "burn-flex");
        let workload = &record["workloads"][0];
        assert_eq!(workload["correctness"]["passed"], true, "{record}");
        assert_eq!(workload["outcome"]["kind"], "completed");
    });
}

#[test]
#[ignore = "needs Burn in the page"]
fn burn_that_cannot_be_fetched_is_told_and_another_try_succeeds() {
    let setup = Setup { missing: &["worker_bg.wasm"], ..Setup::default() };
    drive_with_burn_and_server(setup, async |page, server| {
        page.open("/?workload=keras-mnist-mlp&batch=8&seconds=600&backend=burn-flex").await;
        page.click("button", "Benchmark").await;
        let told =
            |text: &str| text.contains("could not be loaded") && text.contains("404") && text.contains("try again");
        page.wait_for_status(PATIENCE, told).await;
        server.restore_missing().unwrap();
        page.click("button", "Benchmark").await;
        page.wait_for_status(RUN_PATIENCE, |text| text.ends_with(": training")).await;
        page.click("button", "Cancel").await;
        page.wait_for_status(CANCELLING, |text| text.starts_with("Cancelled")).await;
    });
}

/// Opens the page that compares, and does so. The page keeps every status that it shows from then on.
async fn compare(page: &Browser, path: &str) {
    page.open(path).await;
    page.wait_for("heading", "How do frameworks differ on your device?", PATIENCE).await;
    let keep = "window.statuses = [];
        new MutationObserver(() => {
            const text = document.querySelector('[role=status]')?.textContent;
            if (text && window.statuses.at(-1) !== text) window.statuses.push(text);
        }).observe(document.body, { subtree: true, childList: true, characterData: true });";
    page.client().execute(keep, Vec::new()).await.unwrap();
    page.wait_for_text("#compare-note", "train in turn").await;
    page.click("button", "Compare").await;
}

#[test]
#[ignore = "needs Burn in the page"]
fn back_ends_are_compared_one_after_another_and_what_is_finished_stays() {
    drive_with_burn(Setup::default(), async |page| {
        compare(page, "/compare?workload=keras-mnist-mlp&batch=8&steps=6&compare=wgsl,burn-wgpu,burn-flex").await;
        page.wait_for_status(RUN_PATIENCE, |text| text.starts_with("Our WGSL kernels (1 of 3)")).await;
        // It trains once its first losses agree with the reference. The test set would take minutes on an emulated GPU.
        let trains = |text: &str| text.starts_with("Burn on WebGPU (2 of 3)") && text.ends_with(": training");
        page.wait_for_status(RUN_PATIENCE, trains).await;
        page.click("button", "Cancel").await;
        page.wait_for_status(PATIENCE, |text| text.starts_with("Cancelled. What was finished is in the comparison"))
            .await;
        let row = page.text("tr[data-backend=wgsl]").await.unwrap();
        assert!(row.contains('%'), "{row}");
        assert!(page.text("tr[data-backend=burn-flex]").await.is_none());
    });
}

/// What comes before the first colon of each status that the page has shown since [`compare`], each once.
async fn turns_of(page: &Browser) -> Vec<String> {
    let statuses = page.client().execute("return window.statuses", Vec::new()).await.unwrap();
    let statuses = statuses.as_array().unwrap().iter().map(|status| status.as_str().unwrap());
    let mut turns: Vec<String> = statuses.filter_map(|status| Some(status.split_once(": ")?.0.to_owned())).collect();
    turns.dedup();
    turns
}

/// A row of the comparison: text and unrounded value of each of its cells, in the order of the columns.
async fn cells_of(page: &Browser, backend: &str) -> Vec<(String, Option<f64>)> {
    let script = "return [...document.querySelectorAll(`tr[data-backend=${arguments[0]}] td`)]\
        .map(cell => [cell.textContent, cell.dataset.value ?? null])";
    let cells = page.client().execute(script, vec![backend.into()]).await.unwrap();
    let cell = |cell: &Value| {
        let value = cell[1].as_str().map(|value| value.parse().unwrap());
        (cell[0].as_str().unwrap().to_owned(), value)
    };
    cells.as_array().unwrap().iter().map(cell).collect()
}

#[test]
#[ignore = "needs Burn in the page"]
fn a_comparison_from_several_seeds_ends_with_figures_ratios_and_a_verdict() {
    drive_with_burn(Setup::default(), async |page| {
        // Burn on an emulated GPU would take minutes to test.
        let compared = "&compare=wgsl,burn-flex&seeds=2";
        compare(page, &format!("/compare?workload=keras-mnist-mlp&batch=32&steps=20{compared}")).await;
        page.wait_for_status(RUN_PATIENCE, |text| text == "The comparison is below.").await;
        // They take turns in going first.
        let (ours, burn) = ("Our WGSL kernels", "Burn on the processor");
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
                    // So few steps do not settle, and without a throughput nobody knows how long an epoch takes.
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
        let verdict = page.text(".verdict").await.unwrap();
        assert!(verdict.starts_with("Final accuracies: no difference found; "), "{verdict}");
        let apart = format!("differ by up to {:.2} points", 100.0 * (accuracies[0] - accuracies[1]).abs());
        assert!(verdict.contains(&apart), "{apart} is not in “{verdict}”");
        all_of_it_can_be_taken_along(page).await;
    });
}

/// Both curves are in one picture, and the figures in files; a link begins the same comparison again.
async fn all_of_it_can_be_taken_along(page: &Browser) {
    let picture = page.attribute(".sheet figure.chart svg", "aria-label").await.unwrap();
    assert!(picture.contains("wgsl ends at") && picture.contains("burn-flex ends at"), "{picture}");
    let catch = "window.saved = [];
        const make = URL.createObjectURL;
        URL.createObjectURL = (blob) => { window.saved.push(blob); return make.call(URL, blob); };";
    page.client().execute(catch, Vec::new()).await.unwrap();
    page.click("button", "Download as JSON").await;
    page.click("button", "Download as CSV").await;
    let saved = page.call("() => Promise.all(window.saved.map((blob) => blob.text()))", Value::Null).await;
    let document: Value = serde_json::from_str(saved[0].as_str().unwrap()).unwrap();
    assert_eq!(document["comparisons"][0]["rows"].as_array().unwrap().len(), 2, "{document}");
    assert_eq!(document["records"].as_array().unwrap().len(), 4, "each run is there whole");
    let table = saved[1].as_str().unwrap();
    let lines: Vec<_> = table.lines().map(|line| line.split(',').take(2).collect::<Vec<_>>().join(",")).collect();
    assert_eq!(lines, ["workload,backend", "keras-mnist-mlp,wgsl", "keras-mnist-mlp,burn-flex"], "{table}");

    // Headless browsers keep no clipboard, and then the page shows the link.
    let catch = "navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }";
    page.client().execute(catch, Vec::new()).await.unwrap();
    page.click("button", "Copy the link").await;
    let link = page.client().execute("return window.copied", Vec::new()).await.unwrap();
    let (_, query) = link.as_str().unwrap().split_once("/compare?").unwrap();
    let seed = document["records"][0]["seed"].as_u64().unwrap();
    for part in ["workload=keras-mnist-mlp", "compare=wgsl,burn-flex", "seeds=2", &format!("seed={seed}"), "steps=20"] {
        assert!(query.split('&').any(|pair| pair == part), "{part} is not in {query}");
    }
}

#[test]
#[ignore = "needs Burn in the page"]
fn a_comparison_that_no_back_end_can_make_gives_each_ones_reason_and_ends() {
    drive_with_burn(Setup::default(), async |page| {
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
        page.wait_for("button", "Compare", PATIENCE).await;
        page.choose_language("Language", "Deutsch").await;
        page.wait_for("button", "Vergleichen", PATIENCE).await;
        for backend in ["wgsl", "burn-wgpu", "burn-flex"] {
            let reason = page.text(&format!("tr[data-backend={backend}] th .explain")).await.unwrap();
            let said =
                "Der Benchmark ist fehlgeschlagen: das Gerät rechnet nicht in dieser Genauigkeit (auf Englisch: „";
            assert!(reason.starts_with(said) && reason.contains("f16"), "{backend}: {reason}");
        }
        let told = page.call("() => window.gradmark.comparison.unavailable[0].reason", Value::Null).await;
        assert!(told.as_str().unwrap().starts_with("The benchmark failed: "), "for machines it is in English: {told}");
    });
}
