// attention_key_value_gradient_subgroup: attention_key_value_gradient with the lanes of a subgroup, for drivers that
// emulate a GPU on a CPU.
//
// B rows of T tokens, heads of size D, a multiple of 4, at most 32. One workgroup per TILE keys of a head.
// params: Attention. x, dx: (B, T, 3, heads, D): queries, keys, values; the keys and values of dx are stored.
// dy: (B, T, heads, D). log_sum_exp, means: (B, heads, T). log_sum_exp, means f32, the others Stored.
// kernel "attention_key_value_gradient_subgroup", 8 invocations: "pcg4d", "accurate_tanh", "epilogue", "attention",
//     "workgroup_number", "eight_lanes", "subgroup_tile", "attention_heads", "attention_dy", "attention_subgroup",
//     "attention_subgroup_dy", "attention_probabilities", "store_gradient"
// kernel "attention_key_value_gradient_four_lanes", 4 invocations: "pcg4d", "accurate_tanh", "epilogue", "attention",
//     "workgroup_number", "four_lanes", "subgroup_tile", "attention_heads", "attention_dy", "attention_subgroup",
//     "attention_subgroup_dy", "attention_probabilities", "store_gradient"
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
    @builtin(subgroup_invocation_id) lane: u32,
) {
    let tile = head_tile(workgroup_number(workgroup, workgroups));
    if tile.head >= params.rows * params.heads {
        return;
    }
    let quads = params.head_size / 4u;
    let keys = four_tokens(tile.first + 4u * lane);
    let starts = tile.queries + known(keys) * stride() + width();
    var key_vectors = vectors_of_x(starts);
    var value_vectors = vectors_of_x(starts + width());
    var key_sums: array<mat4x4<f32>, HEAD_QUADS>;
    var value_sums: array<mat4x4<f32>, HEAD_QUADS>;
    for (var first = first_query(tile.first); first < params.tokens; first += LANES) {
        let token = min(first + lane, params.tokens - 1u);
        let query = vector_of_x(tile.queries + token * stride());
        let gradient = vector_of_dy(tile.results + token * width());
        let log_sum = log_sum_exp[tile.numbers + token];
        let mean = means[tile.numbers + token];
        var weights = products(query, &key_vectors);
        var slopes = products(gradient, &value_vectors);
        weights.row$ = probabilities(weights.row$, exchange_number$(log_sum), keys, first + lane_of_row($u, lane));
        slopes.row$ = weights.row$ * (slopes.row$ - exchange_number$(mean));
        add_weighted(&value_sums, gradient, weights);
        add_weighted(&key_sums, query, slopes);
    }
    for (var n = 0u; n < quads; n++) {
        let key_results = transpose(key_sums[n]);
        let value_results = transpose(value_sums[n]);
        for (var i = 0u; i < 4u; i++) {
            if keys[i] < params.tokens {
                let at = tile.queries + keys[i] * stride() + width() + n;
                store_gradient(at, params.scale * key_results[i]);
                store_gradient(at + width(), value_results[i]);
            }
        }
    }
}
