// Attention with one invocation per four tokens of a head, which adds products with four tokens of the other side at a
// time, such as the keys of its queries. Runs everywhere. Needs attention.wgsl and the kernel's `x`.
const TILE: u32 = 4u;

// Largest head size in quads, and size of the arrays of sums over all tokens. Such an array is loaded and stored once
// per four tokens, so it costs little on drivers that keep it in memory.
const HEAD_QUADS: u32 = 16u;

// A quad of four tokens' vectors: a column per token.
fn x_columns(starts: vec4<u32>, n: u32) -> mat4x4<f32> {
    return mat4x4<f32>(
        vec4<f32>(x[starts.x + n]),
        vec4<f32>(x[starts.y + n]),
        vec4<f32>(x[starts.z + n]),
        vec4<f32>(x[starts.w + n]),
    );
}

// sum + m·v, fused.
fn add_product(m: mat4x4<f32>, v: vec4<f32>, sum: vec4<f32>) -> vec4<f32> {
    let first = fma(m[1], vec4<f32>(v.y), fma(m[0], vec4<f32>(v.x), sum));
    return fma(m[3], vec4<f32>(v.w), fma(m[2], vec4<f32>(v.z), first));
}

// sum + a·b
fn add_matrix_product(a: mat4x4<f32>, b: mat4x4<f32>, sum: mat4x4<f32>) -> mat4x4<f32> {
    return mat4x4<f32>(
        add_product(a, b[0], sum[0]),
        add_product(a, b[1], sum[1]),
        add_product(a, b[2], sum[2]),
        add_product(a, b[3], sum[3]),
    );
}
