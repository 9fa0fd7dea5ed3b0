//! Parameter blocks: the uniform at group 0, binding 0 of each kernel, and the step's at group 1.
//!
//! Field names, offsets and sizes match the WGSL structures; `tests/wgsl.rs` checks this.

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
            /// Fields in declaration order.
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
        /// Index of the batch's first sample in the sample order.
        pub offset: u32,
        /// Number of samples in the batch; the remaining rows are empty.
        pub count: u32,
        /// Index of this step's results.
        pub slot: u32,
        /// 1 in training, 0 in tests: dropout and gradients happen in training only.
        pub training: u32,
        pub learning_rate: f32,
        /// Learning rate without the optimizer's corrections, which scales decoupled weight decay.
        pub decay_rate: f32,
        /// Number of the epoch, from 0; augmentation may alternate between epochs.
        pub epoch: u32,
        /// Action of `average` after this step: 0 none, 1 updates the average, 2 also sets the weights to the average.
        pub average: u32,
        pub average_keep: f32,
        /// Unique number that the step writes with its results, to detect stale results.
        pub mark: u32,
        /// 1 while attention has no softmax: the linear start of memory networks.
        pub linear: u32,
        /// First row of this device if several share a batch. Random numbers are indexed over the whole batch.
        pub first_row: u32,
        /// Number of the batch's samples on other devices. Losses and gradients are shares of the whole batch.
        pub elsewhere: u32,
        /// 1 if a segment begins at this step, and `mirror_order` changes the sample order from `offset` on.
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
        /// Number of channels including padding, which stays zero.
        pub stored_channels: u32,
        /// Values per sample without padding; each has a random number for dropout.
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
        /// Number of outputs without padding, which stays zero.
        pub units: u32,
        /// Rows of the batch in one part of a weight gradient.
        pub rows_per_part: u32,
        /// Elements from one part of the gradients to the next.
        pub part_stride: u32,
        /// Offset of a part's bias gradient, after its weight gradient, or [`NO_BIAS`].
        pub bias_offset: u32,
        pub reserved: u32,
        /// Epilogue of this layer (forward) or of the layer below, which produced `x` (backward).
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
        /// Pixels from one window to the next; kernels receive it as the constant `STRIDE`.
        pub stride: u32,
        /// Values that pad each input sample to a multiple of four if C is not one, for narrow kernels.
        pub input_spare: u32,
        /// Epilogue of this layer (forward) or of the layer below, which produced `x` (backward).
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
        /// Padding before the first row and column. Windows are clipped at the image's edges.
        pub padding: u32,
        pub reserved: [u32; 3],
        /// Epilogue of this layer (forward) or of the layer below, which produced `x` (backward).
        pub epilogue: Epilogue,
    }

    /// `softmax_cross_entropy`.
    pub struct Softmax {
        pub rows: u32,
        pub classes: u32,
        /// Values of a row of logits, at least `classes`.
        pub stride: u32,
        /// 1 for gradients of the batch's summed loss instead of its mean.
        pub summed: u32,
        /// Share of the target spread evenly over all classes.
        pub label_smoothing: f32,
        /// Factor of the logits.
        pub logits_scale: f32,
        /// Factor of the gradient that keeps small values from underflowing when stored.
        pub gradient_scale: f32,
        pub reserved: u32,
    }

    /// `sum_parts`: adds partial gradients.
    pub struct SumParts {
        pub elements: u32,
        pub parts: u32,
        /// 1 to add to another layer's gradient of a shared tensor.
        pub accumulate: u32,
        pub reserved: u32,
    }

    /// `limit_gradients`.
    pub struct GradientLimit {
        pub elements: u32,
        /// Maximum joint norm of all gradients, multiplied by the device's gradient scale.
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
        /// `sgd` only: 1 to apply the learning rate outside the velocity.
        pub rate_outside: u32,
        /// Factor of the gradients that undoes the loss scale.
        pub gradient_scale: f32,
        pub reserved: u32,
    }

    /// `round_weights`: rounds the weights that products read.
    pub struct RoundWeights {
        /// A multiple of 4.
        pub elements: u32,
        /// Largest number that can be stored.
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

    /// `gelu_forward`, `gelu_backward`, `pass_gradient`: elementwise kernels.
    pub struct Elementwise {
        /// Stored values of the whole batch, a multiple of 4.
        pub elements: u32,
        pub reserved: [u32; 3],
        /// Epilogue of this layer (forward) or of the layer below, which produced `x` (backward).
        pub epilogue: Epilogue,
    }

    /// `blend`: adds one part of a weighted mean.
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
        /// Uses of each pixel of the second summand (in gradients, of this summand), R, a divisor of the pixels per
        /// sample: 1 for equal shapes, all pixels for a vector that is added to every pixel.
        pub repeats: u32,
        pub reserved: u32,
        /// Epilogue of the sum (forward) or of the layer below, which produced the summand (backward).
        pub epilogue: Epilogue,
    }

    /// `position_forward`, `position_gradient`.
    pub struct Position {
        pub rows: u32,
        /// Stored values per row, positions times channels, a multiple of 4.
        pub values: u32,
        /// Rows of the batch that one part of the gradient sums.
        pub rows_per_part: u32,
        /// Elements from one part of the gradient to the next.
        pub part_stride: u32,
        /// Epilogue of this layer, forward only.
        pub epilogue: Epilogue,
    }

    /// `local_response_forward`, `local_response_backward`.
    pub struct LocalResponse {
        pub rows: u32,
        pub pixels: u32,
        /// Stored channels, C, a multiple of 4.
        pub stored_channels: u32,
        /// Number of neighboring channels included on each side.
        pub radius: u32,
        /// Positive constant added to the weighted sum of squares.
        pub bias: f32,
        /// Weight of the sum of squares.
        pub alpha: f32,
        /// Exponent of the denominator.
        pub beta: f32,
        pub reserved: u32,
        /// Epilogue of this layer (forward) or of the layer below, which produced `x` (backward).
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
        /// Share of the running averages kept by a step.
        pub keep: f32,
        pub reserved: [u32; 2],
        /// Epilogue of this layer, applied after `activation` (forward), or of the layer below, which produced `x`
        /// (backward).
        pub epilogue: Epilogue,
    }

    /// `layer_norm_forward`, `layer_norm_input_gradient`, `layer_norm_weight_gradient`.
    pub struct LayerNorm {
        pub rows: u32,
        pub tokens: u32,
        /// Number of channels without padding.
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
        /// Epilogue of this layer (forward) or of the layer below, which produced `x` (backward).
        pub epilogue: Epilogue,
    }

    /// `attention_forward`, `attention_query_gradient`, `attention_key_value_gradient`.
    pub struct Attention {
        pub rows: u32,
        /// Tokens of a row, T.
        pub tokens: u32,
        pub heads: u32,
        /// Values per head, D, a multiple of 4, at most [`MAX_HEAD_SIZE`].
        pub head_size: u32,
        /// Factor of each query-key product, usually 1/√D.
        pub scale: f32,
        pub reserved: [u32; 3],
        /// Epilogue of the layer below, which produced queries, keys and values; backward only. The result has no
        /// epilogue, because its gradient needs the plain value.
        pub epilogue: Epilogue,
    }

    /// `lstm_forward`, `gru_forward`, `simple_rnn_forward`, their backward passes and all variants.
    pub struct Recurrent {
        /// Sequences of the whole batch, N: samples times the sequences of a sample.
        pub sequences: u32,
        /// Steps of a sequence, T.
        pub steps: u32,
        /// Number of units without padding.
        pub units: u32,
        /// Units as stored, S, a multiple of 4.
        pub stored_units: u32,
        /// Activation of a hidden state or of its candidate: [`activation::RELU`] or [`activation::TANH`]. LSTMs always
        /// use the latter.
        pub activation: u32,
        pub reserved: [u32; 3],
        /// Epilogue of the last hidden state, forward only.
        pub epilogue: Epilogue,
    }

    /// `embedding_forward`, `embedding_weight_gradient`.
    pub struct Embedding {
        /// Samples of the batch, B.
        pub rows: u32,
        /// Word numbers used per row, P.
        pub tokens: u32,
        /// Values per row of `ids`.
        pub id_stride: u32,
        /// Offset of the first used value of a row.
        pub id_offset: u32,
        /// Number of words, V; every word number is below V.
        pub vocabulary: u32,
        /// Stored values of a word's vector, S, a multiple of 4.
        pub channels: u32,
        /// Word numbers (over the whole batch) that one part of a weight gradient sums.
        pub tokens_per_part: u32,
        /// Elements from one part of the gradients to the next.
        pub part_stride: u32,
        /// 1 if word 0 is padding, with an untrained vector of zeros.
        pub zero_padding: u32,
        pub reserved: [u32; 3],
        /// Epilogue of this layer, forward only.
        pub epilogue: Epilogue,
    }

    /// `sentence_sum_forward`, `sentence_sum_gradient`.
    pub struct SentenceSum {
        /// Sentences of the whole batch, S.
        pub sentences: u32,
        /// Words of a sentence, J.
        pub words: u32,
        /// Values of a word's vector without padding, d.
        pub channels: u32,
        /// Number of stored channels, C, a multiple of 4.
        pub stored_channels: u32,
        /// Epilogue of this layer (forward) or of the layer below (gradient).
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
        /// Epilogue of this layer (forward) or of the layer that produced the factor (gradient).
        pub epilogue: Epilogue,
    }

    /// `channel_softmax_forward`, `channel_softmax_backward`.
    pub struct ChannelSoftmax {
        /// Pixels over the whole batch, P.
        pub pixels: u32,
        pub channels: u32,
        /// Number of stored channels, C, a multiple of 4.
        pub stored_channels: u32,
        /// 1 if linear steps ([`Step::linear`]) pass the input unchanged.
        pub linear_start: u32,
        /// Epilogue of this layer (forward) or of the layer below (backward).
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
        /// Epilogue of this layer (forward) or of the layer below (gradient).
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
        /// Epilogue of this layer (forward) or of the layer that produced the input (gradient).
        pub epilogue: Epilogue,
    }

    /// `gather`: converts bytes of selected samples to numbers.
    pub struct Gather {
        pub rows: u32,
        pub features: u32,
        /// Values of a row of the output, at least `features`, a multiple of 4.
        pub stride: u32,
        pub samples: u32,
        pub divisor: f32,
        /// Number of samples in the first binding; the others are in the second. The Rust twin takes a single slice.
        pub samples_in_first: u32,
        /// 1 if images and labels are in gathering order instead of data set order.
        pub streamed: u32,
        pub reserved: u32,
    }

    /// `gather_augmented`: converts bytes of selected samples to numbers, with cropping or padding, shifts, mirroring
    /// and normalization.
    pub struct GatherAugmented {
        pub rows: u32,
        pub samples: u32,
        /// Number of samples in the first binding; the others are in the second. The Rust twin takes a single slice.
        pub samples_in_first: u32,
        pub source_height: u32,
        pub source_width: u32,
        /// Size of the images in the batch.
        pub height: u32,
        pub width: u32,
        /// Channels of the source; at most 4 if each is normalized separately.
        pub channels: u32,
        /// Stored channels per pixel of the batch: at least `channels`, with zeros as padding, or 1 for grey images.
        pub channel_stride: u32,
        /// Values of a row of the batch, at least height · width · `channel_stride`, a multiple of 4; the tail is zero.
        pub row_stride: u32,
        /// Source row of the image's first row: positive for a crop, negative for a border.
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
        /// 1 to replace the channels with their mean. Not supported with a mean image.
        pub grey: u32,
        /// 1 if images and labels are in gathering order instead of data set order.
        pub streamed: u32,
        pub reserved: [u32; 3],
        /// Mean of each channel, in units of byte / divisor.
        pub mean: [f32; 4],
        pub inverse_deviation: [f32; 4],
    }

    /// `shuffle`: the order of the samples in the step's epoch.
    pub struct Shuffle {
        /// Number of training samples, at least one.
        pub samples: u32,
        /// Number of the first training sample.
        pub first: u32,
        /// First of eight streams of the generator.
        pub stream: u32,
        pub reserved: u32,
    }

    /// `mirror_order`: mirrors the sample order from the step's offset on.
    pub struct MirrorOrder {
        /// Number of training samples, greater than the step's offset.
        pub samples: u32,
        pub stream: u32,
        pub reserved: [u32; 2],
    }

    /// `standardize`: scales each image to mean 0 and deviation 1, in training after random brightness and contrast.
    pub struct Standardize {
        pub rows: u32,
        pub pixels: u32,
        /// At most 4; stored without padding.
        pub channels: u32,
        /// Values of a row of the batch.
        pub row_stride: u32,
        /// Largest brightness change in either direction; 0 for none.
        pub brightness: f32,
        /// Lower bound of the factor of each value's distance from its channel's mean. Both bounds are 1 for no change.
        pub lowest_contrast: f32,
        pub highest_contrast: f32,
        pub stream: u32,
    }

    /// `local_contrast`: converts RGB to YUV with locally normalized Y.
    pub struct LocalContrast {
        pub rows: u32,
        /// Image height; height · width is at most [`LOCAL_CONTRAST_PIXELS`].
        pub height: u32,
        pub width: u32,
        /// Values of a row of the batch; pixels are stored without padding.
        pub row_stride: u32,
        pub mean_u: f32,
        pub mean_v: f32,
        /// Factor of U after subtracting `mean_u`.
        pub scale_u: f32,
        pub scale_v: f32,
        /// Minimum local deviation; smaller ones are replaced by it.
        pub threshold: f32,
        pub reserved: [u32; 3],
    }

    /// `peak_fma_2`, `peak_fma_4`, `peak_fma_8`: fused multiply-adds in registers.
    pub struct PeakFma {
        /// Number of times that each invocation performs [`PEAK_FMAS`] of them.
        pub iterations: u32,
        pub invocations: u32,
        pub multiplier: f32,
        pub addend: f32,
    }

    /// `peak_copy`, `peak_read`: one pass over a long array.
    pub struct PeakStream {
        /// Length of the array in groups of four.
        pub quads: u32,
        pub invocations: u32,
        pub reserved: [u32; 2],
    }
}

impl Epilogue {
    /// Returns the epilogue for a layout that stores channels in multiples of `alignment`.
    #[must_use]
    pub fn stored(self, alignment: u32) -> Self {
        Self { stored_channels: self.channels.next_multiple_of(alignment), ..self }
    }
}

/// Numbers of the activations. An [`Epilogue`] supports those whose derivative follows from their result.
pub mod activation {
    pub const IDENTITY: u32 = 0;
    /// `max(x, 0)`, with slope 0 at 0.
    pub const RELU: u32 = 1;
    pub const TANH: u32 = 2;
    /// `x·Φ(x)`. Its derivative does not follow from its result, so no [`Epilogue`] supports it; only layers that
    /// apply it themselves do.
    pub const GELU: u32 = 3;
}

/// `bias_offset` of a layer without bias.
pub const NO_BIAS: u32 = u32::MAX;

/// Number of consecutive arena elements that share multipliers; tensors begin at multiples of it.
pub const BLOCK_ELEMENTS: u32 = 256;

/// Largest head size that the attention kernels support.
pub const MAX_HEAD_SIZE: u32 = 64;

/// Surroundings of an image in `gather_augmented`.
pub mod edge {
    /// Black, normalized like any pixel. A mean image is also extended with black.
    pub const ZERO: u32 = 0;
    /// The nearest pixel.
    pub const NEAREST: u32 = 1;
    /// Mirrored image without a repeated edge, like PyTorch's padding "reflect"; the nearest pixel beyond that.
    pub const REFLECT: u32 = 2;
}

/// Selection of the images that `gather_augmented` mirrors left to right.
pub mod flip {
    pub const NEVER: u32 = 0;
    /// A random half in training, drawn anew each time.
    pub const RANDOM: u32 = 1;
    /// A random half in training, drawn once; every other epoch mirrors the other half (airbench94).
    pub const ALTERNATING: u32 = 2;
    /// All images, in tests too.
    pub const ALWAYS: u32 = 3;
}

/// Shifts of images by `gather_augmented` in training, of rows and columns independently.
pub mod shift {
    pub const NONE: u32 = 0;
    /// Whole pixels, uniform from minus to plus the range.
    pub const WHOLE: u32 = 1;
    /// Uniform real numbers with nearest-pixel sampling, as in Keras 2.
    pub const REAL: u32 = 2;
    /// Units per pixel of the range of [`REAL`].
    pub const REAL_UNITS: u32 = 1024;
}

/// Normalization of `byte / divisor` by `gather_augmented`.
pub mod normalization {
    pub const NONE: u32 = 0;
    /// `(value - mean) · inverse deviation` for each channel.
    pub const CHANNELS: u32 = 1;
    /// Subtracts the value of a mean image at the same source position.
    pub const MEAN_IMAGE: u32 = 2;
}

/// Number of pixels of the largest image that `local_contrast` can hold in workgroup memory.
pub const LOCAL_CONTRAST_PIXELS: u32 = 2048;

/// Number of fused multiply-adds per value in an iteration of a `peak_fma` kernel.
pub const PEAK_FMAS: u32 = 128;
