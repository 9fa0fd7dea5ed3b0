// Finishes the gradient of a value that an epilogue made. Needs epilogue.wgsl and the kernel's `params`, `x`, `dx`.
// Four neighbours at place `quad`, counted in fours: dx = sum ⊙ slope(x), added to what is there if it is used twice.
fn store_gradient(quad: u32, sum: vec4<f32>) {
    var gradient = sum * epilogue_slope(vec4<f32>(x[quad]), 4u * quad, params.epilogue);
    if params.epilogue.accumulate == 1u {
        gradient += vec4<f32>(dx[quad]);
    }
    dx[quad] = rounded(gradient);
}
