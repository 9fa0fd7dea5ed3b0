//! Firefox, whose WebGPU implementation is based on wgpu and naga, unlike Chromium's, and the shader compilers of both
//! browsers, which are stricter than the native one.

use std::time::{Duration, Instant};

use browser_tests::{Page, RUN_TIMEOUT, Setup, drive, drive_firefox};
use serde_json::{Value, json};
use shaders::{Access, Form, KERNELS, Kernel, Matrices, SMALL_WORKGROUP, Stored};

use crate::accessible::{AxeCheck, unfold};
use crate::backends::has_frameworks;
use crate::run::{train_and_learn, upload_what_is_shown};

#[test]
#[ignore = "needs Firefox"]
fn an_accessible_run_is_trained_uploaded_and_found() {
    drive_firefox(Setup::USUAL, async |page| {
        let mut axe = AxeCheck::new();
        page.open_to("/?workload=keras-mnist-mlp&batch=128&seconds=9", "table", "Published hardware").await;
        unfold(page).await;
        axe.check(page, "start").await;
        let (_, record) = train_and_learn(page).await;
        assert_eq!(record["provenance"]["client"]["name"], "Firefox");
        // Firefox reports completed work up to 0.1 s late. This delay must not count as computing time.
        let share = record["workloads"][0]["summary"]["share_of_peak"].as_f64();
        let share = share.unwrap_or_else(|| panic!("no peak: {record}"));
        assert!(share > 0.0 && share < 1.0, "{share} of the device's peak");

        unfold(page).await;
        axe.check(page, "finished").await;
        upload_what_is_shown(page).await;
        page.open("/leaderboard?leaderboard=runs").await;
        let row = format!("table[aria-label=Leaderboard] tr[data-run='{}']", record["run_id"].as_str().unwrap());
        page.wait_for_text(&row, "yours").await;
        axe.finish();
    });
}

/// Headless Firefox has no WebGL. The test ends the session during training, because framework workers start threads.
#[test]
#[ignore = "needs Firefox"]
fn other_frameworks_train_after_one_fails_without_webgl() {
    if !has_frameworks() {
        return;
    }
    drive_firefox(Setup::USUAL, async |page| {
        let compared = "compare=tfjs-webgl,tfjs-wasm,jax-js-wasm";
        page.open(&format!("/compare?workload=keras-mnist-mlp&batch=8&steps=4&{compared}&autostart=1")).await;
        let start = Instant::now();
        while page.ask("() => window.gradmark?.state ?? null").await != "finished" {
            assert!(start.elapsed() < RUN_TIMEOUT, "the status is {:?}", page.text("[role=status]").await);
            page.leave_alone(Duration::from_secs(5)).await;
        }
        page.wait_for_text("tr[data-backend=tfjs-webgl]", "cannot open its back end webgl here").await;
        page.set_appearance(Setup { size: (360, 780), ..Setup::USUAL }).await.unwrap();
        let row = "() => document.querySelector('tr[data-backend=tfjs-webgl]').innerText";
        let row = page.ask(row).await;
        assert!(row.as_str().unwrap().contains("cannot open its back end webgl here"), "{row}");
        for backend in ["tfjs-wasm", "jax-js-wasm"] {
            let accuracy = format!("tr[data-backend={backend}] td:nth-of-type(5)");
            assert!(page.number(&accuracy, "data-value").await.is_some(), "{backend} has no accuracy");
        }
    });
}

/// Kernels that a browser compiles at once.
const COMPILED_AT_ONCE: usize = 16;

fn describe(kernel: &Kernel, form: Form) -> Value {
    let storage = kernel.storage.iter().map(|access| match access {
        Access::Read => "read-only-storage",
        Access::ReadWrite => "storage",
    });
    json!({ "source": kernel.source_for_browsers(form), "storage": storage.collect::<Vec<_>>() })
}

const CORE: &str = "core";
const COMPATIBILITY: &str = "compatibility";

fn is_small(kernel: &Kernel) -> bool {
    kernel.workgroup_size <= SMALL_WORKGROUP
}

/// Compiles the `wanted` kernels in every form that the browser's device of this feature level supports. The device must
/// have the feature `expected`.
async fn assert_compiles(page: &impl Page, expected: &str, feature_level: &str, wanted: fn(&Kernel) -> bool) {
    page.open("/").await;
    let features = page.call(include_str!("open_device.js"), feature_level.into()).await;
    let has = |feature: &str| features.as_array().is_some_and(|all| all.iter().any(|other| other == feature));
    assert!(has(expected), "{expected} is not among {features}");
    let kernels = KERNELS.iter().filter(|kernel| wanted(kernel) && (has("subgroups") || !kernel.needs_subgroups()));
    // Browsers do not support matrix units yet. They use the forms with plain loops instead.
    let is_supported = |form: &Form| {
        (has("shader-f16") || form.stored == Stored::F32) && form.matrices.and_then(Matrices::side).is_none()
    };
    let forms =
        |kernel: &'static Kernel| kernel.forms().into_iter().filter(is_supported).map(move |form| (kernel, form));
    let mut errors = Vec::new();
    for some in kernels.flat_map(forms).collect::<Vec<_>>().chunks(COMPILED_AT_ONCE) {
        let described: Vec<_> = some.iter().map(|&(kernel, form)| describe(kernel, form)).collect();
        let answers = page.call(include_str!("compile_kernels.js"), described.into()).await;
        let answers = answers.as_array().expect("an answer for each kernel");
        assert_eq!(answers.len(), some.len());
        let wrong = some.iter().zip(answers).filter(|(_, answer)| !answer.is_null());
        errors.extend(wrong.map(|((kernel, form), answer)| format!("{} as {form:?}: {answer}", kernel.name)));
    }
    assert!(errors.is_empty(), "{errors:#?}");
}

// SwiftShader has no f16 and Firefox has no subgroups, so neither compiles kernels with both.

#[test]
#[ignore = "compiles every kernel in browsers"]
fn chromium_compiles_every_kernel_without_f16() {
    drive(Setup::USUAL, async |page| {
        // A kernel that compiles in compatibility mode, a subset of WebGPU, also compiles in a core device.
        assert_compiles(page, "subgroups", COMPATIBILITY, is_small).await;
        assert_compiles(page, "subgroups", CORE, |kernel| !is_small(kernel)).await;
    });
}

/// Runs with `GRADMARK_TEST_GPU=1`, as in CI on macOS.
#[test]
fn chromium_compiles_every_kernel_on_a_gpu() {
    drive(Setup::GPU, async |page| assert_compiles(page, "shader-f16", CORE, |_| true).await);
}

#[test]
#[ignore = "needs Firefox"]
fn firefox_compiles_every_kernel_without_subgroups() {
    drive_firefox(Setup::USUAL, async |page| assert_compiles(page, "shader-f16", CORE, |_| true).await);
}
