// standardize: scales each image of the batch to mean 0 and deviation 1, in place. In training, random changes of
// brightness and contrast come first:
//   x = (x - mean_c)·contrast + mean_c + brightness, with the mean of each channel c;
//   y = (x - mean) / max(deviation, 1 / sqrt(N)), over all N values of the image.
// This is TensorFlow's random_brightness, random_contrast and per_image_standardization. One workgroup per image;
// pcg4d(row, stream, step) draws the brightness (lane x) and the contrast (lane y).
//
// params: Standardize; at most four channels.
// batch: (rows, row_stride) Stored, of which (pixels, channels) are in use; the rest, and rows from step.count on,
// are unchanged.
// kernel "standardize", 64 invocations: "pcg4d"
struct Params {
    rows: u32,
    pixels: u32,
    // At most 4; stored without padding.
    channels: u32,
    // Values of a row of the batch.
    row_stride: u32,
    // Largest brightness change in either direction; 0 for none.
    brightness: f32,
    // Lower bound of the factor of each value's distance from its channel's mean. Both bounds are 1 for no change.
    lowest_contrast: f32,
    highest_contrast: f32,
    stream: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> batch: array<Stored>;

const INVOCATIONS: u32 = 64u;

var<workgroup> parts: array<vec4<f32>, INVOCATIONS>;

// Sum of `part` over the workgroup, in order. Each invocation adds all parts, which is cheaper than more barriers.
fn total(local: u32, part: vec4<f32>) -> vec4<f32> {
    workgroupBarrier();
    parts[local] = part;
    workgroupBarrier();
    var sum = vec4<f32>(0.0);
    for (var i = 0u; i < INVOCATIONS; i++) {
        sum += parts[i];
    }
    return sum;
}

@compute @workgroup_size(INVOCATIONS)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let row = workgroup.y * workgroups.x + workgroup.x;
    if row >= min(params.rows, step.count) {
        return;
    }
    let start = row * params.row_stride;
    var sums = vec4<f32>(0.0);
    for (var pixel = local; pixel < params.pixels; pixel += INVOCATIONS) {
        for (var channel = 0u; channel < params.channels; channel++) {
            sums[channel] += f32(batch[start + pixel * params.channels + channel]);
        }
    }
    let means = total(local, sums) / f32(params.pixels);
    var brightness = 0.0;
    var contrast = 1.0;
    if step.training == 1u {
        let numbers = vec4<f32>(pcg4d(vec4<u32>(step.first_row + row, params.stream, step.step, step.seed)) >> vec4<u32>(8u)) * 0x1p-24;
        brightness = params.brightness * (2.0 * numbers.x - 1.0);
        contrast = params.lowest_contrast + (params.highest_contrast - params.lowest_contrast) * numbers.y;
    }
    // Absent channels have mean zero, and all channels have the same number of pixels.
    let mean = (means.x + means.y + means.z + means.w) / f32(params.channels) + brightness;
    var squares = 0.0;
    for (var pixel = local; pixel < params.pixels; pixel += INVOCATIONS) {
        for (var channel = 0u; channel < params.channels; channel++) {
            let at = start + pixel * params.channels + channel;
            let distance = (f32(batch[at]) - means[channel]) * contrast + (means[channel] + brightness) - mean;
            squares += distance * distance;
            batch[at] = rounded_number(distance);
        }
    }
    let values = f32(params.pixels * params.channels);
    let deviation = sqrt(total(local, vec4<f32>(squares, 0.0, 0.0, 0.0)).x / values);
    let scale = max(deviation, 1.0 / sqrt(values));
    for (var pixel = local; pixel < params.pixels; pixel += INVOCATIONS) {
        for (var channel = 0u; channel < params.channels; channel++) {
            let at = start + pixel * params.channels + channel;
            batch[at] = rounded_number(f32(batch[at]) / scale);
        }
    }
}
