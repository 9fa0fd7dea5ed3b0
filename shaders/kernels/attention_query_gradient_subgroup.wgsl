// attention_query_gradient_subgroup: attention_query_gradient with the lanes of a subgroup, for drivers that emulate
// a GPU on a CPU.
//
// B rows of T tokens, heads of size D, a multiple of 4, at most 32. One workgroup per TILE queries of a head.
// params: Attention. x, dx: (B, T, 3, heads, D): queries, keys, values; the queries of dx are stored.
// y, dy: (B, T, heads, D). log_sum_exp, means: (B, heads, T). log_sum_exp, means f32, the others Stored.
// kernel "attention_query_gradient_subgroup", 8 invocations: "pcg4d", "accurate_tanh", "epilogue", "attention",
//     "workgroup_number", "eight_lanes", "subgroup_tile", "attention_heads", "attention_dy", "attention_subgroup",
//     "attention_subgroup_dy", "attention_slopes", "store_gradient"
// kernel "attention_query_gradient_four_lanes", 4 invocations: "pcg4d", "accurate_tanh", "epilogue", "attention",
//     "workgroup_number", "four_lanes", "subgroup_tile", "attention_heads", "attention_dy", "attention_subgroup",
//     "attention_subgroup_dy", "attention_slopes", "store_gradient"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> y: array<Stored4>;
@group(0) @binding(3) var<storage, read> dy: array<Stored4>;
@group(0) @binding(4) var<storage, read> log_sum_exp: array<f32>;
@group(0) @binding(5) var<storage, read_write> dx: array<Stored4>;
@group(0) @binding(6) var<storage, read_write> means: array<f32>;

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
    let tokens = four_tokens(tile.first + 4u * lane);
    let numbers = tile.numbers + known(tokens);
    let starts = tile.results + known(tokens) * width();
    let log_sums = vec4<f32>(
        log_sum_exp[numbers.x],
        log_sum_exp[numbers.y],
        log_sum_exp[numbers.z],
        log_sum_exp[numbers.w],
    );
    let four_means = vec4<f32>(mean_of(starts.x), mean_of(starts.y), mean_of(starts.z), mean_of(starts.w));
    let queries = Queries(tokens, log_sums, four_means);
    var query_vectors = vectors_of_x(tile.queries + known(tokens) * stride());
    var gradients = vectors_of_dy(starts);
    let end = end_of_tile(tile);
    var sums: array<mat4x4<f32>, HEAD_QUADS>;
    for (var first = 0u; first < end; first += LANES) {
        let at = tile.queries + min(first + lane, params.tokens - 1u) * stride() + width();
        let key = vector_of_x(at);
        var scores = products(key, &query_vectors);
        let others = products(vector_of_x(at + width()), &gradients);
        scores.row$ = slopes(scores.row$, others.row$, queries, first + lane_of_row($u, lane));
        add_weighted(&sums, key, scores);
    }
    for (var n = 0u; n < quads; n++) {
        let results = transpose(sums[n]);
        for (var i = 0u; i < 4u; i++) {
            if tokens[i] < params.tokens {
                store_gradient(tile.queries + tokens[i] * stride() + n, results[i]);
            }
        }
    }
    for (var i = 0u; i < 4u; i++) {
        if tokens[i] < params.tokens {
            means[tile.numbers + tokens[i]] = four_means[i];
        }
    }
}
