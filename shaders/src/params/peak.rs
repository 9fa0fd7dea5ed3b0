//! Parameter blocks of the kernels that find out what a device can do at best.

use bytemuck::{Pod, Zeroable};

use super::{Block, Field};

block! {
    /// `peak_fma_2`, `peak_fma_4`, `peak_fma_8`: fused multiply-adds in registers.
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    pub struct PeakFma {
        /// Times that each invocation makes [`PEAK_FMAS`] of them.
        pub iterations: u32,
        pub invocations: u32,
        pub multiplier: f32,
        pub addend: f32,
    }
}

/// Fused multiply-adds of one number in an iteration of a `peak_fma` kernel.
pub const PEAK_FMAS: u32 = 128;

block! {
    /// `peak_copy`, `peak_read`: a long array, once from end to end.
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    pub struct PeakStream {
        /// Length of the array, in fours.
        pub quads: u32,
        pub invocations: u32,
        pub reserved: [u32; 2],
    }
}
