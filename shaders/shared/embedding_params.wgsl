// The parameter block that `params::Embedding` describes. Needs epilogue.wgsl and the kernel's `params`, `ids`.
struct Params {
    rows: u32,
    tokens: u32,
    id_stride: u32,
    id_offset: u32,
    vocabulary: u32,
    channels: u32,
    tokens_per_part: u32,
    part_stride: u32,
    zero_padding: u32,
    reserved0: u32,
    reserved1: u32,
    reserved2: u32,
    epilogue: Epilogue,
}

// Word index of a token; `token` counts over the whole batch.
fn word(token: u32) -> u32 {
    let at = token / params.tokens * params.id_stride + params.id_offset + token % params.tokens;
    return u32(f32(ids[at]));
}

// True if a word index is padding, which has a vector of zeros.
fn is_padding(word: u32) -> bool {
    return params.zero_padding == 1u && word == 0u;
}
