// gather: converts the bytes of a batch's samples to numbers, y = byte / divisor, and gathers their labels.
// Rows from step.count on become zero, so the padding of a short batch contributes nothing.
// A set may exceed the size limit of one binding, so its samples are split over two: see `samples_in_first`.
// If streamed == 1, images and labels hold samples in the order of `order` instead of the whole set.
//
// params: Gather. first_images, second_images: (samples, features) bytes, four to a word, features a multiple of 4.
// labels: (samples) 16-bit integers, two to a word. order: (samples) sample indices.
// batch: (rows, stride) Stored, stride a multiple of 4. batch_labels: (rows) u32.
// kernel "gather", 64 invocations: "invocation"
struct Params {
    rows: u32,
    features: u32,
    // Values of a row of the output, at least `features`, a multiple of 4.
    stride: u32,
    samples: u32,
    divisor: f32,
    // Number of samples in the first binding; the others are in the second. The Rust twin takes a single slice.
    samples_in_first: u32,
    // 1 if images and labels are in gathering order instead of data set order.
    streamed: u32,
    reserved: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> first_images: array<u32>;
@group(0) @binding(2) var<storage, read> second_images: array<u32>;
@group(0) @binding(3) var<storage, read> labels: array<u32>;
@group(0) @binding(4) var<storage, read> order: array<u32>;
@group(0) @binding(5) var<storage, read_write> batch: array<Stored4>;
@group(0) @binding(6) var<storage, read_write> batch_labels: array<u32>;

// Word `place`, four consecutive bytes, of the sample at index `lies_at`.
fn image_word(lies_at: u32, place: u32) -> u32 {
    let words = params.features / 4u;
    if lies_at < params.samples_in_first {
        return first_images[lies_at * words + place];
    }
    return second_images[(lies_at - params.samples_in_first) * words + place];
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let number = invocation_number(workgroup, workgroups, local);
    let quads = params.stride / 4u;
    if number >= params.rows * quads {
        return;
    }
    let row = number / quads;
    let quad = number % quads;
    var values = vec4<f32>(0.0);
    var label = 0u;
    if row < step.count {
        let place = (step.offset + step.first_row + row) % params.samples;
        let lies_at = select(order[place], place, params.streamed == 1u);
        label = extractBits(labels[lies_at / 2u], 16u * (lies_at % 2u), 16u);
        if quad * 4u < params.features {
            let word = image_word(lies_at, quad);
            let bytes = (vec4<u32>(word) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(255u);
            values = vec4<f32>(bytes) / params.divisor;
        }
    }
    batch[number] = rounded(values);
    if quad == 0u {
        batch_labels[row] = label;
    }
}
