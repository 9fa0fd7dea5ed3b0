// The parameter block that `params::LayerNorm` describes. Needs epilogue.wgsl.
struct Params {
    rows: u32,
    tokens: u32,
    channels: u32,
    stored_channels: u32,
    tokens_per_part: u32,
    part_stride: u32,
    bias_offset: u32,
    epsilon: f32,
    epilogue: Epilogue,
}
