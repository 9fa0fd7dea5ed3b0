// concatenate_forward: y[p] = epilogue((a[p], b[p])), the channels of a followed by the channels of b. Each invocation
// stores four channels.
//
// P pixels over the whole batch; stored channels are padded with zeros to multiples of 4.
// params: Concatenate. a: (P, stored first). b: (P, stored second). y: (P, stored channels). All row-major Stored.
// kernel "concatenate_forward", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue",
//     "concatenate_params"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<Stored>;
@group(0) @binding(2) var<storage, read> b: array<Stored>;
@group(0) @binding(3) var<storage, read_write> y: array<Stored4>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let groups = params.stored_channels / 4u;
    let number = invocation_number(workgroup, workgroups, local);
    let pixel = number / groups;
    if pixel >= params.pixels {
        return;
    }
    var value = vec4<f32>(0.0);
    for (var k = 0u; k < 4u; k++) {
        let channel = 4u * (number % groups) + k;
        if channel < params.first {
            value[k] = f32(a[pixel * params.stored_first + channel]);
        } else if channel < params.first + params.second {
            value[k] = f32(b[pixel * params.stored_second + channel - params.first]);
        }
    }
    y[number] = rounded(apply_epilogue(value, 4u * number, params.epilogue));
}
