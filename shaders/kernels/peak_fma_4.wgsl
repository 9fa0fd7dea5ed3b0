// peak_fma_4: the fastest arithmetic there is: x ← x·m + a, over and over, in 4 independent chains of four numbers.
// An iteration is 8 rounds of each chain, 32 fused multiply-adds of four numbers whatever the chains, so that
// counting the loop costs little. The sum of the chains is stored, so that nothing may be left out.
// Method: as clpeak and other measurements of peak arithmetic do; variants differ in how much may be under way at once.
//
// params: PeakFma. result: (invocations, 4) f32.
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
    var x2 = chain_start(number, 2u);
    var x3 = chain_start(number, 3u);
    for (var i = 0u; i < params.iterations; i++) {
        x0 = fma(x0, m, a); x1 = fma(x1, m, a); x2 = fma(x2, m, a); x3 = fma(x3, m, a);
        x0 = fma(x0, m, a); x1 = fma(x1, m, a); x2 = fma(x2, m, a); x3 = fma(x3, m, a);
        x0 = fma(x0, m, a); x1 = fma(x1, m, a); x2 = fma(x2, m, a); x3 = fma(x3, m, a);
        x0 = fma(x0, m, a); x1 = fma(x1, m, a); x2 = fma(x2, m, a); x3 = fma(x3, m, a);
        x0 = fma(x0, m, a); x1 = fma(x1, m, a); x2 = fma(x2, m, a); x3 = fma(x3, m, a);
        x0 = fma(x0, m, a); x1 = fma(x1, m, a); x2 = fma(x2, m, a); x3 = fma(x3, m, a);
        x0 = fma(x0, m, a); x1 = fma(x1, m, a); x2 = fma(x2, m, a); x3 = fma(x3, m, a);
        x0 = fma(x0, m, a); x1 = fma(x1, m, a); x2 = fma(x2, m, a); x3 = fma(x3, m, a);
    }
    result[number] = x0 + x1 + x2 + x3;
}
