// The parameter block that `params::ChannelSoftmax` describes. Needs epilogue.wgsl, step.wgsl and the kernel's
// `params`, `x`.
struct Params {
    // Pixels over the whole batch, P.
    pixels: u32,
    channels: u32,
    // Number of stored channels, C, a multiple of 4.
    stored_channels: u32,
    // 1 if linear steps ([`Step::linear`]) pass the input unchanged.
    linear_start: u32,
    // Epilogue of this layer (forward) or of the layer below (backward).
    epilogue: Epilogue,
}

// Largest of a pixel's channels; the first four are x[start].
fn largest_channel(start: u32) -> f32 {
    var largest = f32(x[start].x);
    for (var channel = 1u; channel < params.channels; channel++) {
        largest = max(largest, f32(x[start + channel / 4u][channel % 4u]));
    }
    return largest;
}

// True if this step passes its input without softmax (linear start).
fn is_linear() -> bool {
    return params.linear_start == 1u && step.linear == 1u;
}
