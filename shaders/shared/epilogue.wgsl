// Needs pcg4d.wgsl and step.wgsl.
struct Epilogue {
    relu: u32,
    dropout_stream: u32,
    dropout_rate: f32,
    reserved: u32,
}

// Activation, then inverted dropout, of four neighbours of which the first has random number `index`.
fn apply_epilogue(value: vec4<f32>, index: u32, epilogue: Epilogue) -> vec4<f32> {
    var result = value;
    if epilogue.relu == 1u {
        result = max(result, vec4<f32>(0.0));
    }
    if epilogue.dropout_stream != 0u && step.training == 1u {
        let numbers = vec4<f32>(
            uniform_number(index, epilogue.dropout_stream, step.step, step.seed),
            uniform_number(index + 1u, epilogue.dropout_stream, step.step, step.seed),
            uniform_number(index + 2u, epilogue.dropout_stream, step.step, step.seed),
            uniform_number(index + 3u, epilogue.dropout_stream, step.step, step.seed),
        );
        let survivors = result / (1.0 - epilogue.dropout_rate);
        result = select(vec4<f32>(0.0), survivors, numbers >= vec4<f32>(epilogue.dropout_rate));
    }
    return result;
}

// Slope of the epilogue at its results: dropped and negative values let nothing through.
fn epilogue_slope(result: vec4<f32>, epilogue: Epilogue) -> vec4<f32> {
    var slope = vec4<f32>(1.0);
    if epilogue.dropout_stream != 0u {
        slope = vec4<f32>(1.0 / (1.0 - epilogue.dropout_rate));
    }
    if epilogue.relu == 1u {
        slope = select(vec4<f32>(0.0), slope, result > vec4<f32>(0.0));
    }
    return slope;
}
