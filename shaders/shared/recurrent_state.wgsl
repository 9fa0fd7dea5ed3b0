// Stores four hidden states of a sequence after step t: for the next step to `previous`, after the last step to `y`.
// Step 0 also stores the zero state before it. Needs the kernel's bindings previous: (N, T, S), and y: (N, S).
fn store_state(sequence: u32, t: u32, quad: u32, h: vec4<f32>) {
    let quads = params.stored_units / 4u;
    let place = (sequence * params.steps + t) * quads + quad;
    if t == 0u {
        previous[place] = rounded(vec4<f32>(0.0));
    }
    if t + 1u < params.steps {
        previous[place + quads] = rounded(h);
    } else {
        y[sequence * quads + quad] = rounded(h);
    }
}
