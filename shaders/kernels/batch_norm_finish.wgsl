// batch_norm_finish: mean and 1 / √(variance + epsilon) of each channel, for its normalisation.
// In training, these are the batch's: first the mean of all parts, then the squared deviations from it. The running
// averages are updated, running = keep·running + (1 - keep)·batch, with the unbiased estimate of the variance (divided
// by the number of values minus one). In tests, the running averages are used and not updated. Ioffe and Szegedy,
// "Batch Normalization", 2015.
//
// C stored channels, a multiple of 4. One workgroup per four channels.
// If several devices share a batch, their parts have been combined into one.
// params: BatchNorm. parts: (parts, 2, C): means, sums of squared deviations. running: (2, C): mean, variance.
// saved: (2, C): mean, 1 / √(variance + epsilon). All f32.
// kernel "batch_norm_finish", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "batch_norm_params"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> parts: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> running: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> saved: array<vec4<f32>>;

var<workgroup> shares: array<vec4<f32>, WORKGROUP_SIZE>;

// Sum of `value` over the workgroup.
fn total(value: vec4<f32>, local: u32) -> vec4<f32> {
    shares[local] = value;
    workgroupBarrier();
    for (var half = WORKGROUP_SIZE / 2u; half > 0u; half /= 2u) {
        if local < half {
            shares[local] += shares[local + half];
        }
        workgroupBarrier();
    }
    let sum = shares[0];
    // All invocations load the sum before the next call overwrites it.
    workgroupBarrier();
    return sum;
}

fn values_of_part(part: u32) -> f32 {
    let all = pixels_of_batch();
    return f32(min((part + 1u) * params.pixels_per_part, all) - min(part * params.pixels_per_part, all));
}

fn store(quad: u32, mean: vec4<f32>, variance: vec4<f32>) {
    saved[quad] = mean;
    saved[params.stored_channels / 4u + quad] = 1.0 / sqrt(variance + params.epsilon);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let quads = params.stored_channels / 4u;
    let quad = workgroup.y * workgroups.x + workgroup.x;
    if quad >= quads {
        return;
    }
    if step.training == 0u {
        if local == 0u {
            store(quad, running[quad], running[quads + quad]);
        }
        return;
    }
    let count = f32(pixels_of_batch());
    var share = vec4<f32>(0.0);
    for (var part = local; part < params.parts; part += WORKGROUP_SIZE) {
        share += parts[2u * part * quads + quad] * (values_of_part(part) / count);
    }
    let mean = total(share, local);
    share = vec4<f32>(0.0);
    for (var part = local; part < params.parts; part += WORKGROUP_SIZE) {
        let distance = parts[2u * part * quads + quad] - mean;
        share += parts[(2u * part + 1u) * quads + quad] + values_of_part(part) * distance * distance;
    }
    let deviations = total(share, local);
    if local == 0u {
        store(quad, mean, deviations / count);
        let unbiased = deviations / max(count - 1.0, 1.0);
        running[quad] = params.keep * running[quad] + (1.0 - params.keep) * mean;
        running[quads + quad] = params.keep * running[quads + quad] + (1.0 - params.keep) * unbiased;
    }
}
