// The parameter block that `params::Elementwise` describes. Needs epilogue.wgsl.
struct Params {
    elements: u32,
    reserved0: u32,
    reserved1: u32,
    reserved2: u32,
    epilogue: Epilogue,
}
