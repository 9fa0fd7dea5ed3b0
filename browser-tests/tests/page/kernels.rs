//! Every kernel, compiled by the browsers' own shader compilers, which are stricter than the native one.

use browser_tests::{Page, Setup, drive, drive_firefox};
use serde_json::{Value, json};
use shaders::{Access, Form, KERNELS, Kernel, Matrices, Stored};

/// Opens a device with what kernels may need. Answers with as much of that as there is.
const OPEN: &str = r#"async () => {
    const adapter = await navigator.gpu.requestAdapter();
    const requiredFeatures = ["subgroups", "shader-f16"].filter((feature) => adapter.features.has(feature));
    window.testDevice = await adapter.requestDevice({ requiredFeatures });
    return requiredFeatures;
}"#;

/// Compiles a kernel. A pipeline is made of it, because some drivers complain only then. Answers with `null`, or with
/// what is wrong.
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

/// What the script needs to know of a kernel.
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

/// Compiles every kernel in every form for which the browser's device has the features; `expected` are those that it
/// always has.
async fn assert_compiles_all(page: &impl Page, expected: &str) {
    page.open("/").await;
    let features = page.call(OPEN, Value::Null).await;
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
    drive(Setup::default(), async |page| assert_compiles_all(page, "subgroups").await);
}

#[test]
#[ignore = "needs Firefox"]
fn firefox_compiles_every_kernel_without_subgroups_and_f16_as_well() {
    drive_firefox(Setup::default(), async |page| assert_compiles_all(page, "shader-f16").await);
}
