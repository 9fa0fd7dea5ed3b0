// Refuses core adapters, as on a GPU with OpenGL ES 3.1 only.
{
    const request = navigator.gpu.requestAdapter.bind(navigator.gpu);
    navigator.gpu.requestAdapter = async (options) =>
        options?.featureLevel === 'compatibility' ? request(options) : null;
}
