// lstm_backward: the gradients of what lstm_forward computed, by back-propagation through time; one dispatch runs all
// steps t, last first:
//     dh = dz[t+1]·Rᵀ, at the last step dy        dc = dh ⊙ o ⊙ (1 - tanh²(c[t])) + dc[t+1] ⊙ f[t+1]
//     dz = (dc ⊙ g ⊙ s(i), dc ⊙ c[t-1] ⊙ s(f), dc ⊙ i ⊙ (1 - g²), dh ⊙ tanh(c[t]) ⊙ s(o))
// where s, the slope of the hard sigmoid, is 0.2 where its result lies between 0 and 1, and 0 elsewhere.
// Werbos, "Backpropagation through time: what it does and how to do it", Proceedings of the IEEE 78(10), 1990.
//
// A workgroup keeps eight sequences for all steps. For 128 units at a time, half of its invocations multiply one gate
// of dz[t+1] with sixteen rows of R each, the more in registers the fewer reads; the sums over the four gates meet in
// workgroup memory.
//
// N sequences, T steps, S stored units, a multiple of 4. Gates are four blocks of S: i, f, g, o.
// params: Lstm. recurrent: (S, 4S). dy: (N, S), gradient of the last hidden state. cells: (N, T, S), in: c[t],
// out: gradient of c[t-1]. gates: (N, T, 4S), in: i, f, g, o, out: dz. Row-major; cells f32, the others Stored.
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> recurrent: array<Stored4>;
@group(0) @binding(2) var<storage, read> dy: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> cells: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> gates: array<Stored4>;

const WORKGROUP_SIZE: u32 = 64u;
// Fours of units that a workgroup works on at a time: an invocation for four of them and each gate.
const TILE_QUADS: u32 = 32u;

// Each gate's share of dh, (4, 8, 32 fours of units): as much as the smallest workgroup memory holds.
var<workgroup> shares: array<vec4<f32>, 1024>;

fn hard_sigmoid_slope(result: vec4<f32>) -> vec4<f32> {
    let inside = (result > vec4<f32>(0.0)) & (result < vec4<f32>(1.0));
    return select(vec4<f32>(0.0), vec4<f32>(0.2), inside);
}

fn store_share(at: u32, first: vec4<f32>, second: vec4<f32>, third: vec4<f32>, fourth: vec4<f32>) {
    shares[at] = first;
    shares[at + 1u] = second;
    shares[at + 2u] = third;
    shares[at + 3u] = fourth;
}

// Four values of four rows of R, of which the first lies at `at`: column j holds the values j of all rows.
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

// What one gate at step t adds to dh of sixteen units before it, for the eight sequences from `first` on.
fn propagate(first: u32, t: u32, gate: u32, quad: u32, share: u32) {
    // A row of R, like the gates of a step, is as many fours as there are stored units.
    let stride = params.stored_units;
    let quads = stride / 4u;
    let start = t * stride + gate * quads;
    let sequence_stride = params.steps * stride;
    // Sequences and units beyond the edge repeat the last one; nobody reads their shares.
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
    let w0 = 4u * quad * stride + gate * quads;
    let w1 = 4u * min(quad + 1u, last_quad) * stride + gate * quads;
    let w2 = 4u * min(quad + 2u, last_quad) * stride + gate * quads;
    let w3 = 4u * min(quad + 3u, last_quad) * stride + gate * quads;
    var near: Tile;
    var far: Tile;
    for (var n = 0u; n < quads; n++) {
        let low = transpose(mat4x4<f32>(
            vec4<f32>(gates[dz0 + n]),
            vec4<f32>(gates[dz1 + n]),
            vec4<f32>(gates[dz2 + n]),
            vec4<f32>(gates[dz3 + n]),
        ));
        let high = transpose(mat4x4<f32>(
            vec4<f32>(gates[dz4 + n]),
            vec4<f32>(gates[dz5 + n]),
            vec4<f32>(gates[dz6 + n]),
            vec4<f32>(gates[dz7 + n]),
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

// Gradients of four units of a sequence at step t, given what the step after it adds.
fn retreat(sequence: u32, t: u32, quad: u32, share: u32) {
    let quads = params.stored_units / 4u;
    let place = (sequence * params.steps + t) * quads + quad;
    let gate = 4u * (place - quad) + quad;
    let i = vec4<f32>(gates[gate]);
    let f = vec4<f32>(gates[gate + quads]);
    let g = vec4<f32>(gates[gate + 2u * quads]);
    let o = vec4<f32>(gates[gate + 3u * quads]);
    let squashed = accurate_tanh(cells[place]);
    var dh: vec4<f32>;
    var dc = vec4<f32>(0.0);
    if t + 1u < params.steps {
        let next = SEQUENCES * TILE_QUADS;
        dh = (shares[share] + shares[share + next]) + (shares[share + 2u * next] + shares[share + 3u * next]);
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
    @builtin(local_invocation_index) local: u32,
) {
    let quads = params.stored_units / 4u;
    let first = first_sequence(workgroup, workgroups);
    let sequences = min(SEQUENCES, params.sequences - min(first, params.sequences));
    let gate = local % 4u;
    // Of the fours of units of a tile, the first that this invocation multiplies.
    let offset = local / 4u * 4u;
    for (var done = 0u; done < params.steps; done++) {
        let t = params.steps - 1u - done;
        for (var start = 0u; start < quads; start += TILE_QUADS) {
            if done > 0u && offset < min(TILE_QUADS, quads - start) {
                propagate(first, t + 1u, gate, start + offset, gate * SEQUENCES * TILE_QUADS + offset);
            }
            workgroupBarrier();
            let width = min(TILE_QUADS, quads - start);
            for (var item = local; item < sequences * width; item += WORKGROUP_SIZE) {
                let row = item / width;
                let column = item % width;
                retreat(first + row, t, start + column, row * TILE_QUADS + column);
            }
            // The next tile writes the shares anew, and the next step reads all of this step's dz.
            workgroupBarrier();
            storageBarrier();
        }
    }
}
