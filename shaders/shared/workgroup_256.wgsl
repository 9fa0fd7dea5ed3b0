// Invocations of a workgroup on devices of core WebGPU.
const INVOCATIONS: u32 = 256u;
