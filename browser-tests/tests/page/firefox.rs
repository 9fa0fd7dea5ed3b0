//! Firefox, whose WebGPU is another implementation than Chromium's (Mozilla's, on wgpu and naga), and the shader compilers
//! of both browsers, which are stricter than the native one.

use std::time::{Duration, Instant};

use browser_tests::{Page, RUN_PATIENCE, Setup, drive, drive_firefox, file_of_page, skipped};
use serde_json::{Value, json};
use shaders::{Access, Form, KERNELS, Kernel, Matrices, Stored};

#[test]
#[ignore = "needs Firefox"]
fn one_click_trains_and_the_result_is_uploaded_and_found() {
    drive_firefox(Setup::USUAL, async |page| {
        page.start("/?workload=keras-mnist-mlp&batch=32&steps=40").await;
        page.wait_for("progressbar", "Progress of the benchmark").await;
        let seen = page.watch_to_the_end().await;
        assert!(seen.losses.last() < seen.losses.first(), "the loss falls: {seen:?}");

        let json = page.text("details pre").await.unwrap();
        let record: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(record["provenance"]["client"]["name"], "Firefox");
        let workload = &record["workloads"][0];
        assert_eq!(workload["outcome"]["kind"], "completed");
        assert_eq!(workload["correctness"]["passed"], true, "{json}");
        // Forty steps of 32 samples are enough to do better than one in ten by far.
        assert!(workload["evaluations"][0]["accuracy"].as_f64().unwrap() > 0.3, "{json}");

        page.upload().await;
        // Weights may have gone before, which the leaderboard asked for.
        assert_eq!(page.sent_bodies("PUT").await.last(), Some(&json), "what was shown is what was sent");
        page.open("/leaderboard?leaderboard=runs").await;
        let row = format!("table[aria-label=Leaderboard] tr[data-run='{}']", record["run_id"].as_str().unwrap());
        page.wait_for_text(&row, "yours").await;
    });
}

#[test]
#[ignore = "needs Firefox"]
fn firefox_without_webgpu_shows_how_to_enable_it() {
    drive_firefox(Setup::NO_GPU, async |page| {
        page.open_to("/", "heading", "WebGPU is missing").await;
        page.wait_for_text(".advice", "Firefox").await;
        page.wait_for("table", "Published hardware").await;
    });
}

/// Firefox tells up to a tenth of a second late that work is done, which must not count as work.
#[test]
#[ignore = "needs Firefox"]
fn the_share_of_peak_is_below_one_in_firefox() {
    drive_firefox(Setup::USUAL, async |page| {
        page.train("/?workload=keras-mnist-mlp&batch=128&seconds=6").await;
        let record = page.record().await;
        let summary = &record["workloads"][0]["summary"];
        let share = summary["share_of_peak"].as_f64().unwrap_or_else(|| panic!("no peak was measured: {summary}"));
        assert!(share > 0.0 && share < 1.0, "{share} of the device's peak");
    });
}

/// Headless Firefox has no WebGL. The worker of a framework starts threads, so the session ends meanwhile.
#[test]
#[ignore = "needs Firefox"]
fn frameworks_train_in_firefox_after_one_without_webgl() {
    if file_of_page("frameworks.json").unwrap()["state"] != "ready" {
        return skipped("the page has no TensorFlow.js and no jax-js");
    }
    drive_firefox(Setup::USUAL, async |page| {
        let compared = "compare=tfjs-webgl,tfjs-wasm,jax-js-wasm";
        page.open(&format!("/compare?workload=keras-mnist-mlp&batch=8&steps=4&{compared}&autostart=1")).await;
        let start = Instant::now();
        while page.ask("() => window.gradmark?.state ?? null").await != "finished" {
            assert!(start.elapsed() < RUN_PATIENCE, "it says: {:?}", page.text("[role=status]").await);
            page.leave_alone(Duration::from_secs(5)).await;
        }
        page.wait_for_text("tr[data-backend=tfjs-webgl]", "cannot open its back end webgl here").await;
        page.set_appearance(Setup { size: (360, 780), ..Setup::USUAL }).await.unwrap();
        let on_a_phone = "() => document.querySelector('tr[data-backend=tfjs-webgl]').innerText";
        let on_a_phone = page.ask(on_a_phone).await;
        assert!(on_a_phone.as_str().unwrap().contains("cannot open its back end webgl here"), "{on_a_phone}");
        for backend in ["tfjs-wasm", "jax-js-wasm"] {
            let accuracy = format!("tr[data-backend={backend}] td:nth-of-type(5)");
            assert!(page.number(&accuracy, "data-value").await.is_some(), "{backend} has an accuracy");
        }
    });
}

/// Opens a device with the optional features that kernels may need, and returns those that the adapter has.
const OPEN: &str = r#"async () => {
    const adapter = await navigator.gpu.requestAdapter();
    const requiredFeatures = ["subgroups", "shader-f16"].filter((feature) => adapter.features.has(feature));
    window.testDevice = await adapter.requestDevice({ requiredFeatures });
    return requiredFeatures;
}"#;

/// Compiles a kernel and makes a pipeline of it, because some drivers report errors only then. Returns `null`, or the
/// error.
const COMPILE: &str = r#"async (kernel) => {
    const device = window.testDevice;
    const buffer = (binding, type, hasDynamicOffset) =>
        ({ binding, visibility: GPUShaderStage.COMPUTE, buffer: { type, hasDynamicOffset } });
    const storage = kernel.storage.map((type, index) => buffer(index + 1, type, false));
    const own = device.createBindGroupLayout({ entries: [buffer(0, "uniform", false), ...storage] });
    const step = device.createBindGroupLayout({ entries: [buffer(0, "uniform", true)] });
    const layout = device.createPipelineLayout({ bindGroupLayouts: [own, step] });
    device.pushErrorScope("validation");
    const module = device.createShaderModule({ code: kernel.source });
    const messages = (await module.getCompilationInfo()).messages
        .filter((message) => message.type !== "info")
        .map((message) => `${message.type} in line ${message.lineNum}: ${message.message}`);
    try {
        await device.createComputePipelineAsync({ layout, compute: { module, entryPoint: "main" } });
    } catch (error) {
        messages.push(error.message);
    }
    const error = await device.popErrorScope();
    if (error) messages.push(error.message);
    return messages.length ? messages.join("; ") : null;
}"#;

/// Data of a kernel for the script.
fn describe(kernel: &Kernel, form: Form) -> Value {
    let storage = kernel.storage.iter().map(|access| match access {
        Access::Read => "read-only-storage",
        Access::ReadWrite => "storage",
    });
    json!({ "source": kernel.source_for_browsers(form), "storage": storage.collect::<Vec<_>>() })
}

/// Matrix units are wgpu's alone: no browser has a word for them yet, so that none could compile such a form. The form
/// with plain loops takes its place.
fn is_for_browsers(form: &Form) -> bool {
    form.matrices.and_then(Matrices::side).is_none()
}

/// Compiles every kernel in every form that the browser's device supports; `expected` are the forms that it always
/// supports.
async fn assert_compiles_all(page: &impl Page, expected: &str) {
    page.open("/").await;
    let features = page.ask(OPEN).await;
    let has = |feature: &str| features.as_array().is_some_and(|all| all.iter().any(|one| one == feature));
    assert!(has(expected), "this browser has only {features}");
    let mut complaints = Vec::new();
    for kernel in KERNELS.iter().filter(|kernel| has("subgroups") || !kernel.needs_subgroups()) {
        let has_numbers = |form: &Form| has("shader-f16") || form.stored == Stored::F32;
        for form in kernel.forms().into_iter().filter(has_numbers).filter(is_for_browsers) {
            let answer = page.call(COMPILE, describe(kernel, form)).await;
            if !answer.is_null() {
                complaints.push(format!("{} as {form:?}: {answer}", kernel.name));
            }
        }
    }
    assert!(complaints.is_empty(), "{complaints:#?}");
}

// SwiftShader has no f16 and Firefox no subgroups, so that kernels with both are compiled by neither.

#[test]
#[ignore = "compiles every kernel in browsers"]
fn chromium_compiles_every_kernel_without_a_complaint() {
    drive(Setup::USUAL, async |page| assert_compiles_all(page, "subgroups").await);
}

#[test]
#[ignore = "needs Firefox"]
fn firefox_compiles_every_kernel_without_subgroups_and_f16_as_well() {
    drive_firefox(Setup::USUAL, async |page| assert_compiles_all(page, "shader-f16").await);
}
