// mirror_order: reorders the rest of an epoch, from step.offset on, by the step's seed. The part before that offset is
// reordered too, because a segment continues there after the end if the file is read in order. Indices are swapped in
// pairs, mirrored at a random point of a circle, so no second buffer is needed.
//
// params: MirrorOrder. order: (samples) sample indices.
// kernel "mirror_order", 64 invocations: "invocation", "pcg4d"
struct Params {
    // Number of training samples, greater than the step's offset.
    samples: u32,
    stream: u32,
    reserved0: u32,
    reserved1: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> order: array<u32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let place = invocation_number(workgroup, workgroups, local);
    if place >= params.samples {
        return;
    }
    let random = pcg4d(vec4<u32>(0u, params.stream, step.step, step.seed));
    let is_rest = place >= step.offset;
    let first = select(0u, step.offset, is_rest);
    let length = select(step.offset, params.samples - step.offset, is_rest);
    let sum = select(random.y, random.x, is_rest) % length;
    let partner = first + (sum + length - (place - first)) % length;
    // The lower index of a pair swaps both.
    if place < partner {
        let sample = order[place];
        order[place] = order[partner];
        order[partner] = sample;
    }
}
