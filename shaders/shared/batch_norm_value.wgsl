// Normalized value and activation of four channels. Needs gelu.wgsl, batch_norm_params.wgsl and the kernel's
// `params`, `saved`, `gamma` and `beta`. Channel offsets are in quads.
struct Normalizer {
    mean: vec4<f32>,
    // 1 / √(variance + epsilon)
    inverse_deviation: vec4<f32>,
    gamma: vec4<f32>,
    beta: vec4<f32>,
}

fn normalizer(quad: u32) -> Normalizer {
    return Normalizer(saved[quad], saved[params.stored_channels / 4u + quad], gamma[quad], beta[quad]);
}

fn normalized(value: vec4<f32>, by: Normalizer) -> vec4<f32> {
    return (value - by.mean) * by.inverse_deviation;
}

fn activate(value: vec4<f32>) -> vec4<f32> {
    switch params.activation {
        case RELU: {
            return max(value, vec4<f32>(0.0));
        }
        case TANH: {
            return accurate_tanh(value);
        }
        case GELU: {
            return gelu(value);
        }
        default: {
            return value;
        }
    }
}

// Derivative of the activation at its argument.
fn activation_slope(value: vec4<f32>) -> vec4<f32> {
    switch params.activation {
        case RELU: {
            return select(vec4<f32>(0.0), vec4<f32>(1.0), value > vec4<f32>(0.0));
        }
        case TANH: {
            let result = accurate_tanh(value);
            return 1.0 - result * result;
        }
        case GELU: {
            return gelu_slope(value);
        }
        default: {
            return vec4<f32>(1.0);
        }
    }
}
