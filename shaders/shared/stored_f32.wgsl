// Storage type of activations, their gradients and the weights of products: f32.
// Kernels compute in f32 for every storage type: loads widen and stores round.
alias Stored = f32;
alias Stored4 = vec4<f32>;

fn rounded(value: vec4<f32>) -> Stored4 {
    return value;
}

fn rounded_number(value: f32) -> Stored {
    return value;
}
