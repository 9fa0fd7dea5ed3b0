enable f16;
// Storage type of activations, their gradients and the weights of products: f16.
// Kernels compute in f32 for every storage type: loads widen and stores round. The product of two f16 numbers is exact
// in f32, so this is f16 multiplication with f32 accumulation: Micikevicius et al., "Mixed Precision Training",
// ICLR 2018.
alias Stored = f16;
alias Stored4 = vec4<f16>;

// Larger numbers have no f16. WGSL leaves their rounding open, and a driver may silently clamp to the largest number;
// here they become infinite, which spreads to weights and loss.
const LARGEST_STORED: f32 = 65504.0;
const LARGEST: f32 = 0x1.fffffep+127f;

fn rounded(value: vec4<f32>) -> Stored4 {
    return Stored4(select(value, value * LARGEST, abs(value) > vec4<f32>(LARGEST_STORED)));
}

fn rounded_number(value: f32) -> Stored {
    return Stored(select(value, value * LARGEST, abs(value) > LARGEST_STORED));
}
