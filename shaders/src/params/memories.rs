//! Parameter blocks of what memory networks are made of.

use bytemuck::{Pod, Zeroable};

use super::{Block, Epilogue, Field};

block! {
    /// `sentence_sum_forward`, `sentence_sum_gradient`.
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    pub struct SentenceSum {
        /// Sentences of the whole batch, S.
        pub sentences: u32,
        /// Words of a sentence, J.
        pub words: u32,
        /// Values of a word's vector that count, d.
        pub channels: u32,
        /// The same as stored, C, a multiple of 4.
        pub stored_channels: u32,
        /// Forward: of this layer. Gradient: of the layer below.
        pub epilogue: Epilogue,
    }
}

block! {
    /// `pixel_products_forward`, `pixel_products_gradient`.
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    pub struct PixelProducts {
        /// Samples of the batch, B.
        pub rows: u32,
        /// Pixels of a sample of the first factor, P.
        pub first_pixels: u32,
        /// Pixels of a sample of the second factor, Q.
        pub second_pixels: u32,
        /// Stored channels of both factors, C, a multiple of 4.
        pub channels: u32,
        /// Stored channels of the products: Q, filled up to a multiple of 4.
        pub stored_products: u32,
        /// Gradient only: 0 for that of the first factor, 1 for that of the second.
        pub of_second: u32,
        pub reserved: [u32; 2],
        /// Forward: of this layer. Gradient: of the layer that made the factor.
        pub epilogue: Epilogue,
    }
}

block! {
    /// `channel_softmax_forward`, `channel_softmax_backward`.
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    pub struct ChannelSoftmax {
        /// Pixels over the whole batch, P.
        pub pixels: u32,
        /// Channels that count.
        pub channels: u32,
        /// The same as stored, C, a multiple of 4.
        pub stored_channels: u32,
        /// 1 where the input passes as it is in steps that are linear ([`super::Step::linear`]).
        pub linear_start: u32,
        /// Forward: of this layer. Backward: of the layer below.
        pub epilogue: Epilogue,
    }
}

block! {
    /// `transpose_forward`, `transpose_gradient`.
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    pub struct Transpose {
        /// Samples of the batch, B.
        pub rows: u32,
        /// Pixels of a sample of the input, P: channels of the output.
        pub pixels: u32,
        /// Channels of the input, Q: pixels of the output.
        pub channels: u32,
        /// Channels of the input as stored, a multiple of 4.
        pub stored_channels: u32,
        /// Channels of the output as stored, a multiple of 4.
        pub stored_pixels: u32,
        pub reserved: [u32; 3],
        /// Forward: of this layer. Gradient: of the layer below.
        pub epilogue: Epilogue,
    }
}

block! {
    /// `concatenate_forward`, `concatenate_gradient`.
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    pub struct Concatenate {
        /// Pixels over the whole batch, P.
        pub pixels: u32,
        /// Channels of the first input, A.
        pub first: u32,
        /// Channels of the second input, B.
        pub second: u32,
        /// Channels of the first input as stored, a multiple of 4.
        pub stored_first: u32,
        /// Channels of the second input as stored, a multiple of 4.
        pub stored_second: u32,
        /// Channels of the output as stored, a multiple of 4.
        pub stored_channels: u32,
        /// Gradient only: 0 for that of the first input, 1 for that of the second.
        pub of_second: u32,
        pub reserved: u32,
        /// Forward: of this layer. Gradient: of the layer that made the input.
        pub epilogue: Epilogue,
    }
}
