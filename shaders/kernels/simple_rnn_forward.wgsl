// simple_rnn_forward: one dispatch runs all steps t of every sequence, from a zero state:
//     h[t] = activation(x·W + b + h[t-1]·R)        y = epilogue(h[T-1])
// Elman, "Finding Structure in Time", Cognitive Science 14(2), 1990. The activation is tanh, as in Keras, or ReLU.
//
// Each invocation accumulates eight units of all eight sequences in registers.
//
// N sequences, T steps, S stored units, a multiple of 4.
// params: Recurrent. recurrent: (S, S). states: (N, T, S), in: x·W + b, out: h[t]. previous: (N, T, S), out: h[t-1].
// y: (N, S). Row-major, Stored.
// kernel "simple_rnn_forward", 64 invocations: "pcg4d", "accurate_tanh", "epilogue", "workgroup_number",
//     "recurrent_params", "recurrent_state", "recurrent_forward", "tile"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> recurrent: array<Stored4>;
@group(0) @binding(2) var<storage, read_write> states: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> previous: array<Stored4>;
@group(0) @binding(4) var<storage, read_write> y: array<Stored4>;

const QUADS_AT_ONCE: u32 = 2u;

// Completes step t for two groups of four units of a sequence, given h[t-1]·R for each group.
fn advance(sequence: u32, t: u32, quad: u32, near: vec4<f32>, far: vec4<f32>) {
    let quads = params.stored_units / 4u;
    if sequence >= params.sequences {
        return;
    }
    let place = (sequence * params.steps + t) * quads + quad;
    let h = activated(vec4<f32>(states[place]) + near);
    states[place] = rounded(h);
    store_state(sequence, t, quad, h);
    if quad + WORKGROUP_SIZE < quads {
        let other = activated(vec4<f32>(states[place + WORKGROUP_SIZE]) + far);
        states[place + WORKGROUP_SIZE] = rounded(other);
        store_state(sequence, t, quad + WORKGROUP_SIZE, other);
    }
}

// Step t of the eight sequences from `first` on, for the four units of each of `quad` and `quad + WORKGROUP_SIZE`.
fn step_units(first: u32, t: u32, quad: u32) {
    let quads = params.stored_units / 4u;
    // Clamped to the last four units; the results of out-of-bounds units are not stored.
    let other = min(quad + WORKGROUP_SIZE, quads - 1u);
    var sums: Tile;
    // The state before the first step is zero.
    let products = select(0u, quads, t > 0u);
    for (var k = 0u; k < products; k++) {
        let low = states_before(first, 0u, t, k);
        let high = states_before(first, 4u, t, k);
        let row = 4u * k * quads;
        add_four_outer_products(&sums, low, high, recurrent_rows(row + quad, quads), recurrent_rows(row + other, quads));
    }
    advance(first, t, quad, sums.left0, sums.right0);
    advance(first + 1u, t, quad, sums.left1, sums.right1);
    advance(first + 2u, t, quad, sums.left2, sums.right2);
    advance(first + 3u, t, quad, sums.left3, sums.right3);
    advance(first + 4u, t, quad, sums.left4, sums.right4);
    advance(first + 5u, t, quad, sums.left5, sums.right5);
    advance(first + 6u, t, quad, sums.left6, sums.right6);
    advance(first + 7u, t, quad, sums.left7, sums.right7);
}
