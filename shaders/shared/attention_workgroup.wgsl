// Attention with tiles of 32 × 32 tokens in workgroup memory, for real GPUs. Rows of a tile are the workgroup's own
// tokens, and columns those of the other side, such as the keys of its queries. Each of 64 invocations has four rows
// and four columns of the products of a tile, and four rows and up to two quads of the sums of weighted vectors.
// Method: Dao, Fu, Ermon, Rudra and Ré, "FlashAttention", 2022; blocking as in workgroup_tile.wgsl.
//
// Needs attention_heads.wgsl.
const WORKGROUP_SIZE: u32 = 64u;
const TILE: u32 = 32u;
// Quads of a tile's rows or columns, and of the part of the vectors that products load at a time.
const TILE_QUADS: u32 = 8u;
// Quads of the largest head.
const HEAD_QUADS: u32 = 16u;

// A part of the rows' vectors, with a row per component: (32, 8 quads of rows). Later weights, with a row per column.
var<workgroup> left_operand: array<vec4<f32>, 256>;
// The same part of the columns' vectors. Later their whole vectors: (32, HEAD_QUADS).
var<workgroup> right_operand: array<vec4<f32>, 512>;
// Each invocation's share of a sum over columns.
var<workgroup> shares: array<vec4<f32>, WORKGROUP_SIZE>;

// Place of a quad of rows or columns at a depth. Quads are rotated, so that invocations that store different depths use
// different memory banks.
fn place_of(depth: u32, quad: u32) -> u32 {
    return depth * TILE_QUADS + (quad ^ (depth / 4u % TILE_QUADS));
}

// First of the four rows of an invocation. It also loads those of this number, and of the columns.
fn row_of(local: u32) -> u32 {
    return 4u * (local / TILE_QUADS);
}

// First of the four columns of an invocation.
fn column_of(local: u32) -> u32 {
    return 4u * (local % TILE_QUADS);
}

// Stores one quad of four vectors of the left operand, given a column per component, or the weights of four columns.
fn keep_left(local: u32, turned: mat4x4<f32>) {
    let depth = 4u * (local % TILE_QUADS);
    let quad = local / TILE_QUADS;
    left_operand[place_of(depth, quad)] = turned[0];
    left_operand[place_of(depth + 1u, quad)] = turned[1];
    left_operand[place_of(depth + 2u, quad)] = turned[2];
    left_operand[place_of(depth + 3u, quad)] = turned[3];
}

// The same for four vectors of the right operand.
fn keep_right(local: u32, turned: mat4x4<f32>) {
    let depth = 4u * (local % TILE_QUADS);
    let quad = local / TILE_QUADS;
    right_operand[place_of(depth, quad)] = turned[0];
    right_operand[place_of(depth + 1u, quad)] = turned[1];
    right_operand[place_of(depth + 2u, quad)] = turned[2];
    right_operand[place_of(depth + 3u, quad)] = turned[3];
}

// products += rows · columns, over `depth` components. Each of the products' columns has four rows.
fn add_products(products: ptr<function, mat4x4<f32>>, local: u32, depth: u32) {
    for (var k = 0u; k < depth; k++) {
        let rows = left_operand[place_of(k, local / TILE_QUADS)];
        let columns = right_operand[place_of(k, local % TILE_QUADS)];
        (*products)[0] = fma(vec4<f32>(columns.x), rows, (*products)[0]);
        (*products)[1] = fma(vec4<f32>(columns.y), rows, (*products)[1]);
        (*products)[2] = fma(vec4<f32>(columns.z), rows, (*products)[2]);
        (*products)[3] = fma(vec4<f32>(columns.w), rows, (*products)[3]);
    }
}

// Four rows of a sum of weighted vectors: quads `local` % 8 and, of a head with more than 8 quads, `local` % 8 + 8.
struct Sums {
    low0: vec4<f32>,
    low1: vec4<f32>,
    low2: vec4<f32>,
    low3: vec4<f32>,
    high0: vec4<f32>,
    high1: vec4<f32>,
    high2: vec4<f32>,
    high3: vec4<f32>,
}

// sums += weights · vectors of all columns.
fn add_weighted(sums: ptr<function, Sums>, local: u32) {
    let quad = local % TILE_QUADS;
    for (var k = 0u; k < TILE; k++) {
        let weights = left_operand[place_of(k, local / TILE_QUADS)];
        let low = right_operand[k * HEAD_QUADS + quad];
        (*sums).low0 = fma(vec4<f32>(weights.x), low, (*sums).low0);
        (*sums).low1 = fma(vec4<f32>(weights.y), low, (*sums).low1);
        (*sums).low2 = fma(vec4<f32>(weights.z), low, (*sums).low2);
        (*sums).low3 = fma(vec4<f32>(weights.w), low, (*sums).low3);
        if params.head_size > 4u * TILE_QUADS {
            let high = right_operand[k * HEAD_QUADS + TILE_QUADS + quad];
            (*sums).high0 = fma(vec4<f32>(weights.x), high, (*sums).high0);
            (*sums).high1 = fma(vec4<f32>(weights.y), high, (*sums).high1);
            (*sums).high2 = fma(vec4<f32>(weights.z), high, (*sums).high2);
            (*sums).high3 = fma(vec4<f32>(weights.w), high, (*sums).high3);
        }
    }
}

// Rows of sums, low and high alternating, for a loop that stores them: one compiled copy of the store instead of eight.
fn stored_quads(sums: Sums) -> array<vec4<f32>, 8> {
    return array<vec4<f32>, 8>(
        sums.low0, sums.high0, sums.low1, sums.high1, sums.low2, sums.high2, sums.low3, sums.high3,
    );
}

// Quad of an invocation's stored quad `i`. It exists if it is less than the head's.
fn quad_of(local: u32, i: u32) -> u32 {
    return local % TILE_QUADS + i % 2u * TILE_QUADS;
}

// Sums of the rows over all columns, given each invocation's share. The whole workgroup has to call this, and not
// again before another barrier.
fn row_sums(local: u32, share: vec4<f32>) -> vec4<f32> {
    shares[local] = share;
    workgroupBarrier();
    var sum = vec4<f32>(0.0);
    for (var k = 0u; k < TILE_QUADS; k++) {
        sum += shares[local / TILE_QUADS * TILE_QUADS + k];
    }
    return sum;
}

// Largest values of the rows, likewise.
fn row_maxima(local: u32, share: vec4<f32>) -> vec4<f32> {
    shares[local] = share;
    workgroupBarrier();
    var largest = share;
    for (var k = 0u; k < TILE_QUADS; k++) {
        largest = max(largest, shares[local / TILE_QUADS * TILE_QUADS + k]);
    }
    return largest;
}

// Stores the whole vectors of the tokens from `first` on as the right operand; they are queries, keys or values, and
// token 0's begins at `start`.
fn keep_vectors_of_x(local: u32, start: u32, first: u32) {
    let quads = params.head_size / 4u;
    for (var at = local; at < TILE * quads; at += WORKGROUP_SIZE) {
        let token = min(first + at / quads, params.tokens - 1u);
        right_operand[at / quads * HEAD_QUADS + at % quads] = vec4<f32>(x[start + token * stride() + at % quads]);
    }
}
