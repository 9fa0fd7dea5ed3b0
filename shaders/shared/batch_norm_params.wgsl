// The parameter block that `params::BatchNorm` describes. Needs epilogue.wgsl and the kernel's `params`.
struct Params {
    rows: u32,
    pixels: u32,
    stored_channels: u32,
    pixels_per_part: u32,
    parts: u32,
    part_stride: u32,
    bias_offset: u32,
    activation: u32,
    epsilon: f32,
    keep: f32,
    reserved0: u32,
    reserved1: u32,
    epilogue: Epilogue,
}

// Pixels of the batch that belong to samples; what lies behind them counts nowhere.
fn real_pixels() -> u32 {
    return min(step.count, params.rows) * params.pixels;
}

// Pixels that made the statistics: those of the batch's samples, on whatever device they are.
fn pixels_of_batch() -> u32 {
    return real_pixels() + step.elsewhere * params.pixels;
}

// First pixel of a part; that of the next part is its end.
fn first_pixel(part: u32) -> u32 {
    return min(part * params.pixels_per_part, real_pixels());
}
