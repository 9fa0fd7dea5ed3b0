// Reports limits below the minimum of WebGPU, which are too small for any network.
const small = { maxBufferSize: 1 << 18, maxStorageBufferBindingSize: 1 << 18 };
for (const { prototype } of [GPUAdapter, GPUDevice]) {
    const getLimits = Object.getOwnPropertyDescriptor(prototype, 'limits').get;
    const get = function () {
        const limits = getLimits.call(this);
        return new Proxy(limits, { get: (_, name) => small[name] ?? limits[name] });
    };
    Object.defineProperty(prototype, 'limits', { get });
}
