// The parameter block that `params::Add` describes. Needs epilogue.wgsl.
struct Params {
    pixels: u32,
    channels: u32,
    repeats: u32,
    reserved: u32,
    epilogue: Epilogue,
}
