// attention_key_value_gradient_shared: attention_key_value_gradient with tiles in workgroup memory, for real GPUs.
//
// B rows of T tokens, heads of size D, a multiple of 4, at most 64. One workgroup per 32 keys of a head.
// params: Attention. x, dx: (B, T, 3, heads, D): queries, keys, values; the keys and values of dx are stored.
// dy: (B, T, heads, D). log_sum_exp, means: (B, heads, T). log_sum_exp, means f32, the others Stored.
// kernel "attention_key_value_gradient_shared", 64 invocations: "pcg4d", "accurate_tanh", "epilogue", "attention",
//     "workgroup_number", "attention_heads", "attention_dy", "attention_workgroup",
//     "attention_probabilities", "store_gradient"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read> dy: array<Stored4>;
@group(0) @binding(3) var<storage, read> log_sum_exp: array<f32>;
@group(0) @binding(4) var<storage, read> means: array<f32>;
@group(0) @binding(5) var<storage, read_write> dx: array<Stored4>;

// Like keep_vectors_of_x, for gradients of results.
fn keep_vectors_of_dy(local: u32, start: u32, first: u32) {
    let quads = params.head_size / 4u;
    for (var at = local; at < TILE * quads; at += WORKGROUP_SIZE) {
        let token = min(first + at / quads, params.tokens - 1u);
        right_operand[at / quads * HEAD_QUADS + at % quads] = vec4<f32>(dy[start + token * width() + at % quads]);
    }
}

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
    let keys = four_tokens(tile.first + row_of(local));
    let key_starts = tile.queries + known(keys) * stride() + width();
    var key_sums: Sums;
    var value_sums: Sums;
    for (var first = first_query(tile.first); first < params.tokens; first += TILE) {
        let queries = known(four_tokens(first + row_of(local)));
        var scores = mat4x4<f32>();
        var products = mat4x4<f32>();
        for (var part = 0u; part < quads; part += TILE_QUADS) {
            let quad = part + local % TILE_QUADS;
            let depth = 4u * min(TILE_QUADS, quads - part);
            // All loads of the operands are over.
            workgroupBarrier();
            keep_left(local, four_x_quads(key_starts, quad));
            keep_right(local, four_x_quads(tile.queries + queries * stride(), quad));
            workgroupBarrier();
            add_products(&scores, local, depth);
            workgroupBarrier();
            keep_left(local, four_x_quads(key_starts + width(), quad));
            keep_right(local, four_dy_quads(tile.results + queries * width(), quad));
            workgroupBarrier();
            add_products(&products, local, depth);
        }
        let query = first + column_of(local);
        let numbers = tile.numbers + known(four_tokens(query));
        let weights = mat4x4<f32>(
            probabilities(scores[0], log_sum_exp[numbers.x], keys, query),
            probabilities(scores[1], log_sum_exp[numbers.y], keys, query + 1u),
            probabilities(scores[2], log_sum_exp[numbers.z], keys, query + 2u),
            probabilities(scores[3], log_sum_exp[numbers.w], keys, query + 3u),
        );
        let slopes = mat4x4<f32>(
            weights[0] * (products[0] - means[numbers.x]),
            weights[1] * (products[1] - means[numbers.y]),
            weights[2] * (products[2] - means[numbers.z]),
            weights[3] * (products[3] - means[numbers.w]),
        );
        workgroupBarrier();
        keep_left(local, weights);
        keep_vectors_of_dy(local, tile.results, first);
        workgroupBarrier();
        add_weighted(&value_sums, local);
        workgroupBarrier();
        keep_left(local, slopes);
        keep_vectors_of_x(local, tile.queries, first);
        workgroupBarrier();
        add_weighted(&key_sums, local);
    }
    var key_results = stored_quads(key_sums);
    var value_results = stored_quads(value_sums);
    for (var i = 0u; i < 8u; i++) {
        let key = keys[i / 2u];
        if key < params.tokens && quad_of(local, i) < quads {
            let at = tile.queries + key * stride() + width() + quad_of(local, i);
            store_gradient(at, params.scale * key_results[i]);
            store_gradient(at + width(), value_results[i]);
        }
    }
}
