// attention_forward_subgroup: attention_forward with eight lanes of a subgroup, for drivers that emulate a GPU on a
// CPU.
//
// B rows of T tokens, heads of size D, a multiple of 4, at most 32. One workgroup per 32 queries of a head.
// params: Attention. x: (B, T, 3, heads, D): queries, keys, values. y: (B, T, heads, D).
// log_sum_exp: (B, heads, T). log_sum_exp f32, the others Stored.
// kernel "attention_forward_subgroup", 8 invocations: "pcg4d", "accurate_tanh", "epilogue", "attention",
//     "workgroup_number", "subgroup_tile", "attention_heads", "attention_subgroup"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read_write> y: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> log_sum_exp: array<f32>;

fn largest_of(scores: Block) -> vec4<f32> {
    let low = max(max(scores.row0, scores.row1), max(scores.row2, scores.row3));
    return max(low, max(max(scores.row4, scores.row5), max(scores.row6, scores.row7)));
}

fn sum_of(weights: Block) -> vec4<f32> {
    let low = (weights.row0 + weights.row1) + (weights.row2 + weights.row3);
    return low + ((weights.row4 + weights.row5) + (weights.row6 + weights.row7));
}

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
        block.row0 = masked(block.row0, queries, first + 0u);
        block.row1 = masked(block.row1, queries, first + 1u);
        block.row2 = masked(block.row2, queries, first + 2u);
        block.row3 = masked(block.row3, queries, first + 3u);
        block.row4 = masked(block.row4, queries, first + 4u);
        block.row5 = masked(block.row5, queries, first + 5u);
        block.row6 = masked(block.row6, queries, first + 6u);
        block.row7 = masked(block.row7, queries, first + 7u);
        let largest_so_far = largest;
        largest = max(largest, largest_of(block));
        block.row0 = exp(block.row0 - largest);
        block.row1 = exp(block.row1 - largest);
        block.row2 = exp(block.row2 - largest);
        block.row3 = exp(block.row3 - largest);
        block.row4 = exp(block.row4 - largest);
        block.row5 = exp(block.row5 - largest);
        block.row6 = exp(block.row6 - largest);
        block.row7 = exp(block.row7 - largest);
        let kept = exp(largest_so_far - largest);
        sum = fma(sum, kept, sum_of(block));
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
