// gru_forward_subgroup: gru_forward with the lanes of a subgroup, for drivers that emulate a GPU on a CPU.
//
// N sequences, T steps, S stored units, a multiple of 4. Gates are three blocks of S: z, r, g.
// params: Recurrent. recurrent: (S, 3S). recurrent_bias: (3S), f32. gates: (N, T, 3S), in: x·W + b, out: z, r, g.
// products: (N, T, 3S), out: q. previous: (N, T, S), out: h[t-1]. y: (N, S). Row-major, Stored.
// kernel "gru_forward_subgroup", 8 invocations: "pcg4d", "accurate_tanh", "epilogue", "workgroup_number",
//     "recurrent_params", "recurrent_state", "eight_lanes", "subgroup_tile", "recurrent_forward_subgroup"
// kernel "gru_forward_four_lanes", 4 invocations: "pcg4d", "accurate_tanh", "epilogue", "workgroup_number",
//     "recurrent_params", "recurrent_state", "four_lanes", "subgroup_tile", "recurrent_forward_subgroup"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> recurrent: array<Stored4>;
@group(0) @binding(2) var<storage, read> recurrent_bias: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> gates: array<Stored4>;
@group(0) @binding(4) var<storage, read_write> products: array<Stored4>;
@group(0) @binding(5) var<storage, read_write> previous: array<Stored4>;
@group(0) @binding(6) var<storage, read_write> y: array<Stored4>;

const GATES: u32 = 3u;
// Gates are computed in order of dependency: r, g, z.
const CANDIDATE: u32 = 1u;
const UPDATE: u32 = 2u;

fn block_of(turn: u32) -> u32 {
    return select(turn + 1u, 0u, turn == UPDATE);
}

// Completes one gate of four units of a sequence at step t, given its part of h[t-1]·R. `carry` is the previous gate's
// result; the results are r, then g, then h[t].
fn end_turn(sequence: u32, t: u32, quad: u32, turn: u32, sum: vec4<f32>, carry: vec4<f32>) -> vec4<f32> {
    let quads = params.stored_units / 4u;
    let place = (sequence * params.steps + t) * quads + quad;
    let block = block_of(turn) * quads + quad;
    let gate = 3u * (place - quad) + block;
    let q = sum + recurrent_bias[block];
    products[gate] = rounded(q);
    let x = vec4<f32>(gates[gate]);
    if turn == CANDIDATE {
        let g = activated(fma(carry, q, x));
        gates[gate] = rounded(g);
        return g;
    }
    let value = sigmoid(x + q);
    gates[gate] = rounded(value);
    if turn == UPDATE {
        var h = (1.0 - value) * carry;
        if t > 0u {
            h = fma(value, vec4<f32>(previous[place]), h);
        }
        return h;
    }
    return value;
}
