// What activations, their gradients and the weights that products read are stored as: f32.
// Kernels compute in f32, whatever is stored: they widen what they read and round what they store.
alias Stored = f32;
alias Stored4 = vec4<f32>;

fn rounded(value: vec4<f32>) -> Stored4 {
    return value;
}

fn rounded_number(value: f32) -> Stored {
    return value;
}
