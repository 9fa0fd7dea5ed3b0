// Like x_quad and four_x_quads of attention_heads.wgsl, for the kernel's `dy`, the gradient of the results.

fn dy_quad(start: u32, n: u32) -> vec4<f32> {
    let quads = params.head_size / 4u;
    return select(vec4<f32>(0.0), vec4<f32>(dy[start + min(n, quads - 1u)]), n < quads);
}

fn four_dy_quads(starts: vec4<u32>, n: u32) -> mat4x4<f32> {
    let quads = mat4x4<f32>(dy_quad(starts.x, n), dy_quad(starts.y, n), dy_quad(starts.z, n), dy_quad(starts.w, n));
    return transpose(quads);
}
