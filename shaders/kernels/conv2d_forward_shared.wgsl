// conv2d_forward_shared: y = epilogue(x ⋆ W + b), cross-correlation; each workgroup computes 64 pixels × 64 channels
// of y, with the operands in workgroup memory.
// Implicit matrix product: pixels × (taps × channels) times (taps × channels) × filters.
//
// B samples, H × W × C stored input, H' × W' × F stored output; C and F are multiples of 4.
// One workgroup of 64 invocations per tile.
// params: Conv2d. x: (B, H, W, C). weights: (KH, KW, C, F). bias: (F). y: (B, H', W', F).
// bias f32, the others Stored.
// kernel "conv2d_forward_shared", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "conv2d_params",
//     "conv2d_window", "tile", "workgroup_number", "workgroup_tile"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> weights: array<Stored4>;
@group(0) @binding(3) var<storage, read> bias: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> y: array<Stored4>;

// Four channels of x under a tap of a window; zero outside the image and past the last tap.
fn left_at(origin: Window, tap: u32, channel: u32) -> vec4<f32> {
    let ky = tap / params.window_width;
    let kx = tap % params.window_width;
    let inside = (ky < params.window_height) & tap_inside(origin, ky, kx);
    let pixel = u32(origin.first + i32(ky * params.input_width + kx));
    let at = select(0u, pixel * (params.input_channels / 4u) + channel, inside);
    return select(vec4<f32>(0.0), vec4<f32>(x[at]), inside);
}

// Four filters of a kernel row; zero out of bounds.
fn right_at(row: u32, column: u32) -> vec4<f32> {
    let inside = (row < params.window_height * params.window_width * params.input_channels) & (column < params.output_channels / 4u);
    let at = select(0u, row * (params.output_channels / 4u) + column, inside);
    return select(vec4<f32>(0.0), vec4<f32>(weights[at]), inside);
}

// Stores four values of a row, unless they are out of bounds. `column` is a vec4 index.
fn store(row: u32, column: u32, sum: vec4<f32>) {
    let outputs = params.output_channels / 4u;
    if row < params.rows * params.output_height * params.output_width && column < outputs {
        let at = row * outputs + column;
        y[at] = rounded(apply_epilogue(sum + bias[column], 4u * at, params.epilogue));
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let pixels = params.rows * params.output_height * params.output_width;
    let channels = params.input_channels / 4u;
    let row_tiles = (pixels + TILE - 1u) / TILE;
    let column_tiles = (params.output_channels / 4u + TILE_QUADS - 1u) / TILE_QUADS;
    let number = workgroup_number(workgroup, workgroups);
    // Uniform across the workgroup, so all invocations reach the barriers.
    if number >= row_tiles * column_tiles {
        return;
    }
    let first_row = number / column_tiles * TILE;
    let first_column = number % column_tiles * TILE_QUADS;
    // Out-of-bounds pixels are clamped to the last one and not stored.
    let read_row = first_row + 4u * turned_rows(local);
    let w0 = window(min(read_row, pixels - 1u));
    let w1 = window(min(read_row + 1u, pixels - 1u));
    let w2 = window(min(read_row + 2u, pixels - 1u));
    let w3 = window(min(read_row + 3u, pixels - 1u));
    let read_column = first_column + plain_columns(local);
    var tile: Tile;
    for (var d = 0u; d < params.window_height * params.window_width * params.input_channels; d += DEPTH) {
        let quad = d / 4u + turned_depth(local);
        let tap = quad / channels;
        let channel = quad % channels;
        keep_left_turned(
            local,
            mat4x4<f32>(
                left_at(w0, tap, channel),
                left_at(w1, tap, channel),
                left_at(w2, tap, channel),
                left_at(w3, tap, channel),
            ),
        );
        keep_right(local, 0u, right_at(d + plain_depth(local, 0u), read_column));
        keep_right(local, 1u, right_at(d + plain_depth(local, 1u), read_column));
        keep_right(local, 2u, right_at(d + plain_depth(local, 2u), read_column));
        keep_right(local, 3u, right_at(d + plain_depth(local, 3u), read_column));
        workgroupBarrier();
        add_step(&tile, local);
        workgroupBarrier();
    }
    let row = first_row + 4u * (local / 8u);
    let column = first_column + local % 8u;
    // Rows 0..3 and 32..35 from `row` on.
    var quads = tile_quads(tile);
    for (var i = 0u; i < 8u; i++) {
        let at = row + (i & 3u) + 8u * (i & 4u);
        store(at, column, quads[2u * i]);
        store(at, column + 8u, quads[2u * i + 1u]);
    }
}
