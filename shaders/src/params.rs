//! Parameter blocks: the uniform at group 0, binding 0 of each kernel, and the step's at group 1.
//!
//! Names, offsets and sizes of the fields are those of the WGSL structures; `tests/validate.rs` compares them.

/// A parameter block, or a part of one, whose fields are known by name.
pub trait Block {
    /// In order.
    const FIELDS: &'static [Field];
}

/// A field of a parameter block; offset and size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: &'static str,
    pub offset: usize,
    pub bytes: usize,
}

/// Defines structures as they lie in memory, with the list of their fields.
macro_rules! block {
    ($(#[$about:meta])* pub struct $block:ident { $($(#[$doc:meta])* pub $field:ident: $type:ty,)* }) => {
        $(#[$about])*
        #[repr(C)]
        pub struct $block {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl Block for $block {
            const FIELDS: &'static [Field] = &[$(Field {
                name: stringify!($field),
                offset: std::mem::offset_of!($block, $field),
                bytes: size_of::<$type>(),
            },)*];
        }
    };
}

mod attention;
mod elementwise;
mod input;
mod memories;
mod normalizers;
mod peak;
mod sequences;

pub use attention::{Attention, LARGEST_HEAD};
pub use elementwise::{Add, Blend, Elementwise, Position};
pub use input::{
    Gather, GatherAugmented, LOCAL_CONTRAST_PIXELS, LocalContrast, MirrorOrder, Shuffle, Standardize, edge, flip,
    normalization, shift,
};
pub use memories::{ChannelSoftmax, Concatenate, PixelProducts, SentenceSum, Transpose};
pub use normalizers::{BatchNorm, LayerNorm, LocalResponse};
pub use peak::{PEAK_FMAS, PeakFma, PeakStream};
pub use sequences::{Embedding, Recurrent};

use bytemuck::{Pod, Zeroable};

block! {
    /// What changes from one step to the next; group 1, binding 0 of every kernel.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
    pub struct Step {
        /// Number of the step, the `step` lane of the generator.
        pub step: u32,
        pub seed: u32,
        /// First place of the batch in the order of the samples.
        pub offset: u32,
        /// Samples in the batch; rows from here on hold nothing.
        pub count: u32,
        /// Where the results of this step go.
        pub slot: u32,
        /// 1 in training, 0 in tests: dropout and gradients happen in training only.
        pub training: u32,
        pub learning_rate: f32,
        /// Learning rate without an optimiser's own corrections, by which decoupled weight decay is scaled.
        pub decay_rate: f32,
        /// Number of the epoch, from 0: augmentation may alternate with it.
        pub epoch: u32,
        /// What `average` does after this step: 0 nothing, 1 the average follows the weights, 2 and they jump to it.
        pub average: u32,
        /// How much of the average is kept.
        pub average_keep: f32,
        /// What the step writes beside its results: a number that none before it had, so that nobody takes older results
        /// for its own.
        pub mark: u32,
        /// 1 while attention has no softmax: the linear start of memory networks.
        pub linear: u32,
        /// Row of the batch that is this device's first one, where several devices share a batch: random numbers are
        /// counted over all of it.
        pub first_row: u32,
        /// Samples of the batch that other devices train on. Losses and gradients are shares of the whole batch.
        pub elsewhere: u32,
        /// 1 if a segment begins before this step and `mirror_order` changes the order of the samples from `offset` on.
        pub mirror_rest: u32,
    }
}

block! {
    /// Activation and dropout applied to a value before it is stored.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
    pub struct Epilogue {
        /// One of [`activation`].
        pub activation: u32,
        /// Stream of the dropout's random numbers; 0 for no dropout.
        pub dropout_stream: u32,
        pub dropout_rate: f32,
        /// Backward only: 1 to add to the gradient that is there already, because the value is used more than once.
        pub accumulate: u32,
        /// Channels of the value that the network knows of.
        pub channels: u32,
        /// Channels as stored; what is beyond the known ones stays zero.
        pub stored_channels: u32,
        /// Values of a sample that the network knows of: so many random numbers of dropout are before those of the next.
        pub features: u32,
        pub reserved: u32,
    }
}

impl Epilogue {
    /// For a layout that stores channels in multiples of `alignment`.
    #[must_use]
    pub fn stored(self, alignment: u32) -> Self {
        Self { stored_channels: self.channels.next_multiple_of(alignment), ..self }
    }
}

/// Numbers of the activations that an [`Epilogue`] knows: their slope follows from their result.
pub mod activation {
    pub const IDENTITY: u32 = 0;
    /// `max(x, 0)`, with slope 0 at 0.
    pub const RELU: u32 = 1;
    pub const TANH: u32 = 2;
    /// `x·Φ(x)`. Its slope does not follow from its result: no [`Epilogue`](super::Epilogue) has it, but the
    /// layers that apply it themselves do.
    pub const GELU: u32 = 3;
}

block! {
    /// `dense_forward`, `dense_weight_gradient`, `dense_input_gradient`.
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    pub struct Dense {
        /// Rows of the batch, B.
        pub rows: u32,
        /// Stored inputs of the layer, K, a multiple of 4.
        pub inputs: u32,
        /// Stored outputs of the layer, N, a multiple of 4.
        pub outputs: u32,
        /// Outputs that the network knows of; the rest is padding that stays zero.
        pub units: u32,
        /// Rows of the batch that one part of a weight gradient sums.
        pub rows_per_part: u32,
        /// Elements from one part of the gradients to the next.
        pub part_stride: u32,
        /// Where a part's bias gradient begins, after its weight gradient, or [`NO_BIAS`].
        pub bias_offset: u32,
        pub reserved: u32,
        /// Forward: of this layer. Backward: of the layer below, which made `x`.
        pub epilogue: Epilogue,
    }
}

block! {
    /// `conv2d_forward`, `conv2d_weight_gradient`, `conv2d_input_gradient` and their narrow variants.
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    pub struct Conv2d {
        /// Samples of the batch, B.
        pub rows: u32,
        pub input_height: u32,
        pub input_width: u32,
        /// Stored channels of the input, C.
        pub input_channels: u32,
        pub output_height: u32,
        pub output_width: u32,
        /// Stored channels of the output, F, a multiple of 4.
        pub output_channels: u32,
        /// Rows of the kernel, KH.
        pub window_height: u32,
        /// Columns of the kernel, KW.
        pub window_width: u32,
        /// Zeros before the first row.
        pub padding_rows: u32,
        /// Zeros before the first column.
        pub padding_columns: u32,
        /// Output pixels (over the whole batch) that one part of a weight gradient sums.
        pub pixels_per_part: u32,
        /// Elements from one part of the gradients to the next.
        pub part_stride: u32,
        /// Where a part's bias gradient begins, after its weight gradient, or [`NO_BIAS`].
        pub bias_offset: u32,
        /// Pixels from one window to the next; kernels get it as their constant `STRIDE`.
        pub stride: u32,
        /// Values that are stored behind each sample of the input: those that fill up the data to whole fours, where C is
        /// none. Only narrow kernels read such inputs.
        pub input_spare: u32,
        /// Forward: of this layer. Backward: of the layer below, which made `x`.
        pub epilogue: Epilogue,
    }
}

block! {
    /// `max_pool_forward`, `max_pool_backward`, `average_pool_forward`, `average_pool_backward`.
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    pub struct Pool {
        pub rows: u32,
        pub input_height: u32,
        pub input_width: u32,
        /// Stored channels, a multiple of 4.
        pub channels: u32,
        pub output_height: u32,
        pub output_width: u32,
        pub side: u32,
        pub stride: u32,
        /// Elements before the first row and column that are not there. Windows are cut at the image's edges.
        pub padding: u32,
        pub reserved: [u32; 3],
        /// Forward: of this layer. Backward: of the layer below, which made `x`.
        pub epilogue: Epilogue,
    }
}

block! {
    /// `softmax_cross_entropy`.
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    pub struct Softmax {
        pub rows: u32,
        pub classes: u32,
        /// Values of a row of logits, at least `classes`.
        pub stride: u32,
        /// 1 for the gradients of the batch's sum instead of its mean.
        pub summed: u32,
        /// Share of the target that is spread evenly over all classes.
        pub label_smoothing: f32,
        /// Logits are multiplied by this.
        pub logits_scale: f32,
        /// The gradient is multiplied by this, so that its small numbers survive being stored.
        pub gradient_scale: f32,
        pub reserved: u32,
    }
}

block! {
    /// `sum_parts`: adds partial gradients.
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    pub struct SumParts {
        pub elements: u32,
        pub parts: u32,
        /// 1 to add to what is there: the gradient that another layer left in a tensor that they share.
        pub accumulate: u32,
        pub reserved: u32,
    }
}

block! {
    /// `limit_gradients`.
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    pub struct GradientLimit {
        pub elements: u32,
        /// How long all gradients may be together, as they are multiplied on the device.
        pub limit: f32,
        pub reserved: [u32; 2],
    }
}

block! {
    /// `sgd`, `rmsprop`, `adadelta`, `adam`, `adamw`, `average`: one update of a whole arena.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
    pub struct Optimizer {
        /// A multiple of 256.
        pub elements: u32,
        /// Momentum of `sgd`, rho of `rmsprop` and `adadelta`, beta1 of `adam`.
        pub decay: f32,
        /// Beta2 of `adam`.
        pub second_decay: f32,
        pub epsilon: f32,
        /// `sgd` only: 1 to look ahead along the velocity.
        pub nesterov: u32,
        /// `sgd` only: 1 to keep the learning rate outside of the velocity.
        pub rate_outside: u32,
        /// Gradients are multiplied by this first: it takes back what the loss was scaled by.
        pub gradient_scale: f32,
        pub reserved: u32,
    }
}

block! {
    /// `round_weights`: what products read of the weights.
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    pub struct RoundWeights {
        /// A multiple of 4.
        pub elements: u32,
        /// The largest number that can be stored.
        pub largest: f32,
        pub reserved: [u32; 2],
    }
}

block! {
    /// Multipliers of 256 consecutive elements of the arenas, which belong to one tensor.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
    pub struct BlockMultipliers {
        pub learning_rate: f32,
        pub weight_decay: f32,
        /// From this step on the tensor is left as it is.
        pub frozen_from: u32,
        pub reserved: u32,
    }
}

/// A `bias_offset` that says: there is no bias.
pub const NO_BIAS: u32 = u32::MAX;

block! {
    /// What a step leaves behind.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
    pub struct StepResult {
        /// Mean over the batch.
        pub loss: f32,
        /// Samples classified rightly.
        pub correct: u32,
        /// [`Step::mark`] of the step.
        pub mark: u32,
    }
}

/// Elements of an arena that share their multipliers; tensors begin at multiples of it.
pub const BLOCK_ELEMENTS: u32 = 256;
