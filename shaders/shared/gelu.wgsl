// gelu(x) = x·Φ(x), Φ the normal distribution (Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016).
// 1 - erf is Hastings' approximation with an error below 1.5e-7 (Abramowitz and Stegun, "Handbook of Mathematical
// Functions", 1964, formula 7.1.26). It gives Φ(-|x|) = (1 - erf(|x| / √2)) / 2, so that large negative values do not
// cancel, and Φ(|x|) = 1 - Φ(-|x|).
const GELU: u32 = 3u;

// Φ(x), where `bell` is exp(-x²/2).
fn normal_distribution(x: vec4<f32>, bell: vec4<f32>) -> vec4<f32> {
    // The formula's 0.3275911, divided by √2.
    let t = 1.0 / fma(vec4<f32>(0.23164189), abs(x), vec4<f32>(1.0));
    var series = fma(t, vec4<f32>(1.061405429), vec4<f32>(-1.453152027));
    series = fma(t, series, vec4<f32>(1.421413741));
    series = fma(t, series, vec4<f32>(-0.284496736));
    series = fma(t, series, vec4<f32>(0.254829592));
    let tail = 0.5 * t * series * bell;
    return select(1.0 - tail, tail, x < vec4<f32>(0.0));
}

fn gelu(x: vec4<f32>) -> vec4<f32> {
    return x * normal_distribution(x, exp(-0.5 * x * x));
}

// Φ(x) + x·φ(x), φ the normal density.
fn gelu_slope(x: vec4<f32>) -> vec4<f32> {
    let bell = exp(-0.5 * x * x);
    return fma(x, 0.3989422804 * bell, normal_distribution(x, bell));
}
