// attention_forward_shared: attention_forward with tiles in workgroup memory, for real GPUs.
//
// B rows of T tokens, heads of size D, a multiple of 4, at most 64. One workgroup per 32 queries of a head.
// params: Attention. x: (B, T, 3, heads, D): queries, keys, values. y: (B, T, heads, D).
// log_sum_exp: (B, heads, T). log_sum_exp f32, the others Stored.
// kernel "attention_forward_shared", 64 invocations: "pcg4d", "accurate_tanh", "epilogue", "attention",
//     "workgroup_number", "attention_heads", "attention_workgroup"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read_write> y: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> log_sum_exp: array<f32>;

// Each row times its factor.
fn scaled(sums: Sums, factors: vec4<f32>) -> Sums {
    return Sums(
        sums.low0 * factors.x,
        sums.low1 * factors.y,
        sums.low2 * factors.z,
        sums.low3 * factors.w,
        sums.high0 * factors.x,
        sums.high1 * factors.y,
        sums.high2 * factors.z,
        sums.high3 * factors.w,
    );
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
    let queries = four_tokens(tile.first + row_of(local));
    let query_starts = tile.queries + known(queries) * stride();
    let keys_start = tile.queries + width();
    let end = end_of_tile(tile);
    var largest = vec4<f32>(LOWEST);
    var sum = vec4<f32>(0.0);
    var weighted: Sums;
    for (var first = 0u; first < end; first += TILE) {
        let key_starts = keys_start + known(four_tokens(first + row_of(local))) * stride();
        var scores = mat4x4<f32>();
        for (var part = 0u; part < quads; part += TILE_QUADS) {
            let quad = part + local % TILE_QUADS;
            // All loads of the operands are over.
            workgroupBarrier();
            keep_left(local, four_x_quads(query_starts, quad));
            keep_right(local, four_x_quads(key_starts, quad));
            workgroupBarrier();
            add_products(&scores, local, 4u * min(TILE_QUADS, quads - part));
        }
        let key = first + column_of(local);
        let scores0 = masked(scores[0], queries, key);
        let scores1 = masked(scores[1], queries, key + 1u);
        let scores2 = masked(scores[2], queries, key + 2u);
        let scores3 = masked(scores[3], queries, key + 3u);
        let largest_so_far = largest;
        largest = max(largest, row_maxima(local, max(max(scores0, scores1), max(scores2, scores3))));
        let weights = mat4x4<f32>(
            exp(scores0 - largest),
            exp(scores1 - largest),
            exp(scores2 - largest),
            exp(scores3 - largest),
        );
        let kept = exp(largest_so_far - largest);
        sum = fma(sum, kept, (weights[0] + weights[1]) + (weights[2] + weights[3]));
        weighted = scaled(weighted, kept);
        keep_left(local, weights);
        keep_vectors_of_x(local, keys_start + width(), first);
        workgroupBarrier();
        add_weighted(&weighted, local);
    }
    workgroupBarrier();
    sum = row_sums(local, sum);
    let log_sums = largest + log(sum);
    var results = stored_quads(scaled(weighted, 1.0 / sum));
    for (var i = 0u; i < 8u; i++) {
        let query = queries[i / 2u];
        if query < params.tokens && quad_of(local, i) < quads {
            y[tile.results + query * width() + quad_of(local, i)] = rounded(results[i]);
            if quad_of(local, i) == 0u {
                log_sum_exp[tile.numbers + query] = log_sums[i / 2u];
            }
        }
    }
}
