// add_forward: y[p] = epilogue(a[p] + b[p / R]): each pixel of b is added to R consecutive pixels of a.
// R is 1 for equal shapes, or the number of pixels of a sample if one vector is added to all of them.
//
// P pixels over the whole batch, C stored channels, a multiple of 4.
// params: Add. a: (P, C). b: (P / R, C). y: (P, C). All row-major Stored.
// kernel "add_forward", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "add_params"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<Stored4>;
@group(0) @binding(2) var<storage, read> b: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> y: array<Stored4>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let quads = params.channels / 4u;
    let number = invocation_number(workgroup, workgroups, local);
    let pixel = number / quads;
    if pixel >= params.pixels {
        return;
    }
    let sum = vec4<f32>(a[number]) + vec4<f32>(b[pixel / params.repeats * quads + number % quads]);
    y[number] = rounded(apply_epilogue(sum, 4u * number, params.epilogue));
}
