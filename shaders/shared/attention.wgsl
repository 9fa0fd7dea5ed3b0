// The parameter block that `params::Attention` describes, and how queries and keys meet, four keys (or queries) at a
// time. Needs epilogue.wgsl and the kernel's `params`. All places are counted in fours of values.
struct Params {
    rows: u32,
    tokens: u32,
    heads: u32,
    head_size: u32,
    scale: f32,
    reserved0: u32,
    reserved1: u32,
    reserved2: u32,
    epilogue: Epilogue,
}

// The largest head, in fours. What is summed over all keys for each value of a head is an array of this many; it is
// loaded and stored once for every four keys, so that it costs little where a driver keeps it in memory.
const HEAD_QUADS: u32 = 16u;

// Lower than any score, and exp of it less any score is zero.
const LOWEST: f32 = -3.0e38;

// Row, head and token of an invocation, one for each token of each head; neighbours share their head.
struct Place {
    row: u32,
    head: u32,
    token: u32,
}

fn place(number: u32) -> Place {
    let head = number / params.tokens;
    return Place(head / params.heads, head % params.heads, number % params.tokens);
}

// Quads from one token's queries (or results) to the next token's results.
fn width() -> u32 {
    return params.heads * params.head_size / 4u;
}

// Where a head's query of a token lies among queries | keys | values; its key is one width further, its value two.
fn query_of(row: u32, head: u32, token: u32) -> u32 {
    return (row * params.tokens + token) * 3u * width() + head * params.head_size / 4u;
}

// Where a head's result of a token lies.
fn result_of(row: u32, head: u32, token: u32) -> u32 {
    return (row * params.tokens + token) * width() + head * params.head_size / 4u;
}

// Four tokens from `first` on; beyond the last one it is repeated.
fn four_tokens(first: u32) -> vec4<u32> {
    return min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(params.tokens - 1u));
}

// Which of them exist.
fn existing(first: u32) -> vec4<bool> {
    return first + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(params.tokens);
}

// sum + a·b, fused.
fn add_product(a: vec4<f32>, b: vec4<f32>, sum: f32) -> f32 {
    return fma(a.x, b.x, fma(a.y, b.y, fma(a.z, b.z, fma(a.w, b.w, sum))));
}

// sums + a·(b0, b1, b2, b3)
fn add_products(a: vec4<f32>, b0: vec4<f32>, b1: vec4<f32>, b2: vec4<f32>, b3: vec4<f32>, sums: vec4<f32>) -> vec4<f32> {
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
