// pixel_products_forward: y[b, p, q] = epilogue(Σ a[b, p, c]·b[b, q, c]), the dot product of each pixel of a with each
// pixel of b. Each invocation stores four products of one pixel of a.
//
// B samples, P pixels of a and Q pixels of b per sample, C stored channels, a multiple of 4; the products of a pixel
// are padded with zeros to a multiple of 4.
// params: PixelProducts. a: (B, P, C). b: (B, Q, C). y: (B, P, stored products). All row-major Stored.
// kernel "pixel_products_forward", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "channels",
//     "pixel_products_params"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<Stored4>;
@group(0) @binding(2) var<storage, read> b: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> y: array<Stored4>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let groups = params.stored_products / 4u;
    let number = invocation_number(workgroup, workgroups, local);
    let pixel = number / groups;
    if pixel >= params.rows * params.first_pixels {
        return;
    }
    let quads = params.channels / 4u;
    let first = 4u * (number % groups);
    let row = pixel / params.first_pixels * params.second_pixels;
    var products = vec4<f32>(0.0);
    for (var k = 0u; k < min(4u, params.second_pixels - first); k++) {
        var sums = vec4<f32>(0.0);
        for (var quad = 0u; quad < quads; quad++) {
            sums = fma(vec4<f32>(a[pixel * quads + quad]), vec4<f32>(b[(row + first + k) * quads + quad]), sums);
        }
        products[k] = sum_of_four(sums);
    }
    y[number] = rounded(apply_epilogue(products, 4u * number, params.epilogue));
}
