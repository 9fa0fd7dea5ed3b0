// Attention with one invocation per token and head, which adds products with four keys (or queries) at a time. Needs
// attention.wgsl.

// Largest head size in quads, and size of the arrays of sums over all keys. Such an array is loaded and stored once per
// four keys, so it costs little on drivers that keep it in memory.
const HEAD_QUADS: u32 = 16u;

// Row, head and token of an invocation; one invocation per token and head, with the tokens of a head contiguous.
struct Place {
    row: u32,
    head: u32,
    token: u32,
}

fn place(number: u32) -> Place {
    let head = number / params.tokens;
    return Place(head / params.heads, head % params.heads, number % params.tokens);
}

// Four tokens from `first` on; out-of-bounds tokens are clamped to the last one.
fn four_tokens(first: u32) -> vec4<u32> {
    return min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(params.tokens - 1u));
}

// Mask of the four tokens from `first` on that come before `end`.
fn before(first: u32, end: u32) -> vec4<bool> {
    return first + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(end);
}

// sum + a·b, fused.
fn add_product(a: vec4<f32>, b: vec4<f32>, sum: f32) -> f32 {
    return fma(a.x, b.x, fma(a.y, b.y, fma(a.z, b.z, fma(a.w, b.w, sum))));
}

// sums + a·(b0, b1, b2, b3)
fn add_products(
    a: vec4<f32>,
    b0: vec4<f32>,
    b1: vec4<f32>,
    b2: vec4<f32>,
    b3: vec4<f32>,
    sums: vec4<f32>,
) -> vec4<f32> {
    return vec4<f32>(
        add_product(a, b0, sums.x),
        add_product(a, b1, sums.y),
        add_product(a, b2, sums.z),
        add_product(a, b3, sums.w),
    );
}

// sum + Σ weights_j·b_j
fn add_weighted(
    weights: vec4<f32>,
    b0: vec4<f32>,
    b1: vec4<f32>,
    b2: vec4<f32>,
    b3: vec4<f32>,
    sum: vec4<f32>,
) -> vec4<f32> {
    let first = fma(vec4<f32>(weights.x), b0, fma(vec4<f32>(weights.y), b1, sum));
    return fma(vec4<f32>(weights.z), b2, fma(vec4<f32>(weights.w), b3, first));
}
