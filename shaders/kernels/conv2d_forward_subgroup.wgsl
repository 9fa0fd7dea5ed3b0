// conv2d_forward_subgroup: y = epilogue(x ⋆ W + b), cross-correlation; a tile of pixels and channels of y stays in
// the registers of a subgroup's lanes.
// Implicit matrix product: pixels × (taps × channels) times (taps × channels) × filters.
//
// B samples, H × W × C stored input, H' × W' × F stored output; C and F are multiples of 4.
// One workgroup per tile.
// params: Conv2d. x: (B, H, W, C). weights: (KH, KW, C, F). bias: (F). y: (B, H', W', F).
// bias f32, the others Stored.
// kernel "conv2d_forward_subgroup", 8 invocations: "pcg4d", "accurate_tanh", "epilogue", "conv2d_params",
//     "conv2d_window", "workgroup_number", "eight_lanes", "subgroup_tile"
// kernel "conv2d_forward_four_lanes", 4 invocations: "pcg4d", "accurate_tanh", "epilogue", "conv2d_params",
//     "conv2d_window", "workgroup_number", "four_lanes", "subgroup_tile"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> weights: array<Stored4>;
@group(0) @binding(3) var<storage, read> bias: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> y: array<Stored4>;

// Vec4 index of the first channels under a tap; 0 outside the image.
fn input_start(origin: Window, inside: bool, tap: i32) -> u32 {
    return select(0u, u32(origin.first + tap) * (params.input_channels / 4u), inside);
}

fn input_at(at: u32, inside: bool) -> vec4<f32> {
    return select(vec4<f32>(0.0), vec4<f32>(x[at]), inside);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(subgroup_invocation_id) lane: u32,
) {
    let channels = params.input_channels / 4u;
    let outputs = params.output_channels / 4u;
    let pixels = params.rows * params.output_height * params.output_width;
    let column_tiles = (outputs + LANES - 1u) / LANES;
    let number = workgroup_number(workgroup, workgroups);
    let row = number / column_tiles * TILE;
    if row >= pixels {
        return;
    }
    // Out-of-bounds pixels and channels are clamped to the last one and not stored.
    let column = number % column_tiles * LANES + lane;
    let known_column = min(column, outputs - 1u);
    let w0 = window(min(row + lane, pixels - 1u));
    let w1 = window(min(row + lane + LANES, pixels - 1u));
    let w2 = window(min(row + lane + 2u * LANES, pixels - 1u));
    let w3 = window(min(row + lane + 3u * LANES, pixels - 1u));
    var b0: Block;
    var b1: Block;
    var b2: Block;
    var b3: Block;
    for (var ky = 0u; ky < params.window_height; ky++) {
        for (var kx = 0u; kx < params.window_width; kx++) {
            let tap = i32(ky * params.input_width + kx);
            let in0 = tap_inside(w0, ky, kx);
            let in1 = tap_inside(w1, ky, kx);
            let in2 = tap_inside(w2, ky, kx);
            let in3 = tap_inside(w3, ky, kx);
            let x0 = input_start(w0, in0, tap);
            let x1 = input_start(w1, in1, tap);
            let x2 = input_start(w2, in2, tap);
            let x3 = input_start(w3, in3, tap);
            let kernel = (ky * params.window_width + kx) * channels * 4u * outputs + known_column;
            for (var c = 0u; c < channels; c++) {
                let at = kernel + c * 4u * outputs;
                let w = mat4x4<f32>(
                    vec4<f32>(weights[at]),
                    vec4<f32>(weights[at + outputs]),
                    vec4<f32>(weights[at + 2u * outputs]),
                    vec4<f32>(weights[at + 3u * outputs]),
                );
                let a0 = input_at(x0 + c, in0);
                let a1 = input_at(x1 + c, in1);
                let a2 = input_at(x2 + c, in2);
                let a3 = input_at(x3 + c, in3);
                add_block(&b0, a0, w);
                add_block(&b1, a1, w);
                add_block(&b2, a2, w);
                add_block(&b3, a3, w);
            }
        }
    }
    var sums = tile_rows(b0, b1, b2, b3);
    let b = bias[known_column];
    for (var i = 0u; i < TILE; i++) {
        let result_row = row + lane_of_row(i, lane);
        if result_row < pixels && column < outputs {
            let at = result_row * outputs + column;
            y[at] = rounded(apply_epilogue(sums[i] + b, 4u * at, params.epilogue));
        }
    }
}
