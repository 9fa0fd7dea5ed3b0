// Variant of recurrent_forward.wgsl with the lanes of a subgroup, for drivers that emulate a GPU on a CPU.
//
// Each workgroup handles TILE sequences over all steps. For each TILE units it computes a tile of products per gate,
// one gate after the other, in registers: a single tile, because a loop over more exceeds the instruction cache of a
// CPU. Each lane keeps the states before the step of four sequences, because every tile needs them all, and shares
// them; storage loads are expensive because of the driver's own checks.
//
// Needs recurrent_params.wgsl, recurrent_state.wgsl and subgroup_tile.wgsl, and from the kernel:
// - recurrent: (S, GATES × S), previous: (N, T, S), y: (N, S), its bindings;
// - block_of: the block of columns of R that a turn multiplies;
// - end_turn: finishes one gate of four units of a sequence at step t, given its share of h[t-1]·R. Its result is
//   passed to the next turn; the result of the last turn is the hidden state after the step.

// Unit quads whose states a lane keeps for each of its four sequences.
const KEPT: u32 = 64u;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(subgroup_invocation_id) lane: u32,
) {
    let quads = params.stored_units / 4u;
    // Quads of a row of R.
    let row_stride = GATES * quads;
    let first = workgroup_number(workgroup, workgroups) * TILE;
    if first >= params.sequences {
        return;
    }
    // Out-of-bounds sequences are clamped to the last one and not stored.
    let last = params.sequences - 1u;
    let stride = params.steps * quads;
    let s0 = min(first + lane, last) * stride;
    let s1 = min(first + lane + LANES, last) * stride;
    let s2 = min(first + lane + 2u * LANES, last) * stride;
    let s3 = min(first + lane + 3u * LANES, last) * stride;
    var kept: array<vec4<f32>, 256>;
    var carry: array<vec4<f32>, TILE>;
    for (var t = 0u; t < params.steps; t++) {
        // The state before the first step is zero.
        let products = select(0u, quads, t > 0u);
        for (var item = 0u; item < (quads + LANES - 1u) / LANES * GATES; item++) {
            let turn = item % GATES;
            let quad = item / GATES * LANES + lane;
            let known_quad = min(quad, quads - 1u);
            let block = block_of(turn) * quads;
            var b0 = Block();
            var b1 = Block();
            var b2 = Block();
            var b3 = Block();
            for (var start = 0u; start < products; start += KEPT) {
                let width = min(KEPT, products - start);
                // If all states fit, the first tile has loaded them.
                let missing = select(width, 0u, item > 0u && products <= KEPT);
                for (var k = 0u; k < missing; k++) {
                    let h = t * quads + start + k;
                    kept[4u * k] = vec4<f32>(previous[s0 + h]);
                    kept[4u * k + 1u] = vec4<f32>(previous[s1 + h]);
                    kept[4u * k + 2u] = vec4<f32>(previous[s2 + h]);
                    kept[4u * k + 3u] = vec4<f32>(previous[s3 + h]);
                }
                for (var k = 0u; k < width; k++) {
                    let at = 4u * (start + k) * row_stride + block + known_quad;
                    let w = mat4x4<f32>(
                        vec4<f32>(recurrent[at]),
                        vec4<f32>(recurrent[at + row_stride]),
                        vec4<f32>(recurrent[at + 2u * row_stride]),
                        vec4<f32>(recurrent[at + 3u * row_stride]),
                    );
                    add_block(&b0, kept[4u * k], w);
                    add_block(&b1, kept[4u * k + 1u], w);
                    add_block(&b2, kept[4u * k + 2u], w);
                    add_block(&b3, kept[4u * k + 3u], w);
                }
            }
            var sums = tile_rows(b0, b1, b2, b3);
            for (var row = 0u; row < TILE; row++) {
                let sequence = first + lane_of_row(row, lane);
                if sequence < params.sequences && quad < quads {
                    carry[row] = end_turn(sequence, t, quad, turn, sums[row], carry[row]);
                    if turn == GATES - 1u {
                        store_state(sequence, t, quad, carry[row]);
                    }
                }
            }
        }
        // The next step loads the states stored by all lanes.
        storageBarrier();
    }
    // Outside the loop over steps, because devices that run both sides of a branch would do this in every step.
    for (var quad = lane; quad < quads; quad += LANES) {
        for (var row = 0u; row < TILE; row++) {
            if first + row < params.sequences {
                let at = (first + row) * quads + quad;
                y[at] = rounded(apply_epilogue(vec4<f32>(y[at]), 4u * at, params.epilogue));
            }
        }
    }
}
