// sentence_sum_forward: y[s, k] = epilogue(Σ weight(j, k)·x[s, j, k]) over the words j of a sentence: the position
// encoding of Sukhbaatar, Szlam, Weston and Fergus, "End-To-End Memory Networks", 2015, section 4.1.
//
// S sentences of J words over the whole batch, C stored channels, a multiple of 4.
// params: SentenceSum. x: (S, J, C). y: (S, C). All row-major Stored.
// kernel "sentence_sum_forward", 64 invocations: "invocation", "pcg4d", "accurate_tanh", "epilogue", "sentence_sum"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Stored4>;
@group(0) @binding(2) var<storage, read_write> y: array<Stored4>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let quads = params.stored_channels / 4u;
    let number = invocation_number(workgroup, workgroups, local);
    let sentence = number / quads;
    if sentence >= params.sentences {
        return;
    }
    let quad = number % quads;
    var sum = vec4<f32>(0.0);
    for (var word = 0u; word < params.words; word++) {
        sum = fma(weights(word, quad), vec4<f32>(x[(sentence * params.words + word) * quads + quad]), sum);
    }
    y[number] = rounded(apply_epilogue(sum, 4u * number, params.epilogue));
}
