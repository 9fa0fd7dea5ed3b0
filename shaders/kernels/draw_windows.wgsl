// draw_windows: the first characters of an epoch's windows, drawn from all possible ones by the epoch and the seed.
//
// params: DrawWindows. order: (samples) u32, the first characters.
// kernel "draw_windows", 64 invocations: "invocation", "pcg4d"
struct Params {
    // Windows of an epoch.
    samples: u32,
    // Possible first characters: those with a whole window and one more character from there on.
    starts: u32,
    stream: u32,
    reserved: u32,
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
    order[place] = pcg4d(vec4<u32>(place, params.stream, step.epoch, step.seed)).x % params.starts;
}
