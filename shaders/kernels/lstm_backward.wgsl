// lstm_backward: gradients of lstm_forward; one dispatch runs all steps t, last first:
//     dh = dz[t+1]·Rᵀ, at the last step dy        dc = dh ⊙ o ⊙ (1 - tanh²(c[t])) + dc[t+1] ⊙ f[t+1]
//     dz = (dc ⊙ g ⊙ s(i), dc ⊙ c[t-1] ⊙ s(f), dc ⊙ i ⊙ (1 - g²), dh ⊙ tanh(c[t]) ⊙ s(o))
// where s, the slope of the hard sigmoid, is 0.2 for results between 0 and 1, and 0 otherwise. Tiny values of dh and dc
// are zero (without_tiny).
//
// N sequences, T steps, S stored units, a multiple of 4. Gates are four blocks of S: i, f, g, o.
// params: Recurrent. recurrent: (S, 4S). dy: (N, S), gradient of the last hidden state. cells: (N, T, S), in: c[t],
// out: gradient of c[t-1]. gates: (N, T, 4S), in: i, f, g, o, out: dz. Row-major; cells f32, the others Stored.
// kernel "lstm_backward", 64 invocations: "pcg4d", "accurate_tanh", "epilogue", "workgroup_number", "recurrent_params",
//     "recurrent_backward", "tile"
// kernel "lstm_backward_subgroup", 8 invocations: "pcg4d", "accurate_tanh", "epilogue", "workgroup_number",
//     "recurrent_params", "eight_lanes", "subgroup_tile", "recurrent_backward_subgroup"
// kernel "lstm_backward_four_lanes", 4 invocations: "pcg4d", "accurate_tanh", "epilogue", "workgroup_number",
//     "recurrent_params", "four_lanes", "subgroup_tile", "recurrent_backward_subgroup"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> recurrent: array<Stored4>;
@group(0) @binding(2) var<storage, read> dy: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> cells: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> gates: array<Stored4>;

const GATES: u32 = 4u;

fn recurrent_gradient(at: u32) -> vec4<f32> {
    return vec4<f32>(gates[at]);
}

fn hard_sigmoid_slope(result: vec4<f32>) -> vec4<f32> {
    let inside = (result > vec4<f32>(0.0)) & (result < vec4<f32>(1.0));
    return select(vec4<f32>(0.0), vec4<f32>(0.2), inside);
}

// Stores the gradients of four units of a sequence at step t, given the gradient of their hidden states.
fn retreat(sequence: u32, t: u32, quad: u32, gradient: vec4<f32>) {
    let dh = without_tiny(gradient);
    let quads = params.stored_units / 4u;
    let place = (sequence * params.steps + t) * quads + quad;
    let gate = 4u * (place - quad) + quad;
    let i = vec4<f32>(gates[gate]);
    let f = vec4<f32>(gates[gate + quads]);
    let g = vec4<f32>(gates[gate + 2u * quads]);
    let o = vec4<f32>(gates[gate + 3u * quads]);
    let squashed = accurate_tanh(cells[place]);
    var dc = vec4<f32>(0.0);
    if t + 1u < params.steps {
        dc = cells[place + quads];
    }
    dc = without_tiny(fma(dh * o, 1.0 - squashed * squashed, dc));
    var before = vec4<f32>(0.0);
    if t > 0u {
        before = cells[place - quads];
    }
    gates[gate] = rounded(dc * g * hard_sigmoid_slope(i));
    gates[gate + quads] = rounded(dc * before * hard_sigmoid_slope(f));
    gates[gate + 2u * quads] = rounded(dc * i * (1.0 - g * g));
    gates[gate + 3u * quads] = rounded(dh * squashed * hard_sigmoid_slope(o));
    cells[place] = dc * f;
}
