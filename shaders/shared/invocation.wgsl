const WORKGROUP_SIZE: u32 = 64u;

// Index of this invocation in the whole dispatch. Workgroups fill x first and then y, because each
// dimension of a dispatch is limited to 65,535 workgroups.
fn invocation_number(workgroup: vec3<u32>, workgroups: vec3<u32>, local: u32) -> u32 {
    return (workgroup.y * workgroups.x + workgroup.x) * WORKGROUP_SIZE + local;
}
