// The parameter block that `params::Concatenate` describes. Needs epilogue.wgsl.
struct Params {
    pixels: u32,
    first: u32,
    second: u32,
    stored_first: u32,
    stored_second: u32,
    stored_channels: u32,
    of_second: u32,
    reserved: u32,
    epilogue: Epilogue,
}
