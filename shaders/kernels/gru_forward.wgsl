// gru_forward: one dispatch runs all steps t of every sequence, from a zero state. With q = h[t-1]·R + b' and x·W + b,
// both in three blocks:
//     z = sigmoid(x_z + q_z)        r = sigmoid(x_r + q_r)        g = activation(x_g + r ⊙ q_g)
//     h[t] = z ⊙ h[t-1] + (1 - z) ⊙ g        y = epilogue(h[T-1])
// Cho et al., "Learning Phrase Representations using RNN Encoder–Decoder for Statistical Machine Translation", EMNLP
// 2014; with the reset gate after the product and two biases as in cuDNN and as by default in Keras (`reset_after`).
// The activation is tanh or ReLU.
//
// Each invocation accumulates the three gates of four units of all eight sequences in registers.
//
// N sequences, T steps, S stored units, a multiple of 4. Gates are three blocks of S: z, r, g.
// params: Recurrent. recurrent: (S, 3S). recurrent_bias: (3S), f32. gates: (N, T, 3S), in: x·W + b, out: z, r, g.
// products: (N, T, 3S), out: q. previous: (N, T, S), out: h[t-1]. y: (N, S). Row-major, Stored.
// kernel "gru_forward", 64 invocations: "pcg4d", "accurate_tanh", "epilogue", "workgroup_number", "recurrent_params",
//     "recurrent_state", "recurrent_forward", "tile", "half_tile"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> recurrent: array<Stored4>;
@group(0) @binding(2) var<storage, read> recurrent_bias: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> gates: array<Stored4>;
@group(0) @binding(4) var<storage, read_write> products: array<Stored4>;
@group(0) @binding(5) var<storage, read_write> previous: array<Stored4>;
@group(0) @binding(6) var<storage, read_write> y: array<Stored4>;

const QUADS_AT_ONCE: u32 = 1u;

// Completes step t for four units of a sequence, given h[t-1]·R for each gate.
fn advance(sequence: u32, t: u32, quad: u32, update: vec4<f32>, reset: vec4<f32>, candidate: vec4<f32>) {
    if sequence >= params.sequences {
        return;
    }
    let quads = params.stored_units / 4u;
    let place = (sequence * params.steps + t) * quads + quad;
    let gate = 3u * (place - quad) + quad;
    let q_z = update + recurrent_bias[quad];
    let q_r = reset + recurrent_bias[quad + quads];
    let q_g = candidate + recurrent_bias[quad + 2u * quads];
    let z = sigmoid(vec4<f32>(gates[gate]) + q_z);
    let r = sigmoid(vec4<f32>(gates[gate + quads]) + q_r);
    let g = activated(fma(r, q_g, vec4<f32>(gates[gate + 2u * quads])));
    gates[gate] = rounded(z);
    gates[gate + quads] = rounded(r);
    gates[gate + 2u * quads] = rounded(g);
    products[gate] = rounded(q_z);
    products[gate + quads] = rounded(q_r);
    products[gate + 2u * quads] = rounded(q_g);
    var h = (1.0 - z) * g;
    if t > 0u {
        h = fma(z, vec4<f32>(previous[place]), h);
    }
    store_state(sequence, t, quad, h);
}

// Step t of the eight sequences from `first` on, for the units 4 quad .. 4 quad + 3.
fn step_units(first: u32, t: u32, quad: u32) {
    let quads = params.stored_units / 4u;
    let stride = 3u * quads;
    var update_reset: Tile;
    var candidate: HalfTile;
    // The state before the first step is zero.
    let depth = select(0u, quads, t > 0u);
    for (var k = 0u; k < depth; k++) {
        let low = states_before(first, 0u, t, k);
        let high = states_before(first, 4u, t, k);
        let w = 4u * k * stride + quad;
        let z = recurrent_rows(w, stride);
        let r = recurrent_rows(w + quads, stride);
        add_four_outer_products(&update_reset, low, high, z, r);
        add_four_half_products(&candidate, low, high, recurrent_rows(w + 2u * quads, stride));
    }
    let p = update_reset;
    let q = candidate;
    advance(first, t, quad, p.left0, p.right0, q.row0);
    advance(first + 1u, t, quad, p.left1, p.right1, q.row1);
    advance(first + 2u, t, quad, p.left2, p.right2, q.row2);
    advance(first + 3u, t, quad, p.left3, p.right3, q.row3);
    advance(first + 4u, t, quad, p.left4, p.right4, q.row4);
    advance(first + 5u, t, quad, p.left5, p.right5, q.row5);
    advance(first + 6u, t, quad, p.left6, p.right6, q.row6);
    advance(first + 7u, t, quad, p.left7, p.right7, q.row7);
}
