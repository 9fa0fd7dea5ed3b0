//! Parameter blocks of kernels that take values one by one.

use bytemuck::{Pod, Zeroable};

use super::{Block, Epilogue, Field};

block! {
    /// `gelu_forward`, `gelu_backward`, `pass_gradient`: each value for itself.
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    pub struct Elementwise {
        /// Stored values of the whole batch, a multiple of 4.
        pub elements: u32,
        pub reserved: [u32; 3],
        /// Forward: of this layer. Backward: of the layer below, which made `x`.
        pub epilogue: Epilogue,
    }
}

block! {
    /// `blend`: a weighted mean, one part after the other.
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    pub struct Blend {
        /// A multiple of 4.
        pub elements: u32,
        pub weight: f32,
        /// 1 for the first part: what was there before does not count.
        pub first: u32,
        pub reserved: u32,
    }
}

block! {
    /// `add_forward`, `add_gradient`.
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    pub struct Add {
        /// Pixels of the sum over the whole batch, P.
        pub pixels: u32,
        /// Stored channels, C, a multiple of 4.
        pub channels: u32,
        /// How often each pixel of the second summand is used, R, a divisor of the pixels of a sample: 1 where both have
        /// the same shape, all of them where one vector is added to every pixel. In gradients: of the summand at hand.
        pub repeats: u32,
        pub reserved: u32,
        /// Forward: of the sum. Backward: of the layer below, which made the summand.
        pub epilogue: Epilogue,
    }
}

block! {
    /// `position_forward`, `position_gradient`.
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    pub struct Position {
        pub rows: u32,
        /// Stored values of a row, positions times channels, a multiple of 4.
        pub values: u32,
        /// Rows of the batch that one part of the gradient sums.
        pub rows_per_part: u32,
        /// Elements from one part of the gradient to the next.
        pub part_stride: u32,
        /// Forward: of this layer.
        pub epilogue: Epilogue,
    }
}
