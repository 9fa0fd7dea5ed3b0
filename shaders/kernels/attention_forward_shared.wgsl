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
        var scores: mat4x4<f32>;
        for (var part = 0u; part < quads; part += TILE_QUADS) {
            let quad = part + local % TILE_QUADS;
            // All loads of the operands are over.
            workgroupBarrier();
            keep_left(local, four_x_quads(query_starts, quad));
            keep_right(local, four_x_quads(key_starts, quad));
            workgroupBarrier();
            add_products(&scores, local, 4u * min(TILE_QUADS, quads - part));
        }
        for (var c = 0u; c < 4u; c++) {
            let attends = attending(queries, first + column_of(local) + c);
            scores[c] = select(vec4<f32>(LOWEST), params.scale * scores[c], attends);
        }
        let largest_so_far = largest;
        let largest_of_columns = max(max(scores[0], scores[1]), max(scores[2], scores[3]));
        largest = max(largest, row_maxima(local, largest_of_columns));
        let kept = exp(largest_so_far - largest);
        for (var c = 0u; c < 4u; c++) {
            scores[c] = exp(scores[c] - largest);
            weighted.low[c] *= kept[c];
            weighted.high[c] *= kept[c];
        }
        sum = fma(sum, kept, (scores[0] + scores[1]) + (scores[2] + scores[3]));
        keep_left(local, scores);
        keep_vectors_of_x(local, keys_start + width(), first);
        workgroupBarrier();
        add_weighted(&weighted, local);
    }
    workgroupBarrier();
    sum = row_sums(local, sum);
    for (var r = 0u; r < 4u; r++) {
        if queries[r] < params.tokens {
            let result = tile.results + queries[r] * width() + local % TILE_QUADS;
            if local % TILE_QUADS < quads {
                y[result] = rounded(weighted.low[r] / sum[r]);
            }
            if local % TILE_QUADS + TILE_QUADS < quads {
                y[result + TILE_QUADS] = rounded(weighted.high[r] / sum[r]);
            }
            if local % TILE_QUADS == 0u {
                log_sum_exp[tile.numbers + queries[r]] = largest[r] + log(sum[r]);
            }
        }
    }
}
