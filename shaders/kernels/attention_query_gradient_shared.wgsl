// attention_query_gradient_shared: attention_query_gradient with tiles in workgroup memory, for real GPUs.
//
// B rows of T tokens, heads of size D, a multiple of 4, at most 64. One workgroup per 32 queries of a head.
// params: Attention. x, dx: (B, T, 3, heads, D): queries, keys, values; the queries of dx are stored.
// y, dy: (B, T, heads, D). log_sum_exp, means: (B, heads, T). log_sum_exp, means f32, the others Stored.
// kernel "attention_query_gradient_shared", 64 invocations: "pcg4d", "accurate_tanh", "epilogue", "attention",
//     "workgroup_number", "attention_heads", "attention_dy", "attention_workgroup", "attention_slopes",
//     "store_gradient"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> y: array<Stored4>;
@group(0) @binding(3) var<storage, read> dy: array<Stored4>;
@group(0) @binding(4) var<storage, read> log_sum_exp: array<f32>;
@group(0) @binding(5) var<storage, read_write> dx: array<Stored4>;
@group(0) @binding(6) var<storage, read_write> means: array<f32>;

// Products of a quad of a result's gradient with the result.
fn products_of(at: u32) -> f32 {
    return dot(vec4<f32>(dy[at]), vec4<f32>(y[at]));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let tile = head_tile(workgroup_number(workgroup, workgroups));
    // Uniform across the workgroup, so all invocations reach the barriers.
    if tile.head >= params.rows * params.heads {
        return;
    }
    let quads = params.head_size / 4u;
    let tokens = four_tokens(tile.first + row_of(local));
    let numbers = tile.numbers + known(tokens);
    let query_starts = tile.queries + known(tokens) * stride();
    let result_starts = tile.results + known(tokens) * width();
    let keys_start = tile.queries + width();
    let log_sums = vec4<f32>(
        log_sum_exp[numbers.x],
        log_sum_exp[numbers.y],
        log_sum_exp[numbers.z],
        log_sum_exp[numbers.w],
    );
    var share = vec4<f32>(0.0);
    for (var quad = local % TILE_QUADS; quad < quads; quad += TILE_QUADS) {
        let at = result_starts + quad;
        share += vec4<f32>(products_of(at.x), products_of(at.y), products_of(at.z), products_of(at.w));
    }
    let rows = Queries(tokens, log_sums, row_sums(local, share));
    let end = end_of_tile(tile);
    var sums: Sums;
    for (var first = 0u; first < end; first += TILE) {
        let key_starts = keys_start + known(four_tokens(first + row_of(local))) * stride();
        var scores = mat4x4<f32>();
        var products = mat4x4<f32>();
        for (var part = 0u; part < quads; part += TILE_QUADS) {
            let quad = part + local % TILE_QUADS;
            let depth = 4u * min(TILE_QUADS, quads - part);
            // All loads of the operands are over.
            workgroupBarrier();
            keep_left(local, four_x_quads(query_starts, quad));
            keep_right(local, four_x_quads(key_starts, quad));
            workgroupBarrier();
            add_products(&scores, local, depth);
            workgroupBarrier();
            keep_left(local, four_dy_quads(result_starts, quad));
            keep_right(local, four_x_quads(key_starts + width(), quad));
            workgroupBarrier();
            add_products(&products, local, depth);
        }
        let key = first + column_of(local);
        let weights = mat4x4<f32>(
            slopes(scores[0], products[0], rows, key),
            slopes(scores[1], products[1], rows, key + 1u),
            slopes(scores[2], products[2], rows, key + 2u),
            slopes(scores[3], products[3], rows, key + 3u),
        );
        workgroupBarrier();
        keep_left(local, weights);
        keep_vectors_of_x(local, keys_start, first);
        workgroupBarrier();
        add_weighted(&sums, local);
    }
    var results = stored_quads(sums);
    for (var i = 0u; i < 8u; i++) {
        let query = tokens[i / 2u];
        if query < params.tokens && quad_of(local, i) < quads {
            store_gradient(tile.queries + query * stride() + quad_of(local, i), results[i]);
            if quad_of(local, i) == 0u {
                means[tile.numbers + query] = rows.means[i / 2u];
            }
        }
    }
}
