// All steps of a recurrent layer in one dispatch: each workgroup handles eight sequences over all steps, with their
// hidden states in workgroup memory. States of more than 512 units stay in storage.
//
// Needs recurrent_params.wgsl and recurrent_state.wgsl, and from the kernel:
// - recurrent: (S, gates × S), previous: (N, T, S), y: (N, S), its bindings;
// - step_units: computes step t for the units of its quad and of the next QUADS_AT_ONCE - 1 quads, WORKGROUP_SIZE
//   apart; ends with store_state.
const WORKGROUP_SIZE: u32 = 64u;
// Sequences per workgroup.
const SEQUENCES: u32 = 8u;

// Hidden states before the step, (8, S), if they fit: the 16 KiB of the smallest workgroup memory.
var<workgroup> hidden: array<vec4<f32>, 1024>;
const LARGEST_QUADS: u32 = 128u;

// Four hidden states before step t of sequence `first` + `row`.
fn state_before(first: u32, row: u32, t: u32, k: u32) -> vec4<f32> {
    let quads = params.stored_units / 4u;
    if quads <= LARGEST_QUADS {
        return hidden[row * quads + k];
    }
    // Out-of-bounds sequences are clamped to the last one and not stored.
    let sequence = min(first + row, params.sequences - 1u);
    return vec4<f32>(previous[(sequence * params.steps + t) * quads + k]);
}

// The same for four sequences from `row` on, with a column for each unit.
fn states_before(first: u32, row: u32, t: u32, k: u32) -> mat4x4<f32> {
    return transpose(mat4x4<f32>(
        state_before(first, row, t, k),
        state_before(first, row + 1u, t, k),
        state_before(first, row + 2u, t, k),
        state_before(first, row + 3u, t, k),
    ));
}

// Four columns of four rows of R, the first at `at`; a row has `stride` quads.
fn recurrent_rows(at: u32, stride: u32) -> mat4x4<f32> {
    return mat4x4<f32>(
        vec4<f32>(recurrent[at]),
        vec4<f32>(recurrent[at + stride]),
        vec4<f32>(recurrent[at + 2u * stride]),
        vec4<f32>(recurrent[at + 3u * stride]),
    );
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
    for (var t = 0u; t < params.steps; t++) {
        for (var quad = local; quad < quads; quad += QUADS_AT_ONCE * WORKGROUP_SIZE) {
            step_units(first, t, quad);
        }
        // Waits for all loads of the states before the step, which are replaced below.
        workgroupBarrier();
        storageBarrier();
        if t + 1u < params.steps && quads <= LARGEST_QUADS {
            for (var quad = local; quad < quads; quad += WORKGROUP_SIZE) {
                for (var row = 0u; row < sequences; row++) {
                    // Stored by this invocation in step_units.
                    let at = ((first + row) * params.steps + t + 1u) * quads + quad;
                    hidden[row * quads + quad] = vec4<f32>(previous[at]);
                }
            }
        }
        workgroupBarrier();
    }
    // Outside the loop over steps, because devices that run both sides of a branch would do this in every step.
    for (var quad = local; quad < quads; quad += WORKGROUP_SIZE) {
        for (var row = 0u; row < sequences; row++) {
            let at = (first + row) * quads + quad;
            y[at] = rounded(apply_epilogue(vec4<f32>(y[at]), 4u * at, params.epilogue));
        }
    }
}
