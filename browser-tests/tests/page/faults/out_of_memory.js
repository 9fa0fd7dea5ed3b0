// Simulates exhausted memory, which is hard to provoke on a real device.
const popErrorScope = GPUDevice.prototype.popErrorScope;
let scopes = 0;
GPUDevice.prototype.popErrorScope = async function () {
    const error = await popErrorScope.call(this);
    return ++scopes === 6 ? new GPUOutOfMemoryError('none is left') : error;
};
