const WORKGROUP_SIZE: u32 = 64u;

// Number of this invocation over the whole dispatch. Workgroups fill x first and then y, because a
// dimension of a dispatch holds at most 65,535 of them.
fn invocation_number(workgroup: vec3<u32>, workgroups: vec3<u32>, local: u32) -> u32 {
    return (workgroup.y * workgroups.x + workgroup.x) * WORKGROUP_SIZE + local;
}
