//! TensorFlow.js and jax-js in the page: fetched when they are chosen, held to the check, shown and never ranked.

use browser_tests::{
    Browser, PATIENCE, Page, RUN_PATIENCE, Setup, drive, skipped, watch_to_the_end, what_is_said_of_frameworks,
};
use fantoccini::Locator;
use serde_json::Value;

const NO_BURN: &str = r#"{"state":"missing","note":"the page was built without it (--no-burn-page)"}"#;

/// Runs `body` where the page has the bundles, which are made where npm is and its registry answers.
fn drive_with_frameworks(setup: Setup, body: impl AsyncFnOnce(&Browser)) {
    let said = what_is_said_of_frameworks().unwrap();
    if said["state"] == "ready" {
        drive(setup, body);
    } else {
        skipped(&format!("the page has no TensorFlow.js and no jax-js: {}", said["note"]));
    }
}

/// Files of frameworks that the page and its workers have asked for.
async fn asked_of_frameworks(page: &Browser) -> Value {
    let script =
        "return performance.getEntriesByType('resource').map(e => e.name).filter(n => n.includes('/framework-'))";
    page.client().execute(script, Vec::new()).await.unwrap()
}

/// Trains a few steps, and holds the record to what every one must be.
async fn trains(page: &Browser, backend: &str, framework: &str) {
    page.open(&format!("/?workload=keras-mnist-mlp&batch=8&steps=4&backend={backend}")).await;
    page.wait_for("button", "Benchmark", PATIENCE).await;
    let note = page.wait_until_it_says("#benchmark-note", PATIENCE, |text| text.contains("MB of")).await;
    assert!(note.contains(&format!("MB of {framework}")) && note.contains("never ranked"), "{note}");
    assert_eq!(asked_of_frameworks(page).await, Value::Array(Vec::new()), "it is fetched only when it trains");

    page.click("button", "Benchmark").await;
    watch_to_the_end(page).await;
    let fetched = page.text("[data-figure=bundle]").await.unwrap();
    let told = fetched.starts_with(&format!("{framework}: ")) && fetched.contains("fetched and started in");
    assert!(told && fetched.contains("MB"), "{fetched}");
    let record: Value = serde_json::from_str(&page.text("details pre").await.unwrap()).unwrap();
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
    assert!(record["non_standard"].to_string().contains(&format!("external program {backend}")), "{record}");
    assert!(page.by_role("button", "Upload").await.is_none());
    page.wait_for_text("[aria-labelledby=result-title] > .callout", "has no way to prove it").await;
}

#[test]
#[ignore = "needs other frameworks in the page"]
fn tensorflow_js_trains_on_webgpu() {
    drive_with_frameworks(Setup::default(), async |page| trains(page, "tfjs-webgpu", "TensorFlow.js").await);
}

#[test]
#[ignore = "needs other frameworks in the page"]
fn tensorflow_js_trains_on_webgl_and_on_the_processor_without_webgpu() {
    drive_with_frameworks(Setup { webgpu: false, ..Setup::default() }, async |page| {
        trains(page, "tfjs-webgl", "TensorFlow.js").await;
        trains(page, "tfjs-wasm", "TensorFlow.js").await;
    });
}

#[test]
#[ignore = "needs other frameworks in the page"]
fn jax_js_trains_on_webgpu_and_on_the_processor() {
    drive_with_frameworks(Setup::default(), async |page| {
        trains(page, "jax-js-webgpu", "jax-js").await;
        trains(page, "jax-js-wasm", "jax-js").await;
    });
}

#[test]
#[ignore = "needs other frameworks in the page"]
fn frameworks_are_compared_with_our_kernels_by_default() {
    drive_with_frameworks(Setup { burn: Some(NO_BURN), ..Setup::default() }, async |page| {
        page.open("/compare?workload=keras-mnist-mlp&batch=8&steps=6").await;
        page.wait_for_text("#compare-note", "3 back ends train in turn").await;
        page.click("button", "Compare").await;
        page.wait_for_status(RUN_PATIENCE, |text| text == "The comparison is below.").await;
        let script = "() => [...document.querySelectorAll('tr[data-backend]')]
            .map((row) => [row.dataset.backend, row.children[5].dataset.value ?? null])";
        let rows = page.call(script, Value::Null).await;
        let names: Vec<_> = rows.as_array().unwrap().iter().map(|row| row[0].as_str().unwrap()).collect();
        assert_eq!(names, ["wgsl", "tfjs-webgpu", "jax-js-webgpu"], "{rows}");
        assert!(rows.as_array().unwrap().iter().all(|row| row[1].is_string()), "each has an accuracy: {rows}");
        let verdict = page.text(".verdict").await.unwrap();
        assert!(verdict.contains("no difference found"), "{verdict}");
        let fetched = page.text("[data-figure=fetched]").await.unwrap();
        assert!(fetched.contains("TensorFlow.js: ") && fetched.contains("jax-js: "), "{fetched}");
        // A script is told the same.
        let finished = page.call("async () => await window.gradmark.finished", Value::Null).await;
        assert_eq!(finished["state"], "finished", "{finished}");
        let told = finished["comparison"]["comparisons"][0]["rows"].as_array().unwrap();
        let told: Vec<_> = told.iter().map(|row| row["contender"]["backend"].as_str().unwrap()).collect();
        assert_eq!(told, names);
    });
}

#[test]
#[ignore = "needs other frameworks in the page"]
fn a_comparison_is_shared_with_a_page_of_its_own_and_is_no_result() {
    drive_with_frameworks(Setup { burn: Some(NO_BURN), ..Setup::default() }, async |page| {
        page.open("/compare?workload=keras-mnist-mlp&batch=8&steps=4&compare=wgsl,tfjs-wasm").await;
        page.wait_for_text("#compare-note", "2 back ends train in turn").await;
        page.click("button", "Compare").await;
        page.wait_for_status(RUN_PATIENCE, |text| text == "The comparison is below.").await;
        let cells = "() => [...document.querySelectorAll('table.compared tbody tr')].map((row) => row.innerText)";
        let seen = page.call(cells, Value::Null).await;
        assert_eq!(seen.as_array().unwrap().len(), 2, "{seen}");
        page.click("button", "Upload the comparison").await;
        page.click("link", "Page of the comparison").await;
        page.wait_for("heading", "Comparison of back ends", PATIENCE).await;
        page.wait_for_text(".verdict", "no difference found").await;
        let place = page.client().current_url().await.unwrap().path().to_owned();
        assert_eq!(page.call(cells, Value::Null).await, seen, "what the comparing person saw");
        page.set_appearance(Setup { size: (320, 640), ..Setup::USUAL }).await.unwrap();
        page.assert_never_scrolls_sideways().await;
        let results = "async () => (await (await fetch('/api/v1/runs')).json()).total";
        assert_eq!(page.call(results, Value::Null).await, 0, "no result of a framework is in a list");

        page.click("link", "Delete this comparison").await;
        page.click("button", "Delete this comparison").await;
        page.wait_for_status(PATIENCE, |text| text == "The comparison is deleted.").await;
        page.tolerate(&["api/v1/comparisons"]);
        page.open(&place).await;
        page.wait_for("heading", "This comparison cannot be shown", PATIENCE).await;
    });
}

#[test]
#[ignore = "needs other frameworks in the page"]
fn what_a_framework_cannot_train_is_told_with_the_reason() {
    drive_with_frameworks(Setup::default(), async |page| {
        page.open("/?workload=caffe-mnist&batch=8&steps=3&backend=tfjs-wasm").await;
        page.click("button", "Benchmark").await;
        page.wait_for_status(PATIENCE, |text| text.contains("has no kernel Conv2DBackpropFilter")).await;
    });
}

#[test]
#[ignore = "needs other frameworks in the page"]
fn a_framework_that_cannot_be_fetched_ends_the_run_with_the_reason() {
    drive_with_frameworks(Setup::default(), async |page| {
        page.open("/?workload=keras-mnist-mlp&batch=8&steps=4&backend=tfjs-wasm").await;
        page.wait_for("button", "Benchmark", PATIENCE).await;
        let gone = "() => {
            const { Worker } = window;
            const found = (address) => (address.includes('/framework-') ? '/gone.js' : address);
            window.Worker = function (address) { return new Worker(found(address)); };
        }";
        page.call(gone, Value::Null).await;
        page.tolerate(&["gone.js"]);
        page.click("button", "Benchmark").await;
        page.wait_for_status(PATIENCE, |text| text.contains("its script cannot be fetched; check the connection"))
            .await;
    });
}

#[test]
#[ignore = "needs other frameworks in the page"]
fn without_the_bundles_the_list_says_so_and_our_kernels_are_there() {
    let setup = Setup { missing: &["frameworks.json"], ..Setup::default() };
    drive(setup, async |page| {
        page.tolerate(&["frameworks.json"]);
        page.open("/?workload=keras-mnist-mlp&batch=8&steps=3").await;
        page.wait_for("button", "Benchmark", PATIENCE).await;
        page.client().find(Locator::Css("details.engines summary")).await.unwrap().click().await.unwrap();
        let engines = page.wait_for_text("details.engines", "without a word on other frameworks").await;
        assert!(engines.contains("ONNX Runtime Web is not among them"), "{engines}");
        for backend in ["tfjs-webgpu", "jax-js-wasm"] {
            let choice = page.client().find(Locator::Css(&format!("input[value={backend}]"))).await.unwrap();
            assert!(!choice.is_enabled().await.unwrap(), "{backend}");
        }
        let choice = page.client().find(Locator::Css("input[value=wgsl]")).await.unwrap();
        assert!(choice.is_enabled().await.unwrap());
    });
}
