// conv2d_weight_gradient: dW = Σ x ⊗ dy and db = Σ dy over one part of the batch's output pixels.
// Each invocation computes a tile of dW, 8 (tap, channel) rows × 8 filters, summed over the pixels.
//
// B samples, H × W × C stored input, H' × W' × F stored output; C and F are multiples of 4.
// params: Conv2d. x: (B, H, W, C). dy: (B, H', W', F).
// parts: (parts, part_stride): dW (KH, KW, C, F), and db (F) from bias_offset on unless that is NO_BIAS.
// parts f32, the others Stored.
// kernel "conv2d_weight_gradient", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "conv2d_params",
//     "tile", "no_bias"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> dy: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> parts: array<vec4<f32>>;

var<private> part_start: u32;

// Stores eight values of a row of dW, except those out of bounds. `column` is a vec4 index.
fn store(row: u32, column: u32, left: vec4<f32>, right: vec4<f32>) {
    let outputs = params.output_channels / 4u;
    if row >= params.window_height * params.window_width * params.input_channels {
        return;
    }
    let at = part_start + row * outputs + column;
    parts[at] = left;
    if column + 1u < outputs {
        parts[at + 1u] = right;
    }
}

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
    let at = ((pixel.x * params.input_height + row) * params.input_width + column) * (params.input_channels / 4u) + tap.z;
    return select(vec4<f32>(0.0), vec4<f32>(x[select(0u, at, inside)]), inside);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let kernel_rows = params.window_height * params.window_width * params.input_channels / 4u;
    let row_tiles = (kernel_rows + 1u) / 2u;
    let outputs = params.output_channels / 4u;
    let column_tiles = (outputs + 1u) / 2u;
    let pixels = params.rows * params.output_height * params.output_width;
    let number = invocation_number(workgroup, workgroups, local);
    let part = number / (row_tiles * column_tiles);
    let first = part * params.pixels_per_part;
    if first >= pixels {
        return;
    }
    let row = number / column_tiles % row_tiles * 2u;
    let column = number % column_tiles * 2u;
    // Out-of-bounds rows and columns are clamped to the last one and not stored.
    let next_column = min(column + 1u, outputs - 1u);
    let t0 = kernel_row(row);
    let t1 = kernel_row(min(row + 1u, kernel_rows - 1u));
    let end = min(first + params.pixels_per_part, pixels);
    part_start = part * params.part_stride / 4u;
    var tile: Tile;
    var bias_left = vec4<f32>(0.0);
    var bias_right = vec4<f32>(0.0);
    let area = params.output_height * params.output_width;
    var at = vec3<u32>(first / area, first % area / params.output_width, first % params.output_width);
    for (var pixel = first; pixel < end; pixel++) {
        let left = vec4<f32>(dy[pixel * outputs + column]);
        let right = vec4<f32>(dy[pixel * outputs + next_column]);
        add_outer_product(&tile, input_at(at, t0), input_at(at, t1), left, right);
        bias_left += left;
        bias_right += right;
        // Incrementing is cheaper than dividing for every pixel.
        at.z += 1u;
        if at.z == params.output_width {
            at.z = 0u;
            at.y += 1u;
            if at.y == params.output_height {
                at.y = 0u;
                at.x += 1u;
            }
        }
    }
    store(4u * row, column, tile.left0, tile.right0);
    store(4u * row + 1u, column, tile.left1, tile.right1);
    store(4u * row + 2u, column, tile.left2, tile.right2);
    store(4u * row + 3u, column, tile.left3, tile.right3);
    store(4u * row + 4u, column, tile.left4, tile.right4);
    store(4u * row + 5u, column, tile.left5, tile.right5);
    store(4u * row + 6u, column, tile.left6, tile.right6);
    store(4u * row + 7u, column, tile.left7, tile.right7);
    if row == 0u && params.bias_offset != NO_BIAS {
        let bias_at = part_start + params.bias_offset / 4u + column;
        parts[bias_at] = bias_left;
        if column + 1u < outputs {
            parts[bias_at + 1u] = bias_right;
        }
    }
}
