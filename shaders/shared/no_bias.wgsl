// The bias_offset of a layer without bias. Same as `params::NO_BIAS`.
const NO_BIAS: u32 = 0xffffffffu;
