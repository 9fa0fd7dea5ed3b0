// The parameter block that `params::Conv2d` describes. Needs epilogue.wgsl.
struct Params {
    // Samples of the batch, B.
    rows: u32,
    input_height: u32,
    input_width: u32,
    // Stored channels of the input, C.
    input_channels: u32,
    output_height: u32,
    output_width: u32,
    // Stored channels of the output, F, a multiple of 4.
    output_channels: u32,
    // Rows of the kernel, KH.
    window_height: u32,
    // Columns of the kernel, KW.
    window_width: u32,
    // Zeros before the first row.
    padding_rows: u32,
    // Zeros before the first column.
    padding_columns: u32,
    // Output pixels (over the whole batch) in one part of a weight gradient.
    pixels_per_part: u32,
    // Elements from one part of the gradients to the next.
    part_stride: u32,
    // Offset of a part's bias gradient, after its weight gradient, or [`NO_BIAS`].
    bias_offset: u32,
    // Pixels from one window to the next; kernels receive it as the constant `STRIDE`.
    stride: u32,
    // Values that pad each input sample to a multiple of four if C is not one, for narrow kernels.
    input_spare: u32,
    // Epilogue of this layer (forward) or of the layer below, which produced `x` (backward).
    epilogue: Epilogue,
}

// Distance between windows in pixels. A constant, so that the usual 1 costs nothing.
override STRIDE: u32 = 1u;
