// The parameter block that `params::PeakStream` describes.
struct Params {
    quads: u32,
    invocations: u32,
    reserved0: u32,
    reserved1: u32,
}
