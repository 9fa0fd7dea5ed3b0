// Sum over a workgroup of WORKGROUP_SIZE invocations, in a fixed order.

var<workgroup> shares: array<f32, WORKGROUP_SIZE>;

// The whole workgroup has to call this, once.
fn workgroup_sum(local: u32, share: f32) -> f32 {
    shares[local] = share;
    workgroupBarrier();
    for (var half = WORKGROUP_SIZE / 2u; half > 0u; half /= 2u) {
        if local < half {
            shares[local] += shares[local + half];
        }
        workgroupBarrier();
    }
    return shares[0];
}
