// blend: sum = weight·x for the first part, and sum = sum + weight·x for the others: a weighted mean.
//
// params: Blend; elements is a multiple of 4. x, sum: (elements) Stored.
// kernel "blend", 64 invocations: "invocation"
struct Params {
    // A multiple of 4.
    elements: u32,
    weight: f32,
    // 1 for the first part, which replaces earlier contents.
    first: u32,
    reserved: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read_write> sum: array<Stored4>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let number = invocation_number(workgroup, workgroups, local);
    if number >= params.elements / 4u {
        return;
    }
    let before = select(vec4<f32>(sum[number]), vec4<f32>(0.0), params.first == 1u);
    sum[number] = rounded(fma(vec4<f32>(params.weight), vec4<f32>(x[number]), before));
}
