// The parameter block that `params::Position` describes. Needs epilogue.wgsl.
struct Params {
    rows: u32,
    // Stored values per row, positions times channels, a multiple of 4.
    values: u32,
    // Rows of the batch that one part of the gradient sums.
    rows_per_part: u32,
    // Elements from one part of the gradient to the next.
    part_stride: u32,
    // Epilogue of this layer, forward only.
    epilogue: Epilogue,
}
