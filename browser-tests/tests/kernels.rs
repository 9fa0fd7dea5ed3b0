//! Every kernel, compiled by the browser's own shader compiler, which is stricter than the native one.

use browser_tests::{Setup, drive};
use serde_json::{Value, json};
use shaders::{Access, KERNELS, Kernel, Stored};

/// Compiles a kernel if the device has the features that it needs. A pipeline is made of it, because some drivers
/// complain only then. Answers with `null`, or with what is wrong.
const COMPILE: &str = r#"
const [kernel, done] = arguments;
(async () => {
    if (!window.testDevice) {
        const adapter = await navigator.gpu.requestAdapter();
        const requiredFeatures = ["subgroups"].filter((feature) => adapter.features.has(feature));
        window.testDevice = await adapter.requestDevice({ requiredFeatures });
    }
    const device = window.testDevice;
    const missing = kernel.needs.filter((feature) => !device.features.has(feature));
    if (missing.length) return `this browser lacks ${missing}`;
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
})().then(done, (error) => done(String(error)));
"#;

/// What the script needs to know of a kernel.
fn describe(kernel: &Kernel) -> Value {
    let storage = kernel.storage.iter().map(|access| match access {
        Access::Read => "read-only-storage",
        Access::ReadWrite => "storage",
    });
    json!({
        "name": kernel.name,
        "source": kernel.source_for_browsers(Stored::F32),
        "storage": storage.collect::<Vec<_>>(),
        // Chromium's SwiftShader has subgroups, so that nothing has to be left out.
        "needs": if kernel.needs_subgroups() { vec!["subgroups"] } else { vec![] },
    })
}

#[test]
fn the_browser_compiles_every_kernel_without_a_complaint() {
    drive(Setup::default(), async |page| {
        page.open("/").await;
        let mut complaints = Vec::new();
        for kernel in KERNELS {
            let answer = page.client().execute_async(COMPILE, vec![describe(kernel)]).await.unwrap();
            if !answer.is_null() {
                complaints.push(format!("{}: {answer}", kernel.name));
            }
        }
        assert!(complaints.is_empty(), "{complaints:#?}");
    });
}
