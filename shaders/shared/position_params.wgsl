// The parameter block that `params::Position` describes. Needs epilogue.wgsl.
struct Params {
    rows: u32,
    values: u32,
    rows_per_part: u32,
    part_stride: u32,
    epilogue: Epilogue,
}
