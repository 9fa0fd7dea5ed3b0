// The parameter block that `params::LayerNorm` describes. Needs epilogue.wgsl.
struct Params {
    rows: u32,
    tokens: u32,
    // Number of channels without padding.
    channels: u32,
    // Stored channels, C, a multiple of 4.
    stored_channels: u32,
    // Tokens (over the whole batch) that one part of a weight gradient sums.
    tokens_per_part: u32,
    // Elements from one part of the gradients to the next.
    part_stride: u32,
    // Offset of a part's gradient of beta, after gamma's, or [`NO_BIAS`].
    bias_offset: u32,
    epsilon: f32,
    // Epilogue of this layer (forward) or of the layer below, which produced `x` (backward).
    epilogue: Epilogue,
}
