// attention_query_gradient: dq_i = scale·Σ_j s_ij·k_j ⊙ slope(q), where s_ij = p_ij·(dy_i·v_j - mean_i), the
// probability p_ij = exp(scale·q_i·k_j - log_sum_exp_i) is recomputed, mean_i = dy_i·y_i = Σ_j p_ij·dy_i·v_j is kept
// for attention_key_value_gradient, and slope is the derivative of the epilogue that produced q, k and v. One
// invocation per query. Dao, Fu, Ermon, Rudra and Ré, "FlashAttention", 2022, appendix B.2.
//
// B rows of T tokens, heads of size D, a multiple of 4, at most 64.
// params: Attention. x, dx: (B, T, 3, heads, D): queries, keys, values; the queries of dx are stored.
// y, dy: (B, T, heads, D). log_sum_exp, means: (B, heads, T). log_sum_exp, means f32, the others Stored.
// kernel "attention_query_gradient", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "attention",
//     "attention_four", "store_gradient"
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
    let number = invocation_number(workgroup, workgroups, local);
    if number >= params.rows * params.heads * params.tokens {
        return;
    }
    let at = place(number);
    let quads = params.head_size / 4u;
    let query = query_of(at.row, at.head, at.token);
    let result = result_of(at.row, at.head, at.token);
    let first_key = query_of(at.row, at.head, 0u) + width();
    let normalizer = log_sum_exp[number];
    var mean = 0.0;
    for (var i = 0u; i < quads; i++) {
        mean = add_product(vec4<f32>(dy[result + i]), vec4<f32>(y[result + i]), mean);
    }
    means[number] = mean;
    var gradient: array<vec4<f32>, HEAD_QUADS>;
    let end = end_of_keys(at.token);
    for (var first = 0u; first < end; first += 4u) {
        let keys = first_key + four_tokens(first) * (3u * width());
        let values = keys + width();
        var scores = vec4<f32>(0.0);
        var products = vec4<f32>(0.0);
        for (var i = 0u; i < quads; i++) {
            scores = add_products(
                vec4<f32>(x[query + i]),
                vec4<f32>(x[keys.x + i]),
                vec4<f32>(x[keys.y + i]),
                vec4<f32>(x[keys.z + i]),
                vec4<f32>(x[keys.w + i]),
                scores,
            );
            products = add_products(
                vec4<f32>(dy[result + i]),
                vec4<f32>(x[values.x + i]),
                vec4<f32>(x[values.y + i]),
                vec4<f32>(x[values.z + i]),
                vec4<f32>(x[values.w + i]),
                products,
            );
        }
        let probabilities = exp(params.scale * scores - normalizer);
        let all_weights = params.scale * probabilities * (products - mean);
        let weights = select(vec4<f32>(0.0), all_weights, before(first, end));
        for (var i = 0u; i < quads; i++) {
            gradient[i] = add_weighted(
                weights,
                vec4<f32>(x[keys.x + i]),
                vec4<f32>(x[keys.y + i]),
                vec4<f32>(x[keys.z + i]),
                vec4<f32>(x[keys.w + i]),
                gradient[i],
            );
        }
    }
    for (var i = 0u; i < quads; i++) {
        store_gradient(query + i, gradient[i]);
    }
}
