// The parameter block that `params::Add` describes. Needs epilogue.wgsl.
struct Params {
    // Pixels of the sum over the whole batch, P.
    pixels: u32,
    // Stored channels, C, a multiple of 4.
    channels: u32,
    // Uses of each pixel of the second summand (in gradients, of this summand), R, a divisor of the pixels per
    // sample: 1 for equal shapes, all pixels for a vector that is added to every pixel.
    repeats: u32,
    reserved: u32,
    // Epilogue of the sum (forward) or of the layer below, which produced the summand (backward).
    epilogue: Epilogue,
}
