// The parameter block that `params::Pool` describes. Needs epilogue.wgsl.
struct Params {
    rows: u32,
    input_height: u32,
    input_width: u32,
    // Stored channels, a multiple of 4.
    channels: u32,
    output_height: u32,
    output_width: u32,
    side: u32,
    stride: u32,
    // Padding before the first row and column. Windows are clipped at the image's edges.
    padding: u32,
    reserved0: u32,
    reserved1: u32,
    reserved2: u32,
    // Epilogue of this layer (forward) or of the layer below, which produced `x` (backward).
    epilogue: Epilogue,
}
