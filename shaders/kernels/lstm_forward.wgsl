// lstm_forward: one dispatch runs all steps t of every sequence, from a zero state:
//     i, f, o = hard_sigmoid(z), g = tanh(z) with z = x·W + b + h[t-1]·R, hard_sigmoid(z) = clamp(0.2 z + 0.5, 0, 1)
//     c[t] = f ⊙ c[t-1] + i ⊙ g        h[t] = o ⊙ tanh(c[t])        y = epilogue(h[T-1])
// Hochreiter and Schmidhuber, "Long Short-Term Memory", Neural Computation 9(8), 1997; with the forget gate of Gers,
// Schmidhuber and Cummins, "Learning to Forget", Neural Computation 12(10), 2000; gates as in Keras 2.0.8.
//
// A workgroup keeps eight sequences for all steps and their hidden states in its memory. An invocation computes the
// four gates of four units of all eight, held in registers. States of more than 512 units stay in storage.
//
// N sequences, T steps, S stored units, a multiple of 4. Gates are four blocks of S: i, f, g, o.
// params: Lstm. recurrent: (S, 4S). gates: (N, T, 4S), in: x·W + b, out: i, f, g, o. cells: (N, T, S), out: c[t].
// previous: (N, T, S), out: h[t-1]. y: (N, S). Row-major; cells f32, the others Stored.
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> recurrent: array<Stored4>;
@group(0) @binding(2) var<storage, read_write> gates: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> cells: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> previous: array<Stored4>;
@group(0) @binding(5) var<storage, read_write> y: array<Stored4>;

const WORKGROUP_SIZE: u32 = 64u;

// Hidden states before the step, (8, S), if they fit: as much as the smallest workgroup memory holds.
var<workgroup> hidden: array<vec4<f32>, 1024>;
const LARGEST_QUADS: u32 = 128u;

// Four hidden states before step t of a sequence, the `row`-th of those from `first` on.
fn state_before(first: u32, row: u32, t: u32, k: u32) -> vec4<f32> {
    let quads = params.stored_units / 4u;
    if quads <= LARGEST_QUADS {
        return hidden[row * quads + k];
    }
    // Sequences beyond the last one repeat it; their results are not stored.
    let sequence = min(first + row, params.sequences - 1u);
    return vec4<f32>(previous[(sequence * params.steps + t) * quads + k]);
}

fn hard_sigmoid(z: vec4<f32>) -> vec4<f32> {
    return clamp(fma(z, vec4<f32>(0.2), vec4<f32>(0.5)), vec4<f32>(0.0), vec4<f32>(1.0));
}

// Ends step t of four units of a sequence, of which h[t-1]·R is given, gate by gate.
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
    } else {
        previous[place] = rounded(vec4<f32>(0.0));
    }
    cells[place] = c;
    let h = o * accurate_tanh(c);
    if t + 1u < params.steps {
        previous[place + quads] = rounded(h);
    } else {
        y[sequence * quads + quad] = rounded(h);
    }
}

// Step t of the eight sequences from `first` on, for the units 4 quad .. 4 quad + 3.
fn step_units(first: u32, t: u32, quad: u32) {
    let quads = params.stored_units / 4u;
    var input_forget: Tile;
    var candidate_output: Tile;
    // Nothing comes from before the first step.
    let products = select(0u, quads, t > 0u);
    for (var k = 0u; k < products; k++) {
        let low = transpose(mat4x4<f32>(
            state_before(first, 0u, t, k),
            state_before(first, 1u, t, k),
            state_before(first, 2u, t, k),
            state_before(first, 3u, t, k),
        ));
        let high = transpose(mat4x4<f32>(
            state_before(first, 4u, t, k),
            state_before(first, 5u, t, k),
            state_before(first, 6u, t, k),
            state_before(first, 7u, t, k),
        ));
        let w0 = 16u * k * quads + quad;
        let w1 = w0 + 4u * quads;
        let w2 = w1 + 4u * quads;
        let w3 = w2 + 4u * quads;
        add_four_outer_products(
            &input_forget,
            low,
            high,
            mat4x4<f32>(
                vec4<f32>(recurrent[w0]),
                vec4<f32>(recurrent[w1]),
                vec4<f32>(recurrent[w2]),
                vec4<f32>(recurrent[w3]),
            ),
            mat4x4<f32>(
                vec4<f32>(recurrent[w0 + quads]),
                vec4<f32>(recurrent[w1 + quads]),
                vec4<f32>(recurrent[w2 + quads]),
                vec4<f32>(recurrent[w3 + quads]),
            ),
        );
        let g = 2u * quads;
        let o = 3u * quads;
        add_four_outer_products(
            &candidate_output,
            low,
            high,
            mat4x4<f32>(
                vec4<f32>(recurrent[w0 + g]),
                vec4<f32>(recurrent[w1 + g]),
                vec4<f32>(recurrent[w2 + g]),
                vec4<f32>(recurrent[w3 + g]),
            ),
            mat4x4<f32>(
                vec4<f32>(recurrent[w0 + o]),
                vec4<f32>(recurrent[w1 + o]),
                vec4<f32>(recurrent[w2 + o]),
                vec4<f32>(recurrent[w3 + o]),
            ),
        );
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

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let quads = params.stored_units / 4u;
    let first = first_sequence(workgroup, workgroups);
    let sequences = min(SEQUENCES, params.sequences - min(first, params.sequences));
    for (var t = 0u; t < params.steps; t++) {
        for (var quad = local; quad < quads; quad += WORKGROUP_SIZE) {
            step_units(first, t, quad);
        }
        // The states before the step are read by all until here, and replaced only then.
        workgroupBarrier();
        storageBarrier();
        if t + 1u < params.steps && quads <= LARGEST_QUADS {
            for (var quad = local; quad < quads; quad += WORKGROUP_SIZE) {
                for (var row = 0u; row < sequences; row++) {
                    // What this invocation itself has stored.
                    let at = ((first + row) * params.steps + t + 1u) * quads + quad;
                    hidden[row * quads + quad] = vec4<f32>(previous[at]);
                }
            }
        }
        workgroupBarrier();
    }
    // Not where h[T-1] is computed, because devices that run both sides of a branch would do this in every step.
    for (var quad = local; quad < quads; quad += WORKGROUP_SIZE) {
        for (var row = 0u; row < sequences; row++) {
            let at = (first + row) * quads + quad;
            y[at] = rounded(apply_epilogue(vec4<f32>(y[at]), 4u * at, params.epilogue));
        }
    }
}
