// The parameter block that `params::Recurrent` describes, and the functions of recurrent layers. Needs epilogue.wgsl.
struct Params {
    // Sequences of the whole batch, N: samples times the sequences of a sample.
    sequences: u32,
    // Steps of a sequence, T.
    steps: u32,
    // Number of units without padding.
    units: u32,
    // Units as stored, S, a multiple of 4.
    stored_units: u32,
    // Activation of a hidden state or of its candidate: [`activation::RELU`] or [`activation::TANH`]. LSTMs always
    // use the latter.
    activation: u32,
    reserved0: u32,
    reserved1: u32,
    reserved2: u32,
    // Epilogue of the last hidden state, forward only.
    epilogue: Epilogue,
}

// Activation of a candidate for the hidden state: ReLU or the hyperbolic tangent.
fn activated(z: vec4<f32>) -> vec4<f32> {
    if params.activation == RELU {
        return max(z, vec4<f32>(0.0));
    }
    return accurate_tanh(z);
}

// Derivative of `activated`, given its result; the derivative of ReLU is 0 at 0.
fn activation_slope(result: vec4<f32>) -> vec4<f32> {
    if params.activation == RELU {
        return select(vec4<f32>(0.0), vec4<f32>(1.0), result > vec4<f32>(0.0));
    }
    return 1.0 - result * result;
}

// Gradients of states, zero below 1e-30 in magnitude: as they decay over the steps, they would become subnormal, and
// some CPUs compute subnormal numbers many times as slowly. NaN stays.
fn without_tiny(gradient: vec4<f32>) -> vec4<f32> {
    return select(gradient, vec4<f32>(0.0), abs(gradient) < vec4<f32>(1e-30));
}

// 1 / (1 + exp(-z)); clamped at -80, below which the exponential could overflow.
fn sigmoid(z: vec4<f32>) -> vec4<f32> {
    return 1.0 / (1.0 + exp(-max(z, vec4<f32>(-80.0))));
}
