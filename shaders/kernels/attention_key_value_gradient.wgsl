// attention_key_value_gradient: dk_j = scale·Σ_i s_ij·q_i ⊙ slope(k) and dv_j = Σ_i p_ij·dy_i ⊙ slope(v), where
// s_ij = p_ij·(dy_i·v_j - mean_i), the probability p_ij = exp(scale·q_i·k_j - log_sum_exp_i) is recomputed, the means
// come from attention_query_gradient, and slope is the derivative of the epilogue that produced q, k and v. One
// invocation per four keys. Dao, Fu, Ermon, Rudra and Ré, "FlashAttention", 2022, appendix B.2.
//
// B rows of T tokens, heads of size D, a multiple of 4, at most 64.
// params: Attention. x, dx: (B, T, 3, heads, D): queries, keys, values; the keys and values of dx are stored.
// dy: (B, T, heads, D). log_sum_exp, means: (B, heads, T). log_sum_exp, means f32, the others Stored.
// kernel "attention_key_value_gradient", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue",
//     "attention", "attention_heads", "attention_four", "attention_four_dy", "attention_probabilities",
//     "store_gradient"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> dy: array<Stored4>;
@group(0) @binding(3) var<storage, read> log_sum_exp: array<f32>;
@group(0) @binding(4) var<storage, read> means: array<f32>;
@group(0) @binding(5) var<storage, read_write> dx: array<Stored4>;

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
    let keys = four_tokens(tile.first);
    let key_starts = tile.queries + known(keys) * stride() + width();
    var key_sums: array<mat4x4<f32>, HEAD_QUADS>;
    var value_sums: array<mat4x4<f32>, HEAD_QUADS>;
    for (var first = first_query(tile.first); first < params.tokens; first += TILE) {
        let queries = known(four_tokens(first));
        let query_starts = tile.queries + queries * stride();
        let starts = tile.results + queries * width();
        let numbers = tile.numbers + queries;
        var scores = mat4x4<f32>();
        var products = mat4x4<f32>();
        for (var n = 0u; n < quads; n++) {
            scores = add_matrix_product(transpose(x_columns(key_starts, n)), x_columns(query_starts, n), scores);
            let values = transpose(x_columns(key_starts + width(), n));
            products = add_matrix_product(values, dy_columns(starts, n), products);
        }
        let weights = mat4x4<f32>(
            probabilities(scores[0], log_sum_exp[numbers.x], keys, first),
            probabilities(scores[1], log_sum_exp[numbers.y], keys, first + 1u),
            probabilities(scores[2], log_sum_exp[numbers.z], keys, first + 2u),
            probabilities(scores[3], log_sum_exp[numbers.w], keys, first + 3u),
        );
        let slopes = transpose(mat4x4<f32>(
            weights[0] * (products[0] - means[numbers.x]),
            weights[1] * (products[1] - means[numbers.y]),
            weights[2] * (products[2] - means[numbers.z]),
            weights[3] * (products[3] - means[numbers.w]),
        ));
        let weights_of_keys = transpose(weights);
        for (var n = 0u; n < quads; n++) {
            key_sums[n] = add_matrix_product(x_columns(query_starts, n), slopes, key_sums[n]);
            value_sums[n] = add_matrix_product(dy_columns(starts, n), weights_of_keys, value_sums[n]);
        }
    }
    for (var i = 0u; i < min(TILE, params.tokens - tile.first); i++) {
        let at = tile.queries + (tile.first + i) * stride() + width();
        for (var n = 0u; n < quads; n++) {
            store_gradient(at + n, params.scale * key_sums[n][i]);
            store_gradient(at + width() + n, value_sums[n][i]);
        }
    }
}
