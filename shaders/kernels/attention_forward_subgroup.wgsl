// attention_forward_subgroup: attention_forward with the lanes of a subgroup, for drivers that emulate a GPU on a
// CPU.
//
// B rows of T tokens, heads of size D, a multiple of 4, at most 32. One workgroup per TILE queries of a head.
// params: Attention. x: (B, T, 3, heads, D): queries, keys, values. y: (B, T, heads, D).
// log_sum_exp: (B, heads, T). log_sum_exp f32, the others Stored.
// kernel "attention_forward_subgroup", 8 invocations: "pcg4d", "accurate_tanh", "epilogue", "attention",
//     "workgroup_number", "eight_lanes", "subgroup_tile", "attention_heads", "attention_subgroup"
// kernel "attention_forward_four_lanes", 4 invocations: "pcg4d", "accurate_tanh", "epilogue", "attention",
//     "workgroup_number", "four_lanes", "subgroup_tile", "attention_heads", "attention_subgroup"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read_write> y: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> log_sum_exp: array<f32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(subgroup_invocation_id) lane: u32,
) {
    let tile = head_tile(workgroup_number(workgroup, workgroups));
    if tile.head >= params.rows * params.heads {
        return;
    }
    let quads = params.head_size / 4u;
    let queries = four_tokens(tile.first + 4u * lane);
    var query_vectors = vectors_of_x(tile.queries + known(queries) * stride());
    let end = end_of_tile(tile);
    var largest = vec4<f32>(LOWEST);
    var sum = vec4<f32>(0.0);
    var weighted: array<mat4x4<f32>, HEAD_QUADS>;
    for (var first = 0u; first < end; first += LANES) {
        let key = tile.queries + min(first + lane, params.tokens - 1u) * stride() + width();
        var block = products(vector_of_x(key), &query_vectors);
        block.row$ = masked(block.row$, queries, first + lane_of_row($u, lane));
        let largest_so_far = largest;
        largest = max(largest, block.row$);
        block.row$ = exp(block.row$ - largest);
        let kept = exp(largest_so_far - largest);
        sum *= kept;
        sum += block.row$;
        scale_all(&weighted, kept);
        add_weighted(&weighted, vector_of_x(key + width()), block);
    }
    let log_sums = largest + log(sum);
    scale_all(&weighted, 1.0 / sum);
    for (var n = 0u; n < quads; n++) {
        let results = transpose(weighted[n]);
        for (var i = 0u; i < 4u; i++) {
            if queries[i] < params.tokens {
                y[tile.results + queries[i] * width() + n] = rounded(results[i]);
            }
        }
    }
    for (var i = 0u; i < 4u; i++) {
        if queries[i] < params.tokens {
            log_sum_exp[tile.numbers + queries[i]] = log_sums[i];
        }
    }
}
