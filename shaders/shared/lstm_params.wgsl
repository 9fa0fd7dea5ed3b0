// The parameter block that `params::Lstm` describes, and what both directions share. Needs epilogue.wgsl.
struct Params {
    sequences: u32,
    steps: u32,
    units: u32,
    stored_units: u32,
    epilogue: Epilogue,
}

// A workgroup keeps this many sequences through all steps.
const SEQUENCES: u32 = 8u;

// Number of the first sequence of a workgroup. Workgroups fill x first and then y.
fn first_sequence(workgroup: vec3<u32>, workgroups: vec3<u32>) -> u32 {
    return (workgroup.y * workgroups.x + workgroup.x) * SEQUENCES;
}
