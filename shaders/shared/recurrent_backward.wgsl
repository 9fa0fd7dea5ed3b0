// Back-propagation through time of a recurrent layer in one dispatch: each workgroup handles eight sequences over all
// steps. For each tile of 128 units, half of the invocations each multiply a quarter of dz[t+1] with sixteen rows of R,
// because more results in registers need fewer loads; the four quarters are added in workgroup memory.
// Werbos, "Backpropagation through time: what it does and how to do it", Proceedings of the IEEE 78(10), 1990.
//
// Needs recurrent_params.wgsl and tile.wgsl, and from the kernel:
// - recurrent: (S, GATES × S), dy: (N, S), its bindings;
// - recurrent_gradient: four values of dz, (N, T, GATES × S), from which dh is computed;
// - retreat: gradients of four units at step t, including dz, given dh.
const WORKGROUP_SIZE: u32 = 64u;
// Sequences per workgroup.
const SEQUENCES: u32 = 8u;
// Unit quads per tile; an invocation handles four of them in one quarter.
const TILE_QUADS: u32 = 32u;
const QUARTERS: u32 = 4u;

// Each quarter's share of dh, (4, 8, 32 unit quads): the 16 KiB of the smallest workgroup memory.
var<workgroup> shares: array<vec4<f32>, 1024>;

fn store_share(at: u32, first: vec4<f32>, second: vec4<f32>, third: vec4<f32>, fourth: vec4<f32>) {
    shares[at] = first;
    shares[at + 1u] = second;
    shares[at + 2u] = third;
    shares[at + 3u] = fourth;
}

// Four values of four rows of R, the first at `at`: column j holds value j of all rows.
fn recurrent_columns(at: u32, stride: u32) -> mat4x4<f32> {
    return transpose(
        mat4x4<f32>(
            vec4<f32>(recurrent[at]),
            vec4<f32>(recurrent[at + stride]),
            vec4<f32>(recurrent[at + 2u * stride]),
            vec4<f32>(recurrent[at + 3u * stride]),
        ),
    );
}

// Stores the share of a quarter of dz at step t in dh at step t - 1, for sixteen units of the eight sequences from
// `first` on.
fn propagate(first: u32, t: u32, quarter: u32, quad: u32, share: u32) {
    let quads = params.stored_units / 4u;
    // Quads of a row of R, and of the gates of a step.
    let stride = GATES * quads;
    let begin = quarter * stride / QUARTERS;
    let end = (quarter + 1u) * stride / QUARTERS;
    let start = t * stride;
    let sequence_stride = params.steps * stride;
    // Out-of-bounds sequences and units are clamped to the last one; their shares are not loaded.
    let last_sequence = params.sequences - 1u;
    let last_quad = quads - 1u;
    let dz0 = min(first, last_sequence) * sequence_stride + start;
    let dz1 = min(first + 1u, last_sequence) * sequence_stride + start;
    let dz2 = min(first + 2u, last_sequence) * sequence_stride + start;
    let dz3 = min(first + 3u, last_sequence) * sequence_stride + start;
    let dz4 = min(first + 4u, last_sequence) * sequence_stride + start;
    let dz5 = min(first + 5u, last_sequence) * sequence_stride + start;
    let dz6 = min(first + 6u, last_sequence) * sequence_stride + start;
    let dz7 = min(first + 7u, last_sequence) * sequence_stride + start;
    let w0 = 4u * quad * stride;
    let w1 = 4u * min(quad + 1u, last_quad) * stride;
    let w2 = 4u * min(quad + 2u, last_quad) * stride;
    let w3 = 4u * min(quad + 3u, last_quad) * stride;
    var near: Tile;
    var far: Tile;
    for (var n = begin; n < end; n++) {
        let low = transpose(mat4x4<f32>(
            recurrent_gradient(dz0 + n),
            recurrent_gradient(dz1 + n),
            recurrent_gradient(dz2 + n),
            recurrent_gradient(dz3 + n),
        ));
        let high = transpose(mat4x4<f32>(
            recurrent_gradient(dz4 + n),
            recurrent_gradient(dz5 + n),
            recurrent_gradient(dz6 + n),
            recurrent_gradient(dz7 + n),
        ));
        add_four_outer_products(&near, low, high, recurrent_columns(w0 + n, stride), recurrent_columns(w1 + n, stride));
        add_four_outer_products(&far, low, high, recurrent_columns(w2 + n, stride), recurrent_columns(w3 + n, stride));
    }
    store_share(share, near.left0, near.right0, far.left0, far.right0);
    store_share(share + TILE_QUADS, near.left1, near.right1, far.left1, far.right1);
    store_share(share + 2u * TILE_QUADS, near.left2, near.right2, far.left2, far.right2);
    store_share(share + 3u * TILE_QUADS, near.left3, near.right3, far.left3, far.right3);
    store_share(share + 4u * TILE_QUADS, near.left4, near.right4, far.left4, far.right4);
    store_share(share + 5u * TILE_QUADS, near.left5, near.right5, far.left5, far.right5);
    store_share(share + 6u * TILE_QUADS, near.left6, near.right6, far.left6, far.right6);
    store_share(share + 7u * TILE_QUADS, near.left7, near.right7, far.left7, far.right7);
}

// dh of four units of a sequence at step t: the sum of its shares, or dy at the last step.
fn state_gradient(sequence: u32, t: u32, quad: u32, share: u32) -> vec4<f32> {
    if t + 1u < params.steps {
        let next = SEQUENCES * TILE_QUADS;
        return (shares[share] + shares[share + next]) + (shares[share + 2u * next] + shares[share + 3u * next]);
    }
    return vec4<f32>(dy[sequence * (params.stored_units / 4u) + quad]);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let quads = params.stored_units / 4u;
    let first = workgroup_number(workgroup, workgroups) * SEQUENCES;
    let sequences = min(SEQUENCES, params.sequences - min(first, params.sequences));
    let quarter = local % QUARTERS;
    // First of the unit quads of a tile that this invocation multiplies.
    let offset = local / QUARTERS * 4u;
    for (var done = 0u; done < params.steps; done++) {
        let t = params.steps - 1u - done;
        for (var start = 0u; start < quads; start += TILE_QUADS) {
            if done > 0u && offset < min(TILE_QUADS, quads - start) {
                propagate(first, t + 1u, quarter, start + offset, quarter * SEQUENCES * TILE_QUADS + offset);
            }
            workgroupBarrier();
            let width = min(TILE_QUADS, quads - start);
            for (var item = local; item < sequences * width; item += WORKGROUP_SIZE) {
                let row = item / width;
                let column = item % width;
                let dh = state_gradient(first + row, t, start + column, row * TILE_QUADS + column);
                retreat(first + row, t, start + column, dh);
            }
            // The next tile overwrites the shares, and the next iteration loads all dz of this step.
            workgroupBarrier();
            storageBarrier();
        }
    }
}
