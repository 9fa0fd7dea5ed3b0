// The parameter block that `params::PeakStream` describes.
struct Params {
    // Length of the array in groups of four.
    quads: u32,
    invocations: u32,
    reserved0: u32,
    reserved1: u32,
}
