// simple_rnn_forward_subgroup: simple_rnn_forward with the lanes of a subgroup, for drivers that emulate a GPU on a
// CPU.
//
// N sequences, T steps, S stored units, a multiple of 4.
// params: Recurrent. recurrent: (S, S). states: (N, T, S), in: x·W + b, out: h[t]. previous: (N, T, S), out: h[t-1].
// y: (N, S). Row-major, Stored.
// kernel "simple_rnn_forward_subgroup", 8 invocations: "pcg4d", "accurate_tanh", "epilogue", "workgroup_number",
//     "recurrent_params", "recurrent_state", "eight_lanes", "subgroup_tile", "recurrent_forward_subgroup"
// kernel "simple_rnn_forward_four_lanes", 4 invocations: "pcg4d", "accurate_tanh", "epilogue", "workgroup_number",
//     "recurrent_params", "recurrent_state", "four_lanes", "subgroup_tile", "recurrent_forward_subgroup"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> recurrent: array<Stored4>;
@group(0) @binding(2) var<storage, read_write> states: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> previous: array<Stored4>;
@group(0) @binding(4) var<storage, read_write> y: array<Stored4>;

const GATES: u32 = 1u;

fn block_of(turn: u32) -> u32 {
    return turn;
}

// Completes step t for four units of a sequence, given h[t-1]·R.
fn end_turn(sequence: u32, t: u32, quad: u32, turn: u32, sum: vec4<f32>, carry: vec4<f32>) -> vec4<f32> {
    let place = (sequence * params.steps + t) * (params.stored_units / 4u) + quad;
    let h = activated(vec4<f32>(states[place]) + sum);
    states[place] = rounded(h);
    return h;
}
