// attention_forward: y = softmax(scale·q·kᵀ)·v of each head, and the log-sum-exp of each query's scores. If causal, a
// token attends only to itself and earlier tokens.
// One invocation per query makes a single pass over the keys; a new largest score scales down the sums so far.
// Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018; Dao, Fu, Ermon, Rudra and Ré,
// "FlashAttention", 2022.
//
// B rows of T tokens, heads of size D, a multiple of 4, at most 64.
// params: Attention. x: (B, T, 3, heads, D): queries, keys, values. y: (B, T, heads, D).
// log_sum_exp: (B, heads, T). log_sum_exp f32, the others Stored.
// kernel "attention_forward", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "attention",
//     "attention_four"
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
    let number = invocation_number(workgroup, workgroups, local);
    if number >= params.rows * params.heads * params.tokens {
        return;
    }
    let at = place(number);
    let quads = params.head_size / 4u;
    let query = query_of(at.row, at.head, at.token);
    let first_key = query_of(at.row, at.head, 0u) + width();
    var largest = LOWEST;
    var sum = 0.0;
    var weighted: array<vec4<f32>, HEAD_QUADS>;
    let end = end_of_keys(at.token);
    for (var first = 0u; first < end; first += 4u) {
        let keys = first_key + four_tokens(first) * (3u * width());
        var scores = vec4<f32>(0.0);
        for (var i = 0u; i < quads; i++) {
            scores = add_products(
                vec4<f32>(x[query + i]),
                vec4<f32>(x[keys.x + i]),
                vec4<f32>(x[keys.y + i]),
                vec4<f32>(x[keys.z + i]),
                vec4<f32>(x[keys.w + i]),
                scores,
            );
        }
        scores = select(vec4<f32>(LOWEST), params.scale * scores, before(first, end));
        let largest_so_far = largest;
        largest = max(largest, max(max(scores.x, scores.y), max(scores.z, scores.w)));
        let kept = exp(largest_so_far - largest);
        let weights = exp(scores - largest);
        sum = sum * kept + (weights.x + weights.y) + (weights.z + weights.w);
        let values = keys + width();
        for (var i = 0u; i < quads; i++) {
            weighted[i] = add_weighted(
                weights,
                vec4<f32>(x[values.x + i]),
                vec4<f32>(x[values.y + i]),
                vec4<f32>(x[values.z + i]),
                vec4<f32>(x[values.w + i]),
                weighted[i] * kept,
            );
        }
    }
    let result = result_of(at.row, at.head, at.token);
    for (var i = 0u; i < quads; i++) {
        y[result + i] = rounded(weighted[i] / sum);
    }
    log_sum_exp[number] = largest + log(sum);
}
