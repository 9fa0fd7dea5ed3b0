// attention_forward: y = softmax(scale·q·kᵀ)·v of each head, and the log-sum-exp of each query's scores. If causal, a
// token attends only to itself and earlier tokens.
// One invocation per four queries makes a single pass over the keys; a new largest score scales down the sums so far.
// Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018; Dao, Fu, Ermon, Rudra and Ré,
// "FlashAttention", 2022.
//
// B rows of T tokens, heads of size D, a multiple of 4, at most 64.
// params: Attention. x: (B, T, 3, heads, D): queries, keys, values. y: (B, T, heads, D).
// log_sum_exp: (B, heads, T). log_sum_exp f32, the others Stored.
// kernel "attention_forward", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "attention",
//     "attention_heads", "attention_four"
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
    let tile = head_tile(invocation_number(workgroup, workgroups, local));
    if tile.head >= params.rows * params.heads {
        return;
    }
    let quads = params.head_size / 4u;
    let queries = four_tokens(tile.first);
    let query_starts = tile.queries + known(queries) * stride();
    let end = end_of_tile(tile);
    var largest = vec4<f32>(LOWEST);
    var sum = vec4<f32>(0.0);
    var weighted: array<mat4x4<f32>, HEAD_QUADS>;
    for (var first = 0u; first < end; first += TILE) {
        let key_starts = tile.queries + known(four_tokens(first)) * stride() + width();
        var scores = mat4x4<f32>();
        for (var n = 0u; n < quads; n++) {
            scores = add_matrix_product(transpose(x_columns(query_starts, n)), x_columns(key_starts, n), scores);
        }
        let scores0 = masked(scores[0], queries, first);
        let scores1 = masked(scores[1], queries, first + 1u);
        let scores2 = masked(scores[2], queries, first + 2u);
        let scores3 = masked(scores[3], queries, first + 3u);
        let largest_so_far = largest;
        largest = max(largest, max(max(scores0, scores1), max(scores2, scores3)));
        let weights = mat4x4<f32>(
            exp(scores0 - largest),
            exp(scores1 - largest),
            exp(scores2 - largest),
            exp(scores3 - largest),
        );
        let kept = exp(largest_so_far - largest);
        sum = fma(sum, kept, (weights[0] + weights[1]) + (weights[2] + weights[3]));
        let weights_of_queries = transpose(weights);
        for (var n = 0u; n < quads; n++) {
            let values = x_columns(key_starts + width(), n);
            let before = weighted[n];
            let scaled = mat4x4<f32>(before[0] * kept.x, before[1] * kept.y, before[2] * kept.z, before[3] * kept.w);
            weighted[n] = add_matrix_product(values, weights_of_queries, scaled);
        }
    }
    let log_sums = largest + log(sum);
    for (var i = 0u; i < min(TILE, params.tokens - tile.first); i++) {
        let query = tile.first + i;
        for (var n = 0u; n < quads; n++) {
            y[tile.results + query * width() + n] = rounded(weighted[n][i] / sum[i]);
        }
        log_sum_exp[tile.numbers + query] = log_sums[i];
    }
}
