// The parameter block that `params::Transpose` describes. Needs epilogue.wgsl.
struct Params {
    rows: u32,
    pixels: u32,
    channels: u32,
    stored_channels: u32,
    stored_pixels: u32,
    reserved0: u32,
    reserved1: u32,
    reserved2: u32,
    epilogue: Epilogue,
}
