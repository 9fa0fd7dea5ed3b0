// lstm_forward_subgroup: lstm_forward with the lanes of a subgroup, for drivers that emulate a GPU on a CPU.
//
// N sequences, T steps, S stored units, a multiple of 4. Gates are four blocks of S: i, f, g, o.
// params: Recurrent. recurrent: (S, 4S). gates: (N, T, 4S), in: x·W + b, out: i, f, g, o. cells: (N, T, S), out: c[t].
// previous: (N, T, S), out: h[t-1]. y: (N, S). Row-major; cells f32, the others Stored.
// kernel "lstm_forward_subgroup", 8 invocations: "pcg4d", "accurate_tanh", "epilogue", "workgroup_number",
//     "recurrent_params", "recurrent_state", "eight_lanes", "subgroup_tile", "recurrent_forward_subgroup"
// kernel "lstm_forward_four_lanes", 4 invocations: "pcg4d", "accurate_tanh", "epilogue", "workgroup_number",
//     "recurrent_params", "recurrent_state", "four_lanes", "subgroup_tile", "recurrent_forward_subgroup"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> recurrent: array<Stored4>;
@group(0) @binding(2) var<storage, read_write> gates: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> cells: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> previous: array<Stored4>;
@group(0) @binding(5) var<storage, read_write> y: array<Stored4>;

const GATES: u32 = 4u;
// Gates are computed in order of dependency: i, g, f, o.
const CANDIDATE: u32 = 1u;
const FORGET: u32 = 2u;
const OUTPUT: u32 = 3u;

fn block_of(turn: u32) -> u32 {
    return select(select(turn, 1u, turn == FORGET), 2u, turn == CANDIDATE);
}

fn hard_sigmoid(z: vec4<f32>) -> vec4<f32> {
    return clamp(fma(z, vec4<f32>(0.2), vec4<f32>(0.5)), vec4<f32>(0.0), vec4<f32>(1.0));
}

// Completes one gate of four units of a sequence at step t, given its part of h[t-1]·R. `carry` is the previous gate's
// result; the results are i, then i ⊙ g, then c[t], then h[t].
fn end_turn(sequence: u32, t: u32, quad: u32, turn: u32, sum: vec4<f32>, carry: vec4<f32>) -> vec4<f32> {
    let quads = params.stored_units / 4u;
    let place = (sequence * params.steps + t) * quads + quad;
    let gate = 4u * (place - quad) + block_of(turn) * quads + quad;
    let z = vec4<f32>(gates[gate]) + sum;
    // tanh(z) for g and tanh(c[t]) for o; unused for i and f.
    let squashed = accurate_tanh(select(z, carry, turn == OUTPUT));
    let value = select(hard_sigmoid(z), squashed, turn == CANDIDATE);
    gates[gate] = rounded(value);
    if turn == CANDIDATE {
        return carry * value;
    }
    if turn == FORGET {
        var c = carry;
        if t > 0u {
            c = fma(value, cells[place - quads], c);
        }
        cells[place] = c;
        return c;
    }
    return select(value, value * squashed, turn == OUTPUT);
}
