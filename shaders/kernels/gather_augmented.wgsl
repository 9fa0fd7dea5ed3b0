// gather_augmented: gather with cropping or padding, shifts, mirroring and normalisation of the images.
//   batch[row, y, x, c] = normal(source[y + offset_y + shift_y, x' + offset_x + shift_x, c]),
// where x' is x, or width - 1 - x in a mirrored image. Pixels outside the source are black, the nearest pixel, or the
// source reflected without repeating its edge. For black pixels, the mean image is zero too.
//   normal(byte) = byte / divisor, or (byte / divisor - mean[c]) · inverse_deviation[c], or byte / divisor - mean image.
// If grey == 1, there is one channel, and byte is the mean over the channels of the source pixel.
// If streamed == 1, images and labels hold samples in the order of `order` instead of the whole set; `order` still
// holds the sample indices.
// Shifts and flips other than FLIP_ALWAYS are applied in training only. They are drawn by
// pcg4d(row of the whole batch, stream, step) (lane x: rows, y: columns, z: flip); pcg4d(sample, stream + 1, 0) draws
// a sample's first flip if flips alternate.
//
// params: GatherAugmented. first_images, second_images: (samples, source_height, source_width, channels) bytes, four
// to a word, each sample padded to whole words. labels: (samples) 16-bit integers, two to a word.
// order: (samples) sample indices. mean_image: (source_height, source_width, channels) f32, loaded only for
// NORMALIZATION_MEAN_IMAGE.
// batch: (rows, row_stride) Stored, of which (height, width, channel_stride) are in use; padding channels and the
// rest of a row become zero. batch_labels: (rows) u32. Rows from step.count on become zero.
// kernel "gather_augmented", 64 invocations: "invocation", "pcg4d"
struct Params {
    rows: u32,
    samples: u32,
    // Number of samples in the first binding; the others are in the second. The Rust twin takes a single slice.
    samples_in_first: u32,
    source_height: u32,
    source_width: u32,
    // Size of the images in the batch.
    height: u32,
    width: u32,
    // Channels of the source; at most 4 if each is normalized separately.
    channels: u32,
    // Stored channels per pixel of the batch: at least `channels`, with zeros as padding, or 1 for grey images.
    channel_stride: u32,
    // Values of a row of the batch, at least height · width · `channel_stride`, a multiple of 4; the tail is zero.
    row_stride: u32,
    // Source row of the image's first row: positive for a crop, negative for a border.
    offset_y: i32,
    offset_x: i32,
    // One of [`edge`].
    edge: u32,
    // One of [`flip`].
    flip: u32,
    // One of [`shift`].
    shift: u32,
    // Largest shift: in pixels for [`shift::WHOLE`], in 1/1024 pixels, below 31 pixels, for [`shift::REAL`].
    shift_range: u32,
    divisor: f32,
    // First of two streams of the generator.
    stream: u32,
    // One of [`normalization`].
    normalization: u32,
    // 1 to replace the channels with their mean. Not supported with a mean image.
    grey: u32,
    // 1 if images and labels are in gathering order instead of data set order.
    streamed: u32,
    reserved0: u32,
    reserved1: u32,
    reserved2: u32,
    // Mean of each channel, in units of byte / divisor.
    mean: vec4<f32>,
    inverse_deviation: vec4<f32>,
}

const EDGE_ZERO: u32 = 0u;
const EDGE_REFLECT: u32 = 2u;
const FLIP_RANDOM: u32 = 1u;
const FLIP_ALTERNATING: u32 = 2u;
const FLIP_ALWAYS: u32 = 3u;
const SHIFT_WHOLE: u32 = 1u;
const SHIFT_REAL: u32 = 2u;
const NORMALIZATION_CHANNELS: u32 = 1u;
const NORMALIZATION_MEAN_IMAGE: u32 = 2u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> first_images: array<u32>;
@group(0) @binding(2) var<storage, read> second_images: array<u32>;
@group(0) @binding(3) var<storage, read> labels: array<u32>;
@group(0) @binding(4) var<storage, read> order: array<u32>;
@group(0) @binding(5) var<storage, read> mean_image: array<f32>;
@group(0) @binding(6) var<storage, read_write> batch: array<Stored4>;
@group(0) @binding(7) var<storage, read_write> batch_labels: array<u32>;

// Offset and mirroring of an image relative to its source.
struct Placement {
    y: i32,
    x: i32,
    mirrored: bool,
}

// Shift derived from a random number, in integer arithmetic so that all devices agree.
fn shift(number: u32) -> i32 {
    let bits = number >> 16u;
    if params.shift == SHIFT_WHOLE {
        return i32((bits * (2u * params.shift_range + 1u)) >> 16u) - i32(params.shift_range);
    }
    if params.shift == SHIFT_REAL {
        // Nearest pixel to u · range, floor(u · range + 1/2), with u in units of 2^-16 between -1 and 1 and the range
        // in units of 2^-10.
        return ((2 * i32(bits) + 1 - 65536) * i32(params.shift_range) + 33554432) >> 26u;
    }
    return 0;
}

fn placement(row: u32, sample: u32) -> Placement {
    var result = Placement(params.offset_y, params.offset_x, params.flip == FLIP_ALWAYS);
    if step.training == 1u {
        let numbers = pcg4d(vec4<u32>(step.first_row + row, params.stream, step.step, step.seed));
        result.y += shift(numbers.x);
        result.x += shift(numbers.y);
        if params.flip == FLIP_RANDOM {
            result.mirrored = numbers.z >> 31u == 1u;
        } else if params.flip == FLIP_ALTERNATING {
            let first = pcg4d(vec4<u32>(sample, params.stream + 1u, 0u, step.seed)).x >> 31u;
            result.mirrored = ((first ^ step.epoch) & 1u) == 1u;
        }
    }
    return result;
}

// Source coordinate of `at` along one axis; negative for black.
fn on_source(at: i32, extent: u32) -> i32 {
    let last = i32(extent) - 1;
    if at >= 0 && at <= last {
        return at;
    }
    if params.edge == EDGE_ZERO {
        return -1;
    }
    let reflected = select(2 * last - at, -at, at < 0);
    return clamp(select(at, reflected, params.edge == EDGE_REFLECT), 0, last);
}

fn image_byte(lies_at: u32, place: u32) -> u32 {
    let words = (params.source_height * params.source_width * params.channels + 3u) / 4u;
    let bit = 8u * (place % 4u);
    if lies_at < params.samples_in_first {
        return extractBits(first_images[lies_at * words + place / 4u], bit, 8u);
    }
    return extractBits(second_images[(lies_at - params.samples_in_first) * words + place / 4u], bit, 8u);
}

// Normalised value of the sample at index `lies_at`, at source pixel (y, x); black if y or x is negative.
fn normal(lies_at: u32, y: i32, x: i32, channel: u32) -> f32 {
    var bytes = 0u;
    var divisor = params.divisor;
    var mean = 0.0;
    if y >= 0 && x >= 0 {
        let pixel = (u32(y) * params.source_width + u32(x)) * params.channels;
        let place = pixel + channel;
        bytes = image_byte(lies_at, place);
        if params.grey == 1u {
            for (var other = 1u; other < params.channels; other++) {
                bytes += image_byte(lies_at, pixel + other);
            }
            divisor *= f32(params.channels);
        }
        if params.normalization == NORMALIZATION_MEAN_IMAGE {
            mean = mean_image[place];
        }
    }
    let value = f32(bytes) / divisor;
    if params.normalization == NORMALIZATION_CHANNELS {
        return (value - params.mean[channel]) * params.inverse_deviation[channel];
    }
    return value - mean;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let number = invocation_number(workgroup, workgroups, local);
    let quads = params.row_stride / 4u;
    if number >= params.rows * quads {
        return;
    }
    let row = number / quads;
    let quad = number % quads;
    var values = vec4<f32>(0.0);
    var label = 0u;
    if row < step.count {
        let turn = (step.offset + step.first_row + row) % params.samples;
        let sample = order[turn];
        let lies_at = select(sample, turn, params.streamed == 1u);
        label = extractBits(labels[lies_at / 2u], 16u * (lies_at % 2u), 16u);
        let place = placement(row, sample);
        let channels = select(params.channels, 1u, params.grey == 1u);
        let pixel = 4u * quad / params.channel_stride;
        var channel = 4u * quad % params.channel_stride;
        var y = pixel / params.width;
        var x = pixel % params.width;
        for (var lane = 0u; lane < 4u; lane++) {
            if y < params.height && channel < channels {
                let column = select(x, params.width - 1u - x, place.mirrored);
                let source_y = on_source(i32(y) + place.y, params.source_height);
                let source_x = on_source(i32(column) + place.x, params.source_width);
                values[lane] = normal(lies_at, source_y, source_x, channel);
            }
            channel++;
            if channel == params.channel_stride {
                channel = 0u;
                x++;
            }
            if x == params.width {
                x = 0u;
                y++;
            }
        }
    }
    batch[number] = rounded(values);
    if quad == 0u {
        batch_labels[row] = label;
    }
}
