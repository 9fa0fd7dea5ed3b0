// The parameter block that `params::PeakFma` describes.
struct Params {
    // Number of times that each invocation performs [`PEAK_FMAS`] of them.
    iterations: u32,
    invocations: u32,
    multiplier: f32,
    addend: f32,
}

// Start of a chain, between 0 and 2 and different for each chain, so that compilers cannot merge chains.
fn chain_start(number: u32, chain: u32) -> vec4<f32> {
    return vec4<f32>(f32(number % 1024u) / 1024.0) + vec4<f32>(0.0, 0.03, 0.06, 0.09) + f32(chain) * 0.1;
}
