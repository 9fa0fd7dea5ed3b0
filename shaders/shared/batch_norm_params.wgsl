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

// Number of pixels of this device's samples; later pixels are padding.
fn real_pixels() -> u32 {
    return min(step.count, params.rows) * params.pixels;
}

// Number of pixels in the statistics: the batch's samples on all devices.
fn pixels_of_batch() -> u32 {
    return real_pixels() + step.elsewhere * params.pixels;
}

// First pixel of a part; the part ends at `first_pixel(part + 1)`.
fn first_pixel(part: u32) -> u32 {
    return min(part * params.pixels_per_part, real_pixels());
}
