// local_contrast: converts RGB to YUV in place, subtracts Y's local mean and divides by its local deviation, and
// normalises U and V by statistics of the training set:
//   d = y - blur(y) / blur(1);  Y = d / s, with s = sqrt(blur(d²)) / blur(1), or the threshold if s is not larger;
//   U = (u - mean_u)·scale_u, and V likewise.
// d is summed from pixel differences, so it is exactly zero in uniform regions; division by the threshold would
// amplify the rounding error of a difference of means.
// blur is a convolution with the 7 × 7 Gaussian of sigma 0.25·7 and sum 1, with zero padding.
// This is Torch's image.rgb2yuv and nn.SpatialContrastiveNormalization(1, image.gaussian1D(7)), which divides by
// blur(1) outside the root. One workgroup per image of at most 2048 pixels.
//
// params: LocalContrast. batch: (rows, row_stride) Stored, of which (height, width, 3) are in use; the rest, and rows
// from step.count on, are unchanged.
// kernel "local_contrast", 256 invocations: "workgroup_256"
// kernel "local_contrast_128", 128 invocations: "workgroup_128"
struct Params {
    rows: u32,
    // Image height; height · width is at most [`LOCAL_CONTRAST_PIXELS`].
    height: u32,
    width: u32,
    // Values of a row of the batch; pixels are stored without padding.
    row_stride: u32,
    mean_u: f32,
    mean_v: f32,
    // Factor of U after subtracting `mean_u`.
    scale_u: f32,
    scale_v: f32,
    // Minimum local deviation; smaller ones are replaced by it.
    threshold: f32,
    reserved0: u32,
    reserved1: u32,
    reserved2: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> batch: array<Stored>;

const PIXELS: u32 = 2048u;
// Radius of the Gaussian in pixels.
const REACH: i32 = 3;

// Y, later its difference d from the local mean.
var<workgroup> light: array<f32, PIXELS>;
// Result of a blur along the rows, before the blur along the columns.
var<workgroup> blurred: array<f32, PIXELS>;

// exp(-(distance / 1.75)² / 2), divided by the sum over the seven taps.
fn weight(distance: i32) -> f32 {
    switch abs(distance) {
        case 0: {
            return 0.23810859;
        }
        case 1: {
            return 0.2022413;
        }
        case 2: {
            return 0.123923644;
        }
        default: {
            return 0.05478076;
        }
    }
}

// Sum of the Gaussian's weights inside the image along one axis.
fn coverage(at: u32, extent: u32) -> f32 {
    var sum = 0.0;
    for (var tap = -REACH; tap <= REACH; tap++) {
        let place = i32(at) + tap;
        if (place >= 0) & (place < i32(extent)) {
            sum += weight(tap);
        }
    }
    return sum;
}

// Blurs along the rows the differences of the neighbours from each pixel.
fn blur_differences(local: u32) {
    for (var pixel = local; pixel < params.height * params.width; pixel += INVOCATIONS) {
        let column = i32(pixel % params.width);
        var sum = 0.0;
        for (var tap = -REACH; tap <= REACH; tap++) {
            if (column + tap >= 0) & (column + tap < i32(params.width)) {
                sum += weight(tap) * (light[i32(pixel) + tap] - light[pixel]);
            }
        }
        blurred[pixel] = sum;
    }
}

// Completes the blur of the differences along the column of a pixel: -d. The differences of a row's pixels from this
// pixel are their differences from the pixel at `place` plus its difference from this pixel.
fn mean_difference(pixel: u32) -> f32 {
    let row = i32(pixel / params.width);
    let covered = coverage(pixel % params.width, params.width);
    var sum = 0.0;
    for (var tap = -REACH; tap <= REACH; tap++) {
        if (row + tap >= 0) & (row + tap < i32(params.height)) {
            let place = i32(pixel) + tap * i32(params.width);
            sum += weight(tap) * (blurred[place] + covered * (light[place] - light[pixel]));
        }
    }
    return sum / (covered * coverage(pixel / params.width, params.height));
}

// Blurs the squares of d along the rows.
fn blur_squares(local: u32) {
    for (var pixel = local; pixel < params.height * params.width; pixel += INVOCATIONS) {
        let column = i32(pixel % params.width);
        var sum = 0.0;
        for (var tap = -REACH; tap <= REACH; tap++) {
            if (column + tap >= 0) & (column + tap < i32(params.width)) {
                let distance = light[i32(pixel) + tap];
                sum += weight(tap) * distance * distance;
            }
        }
        blurred[pixel] = sum;
    }
}

// Completes the blur of the squares along the column of a pixel: s.
fn local_deviation(pixel: u32) -> f32 {
    let row = i32(pixel / params.width);
    var sum = 0.0;
    for (var tap = -REACH; tap <= REACH; tap++) {
        if (row + tap >= 0) & (row + tap < i32(params.height)) {
            sum += weight(tap) * blurred[i32(pixel) + tap * i32(params.width)];
        }
    }
    return sqrt(sum) / (coverage(pixel % params.width, params.width) * coverage(u32(row), params.height));
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
    let pixels = params.height * params.width;
    for (var pixel = local; pixel < pixels; pixel += INVOCATIONS) {
        let at = start + 3u * pixel;
        let rgb = vec3<f32>(f32(batch[at]), f32(batch[at + 1u]), f32(batch[at + 2u]));
        light[pixel] = dot(rgb, vec3<f32>(0.299, 0.587, 0.114));
        let u = (dot(rgb, vec3<f32>(-0.14713, -0.28886, 0.436)) - params.mean_u) * params.scale_u;
        let v = (dot(rgb, vec3<f32>(0.615, -0.51499, -0.10001)) - params.mean_v) * params.scale_v;
        batch[at + 1u] = rounded_number(u);
        batch[at + 2u] = rounded_number(v);
    }
    workgroupBarrier();
    blur_differences(local);
    workgroupBarrier();
    // Other invocations still load from `light`, so d is kept in the batch until the barrier.
    for (var pixel = local; pixel < pixels; pixel += INVOCATIONS) {
        batch[start + 3u * pixel] = rounded_number(-mean_difference(pixel));
    }
    workgroupBarrier();
    for (var pixel = local; pixel < pixels; pixel += INVOCATIONS) {
        light[pixel] = f32(batch[start + 3u * pixel]);
    }
    workgroupBarrier();
    blur_squares(local);
    workgroupBarrier();
    for (var pixel = local; pixel < pixels; pixel += INVOCATIONS) {
        let deviation = local_deviation(pixel);
        let divisor = select(params.threshold, deviation, deviation > params.threshold);
        batch[start + 3u * pixel] = rounded_number(light[pixel] / divisor);
    }
}
