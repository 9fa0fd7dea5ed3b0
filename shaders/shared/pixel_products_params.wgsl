// The parameter block that `params::PixelProducts` describes. Needs epilogue.wgsl.
struct Params {
    rows: u32,
    first_pixels: u32,
    second_pixels: u32,
    channels: u32,
    stored_products: u32,
    of_second: u32,
    reserved0: u32,
    reserved1: u32,
    epilogue: Epilogue,
}
