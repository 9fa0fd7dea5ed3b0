// The parameter block that `params::SumParts` describes.
struct Params {
    elements: u32,
    parts: u32,
    // 1 to add to another layer's gradient of a shared tensor.
    accumulate: u32,
    reserved: u32,
}
