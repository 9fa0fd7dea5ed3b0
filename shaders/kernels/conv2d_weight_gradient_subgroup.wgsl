// conv2d_weight_gradient_subgroup: dW = Σ x ⊗ dy and db = Σ dy over one part of the batch's output pixels; a tile of
// dW, (tap, channel) rows and filters, stays in the registers of a subgroup's lanes.
//
// B samples, H × W × C stored input, H' × W' × F stored output; C and F are multiples of 4.
// One workgroup per tile of each part.
// params: Conv2d. x: (B, H, W, C). dy: (B, H', W', F).
// parts: (parts, part_stride): dW (KH, KW, C, F), and db (F) from bias_offset on unless that is NO_BIAS.
// parts f32, the others Stored.
// kernel "conv2d_weight_gradient_subgroup", 8 invocations: "pcg4d", "accurate_tanh", "epilogue", "conv2d_params",
//     "workgroup_number", "eight_lanes", "subgroup_tile", "no_bias"
// kernel "conv2d_weight_gradient_four_lanes", 4 invocations: "pcg4d", "accurate_tanh", "epilogue", "conv2d_params",
//     "workgroup_number", "four_lanes", "subgroup_tile", "no_bias"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> dy: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> parts: array<vec4<f32>>;

// Tap row, tap column and group of four channels of group `row` of four kernel rows.
fn kernel_row(row: u32) -> vec3<u32> {
    let tap = row / (params.input_channels / 4u);
    return vec3<u32>(tap / params.window_width, tap % params.window_width, row % (params.input_channels / 4u));
}

// Input under a tap of the window at `pixel` = (sample, row, column); zero outside the image.
fn input_at(pixel: vec3<u32>, tap: vec3<u32>) -> vec4<f32> {
    let row = pixel.y * STRIDE + tap.x - params.padding_rows;
    let column = pixel.z * STRIDE + tap.y - params.padding_columns;
    // Negative coordinates wrap to large values, which are out of bounds.
    let inside = (row < params.input_height) & (column < params.input_width);
    let input = (pixel.x * params.input_height + row) * params.input_width + column;
    let at = input * (params.input_channels / 4u) + tap.z;
    return select(vec4<f32>(0.0), vec4<f32>(x[select(0u, at, inside)]), inside);
}

// Four filters of dy at a pixel; zero from `end` on, so pixels past the part add nothing.
fn gradient_at(pixel: u32, end: u32, column: u32) -> vec4<f32> {
    let inside = pixel < end;
    let at = select(0u, pixel, inside) * (params.output_channels / 4u) + column;
    return select(vec4<f32>(0.0), vec4<f32>(dy[at]), inside);
}

// Next pixel in row-major order. Incrementing is cheaper than dividing for every pixel.
fn next(pixel: vec3<u32>) -> vec3<u32> {
    let row_ends = pixel.z + 1u == params.output_width;
    let sample_ends = row_ends && pixel.y + 1u == params.output_height;
    return vec3<u32>(
        // Clamped to the batch; values loaded past its end are multiplied by zero.
        min(pixel.x + select(0u, 1u, sample_ends), params.rows - 1u),
        select(pixel.y + select(0u, 1u, row_ends), 0u, sample_ends),
        select(pixel.z + 1u, 0u, row_ends),
    );
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(subgroup_invocation_id) lane: u32,
) {
    let kernel_rows = params.window_height * params.window_width * params.input_channels / 4u;
    let outputs = params.output_channels / 4u;
    let row_tiles = (kernel_rows + LANES - 1u) / LANES;
    let column_tiles = (outputs + LANES - 1u) / LANES;
    let pixels = params.rows * params.output_height * params.output_width;
    let number = workgroup_number(workgroup, workgroups);
    let part = number / (row_tiles * column_tiles);
    let first = part * params.pixels_per_part;
    if first >= pixels {
        return;
    }
    // `row` counts groups of four rows of dW. Out-of-bounds rows and columns are clamped and not stored.
    let row = number / column_tiles % row_tiles * LANES;
    let column = number % column_tiles * LANES + lane;
    let known_column = min(column, outputs - 1u);
    let tap = kernel_row(min(row + lane, kernel_rows - 1u));
    let end = min(first + params.pixels_per_part, pixels);
    // Block c holds rows c, c + 4, c + 8, … of the tile.
    var b0: Block;
    var b1: Block;
    var b2: Block;
    var b3: Block;
    var bias = vec4<f32>(0.0);
    let area = params.output_height * params.output_width;
    var at = vec3<u32>(first / area, first % area / params.output_width, first % params.output_width);
    for (var pixel = first; pixel < end; pixel += 4u) {
        let at1 = next(at);
        let at2 = next(at1);
        let at3 = next(at2);
        let a = transpose(mat4x4<f32>(
            input_at(at, tap),
            input_at(at1, tap),
            input_at(at2, tap),
            input_at(at3, tap),
        ));
        let b = mat4x4<f32>(
            gradient_at(pixel, end, known_column),
            gradient_at(pixel + 1u, end, known_column),
            gradient_at(pixel + 2u, end, known_column),
            gradient_at(pixel + 3u, end, known_column),
        );
        add_block(&b0, a[0], b);
        add_block(&b1, a[1], b);
        add_block(&b2, a[2], b);
        add_block(&b3, a[3], b);
        bias += b[0] + b[1] + b[2] + b[3];
        at = next(at3);
    }
    let part_start = part * params.part_stride / 4u;
    var sums = tile_rows(b0, b1, b2, b3);
    for (var i = 0u; i < TILE; i++) {
        let row_of_dw = 4u * (row + lane_of_row(i % LANES, lane)) + i / LANES;
        if row_of_dw < 4u * kernel_rows && column < outputs {
            parts[part_start + row_of_dw * outputs + column] = sums[i];
        }
    }
    if row == 0u && params.bias_offset != NO_BIAS && column < outputs {
        parts[part_start + params.bias_offset / 4u + column] = bias;
    }
}
