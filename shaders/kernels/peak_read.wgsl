// peak_read: sums[j] = Σ x[j + i·invocations], limited by the memory bandwidth of loading x.
//
// params: PeakStream. x: (quads, 4). sums: (invocations, 4). All f32.
// kernel "peak_read", 64 invocations: "invocation", "peak_stream_params"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> sums: array<vec4<f32>>;

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
    var sum = vec4<f32>(0.0);
    for (var i = number; i < params.quads; i += params.invocations) {
        sum += x[i];
    }
    sums[number] = sum;
}
