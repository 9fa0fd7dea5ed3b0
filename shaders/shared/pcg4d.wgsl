// pcg4d: hash of four lanes (index, stream, step, seed) to four, with wrapping arithmetic.
// Jarzynski and Olano, "Hash Functions for GPU Rendering", JCGT 9(3), 2020.
fn pcg4d(lanes: vec4<u32>) -> vec4<u32> {
    var v = lanes * 1664525u + 1013904223u;
    v.x += v.y * v.w;
    v.y += v.z * v.x;
    v.z += v.x * v.y;
    v.w += v.y * v.z;
    v ^= v >> vec4<u32>(16u);
    v.x += v.y * v.w;
    v.y += v.z * v.x;
    v.z += v.x * v.y;
    v.w += v.y * v.z;
    return v;
}

// Uniform number in [0, 1), an exact multiple of 2^-24.
fn uniform_number(index: u32, stream: u32, step_number: u32, seed: u32) -> f32 {
    return f32(pcg4d(vec4<u32>(index, stream, step_number, seed)).x >> 8u) * 0x1p-24;
}
