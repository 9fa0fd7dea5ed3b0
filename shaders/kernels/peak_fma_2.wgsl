// peak_fma_2: peak arithmetic, x ← x·m + a, repeated in 2 independent chains of four-component vectors.
// An iteration is 16 rounds of each chain, 32 vector fused multiply-adds in every variant, so the loop overhead is
// small. The sum of the chains is stored, so the compiler cannot remove any of them.
// Method: as in clpeak and other measurements of peak arithmetic; the variants differ in instruction-level parallelism.
//
// params: PeakFma. result: (invocations, 4) f32.
// kernel "peak_fma_2", 64 invocations: "invocation", "peak_fma"
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let number = invocation_number(workgroup, workgroups, local);
    if number >= params.invocations {
        return;
    }
    let m = vec4<f32>(params.multiplier);
    let a = vec4<f32>(params.addend);
    var x0 = chain_start(number, 0u);
    var x1 = chain_start(number, 1u);
    for (var i = 0u; i < params.iterations; i++) {
        x0 = fma(x0, m, a); x1 = fma(x1, m, a);
        x0 = fma(x0, m, a); x1 = fma(x1, m, a);
        x0 = fma(x0, m, a); x1 = fma(x1, m, a);
        x0 = fma(x0, m, a); x1 = fma(x1, m, a);
        x0 = fma(x0, m, a); x1 = fma(x1, m, a);
        x0 = fma(x0, m, a); x1 = fma(x1, m, a);
        x0 = fma(x0, m, a); x1 = fma(x1, m, a);
        x0 = fma(x0, m, a); x1 = fma(x1, m, a);
        x0 = fma(x0, m, a); x1 = fma(x1, m, a);
        x0 = fma(x0, m, a); x1 = fma(x1, m, a);
        x0 = fma(x0, m, a); x1 = fma(x1, m, a);
        x0 = fma(x0, m, a); x1 = fma(x1, m, a);
        x0 = fma(x0, m, a); x1 = fma(x1, m, a);
        x0 = fma(x0, m, a); x1 = fma(x1, m, a);
        x0 = fma(x0, m, a); x1 = fma(x1, m, a);
        x0 = fma(x0, m, a); x1 = fma(x1, m, a);
    }
    result[number] = x0 + x1;
}
