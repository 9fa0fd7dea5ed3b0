// Needs pcg4d.wgsl and step.wgsl.
struct Epilogue {
    // One of [`activation`]. Pipelines have it as the constant ACTIVATION.
    activation: u32,
    // Stream of the dropout's random numbers; 0 for no dropout, and for pipelines whose constant HAS_DROPOUT is false.
    dropout_stream: u32,
    dropout_rate: f32,
    // Backward only: 1 to add to the existing gradient of a value that is used more than once.
    accumulate: u32,
    channels: u32,
    // Number of channels including padding, which stays zero.
    stored_channels: u32,
    // Values per sample without padding; each has a random number for dropout.
    features: u32,
    reserved0: u32,
}

const IDENTITY: u32 = 0u;
const RELU: u32 = 1u;
const TANH: u32 = 2u;

// Constants of a pipeline: SwiftShader runs both sides of a branch, and on GPUs even unused code takes registers.
override ACTIVATION: u32 = IDENTITY;
override HAS_DROPOUT: bool = true;

// Mask of the four consecutive values that survive dropout. `at` is the offset of the first among the stored values of
// the batch, or of this device's part of it. Random numbers are indexed over the whole batch and without channel
// padding, so they do not depend on padding or devices.
fn dropout_survivors(at: u32, epilogue: Epilogue) -> vec4<bool> {
    let place = at / epilogue.stored_channels * epilogue.channels + at % epilogue.stored_channels;
    let index = step.first_row * epilogue.features + place;
    let numbers = vec4<f32>(
        uniform_number(index, epilogue.dropout_stream, step.step, step.seed),
        uniform_number(index + 1u, epilogue.dropout_stream, step.step, step.seed),
        uniform_number(index + 2u, epilogue.dropout_stream, step.step, step.seed),
        uniform_number(index + 3u, epilogue.dropout_stream, step.step, step.seed),
    );
    return numbers >= vec4<f32>(epilogue.dropout_rate);
}

// Activation, then inverted dropout, of four consecutive values; the first is stored at `at`.
fn apply_epilogue(value: vec4<f32>, at: u32, epilogue: Epilogue) -> vec4<f32> {
    var result = value;
    if ACTIVATION == RELU {
        result = max(result, vec4<f32>(0.0));
    } else if ACTIVATION == TANH {
        result = accurate_tanh(result);
    }
    if HAS_DROPOUT && step.training == 1u {
        let survivors = result / (1.0 - epilogue.dropout_rate);
        result = select(vec4<f32>(0.0), survivors, dropout_survivors(at, epilogue));
    }
    return result;
}

// Derivative of the epilogue at four results, the first stored at `at`; zero for dropped values.
fn epilogue_slope(result: vec4<f32>, at: u32, epilogue: Epilogue) -> vec4<f32> {
    let scale = select(1.0, 1.0 / (1.0 - epilogue.dropout_rate), HAS_DROPOUT);
    if ACTIVATION == RELU {
        // Dropped values are zero and get a slope of zero as well.
        return select(vec4<f32>(0.0), vec4<f32>(scale), result > vec4<f32>(0.0));
    }
    var slope = vec4<f32>(scale);
    if ACTIVATION == TANH {
        let value = result / scale;
        slope *= 1.0 - value * value;
    }
    if HAS_DROPOUT {
        slope = select(vec4<f32>(0.0), slope, dropout_survivors(at, epilogue));
    }
    return slope;
}
