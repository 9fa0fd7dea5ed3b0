// The parameter block that `params::BatchNorm` describes. Needs epilogue.wgsl and the kernel's `params`.
struct Params {
    rows: u32,
    pixels: u32,
    // Stored channels, C, a multiple of 4.
    stored_channels: u32,
    // Pixels (over the whole batch) that one part of a sum covers.
    pixels_per_part: u32,
    // Parts of a sum: rows · pixels / `pixels_per_part`, rounded up.
    parts: u32,
    // Elements from one part of the gradients to the next.
    part_stride: u32,
    // Offset of the gradient of beta, after gamma's, in a part and in the sum.
    bias_offset: u32,
    // One of [`activation`], applied to the normalised value.
    activation: u32,
    epsilon: f32,
    // Share of the running averages kept by a step.
    keep: f32,
    reserved0: u32,
    reserved1: u32,
    // Epilogue of this layer, applied after `activation` (forward), or of the layer below, which produced `x`
    // (backward).
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
