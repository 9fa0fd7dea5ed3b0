// Like vector_of_x and vectors_of_x of attention_subgroup.wgsl, for the kernel's `dy`. Needs attention_dy.wgsl.

fn vector_of_dy(start: u32) -> Vector {
    return Vector(
        dy_quad(start, 0u),
        dy_quad(start, 1u),
        dy_quad(start, 2u),
        dy_quad(start, 3u),
        dy_quad(start, 4u),
        dy_quad(start, 5u),
        dy_quad(start, 6u),
        dy_quad(start, 7u),
    );
}

fn vectors_of_dy(starts: vec4<u32>) -> array<mat4x4<f32>, HEAD_QUADS> {
    var vectors: array<mat4x4<f32>, HEAD_QUADS>;
    for (var n = 0u; n < HEAD_QUADS; n++) {
        vectors[n] = four_dy_quads(starts, n);
    }
    return vectors;
}
