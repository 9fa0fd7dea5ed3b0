// A bias_offset that says: there is no bias. The same as `params::NO_BIAS`.
const NO_BIAS: u32 = 0xffffffffu;
