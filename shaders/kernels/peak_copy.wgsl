// peak_copy: y = x, limited by memory bandwidth. Consecutive invocations copy consecutive elements, in a grid-stride
// loop.
//
// params: PeakStream. x, y: (quads, 4) f32.
// kernel "peak_copy", 64 invocations: "invocation", "peak_stream_params"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let number = invocation_number(workgroup, workgroups, local);
    if number >= params.invocations {
        return;
    }
    for (var i = number; i < params.quads; i += params.invocations) {
        y[i] = x[i];
    }
}
