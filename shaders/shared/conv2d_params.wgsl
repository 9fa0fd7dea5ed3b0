// The parameter block that `params::Conv2d` describes. Needs epilogue.wgsl.
struct Params {
    rows: u32,
    input_height: u32,
    input_width: u32,
    input_channels: u32,
    output_height: u32,
    output_width: u32,
    output_channels: u32,
    window_height: u32,
    window_width: u32,
    padding_rows: u32,
    padding_columns: u32,
    pixels_per_part: u32,
    part_stride: u32,
    bias_offset: u32,
    stride: u32,
    input_spare: u32,
    epilogue: Epilogue,
}

// Distance between windows in pixels. A constant, so that the usual 1 costs nothing.
override STRIDE: u32 = 1u;
