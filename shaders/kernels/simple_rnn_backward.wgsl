// simple_rnn_backward: gradients of simple_rnn_forward; one dispatch runs all steps t, last first:
//     dh = dz[t+1]·Rᵀ, at the last step dy        dz = dh ⊙ activation'(h[t])
// Tiny values of dh are zero (without_tiny).
//
// N sequences, T steps, S stored units, a multiple of 4.
// params: Recurrent. recurrent: (S, S). dy: (N, S), gradient of the last hidden state. states: (N, T, S), in: h[t],
// out: dz. Row-major, Stored.
// kernel "simple_rnn_backward", 64 invocations: "pcg4d", "accurate_tanh", "epilogue", "workgroup_number",
//     "recurrent_params", "recurrent_backward", "tile"
// kernel "simple_rnn_backward_subgroup", 8 invocations: "pcg4d", "accurate_tanh", "epilogue", "workgroup_number",
//     "recurrent_params", "eight_lanes", "subgroup_tile", "recurrent_backward_subgroup"
// kernel "simple_rnn_backward_four_lanes", 4 invocations: "pcg4d", "accurate_tanh", "epilogue", "workgroup_number",
//     "recurrent_params", "four_lanes", "subgroup_tile", "recurrent_backward_subgroup"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> recurrent: array<Stored4>;
@group(0) @binding(2) var<storage, read> dy: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> states: array<Stored4>;

const GATES: u32 = 1u;

fn recurrent_gradient(at: u32) -> vec4<f32> {
    return vec4<f32>(states[at]);
}

// Stores the gradients of four units of a sequence at step t, given the gradient of their hidden states.
fn retreat(sequence: u32, t: u32, quad: u32, gradient: vec4<f32>) {
    let dh = without_tiny(gradient);
    let place = (sequence * params.steps + t) * (params.stored_units / 4u) + quad;
    states[place] = rounded(dh * activation_slope(vec4<f32>(states[place])));
}
