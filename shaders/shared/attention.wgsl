// The parameter block that `params::Attention` describes, and the places of a head's vectors. Needs epilogue.wgsl and
// the kernel's `params`. All offsets are in quads (groups of four values).
struct Params {
    rows: u32,
    // Tokens of a row, T.
    tokens: u32,
    heads: u32,
    // Values per head, D, a multiple of 4, at most [`MAX_HEAD_SIZE`].
    head_size: u32,
    // Factor of each query-key product, usually 1/√D.
    scale: f32,
    // 1 if a token attends only to itself and earlier tokens.
    causal: u32,
    reserved0: u32,
    reserved1: u32,
    // Epilogue of the layer below, which produced queries, keys and values; backward only. The result has no
    // epilogue, because its gradient needs the plain value.
    epilogue: Epilogue,
}

// Lower than any score; exp(LOWEST - score) is zero.
const LOWEST: f32 = -3.0e38;

// Quads of queries, keys, values or results per token.
fn width() -> u32 {
    return params.heads * params.head_size / 4u;
}

// Offset of a head's query of a token in queries | keys | values; the key is `width()` later, the value 2·`width()`.
fn query_of(row: u32, head: u32, token: u32) -> u32 {
    return (row * params.tokens + token) * 3u * width() + head * params.head_size / 4u;
}

// Offset of a head's result of a token.
fn result_of(row: u32, head: u32, token: u32) -> u32 {
    return (row * params.tokens + token) * width() + head * params.head_size / 4u;
}

// End of the tokens that a token's query attends to; the first of them is token 0.
fn end_of_keys(token: u32) -> u32 {
    return select(params.tokens, token + 1u, params.causal == 1u);
}

// First of the tokens whose queries attend to a token's key; the last of them is the last token.
fn first_query(token: u32) -> u32 {
    return select(0u, token, params.causal == 1u);
}
