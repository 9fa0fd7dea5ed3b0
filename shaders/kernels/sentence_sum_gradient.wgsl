// sentence_sum_gradient: dx[s, j, k] = weight(j, k)·dy[s, k] ⊙ slope(x[s, j, k]), where slope is the derivative of the
// epilogue that produced x.
//
// S sentences of J words over the whole batch, C stored channels, a multiple of 4.
// params: SentenceSum. dy: (S, C). x, dx: (S, J, C). All row-major Stored.
// kernel "sentence_sum_gradient", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "sentence_sum",
//     "store_gradient"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> dy: array<Stored4>;
@group(0) @binding(2) var<storage, read> x: array<Stored4>;
@group(0) @binding(3) var<storage, read_write> dx: array<Stored4>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let quads = params.stored_channels / 4u;
    let number = invocation_number(workgroup, workgroups, local);
    let token = number / quads;
    let sentence = token / params.words;
    if sentence >= params.sentences {
        return;
    }
    let quad = number % quads;
    store_gradient(number, weights(token % params.words, quad) * vec4<f32>(dy[sentence * quads + quad]));
}
