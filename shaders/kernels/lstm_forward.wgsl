// lstm_forward: one dispatch runs all steps t of every sequence, from a zero state:
//     i, f, o = hard_sigmoid(z), g = tanh(z) with z = x·W + b + h[t-1]·R, hard_sigmoid(z) = clamp(0.2 z + 0.5, 0, 1)
//     c[t] = f ⊙ c[t-1] + i ⊙ g        h[t] = o ⊙ tanh(c[t])        y = epilogue(h[T-1])
// Hochreiter and Schmidhuber, "Long Short-Term Memory", Neural Computation 9(8), 1997; with the forget gate of Gers,
// Schmidhuber and Cummins, "Learning to Forget", Neural Computation 12(10), 2000; gates as in Keras 2.0.8.
//
// Each invocation accumulates the four gates of four units of all eight sequences in registers.
//
// N sequences, T steps, S stored units, a multiple of 4. Gates are four blocks of S: i, f, g, o.
// params: Recurrent. recurrent: (S, 4S). gates: (N, T, 4S), in: x·W + b, out: i, f, g, o. cells: (N, T, S), out: c[t].
// previous: (N, T, S), out: h[t-1]. y: (N, S). Row-major; cells f32, the others Stored.
// kernel "lstm_forward", 64 invocations: "pcg4d", "accurate_tanh", "epilogue", "workgroup_number", "recurrent_params",
//     "recurrent_state", "recurrent_forward", "tile"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> recurrent: array<Stored4>;
@group(0) @binding(2) var<storage, read_write> gates: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> cells: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> previous: array<Stored4>;
@group(0) @binding(5) var<storage, read_write> y: array<Stored4>;

const QUADS_AT_ONCE: u32 = 1u;

fn hard_sigmoid(z: vec4<f32>) -> vec4<f32> {
    return clamp(fma(z, vec4<f32>(0.2), vec4<f32>(0.5)), vec4<f32>(0.0), vec4<f32>(1.0));
}

// Completes step t for four units of a sequence, given h[t-1]·R for each gate.
fn advance(
    sequence: u32,
    t: u32,
    quad: u32,
    input: vec4<f32>,
    forget: vec4<f32>,
    candidate: vec4<f32>,
    output: vec4<f32>,
) {
    if sequence >= params.sequences {
        return;
    }
    let quads = params.stored_units / 4u;
    let place = (sequence * params.steps + t) * quads + quad;
    let gate = 4u * (place - quad) + quad;
    let i = hard_sigmoid(vec4<f32>(gates[gate]) + input);
    let f = hard_sigmoid(vec4<f32>(gates[gate + quads]) + forget);
    let g = accurate_tanh(vec4<f32>(gates[gate + 2u * quads]) + candidate);
    let o = hard_sigmoid(vec4<f32>(gates[gate + 3u * quads]) + output);
    gates[gate] = rounded(i);
    gates[gate + quads] = rounded(f);
    gates[gate + 2u * quads] = rounded(g);
    gates[gate + 3u * quads] = rounded(o);
    var c = i * g;
    if t > 0u {
        c = fma(f, cells[place - quads], c);
    }
    cells[place] = c;
    store_state(sequence, t, quad, o * accurate_tanh(c));
}

// Step t of the eight sequences from `first` on, for the units 4 quad .. 4 quad + 3.
fn step_units(first: u32, t: u32, quad: u32) {
    let quads = params.stored_units / 4u;
    let stride = 4u * quads;
    var input_forget: Tile;
    var candidate_output: Tile;
    // The state before the first step is zero.
    let products = select(0u, quads, t > 0u);
    for (var k = 0u; k < products; k++) {
        let low = states_before(first, 0u, t, k);
        let high = states_before(first, 4u, t, k);
        let w = 4u * k * stride + quad;
        let i = recurrent_rows(w, stride);
        let f = recurrent_rows(w + quads, stride);
        add_four_outer_products(&input_forget, low, high, i, f);
        let g = recurrent_rows(w + 2u * quads, stride);
        let o = recurrent_rows(w + 3u * quads, stride);
        add_four_outer_products(&candidate_output, low, high, g, o);
    }
    let p = input_forget;
    let q = candidate_output;
    advance(first, t, quad, p.left0, p.right0, q.left0, q.right0);
    advance(first + 1u, t, quad, p.left1, p.right1, q.left1, q.right1);
    advance(first + 2u, t, quad, p.left2, p.right2, q.left2, q.right2);
    advance(first + 3u, t, quad, p.left3, p.right3, q.left3, q.right3);
    advance(first + 4u, t, quad, p.left4, p.right4, q.left4, q.right4);
    advance(first + 5u, t, quad, p.left5, p.right5, q.left5, q.right5);
    advance(first + 6u, t, quad, p.left6, p.right6, q.left6, q.right6);
    advance(first + 7u, t, quad, p.left7, p.right7, q.left7, q.right7);
}
