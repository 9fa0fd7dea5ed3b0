// Opens a device of a feature level with the optional features of kernels, and returns the ones that the adapter
// supports.
async (featureLevel) => {
    const adapter = await navigator.gpu.requestAdapter({ featureLevel });
    const requiredFeatures = ["subgroups", "shader-f16"].filter((feature) => adapter.features.has(feature));
    window.testDevice = await adapter.requestDevice({ requiredFeatures });
    return requiredFeatures;
}
