// The parameter block that `params::PixelProducts` describes. Needs epilogue.wgsl.
struct Params {
    // Samples of the batch, B.
    rows: u32,
    // Pixels of a sample of the first factor, P.
    first_pixels: u32,
    // Pixels of a sample of the second factor, Q.
    second_pixels: u32,
    // Stored channels of both factors, C, a multiple of 4.
    channels: u32,
    // Stored channels of the products: Q, filled up to a multiple of 4.
    stored_products: u32,
    // Gradient only: 0 for the first factor, 1 for the second.
    of_second: u32,
    reserved0: u32,
    reserved1: u32,
    // Epilogue of this layer (forward) or of the layer that produced the factor (gradient).
    epilogue: Epilogue,
}
