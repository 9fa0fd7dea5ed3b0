// Makes the third kernel one that does not compile.
const createShaderModule = GPUDevice.prototype.createShaderModule;
let modules = 0;
GPUDevice.prototype.createShaderModule = function (descriptor) {
    const code = ++modules === 3 ? `${descriptor.code} fn unfinished(` : descriptor.code;
    return createShaderModule.call(this, { ...descriptor, code });
};
