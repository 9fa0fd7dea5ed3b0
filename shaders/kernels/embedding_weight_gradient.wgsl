// embedding_weight_gradient: dW[v] = Σ dy[b, p] over all positions of word v, summed over one part of the batch's
// words. Each invocation sums four channels of all words of its part in order of position, without atomics, so the
// result is reproducible bit for bit.
//
// B samples, P word numbers per sample, V words, S stored channels, a multiple of 4.
// params: Embedding. ids: (B, id_stride): integers below V; the P from id_offset on are used.
// dy: (B, P, S). parts: (parts, part_stride): dW (V, S). Row-major; parts f32, the others Stored.
// kernel "embedding_weight_gradient", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue",
//     "embedding_params"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> ids: array<Stored>;
@group(0) @binding(2) var<storage, read> dy: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> parts: array<vec4<f32>>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let quads = params.channels / 4u;
    let number = invocation_number(workgroup, workgroups, local);
    let part = number / quads;
    let quad = number % quads;
    let tokens = params.rows * params.tokens;
    let first = part * params.tokens_per_part;
    if first >= tokens {
        return;
    }
    let start = part * (params.part_stride / 4u) + quad;
    for (var v = 0u; v < params.vocabulary; v++) {
        parts[start + v * quads] = vec4<f32>(0.0);
    }
    let end = min(first + params.tokens_per_part, tokens);
    for (var token = first; token < end; token++) {
        let word = word(token);
        if !is_padding(word) {
            let at = start + word * quads;
            parts[at] = parts[at] + vec4<f32>(dy[token * quads + quad]);
        }
    }
}
