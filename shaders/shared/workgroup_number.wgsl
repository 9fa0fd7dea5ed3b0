// Index of this workgroup in the whole dispatch; workgroups fill x first and then y.
fn workgroup_number(workgroup: vec3<u32>, workgroups: vec3<u32>) -> u32 {
    return workgroup.y * workgroups.x + workgroup.x;
}
