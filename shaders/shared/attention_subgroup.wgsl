// Attention with four tokens per lane of a subgroup, for drivers that emulate a GPU on a CPU. Tokens of the other side,
// such as the keys of a tile's queries, come in blocks of one per lane. Each lane loads a different one of them, and the
// lanes exchange their vectors, because storage loads are expensive. Everything else stays in registers.
// Needs subgroup_tile.wgsl and attention_heads.wgsl.

// Quads of the largest head.
const HEAD_QUADS: u32 = 8u;

// The vector of a token of the other side.
struct Vector {
    quad0: vec4<f32>,
    quad1: vec4<f32>,
    quad2: vec4<f32>,
    quad3: vec4<f32>,
    quad4: vec4<f32>,
    quad5: vec4<f32>,
    quad6: vec4<f32>,
    quad7: vec4<f32>,
}

fn vector_of_x(start: u32) -> Vector {
    return Vector(
        x_quad(start, 0u),
        x_quad(start, 1u),
        x_quad(start, 2u),
        x_quad(start, 3u),
        x_quad(start, 4u),
        x_quad(start, 5u),
        x_quad(start, 6u),
        x_quad(start, 7u),
    );
}

// The vectors of a lane's four tokens. Each quad has four columns, one per component.
fn vectors_of_x(starts: vec4<u32>) -> array<mat4x4<f32>, HEAD_QUADS> {
    var vectors: array<mat4x4<f32>, HEAD_QUADS>;
    for (var n = 0u; n < HEAD_QUADS; n++) {
        vectors[n] = four_x_quads(starts, n);
    }
    return vectors;
}

// Products of a block of vectors, one per lane, with the lane's vectors.
fn products(vector: Vector, vectors: ptr<function, array<mat4x4<f32>, HEAD_QUADS>>) -> Block {
    var block: Block;
    add_block(&block, vector.quad0, (*vectors)[0]);
    add_block(&block, vector.quad1, (*vectors)[1]);
    add_block(&block, vector.quad2, (*vectors)[2]);
    add_block(&block, vector.quad3, (*vectors)[3]);
    add_block(&block, vector.quad4, (*vectors)[4]);
    add_block(&block, vector.quad5, (*vectors)[5]);
    add_block(&block, vector.quad6, (*vectors)[6]);
    add_block(&block, vector.quad7, (*vectors)[7]);
    return block;
}

// sums + Σ_i vector of lane i ⊗ row i of `weights`, which has a weight for each of the lane's tokens.
fn add_weighted(sums: ptr<function, array<mat4x4<f32>, HEAD_QUADS>>, vector: Vector, weights: Block) {
    (*sums)[0] = add_turned_block((*sums)[0], vector.quad0, weights);
    (*sums)[1] = add_turned_block((*sums)[1], vector.quad1, weights);
    (*sums)[2] = add_turned_block((*sums)[2], vector.quad2, weights);
    (*sums)[3] = add_turned_block((*sums)[3], vector.quad3, weights);
    (*sums)[4] = add_turned_block((*sums)[4], vector.quad4, weights);
    (*sums)[5] = add_turned_block((*sums)[5], vector.quad5, weights);
    (*sums)[6] = add_turned_block((*sums)[6], vector.quad6, weights);
    (*sums)[7] = add_turned_block((*sums)[7], vector.quad7, weights);
}

fn add_turned_block(sum: mat4x4<f32>, quad: vec4<f32>, weights: Block) -> mat4x4<f32> {
    var result = sum;
    result = add_outer_product(result, exchange$(quad), weights.row$);
    return result;
}

fn add_outer_product(sum: mat4x4<f32>, quad: vec4<f32>, weights: vec4<f32>) -> mat4x4<f32> {
    return mat4x4<f32>(
        fma(vec4<f32>(quad.x), weights, sum[0]),
        fma(vec4<f32>(quad.y), weights, sum[1]),
        fma(vec4<f32>(quad.z), weights, sum[2]),
        fma(vec4<f32>(quad.w), weights, sum[3]),
    );
}

// Multiplies each vector with the factor of its token.
fn scale_all(vectors: ptr<function, array<mat4x4<f32>, HEAD_QUADS>>, factors: vec4<f32>) {
    (*vectors)[0] = scaled((*vectors)[0], factors);
    (*vectors)[1] = scaled((*vectors)[1], factors);
    (*vectors)[2] = scaled((*vectors)[2], factors);
    (*vectors)[3] = scaled((*vectors)[3], factors);
    (*vectors)[4] = scaled((*vectors)[4], factors);
    (*vectors)[5] = scaled((*vectors)[5], factors);
    (*vectors)[6] = scaled((*vectors)[6], factors);
    (*vectors)[7] = scaled((*vectors)[7], factors);
}

fn scaled(quad: mat4x4<f32>, factors: vec4<f32>) -> mat4x4<f32> {
    return mat4x4<f32>(quad[0] * factors, quad[1] * factors, quad[2] * factors, quad[3] * factors);
}
