// The parameter block that `params::Embedding` describes. Needs epilogue.wgsl and the kernel's `params`, `ids`.
struct Params {
    // Samples of the batch, B.
    rows: u32,
    // Word numbers used per row, P.
    tokens: u32,
    // Values per row of `ids`.
    id_stride: u32,
    // Offset of the first used value of a row.
    id_offset: u32,
    // Number of words, V; every word number is below V.
    vocabulary: u32,
    // Stored values of a word's vector, S, a multiple of 4.
    channels: u32,
    // Word numbers (over the whole batch) that one part of a weight gradient sums.
    tokens_per_part: u32,
    // Elements from one part of the gradients to the next.
    part_stride: u32,
    // 1 if word 0 is padding, with an untrained vector of zeros.
    zero_padding: u32,
    reserved0: u32,
    reserved1: u32,
    reserved2: u32,
    // Epilogue of this layer, forward only.
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
