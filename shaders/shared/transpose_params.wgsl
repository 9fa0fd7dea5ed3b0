// The parameter block that `params::Transpose` describes. Needs epilogue.wgsl.
struct Params {
    // Samples of the batch, B.
    rows: u32,
    // Pixels of a sample of the input, P: channels of the output.
    pixels: u32,
    // Channels of the input, Q: pixels of the output.
    channels: u32,
    // Channels of the input as stored, a multiple of 4.
    stored_channels: u32,
    // Channels of the output as stored, a multiple of 4.
    stored_pixels: u32,
    reserved0: u32,
    reserved1: u32,
    reserved2: u32,
    // Epilogue of this layer (forward) or of the layer below (gradient).
    epilogue: Epilogue,
}
