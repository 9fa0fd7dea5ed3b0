// The parameter block that `params::SentenceSum` describes. Needs epilogue.wgsl and the kernel's `params`.
struct Params {
    // Sentences of the whole batch, S.
    sentences: u32,
    // Words of a sentence, J.
    words: u32,
    // Values of a word's vector without padding, d.
    channels: u32,
    // Number of stored channels, C, a multiple of 4.
    stored_channels: u32,
    // Epilogue of this layer (forward) or of the layer below (gradient).
    epilogue: Epilogue,
}

// Weights of four values, from quad `quad` on, of a word in its sentence, with word and value indices counted from 1:
// (1 - j/J) - (k/d)·(1 - 2j/J).
fn weights(word: u32, quad: u32) -> vec4<f32> {
    let place = f32(word + 1u) / f32(params.words);
    let height = vec4<f32>(4u * quad + vec4<u32>(1u, 2u, 3u, 4u)) / f32(params.channels);
    return (1.0 - place) - height * (1.0 - place - place);
}
