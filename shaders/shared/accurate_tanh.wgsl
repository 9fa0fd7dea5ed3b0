// Hyperbolic tangent with a small relative error everywhere. A built-in tanh may subtract exponentials, which cancel at
// small values, and recurrent networks have many small values.
// Up to 1/2 the series of tanh, Abramowitz and Stegun 4.5.64; beyond, 1 - 2 / (exp(2x) + 1).
fn accurate_tanh(x: vec4<f32>) -> vec4<f32> {
    let s = x * x;
    var series = fma(s, vec4<f32>(21844.0 / 6081075.0), vec4<f32>(-1382.0 / 155925.0));
    series = fma(s, series, vec4<f32>(62.0 / 2835.0));
    series = fma(s, series, vec4<f32>(-17.0 / 315.0));
    series = fma(s, series, vec4<f32>(2.0 / 15.0));
    series = fma(s, series, vec4<f32>(-1.0 / 3.0));
    let small = fma(x * s, series, x);
    // tanh rounds to 1 from 10 on; the clamp keeps the exponential from overflowing.
    let size = min(abs(x), vec4<f32>(10.0));
    let large = sign(x) * (1.0 - 2.0 / (exp(2.0 * size) + 1.0));
    return select(large, small, abs(x) <= vec4<f32>(0.5));
}
