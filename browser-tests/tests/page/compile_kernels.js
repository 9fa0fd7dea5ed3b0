// Compiles kernels and creates their pipelines, because some drivers report errors only then. Returns `null` or the
// errors of each kernel.
async (kernels) => Promise.all(kernels.map(async (kernel) => {
    const device = window.testDevice;
    const buffer = (binding, type, hasDynamicOffset) =>
        ({ binding, visibility: GPUShaderStage.COMPUTE, buffer: { type, hasDynamicOffset } });
    const storage = kernel.storage.map((type, index) => buffer(index + 1, type, false));
    const own = device.createBindGroupLayout({ entries: [buffer(0, "uniform", false), ...storage] });
    const step = device.createBindGroupLayout({ entries: [buffer(0, "uniform", true)] });
    const layout = device.createPipelineLayout({ bindGroupLayouts: [own, step] });
    // Nothing is awaited inside the scope, so it has the errors of this kernel only.
    device.pushErrorScope("validation");
    const module = device.createShaderModule({ code: kernel.source });
    const pipeline = device.createComputePipelineAsync({ layout, compute: { module, entryPoint: "main" } });
    const scope = device.popErrorScope();
    const [info, built, error] = await Promise.allSettled([module.getCompilationInfo(), pipeline, scope]);
    const messages = info.value.messages
        .filter((message) => message.type !== "info")
        .map((message) => `${message.type} in line ${message.lineNum}: ${message.message}`);
    if (built.reason) messages.push(built.reason.message);
    if (error.value) messages.push(error.value.message);
    return messages.length ? messages.join("; ") : null;
}))
