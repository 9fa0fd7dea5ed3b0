// conv2d_weight_gradient_shared: dW = Σ x ⊗ dy and db = Σ dy over one part of the batch's output pixels; each workgroup
// computes a tile of dW, 64 (tap, channel) rows × 64 filters, with the operands in workgroup memory.
//
// B samples, H × W × C stored input, H' × W' × F stored output; C and F are multiples of 4.
// One workgroup of 64 invocations per tile of each part.
// params: Conv2d. x: (B, H, W, C). dy: (B, H', W', F).
// parts: (parts, part_stride): dW (KH, KW, C, F), and db (F) from bias_offset on unless that is NO_BIAS.
// parts f32, the others Stored.
// kernel "conv2d_weight_gradient_shared", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue",
//     "conv2d_params", "conv2d_window", "tile", "workgroup_number", "workgroup_tile", "no_bias"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> dy: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> parts: array<vec4<f32>>;

// Four channels of x under a tap (row, column, group of channels) of the window at a pixel; zero out of bounds.
fn left_at(pixel: u32, end: u32, tap: vec3<u32>) -> vec4<f32> {
    let at = place(pixel);
    let row = at.y * STRIDE + tap.x - params.padding_rows;
    let column = at.z * STRIDE + tap.y - params.padding_columns;
    // Negative coordinates wrap to large values, which are out of bounds.
    let inside = (pixel < end) & (row < params.input_height) & (column < params.input_width);
    let input = (at.x * params.input_height + row) * params.input_width + column;
    let quad = input * (params.input_channels / 4u) + tap.z;
    return select(vec4<f32>(0.0), vec4<f32>(x[select(0u, quad, inside)]), inside);
}

// Four filters of dy at a pixel; zero out of bounds.
fn right_at(pixel: u32, end: u32, column: u32) -> vec4<f32> {
    let inside = (pixel < end) & (column < params.output_channels / 4u);
    let at = select(0u, pixel * (params.output_channels / 4u) + column, inside);
    return select(vec4<f32>(0.0), vec4<f32>(dy[at]), inside);
}

var<private> part_start: u32;

// Stores four values of a row of dW, unless they are out of bounds. `column` is a vec4 index.
fn store(row: u32, column: u32, sum: vec4<f32>) {
    let outputs = params.output_channels / 4u;
    if row < params.window_height * params.window_width * params.input_channels && column < outputs {
        parts[part_start + row * outputs + column] = sum;
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let channels = params.input_channels / 4u;
    let kernel_rows = params.window_height * params.window_width * channels;
    let pixels = params.rows * params.output_height * params.output_width;
    let row_tiles = (kernel_rows + TILE_QUADS - 1u) / TILE_QUADS;
    let column_tiles = (params.output_channels / 4u + TILE_QUADS - 1u) / TILE_QUADS;
    let number = workgroup_number(workgroup, workgroups);
    let part = number / (row_tiles * column_tiles);
    let first = part * params.pixels_per_part;
    // Uniform across the workgroup, so all invocations reach the barriers.
    if first >= pixels {
        return;
    }
    let end = min(first + params.pixels_per_part, pixels);
    let first_row = number / column_tiles % row_tiles * TILE;
    let first_column = number % column_tiles * TILE_QUADS;
    // Out-of-bounds rows are clamped to the last one and not stored.
    let read_row = min(first_row / 4u + plain_columns(local), kernel_rows - 1u);
    let tap = read_row / channels;
    let read_tap = vec3<u32>(tap / params.window_width, tap % params.window_width, read_row % channels);
    let read_column = first_column + plain_columns(local);
    var tile: Tile;
    var bias = vec4<f32>(0.0);
    for (var d = first; d < end; d += DEPTH) {
        keep_left(local, 0u, left_at(d + plain_depth(local, 0u), end, read_tap));
        keep_left(local, 1u, left_at(d + plain_depth(local, 1u), end, read_tap));
        keep_left(local, 2u, left_at(d + plain_depth(local, 2u), end, read_tap));
        keep_left(local, 3u, left_at(d + plain_depth(local, 3u), end, read_tap));
        keep_right(local, 0u, right_at(d + plain_depth(local, 0u), end, read_column));
        keep_right(local, 1u, right_at(d + plain_depth(local, 1u), end, read_column));
        keep_right(local, 2u, right_at(d + plain_depth(local, 2u), end, read_column));
        keep_right(local, 3u, right_at(d + plain_depth(local, 3u), end, read_column));
        workgroupBarrier();
        add_step(&tile, local);
        if first_row == 0u && local < TILE_QUADS {
            for (var k = 0u; k < DEPTH; k++) {
                bias += right_operand[k * PITCH + local];
            }
        }
        workgroupBarrier();
    }
    part_start = part * params.part_stride / 4u;
    let row = first_row + 4u * (local / 8u);
    let column = first_column + local % 8u;
    // Rows 0..3 and 32..35 from `row` on.
    var quads = tile_quads(tile);
    for (var i = 0u; i < 8u; i++) {
        let at = row + (i & 3u) + 8u * (i & 4u);
        store(at, column, quads[2u * i]);
        store(at, column + 8u, quads[2u * i + 1u]);
    }
    let bias_column = first_column + local;
    let has_bias = params.bias_offset != NO_BIAS && local < TILE_QUADS && bias_column < params.output_channels / 4u;
    if first_row == 0u && has_bias {
        parts[part_start + params.bias_offset / 4u + bias_column] = bias;
    }
}
