// The parameter block that `params::Elementwise` describes. Needs epilogue.wgsl.
struct Params {
    // Stored values of the whole batch, a multiple of 4.
    elements: u32,
    reserved0: u32,
    reserved1: u32,
    reserved2: u32,
    // Epilogue of this layer (forward) or of the layer below, which produced `x` (backward).
    epilogue: Epilogue,
}
