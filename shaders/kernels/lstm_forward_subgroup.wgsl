// lstm_forward_subgroup: as lstm_forward, by eight lanes of a subgroup, for drivers that emulate a GPU on a CPU.
//
// A workgroup keeps 32 sequences for all steps. For 32 units at a time it makes a tile of 32 × 32 products with one gate
// after the other, in the registers of its lanes: a single tile, because a loop over more does not fit into the
// instruction cache of a CPU. Each lane keeps the states before the step of four sequences, because every tile needs
// them all, and hands them out by subgroupBroadcast; a driver's own checks make reading storage dear.
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

// Fours of units of which a lane keeps the states of its four sequences.
const KEPT: u32 = 64u;

// Gates are made in this order, so that each finds what it needs: i, g, f, o.
const CANDIDATE: u32 = 1u;
const FORGET: u32 = 2u;
const OUTPUT: u32 = 3u;

fn hard_sigmoid(z: vec4<f32>) -> vec4<f32> {
    return clamp(fma(z, vec4<f32>(0.2), vec4<f32>(0.5)), vec4<f32>(0.0), vec4<f32>(1.0));
}

// Ends one gate of four units of a sequence at step t, given its share of h[t-1]·R; `carry` goes from gate to gate:
// i, then i ⊙ g, then c[t].
fn end_gate(sequence: u32, t: u32, quad: u32, turn: u32, block: u32, sum: vec4<f32>, carry: vec4<f32>) -> vec4<f32> {
    let quads = params.stored_units / 4u;
    let place = (sequence * params.steps + t) * quads + quad;
    let gate = 4u * (place - quad) + block + quad;
    let z = vec4<f32>(gates[gate]) + sum;
    // The one hyperbolic tangent that this gate needs, if it needs one.
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
        } else {
            previous[place] = rounded(vec4<f32>(0.0));
        }
        cells[place] = c;
        return c;
    }
    if turn == OUTPUT {
        let h = value * squashed;
        if t + 1u < params.steps {
            previous[place + quads] = rounded(h);
        } else {
            y[sequence * quads + quad] = rounded(h);
        }
    }
    return value;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(subgroup_invocation_id) lane: u32,
) {
    let quads = params.stored_units / 4u;
    let first = workgroup_number(workgroup, workgroups) * TILE;
    if first >= params.sequences {
        return;
    }
    // Sequences beyond the last one repeat it and are not stored.
    let last = params.sequences - 1u;
    let stride = params.steps * quads;
    let s0 = min(first + lane, last) * stride;
    let s1 = min(first + lane + 8u, last) * stride;
    let s2 = min(first + lane + 16u, last) * stride;
    let s3 = min(first + lane + 24u, last) * stride;
    var kept: array<vec4<f32>, 256>;
    var carry: array<vec4<f32>, 32>;
    for (var t = 0u; t < params.steps; t++) {
        // Nothing comes from before the first step.
        let products = select(0u, quads, t > 0u);
        for (var item = 0u; item < (quads + LANES - 1u) / LANES * 4u; item++) {
            let turn = item % 4u;
            let quad = item / 4u * LANES + lane;
            let known_quad = min(quad, quads - 1u);
            let block = select(select(turn, 1u, turn == FORGET), 2u, turn == CANDIDATE) * quads;
            var b0 = Block();
            var b1 = Block();
            var b2 = Block();
            var b3 = Block();
            for (var start = 0u; start < products; start += KEPT) {
                let width = min(KEPT, products - start);
                // All that there is was kept for the first tile already.
                let missing = select(width, 0u, item > 0u && products <= KEPT);
                for (var k = 0u; k < missing; k++) {
                    let h = t * quads + start + k;
                    kept[4u * k] = vec4<f32>(previous[s0 + h]);
                    kept[4u * k + 1u] = vec4<f32>(previous[s1 + h]);
                    kept[4u * k + 2u] = vec4<f32>(previous[s2 + h]);
                    kept[4u * k + 3u] = vec4<f32>(previous[s3 + h]);
                }
                for (var k = 0u; k < width; k++) {
                    let at = 16u * (start + k) * quads + block + known_quad;
                    let w = mat4x4<f32>(
                        vec4<f32>(recurrent[at]),
                        vec4<f32>(recurrent[at + 4u * quads]),
                        vec4<f32>(recurrent[at + 8u * quads]),
                        vec4<f32>(recurrent[at + 12u * quads]),
                    );
                    add_block(&b0, kept[4u * k], w);
                    add_block(&b1, kept[4u * k + 1u], w);
                    add_block(&b2, kept[4u * k + 2u], w);
                    add_block(&b3, kept[4u * k + 3u], w);
                }
            }
            var sums = tile_rows(b0, b1, b2, b3);
            for (var row = 0u; row < TILE; row++) {
                if first + row < params.sequences && quad < quads {
                    carry[row] = end_gate(first + row, t, quad, turn, block, sums[row], carry[row]);
                }
            }
        }
        // The next step reads what all lanes have left.
        storageBarrier();
    }
    // Not where h[T-1] is computed, because devices that run both sides of a branch would do this in every step.
    for (var quad = lane; quad < quads; quad += LANES) {
        for (var row = 0u; row < TILE; row++) {
            if first + row < params.sequences {
                let at = (first + row) * quads + quad;
                y[at] = rounded(apply_epilogue(vec4<f32>(y[at]), 4u * at, params.epilogue));
            }
        }
    }
}
