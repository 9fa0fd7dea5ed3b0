// attention_query_gradient: dq_i = scale·Σ_j s_ij·k_j ⊙ slope(q), where s_ij = p_ij·(dy_i·v_j - mean_i), the
// probability p_ij = exp(scale·q_i·k_j - log_sum_exp_i) is recomputed, mean_i = dy_i·y_i = Σ_j p_ij·dy_i·v_j is kept
// for attention_key_value_gradient, and slope is the derivative of the epilogue that produced q, k and v. One
// invocation per four queries. Dao, Fu, Ermon, Rudra and Ré, "FlashAttention", 2022, appendix B.2.
//
// B rows of T tokens, heads of size D, a multiple of 4, at most 64.
// params: Attention. x, dx: (B, T, 3, heads, D): queries, keys, values; the queries of dx are stored.
// y, dy: (B, T, heads, D). log_sum_exp, means: (B, heads, T). log_sum_exp, means f32, the others Stored.
// kernel "attention_query_gradient", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "attention",
//     "attention_heads", "attention_four", "attention_four_dy", "attention_slopes", "store_gradient"
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
    @builtin(local_invocation_index) local: u32,
) {
    let tile = head_tile(invocation_number(workgroup, workgroups, local));
    if tile.head >= params.rows * params.heads {
        return;
    }
    let quads = params.head_size / 4u;
    let tokens = four_tokens(tile.first);
    let numbers = tile.numbers + known(tokens);
    let query_starts = tile.queries + known(tokens) * stride();
    let starts = tile.results + known(tokens) * width();
    let log_sums = vec4<f32>(
        log_sum_exp[numbers.x],
        log_sum_exp[numbers.y],
        log_sum_exp[numbers.z],
        log_sum_exp[numbers.w],
    );
    let four_means = vec4<f32>(mean_of(starts.x), mean_of(starts.y), mean_of(starts.z), mean_of(starts.w));
    let queries = Queries(tokens, log_sums, four_means);
    let end = end_of_tile(tile);
    var sums: array<mat4x4<f32>, HEAD_QUADS>;
    for (var first = 0u; first < end; first += TILE) {
        let key_starts = tile.queries + known(four_tokens(first)) * stride() + width();
        var scores = mat4x4<f32>();
        var products = mat4x4<f32>();
        for (var n = 0u; n < quads; n++) {
            scores = add_matrix_product(transpose(x_columns(query_starts, n)), x_columns(key_starts, n), scores);
            let values = x_columns(key_starts + width(), n);
            products = add_matrix_product(transpose(dy_columns(starts, n)), values, products);
        }
        let weights = transpose(mat4x4<f32>(
            slopes(scores[0], products[0], queries, first),
            slopes(scores[1], products[1], queries, first + 1u),
            slopes(scores[2], products[2], queries, first + 2u),
            slopes(scores[3], products[3], queries, first + 3u),
        ));
        for (var n = 0u; n < quads; n++) {
            sums[n] = add_matrix_product(x_columns(key_starts, n), weights, sums[n]);
        }
    }
    for (var i = 0u; i < min(TILE, params.tokens - tile.first); i++) {
        let token = tile.first + i;
        for (var n = 0u; n < quads; n++) {
            store_gradient(tile.queries + token * stride() + n, sums[n][i]);
        }
        means[tile.numbers + token] = four_means[i];
    }
}
