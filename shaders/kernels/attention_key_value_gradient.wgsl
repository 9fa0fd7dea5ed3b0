// attention_key_value_gradient: dk_j = scale·Σ_i s_ij·q_i ⊙ slope(k) and dv_j = Σ_i p_ij·dy_i ⊙ slope(v), where
// s_ij = p_ij·(dy_i·v_j - mean_i), the probability p_ij = exp(scale·q_i·k_j - log_sum_exp_i) is recomputed, the means
// come from attention_query_gradient, and slope is the derivative of the epilogue that produced q, k and v. One
// invocation per key. Dao, Fu, Ermon, Rudra and Ré, "FlashAttention", 2022, appendix B.2.
//
// B rows of T tokens, heads of size D, a multiple of 4, at most 64.
// params: Attention. x, dx: (B, T, 3, heads, D): queries, keys, values; the keys and values of dx are stored.
// dy: (B, T, heads, D). log_sum_exp, means: (B, heads, T). log_sum_exp, means f32, the others Stored.
// kernel "attention_key_value_gradient", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue",
//     "attention", "attention_four", "store_gradient"
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
    let number = invocation_number(workgroup, workgroups, local);
    if number >= params.rows * params.heads * params.tokens {
        return;
    }
    let at = place(number);
    let quads = params.head_size / 4u;
    let key = query_of(at.row, at.head, at.token) + width();
    let value = key + width();
    let queries_start = query_of(at.row, at.head, 0u);
    let results_start = result_of(at.row, at.head, 0u);
    let first_number = number - at.token;
    var key_gradient: array<vec4<f32>, HEAD_QUADS>;
    var value_gradient: array<vec4<f32>, HEAD_QUADS>;
    for (var first = first_query(at.token); first < params.tokens; first += 4u) {
        let tokens = four_tokens(first);
        let queries = queries_start + tokens * (3u * width());
        let results = results_start + tokens * width();
        let numbers = first_number + tokens;
        var scores = vec4<f32>(0.0);
        var products = vec4<f32>(0.0);
        for (var i = 0u; i < quads; i++) {
            scores = add_products(
                vec4<f32>(x[key + i]),
                vec4<f32>(x[queries.x + i]),
                vec4<f32>(x[queries.y + i]),
                vec4<f32>(x[queries.z + i]),
                vec4<f32>(x[queries.w + i]),
                scores,
            );
            products = add_products(
                vec4<f32>(x[value + i]),
                vec4<f32>(dy[results.x + i]),
                vec4<f32>(dy[results.y + i]),
                vec4<f32>(dy[results.z + i]),
                vec4<f32>(dy[results.w + i]),
                products,
            );
        }
        let normalizers = vec4<f32>(
            log_sum_exp[numbers.x],
            log_sum_exp[numbers.y],
            log_sum_exp[numbers.z],
            log_sum_exp[numbers.w],
        );
        let four_means = vec4<f32>(means[numbers.x], means[numbers.y], means[numbers.z], means[numbers.w]);
        let all_probabilities = exp(params.scale * scores - normalizers);
        let probabilities = select(vec4<f32>(0.0), all_probabilities, before(first, params.tokens));
        let weights = params.scale * probabilities * (products - four_means);
        for (var i = 0u; i < quads; i++) {
            key_gradient[i] = add_weighted(
                weights,
                vec4<f32>(x[queries.x + i]),
                vec4<f32>(x[queries.y + i]),
                vec4<f32>(x[queries.z + i]),
                vec4<f32>(x[queries.w + i]),
                key_gradient[i],
            );
            value_gradient[i] = add_weighted(
                probabilities,
                vec4<f32>(dy[results.x + i]),
                vec4<f32>(dy[results.y + i]),
                vec4<f32>(dy[results.z + i]),
                vec4<f32>(dy[results.w + i]),
                value_gradient[i],
            );
        }
    }
    for (var i = 0u; i < quads; i++) {
        store_gradient(key + i, key_gradient[i]);
        store_gradient(value + i, value_gradient[i]);
    }
}
