// gru_backward: gradients of gru_forward; one dispatch runs all steps t, last first:
//     dh = dq[t+1]·Rᵀ + dh[t+1] ⊙ z[t+1], at the last step dy        da = dh ⊙ (1 - z) ⊙ activation'(g)
//     dz = dh ⊙ (h[t-1] - g) ⊙ z ⊙ (1 - z)        dr = da ⊙ q_g ⊙ r ⊙ (1 - r)
// The gradient of x·W + b is dx = (dz, dr, da), and the gradient of q = h[t-1]·R + b' is dq = (dz, dr, da ⊙ r).
// Tiny values of dh are zero (without_tiny).
//
// N sequences, T steps, S stored units, a multiple of 4. Gates are three blocks of S: z, r, g.
// params: Recurrent. recurrent: (S, 3S). dy: (N, S), gradient of the last hidden state. previous: (N, T, S), h[t-1].
// gates: (N, T, 3S), in: z, r, g, out: dx. products: (N, T, 3S), in: q, out: dq. kept_gradient: (N, S), f32, out:
// dh ⊙ z of the first step. Row-major; all but the last one Stored.
// kernel "gru_backward", 64 invocations: "pcg4d", "accurate_tanh", "epilogue", "workgroup_number", "recurrent_params",
//     "recurrent_backward", "tile"
// kernel "gru_backward_subgroup", 8 invocations: "pcg4d", "accurate_tanh", "epilogue", "workgroup_number",
//     "recurrent_params", "eight_lanes", "subgroup_tile", "recurrent_backward_subgroup"
// kernel "gru_backward_four_lanes", 4 invocations: "pcg4d", "accurate_tanh", "epilogue", "workgroup_number",
//     "recurrent_params", "four_lanes", "subgroup_tile", "recurrent_backward_subgroup"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> recurrent: array<Stored4>;
@group(0) @binding(2) var<storage, read> dy: array<Stored4>;
@group(0) @binding(3) var<storage, read> previous: array<Stored4>;
@group(0) @binding(4) var<storage, read_write> gates: array<Stored4>;
@group(0) @binding(5) var<storage, read_write> products: array<Stored4>;
@group(0) @binding(6) var<storage, read_write> kept_gradient: array<vec4<f32>>;

const GATES: u32 = 3u;

fn recurrent_gradient(at: u32) -> vec4<f32> {
    return vec4<f32>(products[at]);
}

// Stores the gradients of four units of a sequence at step t; `from_products` is dq[t+1]·Rᵀ, or dy at the last step.
fn retreat(sequence: u32, t: u32, quad: u32, from_products: vec4<f32>) {
    let quads = params.stored_units / 4u;
    let place = (sequence * params.steps + t) * quads + quad;
    let gate = 3u * (place - quad) + quad;
    let z = vec4<f32>(gates[gate]);
    let r = vec4<f32>(gates[gate + quads]);
    let g = vec4<f32>(gates[gate + 2u * quads]);
    let q_g = vec4<f32>(products[gate + 2u * quads]);
    // Index of dh ⊙ z from step t + 1, stored by the same invocation.
    let kept_place = sequence * quads + quad;
    var dh = from_products;
    if t + 1u < params.steps {
        dh += kept_gradient[kept_place];
    }
    dh = without_tiny(dh);
    let dz = dh * (vec4<f32>(previous[place]) - g) * z * (1.0 - z);
    let da = dh * (1.0 - z) * activation_slope(g);
    let dr = da * q_g * r * (1.0 - r);
    gates[gate] = rounded(dz);
    gates[gate + quads] = rounded(dr);
    gates[gate + 2u * quads] = rounded(da);
    products[gate] = rounded(dz);
    products[gate + quads] = rounded(dr);
    products[gate + 2u * quads] = rounded(da * r);
    kept_gradient[kept_place] = dh * z;
}
