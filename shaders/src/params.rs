//! Parameter blocks: the uniform at group 0, binding 0 of each kernel, and the step's at group 1.
//!
//! Names, offsets and sizes of the fields equal the WGSL structures', as `tests/wgsl.rs` checks.

use bytemuck::{Pod, Zeroable};

/// A field of a parameter block; offset and size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: &'static str,
    pub offset: usize,
    pub bytes: usize,
}

/// Defines parameter blocks and their parts, each with the list of its fields.
macro_rules! blocks {
    ($($(#[$about:meta])* pub struct $block:ident { $($(#[$doc:meta])* pub $field:ident: $type:ty,)* })*) => {$(
        $(#[$about])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
        pub struct $block {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl $block {
            /// In order.
            pub const FIELDS: &'static [Field] = &[$(Field {
                name: stringify!($field),
                offset: std::mem::offset_of!($block, $field),
                bytes: size_of::<$type>(),
            },)*];
        }
    )*};
}

blocks! {
    /// Values that change from step to step; group 1, binding 0 of every kernel.
    pub struct Step {
        /// Number of the step, the `step` lane of the generator.
        pub step: u32,
        pub seed: u32,
        /// First place of the batch in the order of the samples.
        pub offset: u32,
        /// Samples in the batch; the rows after them are empty.
        pub count: u32,
        /// Place of this step's results.
        pub slot: u32,
        /// 1 in training, 0 in tests: dropout and gradients happen in training only.
        pub training: u32,
        pub learning_rate: f32,
        /// Learning rate without an optimiser's own corrections, by which decoupled weight decay is scaled.
        pub decay_rate: f32,
        /// Number of the epoch, from 0: augmentation may alternate with it.
        pub epoch: u32,
        /// Action of `average` after this step: 0 none, 1 the average follows the weights, 2 and they jump to it.
        pub average: u32,
        pub average_keep: f32,
        /// Number that the step writes with its results, different from all before, so that old results are noticed.
        pub mark: u32,
        /// 1 while attention has no softmax: the linear start of memory networks.
        pub linear: u32,
        /// First row of this device, if several share a batch: random numbers are counted over the whole batch.
        pub first_row: u32,
        /// Samples of the batch on other devices. Losses and gradients are shares of the whole batch.
        pub elsewhere: u32,
        /// 1 if a segment begins before this step and `mirror_order` changes the order of the samples from `offset` on.
        pub mirror_rest: u32,
    }

    /// Activation and dropout applied to a value before it is stored.
    pub struct Epilogue {
        /// One of [`activation`].
        pub activation: u32,
        /// Stream of the dropout's random numbers; 0 for no dropout.
        pub dropout_stream: u32,
        pub dropout_rate: f32,
        /// Backward only: 1 to add to the existing gradient of a value that is used more than once.
        pub accumulate: u32,
        pub channels: u32,
        /// Channels with their padding, which stays zero.
        pub stored_channels: u32,
        /// Values of a sample without padding, each with its random number of dropout.
        pub features: u32,
        pub reserved: u32,
    }

    /// `dense_forward`, `dense_weight_gradient`, `dense_input_gradient`.
    pub struct Dense {
        /// Rows of the batch, B.
        pub rows: u32,
        /// Stored inputs of the layer, K, a multiple of 4.
        pub inputs: u32,
        /// Stored outputs of the layer, N, a multiple of 4.
        pub outputs: u32,
        /// Outputs without padding, which stays zero.
        pub units: u32,
        /// Rows of the batch in one part of a weight gradient.
        pub rows_per_part: u32,
        /// Elements from one part of the gradients to the next.
        pub part_stride: u32,
        /// Offset of a part's bias gradient, after its weight gradient, or [`NO_BIAS`].
        pub bias_offset: u32,
        pub reserved: u32,
        /// Forward: of this layer. Backward: of the layer below, which made `x`.
        pub epilogue: Epilogue,
    }

    /// `conv2d_forward`, `conv2d_weight_gradient`, `conv2d_input_gradient` and their narrow variants.
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
        /// Output pixels (over the whole batch) in one part of a weight gradient.
        pub pixels_per_part: u32,
        /// Elements from one part of the gradients to the next.
        pub part_stride: u32,
        /// Offset of a part's bias gradient, after its weight gradient, or [`NO_BIAS`].
        pub bias_offset: u32,
        /// Pixels from one window to the next; kernels get it as their constant `STRIDE`.
        pub stride: u32,
        /// Values behind each sample of the input that fill up the data to fours if C is no multiple of four, for narrow
        /// kernels.
        pub input_spare: u32,
        /// Forward: of this layer. Backward: of the layer below, which made `x`.
        pub epilogue: Epilogue,
    }

    /// `max_pool_forward`, `max_pool_backward`, `average_pool_forward`, `average_pool_backward`.
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
        /// Missing elements before the first row and column. Windows are cut at the image's edges.
        pub padding: u32,
        pub reserved: [u32; 3],
        /// Forward: of this layer. Backward: of the layer below, which made `x`.
        pub epilogue: Epilogue,
    }

    /// `softmax_cross_entropy`.
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

    /// `sum_parts`: adds partial gradients.
    pub struct SumParts {
        pub elements: u32,
        pub parts: u32,
        /// 1 to add to the gradient that another layer left in a shared tensor.
        pub accumulate: u32,
        pub reserved: u32,
    }

    /// `limit_gradients`.
    pub struct GradientLimit {
        pub elements: u32,
        /// Largest length of all gradients together, with the device's gradient scale.
        pub limit: f32,
        pub reserved: [u32; 2],
    }

    /// `sgd`, `rmsprop`, `adadelta`, `adam`, `adamw`, `average`: one update of a whole arena.
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
        /// Factor of the gradients that undoes the scale of the loss.
        pub gradient_scale: f32,
        pub reserved: u32,
    }

    /// `round_weights`: the weights that products read.
    pub struct RoundWeights {
        /// A multiple of 4.
        pub elements: u32,
        /// The largest number that can be stored.
        pub largest: f32,
        pub reserved: [u32; 2],
    }

    /// Multipliers of 256 consecutive elements of the arenas, which belong to one tensor.
    pub struct BlockMultipliers {
        pub learning_rate: f32,
        pub weight_decay: f32,
        /// Step from which the tensor is frozen.
        pub frozen_from: u32,
        pub reserved: u32,
    }

    /// Results of a step.
    pub struct StepResult {
        /// Mean over the batch.
        pub loss: f32,
        /// Samples that were classified correctly.
        pub correct: u32,
        /// [`Step::mark`] of the step.
        pub mark: u32,
    }

    /// `gelu_forward`, `gelu_backward`, `pass_gradient`: each value independently.
    pub struct Elementwise {
        /// Stored values of the whole batch, a multiple of 4.
        pub elements: u32,
        pub reserved: [u32; 3],
        /// Forward: of this layer. Backward: of the layer below, which made `x`.
        pub epilogue: Epilogue,
    }

    /// `blend`: a weighted mean, one part after the other.
    pub struct Blend {
        /// A multiple of 4.
        pub elements: u32,
        pub weight: f32,
        /// 1 for the first part, which replaces earlier contents.
        pub first: u32,
        pub reserved: u32,
    }

    /// `add_forward`, `add_gradient`.
    pub struct Add {
        /// Pixels of the sum over the whole batch, P.
        pub pixels: u32,
        /// Stored channels, C, a multiple of 4.
        pub channels: u32,
        /// Uses of each pixel of the second summand, R, a divisor of the pixels of a sample: 1 for equal shapes, all of
        /// them for a vector that is added to every pixel. In gradients: of this summand.
        pub repeats: u32,
        pub reserved: u32,
        /// Forward: of the sum. Backward: of the layer below, which made the summand.
        pub epilogue: Epilogue,
    }

    /// `position_forward`, `position_gradient`.
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

    /// `local_response_forward`, `local_response_backward`.
    pub struct LocalResponse {
        pub rows: u32,
        pub pixels: u32,
        /// Stored channels, C, a multiple of 4.
        pub stored_channels: u32,
        /// Neighbours on each side of a channel that count.
        pub radius: u32,
        /// Summand of the weighted sum of squares; above zero.
        pub bias: f32,
        /// Weight of the sum of squares.
        pub alpha: f32,
        /// Power of the denominator.
        pub beta: f32,
        pub reserved: u32,
        /// Forward: of this layer. Backward: of the layer below, which made `x`.
        pub epilogue: Epilogue,
    }

    /// `batch_norm_statistics`, `batch_norm_finish`, `batch_norm_forward`, `batch_norm_gradient_sums`,
    /// `batch_norm_input_gradient`.
    pub struct BatchNorm {
        pub rows: u32,
        pub pixels: u32,
        /// Stored channels, C, a multiple of 4.
        pub stored_channels: u32,
        /// Pixels (over the whole batch) that one part of a sum covers.
        pub pixels_per_part: u32,
        /// Parts of a sum: rows · pixels / `pixels_per_part`, rounded up.
        pub parts: u32,
        /// Elements from one part of the gradients to the next.
        pub part_stride: u32,
        /// Offset of the gradient of beta, after gamma's, in a part and in the sum.
        pub bias_offset: u32,
        /// One of [`activation`], applied to the normalised value.
        pub activation: u32,
        pub epsilon: f32,
        /// Share of the running averages that a step keeps.
        pub keep: f32,
        pub reserved: [u32; 2],
        /// Forward: of this layer, behind `activation`. Backward: of the layer below, which made `x`.
        pub epilogue: Epilogue,
    }

    /// `layer_norm_forward`, `layer_norm_input_gradient`, `layer_norm_weight_gradient`.
    pub struct LayerNorm {
        pub rows: u32,
        pub tokens: u32,
        /// Channels that the network knows of.
        pub channels: u32,
        /// Stored channels, C, a multiple of 4.
        pub stored_channels: u32,
        /// Tokens (over the whole batch) that one part of a weight gradient sums.
        pub tokens_per_part: u32,
        /// Elements from one part of the gradients to the next.
        pub part_stride: u32,
        /// Offset of a part's gradient of beta, after gamma's.
        pub bias_offset: u32,
        pub epsilon: f32,
        /// Forward: of this layer. Backward: of the layer below, which made `x`.
        pub epilogue: Epilogue,
    }

    /// `attention_forward`, `attention_query_gradient`, `attention_key_value_gradient`.
    pub struct Attention {
        pub rows: u32,
        /// Tokens of a row, T.
        pub tokens: u32,
        pub heads: u32,
        /// Values of a head, D, a multiple of 4, at most [`MAX_HEAD_SIZE`].
        pub head_size: u32,
        /// Factor of a query's product with a key, usually 1/√D.
        pub scale: f32,
        pub reserved: [u32; 3],
        /// Backward only: of the layer below, which made queries, keys and values. The result itself has none, because
        /// its gradient needs it as it is.
        pub epilogue: Epilogue,
    }

    /// `lstm_forward`, `gru_forward`, `simple_rnn_forward`, their backward passes and all variants.
    pub struct Recurrent {
        /// Sequences of the whole batch, N: samples times the sequences of a sample.
        pub sequences: u32,
        /// Steps of a sequence, T.
        pub steps: u32,
        /// Units that the network knows of.
        pub units: u32,
        /// Units as stored, S, a multiple of 4.
        pub stored_units: u32,
        /// Activation of a hidden state, or of a candidate for one: [`activation::RELU`] or [`activation::TANH`]; LSTMs
        /// always have the latter.
        pub activation: u32,
        pub reserved: [u32; 3],
        /// Forward only: of the last hidden state.
        pub epilogue: Epilogue,
    }

    /// `embedding_forward`, `embedding_weight_gradient`.
    pub struct Embedding {
        /// Samples of the batch, B.
        pub rows: u32,
        /// Word numbers of a row that are used, P.
        pub tokens: u32,
        /// Values of a row of `ids`.
        pub id_stride: u32,
        /// First of the used values of a row.
        pub id_offset: u32,
        /// Words, V; every word number is below it.
        pub vocabulary: u32,
        /// Stored values of a word's vector, S, a multiple of 4.
        pub channels: u32,
        /// Word numbers (over the whole batch) that one part of a weight gradient sums.
        pub tokens_per_part: u32,
        /// Elements from one part of the gradients to the next.
        pub part_stride: u32,
        /// 1 where word 0 is padding: it has a vector of zeros, which is not trained.
        pub zero_padding: u32,
        pub reserved: [u32; 3],
        /// Forward only: of this layer.
        pub epilogue: Epilogue,
    }

    /// `sentence_sum_forward`, `sentence_sum_gradient`.
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

    /// `pixel_products_forward`, `pixel_products_gradient`.
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
        /// Gradient only: 0 for the first factor, 1 for the second.
        pub of_second: u32,
        pub reserved: [u32; 2],
        /// Forward: of this layer. Gradient: of the layer that made the factor.
        pub epilogue: Epilogue,
    }

    /// `channel_softmax_forward`, `channel_softmax_backward`.
    pub struct ChannelSoftmax {
        /// Pixels over the whole batch, P.
        pub pixels: u32,
        pub channels: u32,
        /// The same as stored, C, a multiple of 4.
        pub stored_channels: u32,
        /// 1 where the input passes as it is in steps that are linear ([`Step::linear`]).
        pub linear_start: u32,
        /// Forward: of this layer. Backward: of the layer below.
        pub epilogue: Epilogue,
    }

    /// `transpose_forward`, `transpose_gradient`.
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

    /// `concatenate_forward`, `concatenate_gradient`.
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
        /// Gradient only: 0 for the first input, 1 for the second.
        pub of_second: u32,
        pub reserved: u32,
        /// Forward: of this layer. Gradient: of the layer that made the input.
        pub epilogue: Epilogue,
    }

    /// `gather`: bytes of chosen samples become numbers.
    pub struct Gather {
        pub rows: u32,
        pub features: u32,
        /// Values of a row of the output, at least `features`, a multiple of 4.
        pub stride: u32,
        pub samples: u32,
        pub divisor: f32,
        /// Number of samples in the first binding; the others are in the second. A twin has all in one slice.
        pub samples_in_first: u32,
        /// 1 if images and labels come in the order of gathering instead of the set's.
        pub streamed: u32,
        pub reserved: u32,
    }

    /// `gather_augmented`: bytes of chosen samples become numbers, cropped or padded, shifted, mirrored and normalised.
    pub struct GatherAugmented {
        pub rows: u32,
        pub samples: u32,
        /// Number of samples in the first binding; the others are in the second. A twin has all in one slice.
        pub samples_in_first: u32,
        pub source_height: u32,
        pub source_width: u32,
        /// Size of the images in the batch.
        pub height: u32,
        pub width: u32,
        /// Of the source; at most 4 if they are normalised one by one.
        pub channels: u32,
        /// Stored channels of a pixel of the batch, at least `channels`, or 1 if they become grey; what is beyond is zero.
        pub channel_stride: u32,
        /// Values of a row of the batch, at least height · width · `channel_stride`, a multiple of 4; the tail is zero.
        pub row_stride: u32,
        /// Row of the source at which an image begins: positive for a crop, negative for a border.
        pub offset_y: i32,
        pub offset_x: i32,
        /// One of [`edge`].
        pub edge: u32,
        /// One of [`flip`].
        pub flip: u32,
        /// One of [`shift`].
        pub shift: u32,
        /// Largest shift: in pixels for [`shift::WHOLE`], in 1/1024 pixels, below 31 pixels, for [`shift::REAL`].
        pub shift_range: u32,
        pub divisor: f32,
        /// First of two streams of the generator.
        pub stream: u32,
        /// One of [`normalization`].
        pub normalization: u32,
        /// 1 to make one channel of all: their mean. Not together with a mean image.
        pub grey: u32,
        /// 1 if images and labels come in the order of gathering instead of the set's.
        pub streamed: u32,
        pub reserved: [u32; 3],
        /// Of each channel, in units of byte / divisor.
        pub mean: [f32; 4],
        pub inverse_deviation: [f32; 4],
    }

    /// `shuffle`: the order of the samples in the step's epoch.
    pub struct Shuffle {
        /// Number of samples that are trained on, at least one.
        pub samples: u32,
        /// Number of the first of them.
        pub first: u32,
        /// First of eight streams of the generator.
        pub stream: u32,
        pub reserved: u32,
    }

    /// `mirror_order`: the order of the samples, mirrored from the step's place on.
    pub struct MirrorOrder {
        /// Number of samples that are trained on; more than the step's offset.
        pub samples: u32,
        pub stream: u32,
        pub reserved: [u32; 2],
    }

    /// `standardize`: each image gets mean 0 and deviation 1, in training after random changes of light.
    pub struct Standardize {
        pub rows: u32,
        pub pixels: u32,
        /// At most 4; stored without padding.
        pub channels: u32,
        /// Values of a row of the batch.
        pub row_stride: u32,
        /// Largest change of all values, up or down; 0 for none.
        pub brightness: f32,
        /// Range of the factor of each value's distance from the mean of its channel; 1 to 1 for no change.
        pub lowest_contrast: f32,
        pub highest_contrast: f32,
        pub stream: u32,
    }

    /// `local_contrast`: RGB becomes YUV with a locally normalised Y.
    pub struct LocalContrast {
        pub rows: u32,
        /// height · width is at most [`LOCAL_CONTRAST_PIXELS`].
        pub height: u32,
        pub width: u32,
        /// Values of a row of the batch; pixels are stored without padding.
        pub row_stride: u32,
        pub mean_u: f32,
        pub mean_v: f32,
        /// Factor of U after `mean_u` is subtracted.
        pub scale_u: f32,
        pub scale_v: f32,
        /// Local deviations that are not larger are taken for this.
        pub threshold: f32,
        pub reserved: [u32; 3],
    }

    /// `peak_fma_2`, `peak_fma_4`, `peak_fma_8`: fused multiply-adds in registers.
    pub struct PeakFma {
        /// Times that each invocation makes [`PEAK_FMAS`] of them.
        pub iterations: u32,
        pub invocations: u32,
        pub multiplier: f32,
        pub addend: f32,
    }

    /// `peak_copy`, `peak_read`: a long array, once from end to end.
    pub struct PeakStream {
        /// Length of the array, in fours.
        pub quads: u32,
        pub invocations: u32,
        pub reserved: [u32; 2],
    }
}

impl Epilogue {
    /// Epilogue for a layout that stores channels in multiples of `alignment`.
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
    /// `x·Φ(x)`. Its slope does not follow from its result: no [`Epilogue`] has it, but the
    /// layers that apply it themselves do.
    pub const GELU: u32 = 3;
}

/// A `bias_offset` that says: there is no bias.
pub const NO_BIAS: u32 = u32::MAX;

/// Elements of an arena that share their multipliers; tensors begin at multiples of it.
pub const BLOCK_ELEMENTS: u32 = 256;

/// The largest head that the attention kernels have room for.
pub const MAX_HEAD_SIZE: u32 = 64;

/// Surroundings of an image in `gather_augmented`.
pub mod edge {
    /// Black, which is normalised like any pixel; where there is a mean image, it is black there as well.
    pub const ZERO: u32 = 0;
    /// The nearest pixel.
    pub const NEAREST: u32 = 1;
    /// The image mirrored, without its edge repeated, as PyTorch's padding "reflect". Beyond that the nearest pixel.
    pub const REFLECT: u32 = 2;
}

/// Selection of the images that `gather_augmented` mirrors left to right.
pub mod flip {
    pub const NEVER: u32 = 0;
    /// In training half of them, drawn anew each time.
    pub const RANDOM: u32 = 1;
    /// In training half of them, drawn once, and in every other epoch the other half (airbench94).
    pub const ALTERNATING: u32 = 2;
    /// All of them, in tests too.
    pub const ALWAYS: u32 = 3;
}

/// Shifts of images by `gather_augmented` in training, of rows and columns independently.
pub mod shift {
    pub const NONE: u32 = 0;
    /// Whole pixels, each from minus to plus the range as likely as the others.
    pub const WHOLE: u32 = 1;
    /// Uniform real numbers; each pixel becomes the one nearest to where it then reads, as in Keras 2.
    pub const REAL: u32 = 2;
    /// Units of a pixel in which the range of [`REAL`] is given.
    pub const REAL_UNITS: u32 = 1024;
}

/// Normalization of `byte / divisor` by `gather_augmented`.
pub mod normalization {
    pub const NONE: u32 = 0;
    /// `(value - mean) · inverse deviation`, of each channel.
    pub const CHANNELS: u32 = 1;
    /// Minus the value of a mean image at this place of the source.
    pub const MEAN_IMAGE: u32 = 2;
}

/// Pixels of the largest image that `local_contrast` can hold in the memory of a workgroup.
pub const LOCAL_CONTRAST_PIXELS: u32 = 2048;

/// Fused multiply-adds of one number in an iteration of a `peak_fma` kernel.
pub const PEAK_FMAS: u32 = 128;
