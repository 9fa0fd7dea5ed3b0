// Four lanes of a subgroup that share what each has loaded. Needs subgroups of at least four lanes.
//
// The lanes swap their values: on SwiftShader, whose subgroups have four lanes, a swap is one instruction and a
// broadcast takes six. So row `i` of a block is a different row in each lane.
const LANES: u32 = 4u;

// The value of lane `lane_of_row($, lane)`.
fn exchange0(a: vec4<f32>) -> vec4<f32> { return a; }
fn exchange1(a: vec4<f32>) -> vec4<f32> { return quadSwapX(a); }
fn exchange2(a: vec4<f32>) -> vec4<f32> { return quadSwapY(a); }
fn exchange3(a: vec4<f32>) -> vec4<f32> { return quadSwapDiagonal(a); }
fn exchange_number0(a: f32) -> f32 { return a; }
fn exchange_number1(a: f32) -> f32 { return quadSwapX(a); }
fn exchange_number2(a: f32) -> f32 { return quadSwapY(a); }
fn exchange_number3(a: f32) -> f32 { return quadSwapDiagonal(a); }

// Lane that loads row `i` of a block. The lower two bits of `i` are flipped in its number.
fn lane_of_row(i: u32, lane: u32) -> u32 {
    return i ^ lane;
}
