// lstm_backward_subgroup: as lstm_backward, by eight lanes of a subgroup, for drivers that emulate a GPU on a CPU.
//
// A workgroup keeps 32 sequences for all steps, and makes dh in tiles of 32 sequences × 32 units in the registers of its
// lanes. Each lane keeps dz[t+1] of four sequences, 256 of its values at a time, and hands it out by subgroupBroadcast:
// up to four tiles add the products with these values to their sums before the next ones are read.
//
// N sequences, T steps, S stored units, a multiple of 4. Gates are four blocks of S: i, f, g, o.
// params: Lstm. recurrent: (S, 4S). dy: (N, S), gradient of the last hidden state. cells: (N, T, S), in: c[t],
// out: gradient of c[t-1]. gates: (N, T, 4S), in: i, f, g, o, out: dz. Row-major; cells f32, the others Stored.
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> recurrent: array<Stored4>;
@group(0) @binding(2) var<storage, read> dy: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> cells: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> gates: array<Stored4>;

// Fours of dz that a lane keeps of each of its four sequences.
const KEPT: u32 = 64u;
// Fours of units of the tiles that share what is kept.
const SHARING: u32 = 32u;

fn hard_sigmoid_slope(result: vec4<f32>) -> vec4<f32> {
    let inside = (result > vec4<f32>(0.0)) & (result < vec4<f32>(1.0));
    return select(vec4<f32>(0.0), vec4<f32>(0.2), inside);
}

// Gradients of four units of a sequence at step t, given what the step after it adds to dh.
fn retreat(sequence: u32, t: u32, quad: u32, sum: vec4<f32>) {
    let quads = params.stored_units / 4u;
    let place = (sequence * params.steps + t) * quads + quad;
    let gate = 4u * (place - quad) + quad;
    let i = vec4<f32>(gates[gate]);
    let f = vec4<f32>(gates[gate + quads]);
    let g = vec4<f32>(gates[gate + 2u * quads]);
    let o = vec4<f32>(gates[gate + 3u * quads]);
    let squashed = accurate_tanh(cells[place]);
    var dh = sum;
    var dc = vec4<f32>(0.0);
    if t + 1u < params.steps {
        dc = cells[place + quads];
    } else {
        dh = vec4<f32>(dy[sequence * quads + quad]);
    }
    dc = fma(dh * o, 1.0 - squashed * squashed, dc);
    var before = vec4<f32>(0.0);
    if t > 0u {
        before = cells[place - quads];
    }
    gates[gate] = rounded(dc * g * hard_sigmoid_slope(i));
    gates[gate + quads] = rounded(dc * before * hard_sigmoid_slope(f));
    gates[gate + 2u * quads] = rounded(dc * i * (1.0 - g * g));
    gates[gate + 3u * quads] = rounded(dh * squashed * hard_sigmoid_slope(o));
    cells[place] = dc * f;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(subgroup_invocation_id) lane: u32,
) {
    // A row of R, like the gates of a step, is as many fours as there are stored units.
    let units = params.stored_units;
    let quads = units / 4u;
    let first = workgroup_number(workgroup, workgroups) * TILE;
    if first >= params.sequences {
        return;
    }
    // Sequences beyond the last one repeat it and are not stored.
    let last = params.sequences - 1u;
    let stride = params.steps * units;
    let s0 = min(first + lane, last) * stride;
    let s1 = min(first + lane + 8u, last) * stride;
    let s2 = min(first + lane + 16u, last) * stride;
    let s3 = min(first + lane + 24u, last) * stride;
    var kept: array<vec4<f32>, 256>;
    // Of each of the tiles that share what is kept, its 32 rows.
    var sums: array<vec4<f32>, 128>;
    for (var done = 0u; done < params.steps; done++) {
        let t = params.steps - 1u - done;
        // Nothing comes from after the last step.
        let products = select(0u, units, done > 0u);
        for (var share = 0u; share < quads; share += SHARING) {
            let share_end = min(share + SHARING, quads);
            for (var start = 0u; start < products; start += KEPT) {
                let width = min(KEPT, products - start);
                for (var n = 0u; n < width; n++) {
                    let dz = (t + 1u) * units + start + n;
                    kept[4u * n] = vec4<f32>(gates[s0 + dz]);
                    kept[4u * n + 1u] = vec4<f32>(gates[s1 + dz]);
                    kept[4u * n + 2u] = vec4<f32>(gates[s2 + dz]);
                    kept[4u * n + 3u] = vec4<f32>(gates[s3 + dz]);
                }
                for (var tile = share; tile < share_end; tile += LANES) {
                    let row_of_r = 4u * min(tile + lane, quads - 1u) * units + start;
                    var b0 = Block();
                    var b1 = Block();
                    var b2 = Block();
                    var b3 = Block();
                    for (var n = 0u; n < width; n++) {
                        let at = row_of_r + n;
                        let w = transpose(mat4x4<f32>(
                            vec4<f32>(recurrent[at]),
                            vec4<f32>(recurrent[at + units]),
                            vec4<f32>(recurrent[at + 2u * units]),
                            vec4<f32>(recurrent[at + 3u * units]),
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
                    if first + row < params.sequences && tile + lane < quads {
                        retreat(first + row, t, tile + lane, sums[(tile - share) * 4u + row]);
                    }
                }
            }
        }
        // The step before reads the dz of all lanes.
        storageBarrier();
    }
}
