// gather_windows: the characters of a batch's windows as numbers, and the character after each of them as its label.
// Samples from step.count on become zero, so the padding of a short batch contributes nothing.
//
// params: GatherWindows. text: characters, one byte each, four to a word. order: (samples) first characters of windows.
// batch: (rows, stride) Stored, stride a multiple of 4. batch_labels: (rows, window) u32.
// kernel "gather_windows", 64 invocations: "invocation"
struct Params {
    rows: u32,
    // Characters of a window.
    window: u32,
    // Values of a row of the output, at least `window`, a multiple of 4.
    stride: u32,
    samples: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> text: array<u32>;
@group(0) @binding(2) var<storage, read> order: array<u32>;
@group(0) @binding(3) var<storage, read_write> batch: array<Stored4>;
@group(0) @binding(4) var<storage, read_write> batch_labels: array<u32>;

fn character(place: u32) -> u32 {
    return extractBits(text[place / 4u], 8u * (place % 4u), 8u);
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
    let first = 4u * (number % quads);
    let is_sample = row < step.count;
    var start = 0u;
    if is_sample {
        start = order[(step.offset + step.first_row + row) % params.samples];
    }
    var values = vec4<f32>(0.0);
    for (var k = 0u; k < 4u && first + k < params.window; k++) {
        let place = start + first + k;
        values[k] = select(0.0, f32(character(place)), is_sample);
        batch_labels[row * params.window + first + k] = select(0u, character(place + 1u), is_sample);
    }
    batch[number] = rounded(values);
}
