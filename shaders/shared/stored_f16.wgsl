enable f16;
// What activations, their gradients and the weights that products read are stored as: f16.
// Kernels compute in f32, whatever is stored: they widen what they read and round what they store. The product of two
// f16 numbers is exact in f32, so this is multiplication of f16 with accumulation in f32: Micikevicius et al., "Mixed
// Precision Training", ICLR 2018.
alias Stored = f16;
alias Stored4 = vec4<f16>;

// Larger numbers have no f16. WGSL leaves open what they are rounded to, and a driver may take the largest number, which
// nobody would notice; here they become infinite, which spreads to weights and loss.
const LARGEST_STORED: f32 = 65504.0;
const LARGEST: f32 = 0x1.fffffep+127f;

fn rounded(value: vec4<f32>) -> Stored4 {
    return Stored4(select(value, value * LARGEST, abs(value) > vec4<f32>(LARGEST_STORED)));
}

fn rounded_number(value: f32) -> Stored {
    return Stored(select(value, value * LARGEST, abs(value) > LARGEST_STORED));
}
