// Refuses devices that are not in compatibility mode, or that exceed the workgroups of its limits.
{
    const request = GPUAdapter.prototype.requestDevice;
    GPUAdapter.prototype.requestDevice = async function (descriptor) {
        const device = await request.call(this, descriptor);
        if (device.features.has('core-features-and-limits')) throw new Error('a core device');
        if (device.limits.maxComputeInvocationsPerWorkgroup > 128) throw new Error('large workgroups');
        return device;
    };
}
