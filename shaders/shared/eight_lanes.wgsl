// Eight lanes of a subgroup that share what each has loaded. Needs subgroups of at least eight lanes.
const LANES: u32 = 8u;

// The value of lane `lane_of_row($, lane)`.
fn exchange$(a: vec4<f32>) -> vec4<f32> { return subgroupBroadcast(a, $u); }
fn exchange_number$(a: f32) -> f32 { return subgroupBroadcast(a, $u); }

// Lane that loads row `i` of a block.
fn lane_of_row(i: u32, lane: u32) -> u32 {
    return i;
}
