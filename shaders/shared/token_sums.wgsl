// Sums over the channels of a token, which 16 invocations share. Needs invocation.wgsl and the kernel's `params`.
const LANES: u32 = 16u;

var<workgroup> shares: array<vec2<f32>, WORKGROUP_SIZE>;

// Two sums of a token, given the share of each of its invocations. The whole workgroup has to call this.
fn token_sums(local: u32, share: vec2<f32>) -> vec2<f32> {
    // All invocations have loaded the sums before.
    workgroupBarrier();
    shares[local] = share;
    workgroupBarrier();
    var sums = vec2<f32>(0.0);
    for (var lane = 0u; lane < LANES; lane++) {
        sums += shares[local / LANES * LANES + lane];
    }
    return sums;
}
