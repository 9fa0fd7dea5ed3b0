// batch_norm_statistics: mean and sum of squared deviations of each channel, over one part of the samples' pixels.
// Groups of eight pixels are summed in registers about their mean and merged into the statistics so far, which loads
// each value once and avoids cancellation. Chan, Golub and LeVeque, "Algorithms for Computing the Sample Variance",
// 1983.
//
// B rows of P pixels, C stored channels, a multiple of 4. One invocation per four channels of a part.
// params: BatchNorm. x: (B, P, C). parts: (parts, 2, C): means, sums of squared deviations.
// parts f32, the others Stored.
// kernel "batch_norm_statistics", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue",
//     "batch_norm_params"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read_write> parts: array<vec4<f32>>;

fn squared(value: vec4<f32>) -> vec4<f32> {
    return value * value;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let quads = params.stored_channels / 4u;
    let number = invocation_number(workgroup, workgroups, local);
    let part = number / quads;
    if part >= params.parts {
        return;
    }
    let quad = number % quads;
    let first = first_pixel(part);
    let end = first_pixel(part + 1u);
    var mean = vec4<f32>(0.0);
    var deviations = vec4<f32>(0.0);
    var pixel = first;
    for (; pixel + 8u <= end; pixel += 8u) {
        let at = pixel * quads + quad;
        let x0 = vec4<f32>(x[at]);
        let x1 = vec4<f32>(x[at + quads]);
        let x2 = vec4<f32>(x[at + 2u * quads]);
        let x3 = vec4<f32>(x[at + 3u * quads]);
        let x4 = vec4<f32>(x[at + 4u * quads]);
        let x5 = vec4<f32>(x[at + 5u * quads]);
        let x6 = vec4<f32>(x[at + 6u * quads]);
        let x7 = vec4<f32>(x[at + 7u * quads]);
        let middle = 0.125 * (((x0 + x1) + (x2 + x3)) + ((x4 + x5) + (x6 + x7)));
        let around = ((squared(x0 - middle) + squared(x1 - middle)) + (squared(x2 - middle) + squared(x3 - middle)))
            + ((squared(x4 - middle) + squared(x5 - middle)) + (squared(x6 - middle) + squared(x7 - middle)));
        let seen = f32(pixel - first);
        let share = 8.0 / (seen + 8.0);
        deviations += around + squared(middle - mean) * (seen * share);
        mean += (middle - mean) * share;
    }
    for (; pixel < end; pixel++) {
        let value = vec4<f32>(x[pixel * quads + quad]);
        let seen = f32(pixel - first);
        let share = 1.0 / (seen + 1.0);
        deviations += squared(value - mean) * (seen * share);
        mean += (value - mean) * share;
    }
    parts[2u * part * quads + quad] = mean;
    parts[(2u * part + 1u) * quads + quad] = deviations;
}
