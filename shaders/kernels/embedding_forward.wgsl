// embedding_forward: y[b, p] = epilogue(weights[ids[b, p]]), the vector of each word; zero for padding.
//
// B samples, P word numbers per sample, V words, S stored channels, a multiple of 4.
// params: Embedding. ids: (B, id_stride): integers below V; the P from id_offset on are used.
// weights: (V, S). y: (B, P, S). Row-major; weights f32, the others Stored.
// kernel "embedding_forward", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "embedding_params"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> ids: array<Stored>;
@group(0) @binding(2) var<storage, read> weights: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<Stored4>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let quads = params.channels / 4u;
    let number = invocation_number(workgroup, workgroups, local);
    let token = number / quads;
    if token >= params.rows * params.tokens {
        return;
    }
    let word = word(token);
    let vector = select(weights[word * quads + number % quads], vec4<f32>(0.0), is_padding(word));
    y[number] = rounded(apply_epilogue(vector, 4u * number, params.epilogue));
}
