// The parameter block that `params::Dense` describes. Needs epilogue.wgsl.
struct Params {
    rows: u32,
    inputs: u32,
    outputs: u32,
    units: u32,
    rows_per_part: u32,
    part_stride: u32,
    bias_offset: u32,
    reserved: u32,
    epilogue: Epilogue,
}
