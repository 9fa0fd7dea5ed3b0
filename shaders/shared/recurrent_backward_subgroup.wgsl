// Variant of recurrent_backward.wgsl with the lanes of a subgroup, for drivers that emulate a GPU on a CPU.
//
// Each workgroup handles TILE sequences over all steps, and computes dh in tiles of sequences and units in registers.
// Each lane keeps 256 values at a time of dz[t+1] of each of four sequences, and shares them:
// up to four tiles accumulate the products with these values before the next ones are loaded.
//
// Needs recurrent_params.wgsl and subgroup_tile.wgsl, and from the kernel the same items as recurrent_backward.wgsl.

// Quads of dz that a lane keeps for each of its four sequences.
const KEPT: u32 = 64u;
// Unit quads of the tiles that share the kept values.
const SHARING: u32 = 4u * LANES;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(subgroup_invocation_id) lane: u32,
) {
    let quads = params.stored_units / 4u;
    // Quads of a row of R, and of the gates of a step.
    let depth = GATES * quads;
    let first = workgroup_number(workgroup, workgroups) * TILE;
    if first >= params.sequences {
        return;
    }
    // Out-of-bounds sequences are clamped to the last one and not stored.
    let last = params.sequences - 1u;
    let stride = params.steps * depth;
    let s0 = min(first + lane, last) * stride;
    let s1 = min(first + lane + LANES, last) * stride;
    let s2 = min(first + lane + 2u * LANES, last) * stride;
    let s3 = min(first + lane + 3u * LANES, last) * stride;
    var kept: array<vec4<f32>, 256>;
    // The rows of each tile that shares the kept values.
    var sums: array<vec4<f32>, 4u * TILE>;
    for (var done = 0u; done < params.steps; done++) {
        let t = params.steps - 1u - done;
        // The last step has no gradient from a later step.
        let products = select(0u, depth, done > 0u);
        for (var share = 0u; share < quads; share += SHARING) {
            let share_end = min(share + SHARING, quads);
            for (var start = 0u; start < products; start += KEPT) {
                let width = min(KEPT, products - start);
                for (var n = 0u; n < width; n++) {
                    let dz = (t + 1u) * depth + start + n;
                    kept[4u * n] = recurrent_gradient(s0 + dz);
                    kept[4u * n + 1u] = recurrent_gradient(s1 + dz);
                    kept[4u * n + 2u] = recurrent_gradient(s2 + dz);
                    kept[4u * n + 3u] = recurrent_gradient(s3 + dz);
                }
                for (var tile = share; tile < share_end; tile += LANES) {
                    let row_of_r = 4u * min(tile + lane, quads - 1u) * depth + start;
                    var b0 = Block();
                    var b1 = Block();
                    var b2 = Block();
                    var b3 = Block();
                    for (var n = 0u; n < width; n++) {
                        let at = row_of_r + n;
                        let w = transpose(mat4x4<f32>(
                            vec4<f32>(recurrent[at]),
                            vec4<f32>(recurrent[at + depth]),
                            vec4<f32>(recurrent[at + 2u * depth]),
                            vec4<f32>(recurrent[at + 3u * depth]),
                        ));
                        add_block(&b0, kept[4u * n], w);
                        add_block(&b1, kept[4u * n + 1u], w);
                        add_block(&b2, kept[4u * n + 2u], w);
                        add_block(&b3, kept[4u * n + 3u], w);
                    }
                    var rows = tile_rows(b0, b1, b2, b3);
                    let first_sum = (tile - share) * 4u;
                    for (var row = 0u; row < TILE; row++) {
                        let sum = select(sums[first_sum + row], vec4<f32>(0.0), start == 0u);
                        sums[first_sum + row] = sum + rows[row];
                    }
                }
            }
            for (var tile = share; tile < share_end; tile += LANES) {
                for (var row = 0u; row < TILE; row++) {
                    let sequence = first + lane_of_row(row, lane);
                    if sequence < params.sequences && tile + lane < quads {
                        var dh = sums[(tile - share) * 4u + row];
                        if done == 0u {
                            dh = vec4<f32>(dy[sequence * quads + tile + lane]);
                        }
                        retreat(sequence, t, tile + lane, dh);
                    }
                }
            }
        }
        // The next iteration loads dz of all lanes.
        storageBarrier();
    }
}
