// Invocations of a workgroup on devices in compatibility mode, which need not have more:
// https://gpuweb.github.io/gpuweb/#limits
const INVOCATIONS: u32 = 128u;
