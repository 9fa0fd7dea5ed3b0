use bytemuck::{Pod, Zeroable};

use super::{Block, Epilogue, Field};

block! {
    /// `local_response_forward`, `local_response_backward`.
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    pub struct LocalResponse {
        pub rows: u32,
        /// Pixels of a row.
        pub pixels: u32,
        /// Stored channels, C, a multiple of 4.
        pub stored_channels: u32,
        /// Neighbours on each side of a channel that count.
        pub radius: u32,
        /// What is added to the weighted sum of squares; above zero.
        pub bias: f32,
        /// Weight of the sum of squares.
        pub alpha: f32,
        /// Power of the denominator.
        pub beta: f32,
        pub reserved: u32,
        /// Forward: of this layer. Backward: of the layer below, which made `x`.
        pub epilogue: Epilogue,
    }
}

block! {
    /// `batch_norm_statistics`, `batch_norm_finish`, `batch_norm_forward`, `batch_norm_gradient_sums`,
    /// `batch_norm_input_gradient`.
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    pub struct BatchNorm {
        pub rows: u32,
        /// Pixels of a row.
        pub pixels: u32,
        /// Stored channels, C, a multiple of 4.
        pub stored_channels: u32,
        /// Pixels (over the whole batch) that one part of a sum covers.
        pub pixels_per_part: u32,
        /// Parts of a sum: rows · pixels / `pixels_per_part`, rounded up.
        pub parts: u32,
        /// Elements from one part of the gradients to the next.
        pub part_stride: u32,
        /// Where a part's gradient of beta begins, after that of gamma; in the summed gradients too.
        pub bias_offset: u32,
        /// One of [`activation`](super::activation), applied to the normalised value.
        pub activation: u32,
        /// What is added to the variance; above zero.
        pub epsilon: f32,
        /// How much of the running averages a step keeps.
        pub keep: f32,
        pub reserved: [u32; 2],
        /// Forward: of this layer, behind `activation`. Backward: of the layer below, which made `x`.
        pub epilogue: Epilogue,
    }
}

block! {
    /// `layer_norm_forward`, `layer_norm_input_gradient`, `layer_norm_weight_gradient`.
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    pub struct LayerNorm {
        pub rows: u32,
        /// Tokens of a row.
        pub tokens: u32,
        /// Channels that the network knows of.
        pub channels: u32,
        /// Stored channels, C, a multiple of 4.
        pub stored_channels: u32,
        /// Tokens (over the whole batch) that one part of a weight gradient sums.
        pub tokens_per_part: u32,
        /// Elements from one part of the gradients to the next.
        pub part_stride: u32,
        /// Where a part's gradient of beta begins, after that of gamma.
        pub bias_offset: u32,
        /// What is added to the variance; above zero.
        pub epsilon: f32,
        /// Forward: of this layer. Backward: of the layer below, which made `x`.
        pub epilogue: Epilogue,
    }
}
