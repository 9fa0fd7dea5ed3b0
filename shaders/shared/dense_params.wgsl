// The parameter block that `params::Dense` describes. Needs epilogue.wgsl.
struct Params {
    // Rows of the batch, B.
    rows: u32,
    // Stored inputs of the layer, K, a multiple of 4.
    inputs: u32,
    // Stored outputs of the layer, N, a multiple of 4.
    outputs: u32,
    // Number of outputs without padding, which stays zero.
    units: u32,
    // Rows of the batch in one part of a weight gradient.
    rows_per_part: u32,
    // Elements from one part of the gradients to the next.
    part_stride: u32,
    // Offset of a part's bias gradient, after its weight gradient, or [`NO_BIAS`].
    bias_offset: u32,
    reserved: u32,
    // Epilogue of this layer (forward) or of the layer below, which produced `x` (backward).
    epilogue: Epilogue,
}
