// Final store of the gradient of an epilogue's result. Needs epilogue.wgsl and the kernel's `params`, `x`, `dx`.
// Four consecutive values at quad offset `quad`: dx = sum ⊙ slope(x), added to the stored gradient if accumulate is 1.
fn store_gradient(quad: u32, sum: vec4<f32>) {
    var gradient = sum;
    if ACTIVATION != IDENTITY || HAS_DROPOUT {
        gradient *= epilogue_slope(vec4<f32>(x[quad]), 4u * quad, params.epilogue);
    }
    if params.epilogue.accumulate == 1u {
        gradient += vec4<f32>(dx[quad]);
    }
    dx[quad] = rounded(gradient);
}
