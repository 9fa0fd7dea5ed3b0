// pixel_products_gradient: gradient of one factor x of pixel_products_forward; for the first factor
// dx[b, p] = Σ dy[b, p, q]·other[b, q] ⊙ slope(x[b, p]), and for the second
// dx[b, q] = Σ dy[b, p, q]·other[b, p] ⊙ slope(x[b, q]), where slope is the derivative of the epilogue that produced x.
// Each invocation stores four channels of one pixel.
//
// B samples, P and Q pixels per sample of the two factors, C stored channels, a multiple of 4.
// params: PixelProducts. dy: (B, P, stored products). other: the other factor. x, dx: (B, P, C) or (B, Q, C).
// All row-major Stored.
// kernel "pixel_products_gradient", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue",
//     "pixel_products_params", "store_gradient"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> dy: array<Stored>;
@group(0) @binding(2) var<storage, read> other: array<Stored4>;
@group(0) @binding(3) var<storage, read> x: array<Stored4>;
@group(0) @binding(4) var<storage, read_write> dx: array<Stored4>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let quads = params.channels / 4u;
    let number = invocation_number(workgroup, workgroups, local);
    let of_second = params.of_second == 1u;
    let own = select(params.first_pixels, params.second_pixels, of_second);
    let others = select(params.second_pixels, params.first_pixels, of_second);
    let pixel = number / quads;
    let row = pixel / own;
    if row >= params.rows {
        return;
    }
    // Strides between pixels of each factor in the products of a sample.
    let own_stride = select(params.stored_products, 1u, of_second);
    let other_stride = select(1u, params.stored_products, of_second);
    let start = row * params.first_pixels * params.stored_products + pixel % own * own_stride;
    let quad = number % quads;
    var sum = vec4<f32>(0.0);
    for (var k = 0u; k < others; k++) {
        sum = fma(vec4<f32>(f32(dy[start + k * other_stride])), vec4<f32>(other[(row * others + k) * quads + quad]), sum);
    }
    store_gradient(number, sum);
}
