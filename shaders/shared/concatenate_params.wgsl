// The parameter block that `params::Concatenate` describes. Needs epilogue.wgsl.
struct Params {
    // Pixels over the whole batch, P.
    pixels: u32,
    // Channels of the first input, A.
    first: u32,
    // Channels of the second input, B.
    second: u32,
    // Channels of the first input as stored, a multiple of 4.
    stored_first: u32,
    // Channels of the second input as stored, a multiple of 4.
    stored_second: u32,
    // Channels of the output as stored, a multiple of 4.
    stored_channels: u32,
    // Gradient only: 0 for the first input, 1 for the second.
    of_second: u32,
    reserved: u32,
    // Epilogue of this layer (forward) or of the layer that produced the input (gradient).
    epilogue: Epilogue,
}
