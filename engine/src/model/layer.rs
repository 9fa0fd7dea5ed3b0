use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shaders::params::activation as activations;

use super::Shape;

/// Layer of a model. Activations are N, H, W, C; flattening keeps that order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Layer {
    /// Cross-correlation; kernel `[height, width, in, filters]`, bias `[filters]`.
    Conv2d {
        filters: u32,
        // Serialized under the name it had when all kernels were squares.
        #[serde(rename = "side")]
        size: KernelSize,
        stride: u32,
        padding: Padding,
        activation: Activation,
        weights: Weights,
    },
    /// Square windows. Padding never wins a maximum, and averages exclude it. In a tie, the first element wins.
    Pool { kind: PoolKind, side: u32, stride: u32, padding: u32, rounding: Rounding, activation: Activation },
    /// `y = x·W + b` on the flattened input; kernel `[in, units]`, bias `[units]`.
    Dense { units: u32, activation: Activation, weights: Weights },
    /// Inverted dropout: kept values are divided by `1 - rate` in training. Evaluation is unaffected.
    Dropout { rate: f32 },
    /// `x / (bias + alpha·Σ x²)^beta`, summed over channels at most `radius` away.
    LocalResponseNorm { radius: u32, bias: f32, alpha: f32, beta: f32 },
    /// Each row of the input is a sequence of its columns; the output is the last hidden state. Gates i, f, c, o with
    /// hard sigmoid, tanh on cell input and output (Keras 2); kernel `[in, 4·units]`, recurrent `[units, 4·units]`.
    Lstm { units: u32, recurrent: Initializer },
    /// Like `Lstm`, with the gates z, r, g of Keras 3, `reset_after`. With q = h·R + b': `z = sigmoid(x_z + q_z)`,
    /// `r = sigmoid(x_r + q_r)`, `g = activation(x_g + r ⊙ q_g)`, and the next state is `z ⊙ h + (1 - z) ⊙ g`; tanh or
    /// ReLU. Kernel `[in, 3·units]`, recurrent `[units, 3·units]`, bias and recurrent bias `[3·units]`.
    Gru { units: u32, activation: Activation, recurrent: Initializer },
    /// Like `Lstm`, without gates: `activation(x·W + b + h·R)`, tanh or ReLU; `[in, units]` and `[units, units]`.
    SimpleRnn { units: u32, activation: Activation, recurrent: Initializer },
    /// Word vectors of `count` numbers of the sample, starting at `first`; weights `[vocabulary, units]`. With zero
    /// padding, word 0 has an untrained vector of zeros.
    Embedding { vocabulary: u32, units: u32, first: u32, count: u32, zero_padding: bool, initializer: Initializer },
    /// Sum of each `words` consecutive pixels, weighted by position: Sukhbaatar et al. (2015), section 4.1.
    SentenceSum { words: u32 },
    /// Products of each pixel with each word's vector; kernel `[vocabulary, channels]`, an embedding's transposed.
    WordScores { vocabulary: u32, initializer: Initializer },
    /// Products of each pixel of the first input with each pixel of the second; output pixels × pixels.
    PixelProducts,
    /// Softmax over the channels of each pixel. Until this share of training, it passes its input through: the linear
    /// start of Sukhbaatar et al. (2015), section 4.2. All softmax layers of a network start together.
    Softmax { linear_until: f64 },
    /// Swaps pixels and channels.
    Transpose,
    /// Channels of both inputs, pixel by pixel.
    Concatenate,
    /// Sum of two inputs; a second input with one pixel is repeated.
    Add { activation: Activation },
    /// Per channel over batch and pixels: `activation((x - mean) / √(variance + epsilon)·scale + bias)`. Running
    /// averages keep the share `keep` in every step and are used in evaluation. A fixed scale is 1.
    BatchNorm { epsilon: f32, keep: f32, trained_scale: bool, bias: Multipliers, activation: Activation },
    /// Per pixel over channels: `(x - mean) / √(variance + epsilon)·scale + bias`. The bias is optional.
    LayerNorm { epsilon: f32, scale: Multipliers, bias: Option<Multipliers> },
    /// Adds a learned value to each pixel and channel; weights `[height·width, channels]`.
    PositionEmbedding { initializer: Initializer },
    /// `softmax(q·kᵀ/√d)·v` among the pixels of a sample; the input's channels are q, k and v, each `heads × d`. If
    /// causal, a pixel attends only to itself and earlier pixels.
    Attention { heads: u32, causal: bool },
}

/// Height and width of a convolution's kernel. A square is serialized as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum KernelSize {
    Square(u32),
    Rectangle(u32, u32),
}

impl KernelSize {
    pub const fn new(height: u32, width: u32) -> Self {
        if height == width { Self::Square(height) } else { Self::Rectangle(height, width) }
    }

    pub const fn sides(self) -> [u32; 2] {
        match self {
            Self::Square(side) => [side, side],
            Self::Rectangle(height, width) => [height, width],
        }
    }

    pub const fn area(self) -> u32 {
        let [height, width] = self.sides();
        height * width
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Padding {
    Valid,
    /// Output as large as the input divided by the stride; an odd zero goes to the bottom and right.
    Same,
    /// Zeros on each side.
    Zeros(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PoolKind {
    Max,
    Average,
}

/// Treatment of windows that cross the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rounding {
    /// Left out.
    Floor,
    /// Kept and cut: Caffe's pooling, and TensorFlow's "same" if it pads only bottom and right.
    Ceil,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    Identity,
    /// `max(x, 0)`, with slope 0 at 0.
    Relu,
    Tanh,
    /// `x·Φ(x)`, Φ being the normal distribution: Hendrycks and Gimpel (2016).
    Gelu,
}

impl Activation {
    /// Returns the number in kernels.
    pub(crate) fn number(self) -> u32 {
        match self {
            Self::Identity => activations::IDENTITY,
            Self::Relu => activations::RELU,
            Self::Tanh => activations::TANH,
            Self::Gelu => activations::GELU,
        }
    }
}

impl Layer {
    pub(crate) fn activation(&self) -> Activation {
        match *self {
            Self::Lstm { .. } => Activation::Tanh,
            Self::Conv2d { activation, .. }
            | Self::Dense { activation, .. }
            | Self::Pool { activation, .. }
            | Self::Add { activation }
            | Self::Gru { activation, .. }
            | Self::SimpleRnn { activation, .. }
            | Self::BatchNorm { activation, .. } => activation,
            _ => Activation::Identity,
        }
    }

    pub(crate) fn has_fixed_kernel(&self) -> bool {
        match self {
            Self::Conv2d { weights, .. } | Self::Dense { weights, .. } => {
                matches!(weights.kernel, Initializer::WhitenedPatches { .. })
            }
            _ => false,
        }
    }

    /// Returns cell, units and initializer of the recurrent kernel, if the layer is recurrent.
    pub(crate) fn recurrent(&self) -> Option<(Cell, u32, Initializer)> {
        match *self {
            Self::Lstm { units, recurrent } => Some((Cell::Lstm, units, recurrent)),
            Self::Gru { units, activation, recurrent } => Some((Cell::Gru(activation), units, recurrent)),
            Self::SimpleRnn { units, activation, recurrent } => Some((Cell::SimpleRnn(activation), units, recurrent)),
            _ => None,
        }
    }

    /// Returns true if each output pixel depends only on the same and earlier pixels of the inputs. A language model needs
    /// this, because it predicts later characters. `input` is the shape of the first input.
    pub fn is_causal(&self, input: Shape) -> bool {
        match *self {
            Self::Attention { causal, .. } => causal,
            Self::Conv2d { size, stride, padding, .. } => {
                size.sides() == [1, 1]
                    && stride == 1
                    && matches!(padding, Padding::Valid | Padding::Same | Padding::Zeros(0))
            }
            // A part of the characters would be moved to earlier pixels.
            Self::Embedding { first, count, .. } => first == 0 && count == input.features(),
            Self::Add { .. }
            | Self::Concatenate
            | Self::Dropout { .. }
            | Self::LayerNorm { .. }
            | Self::LocalResponseNorm { .. }
            | Self::PositionEmbedding { .. }
            | Self::Softmax { .. }
            | Self::WordScores { .. } => true,
            // In training, its averages contain later characters.
            Self::BatchNorm { .. }
            | Self::Dense { .. }
            | Self::Gru { .. }
            | Self::Lstm { .. }
            | Self::PixelProducts
            | Self::Pool { .. }
            | Self::SentenceSum { .. }
            | Self::SimpleRnn { .. }
            | Self::Transpose => false,
        }
    }

    /// Returns true if each row of the input is a sequence of columns.
    pub fn is_recurrent(&self) -> bool {
        self.recurrent().is_some()
    }
}

/// Initial weights of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Initializer {
    /// Uniform within ±√(6 / (fan in + fan out)): Glorot and Bengio (2010), equation 16.
    GlorotUniform,
    /// Uniform within ±√(scale / fan in): scale 3 is what Caffe calls "xavier", 1 is Torch's default.
    FanInUniform { scale: f64 },
    /// Uniform within ±limit.
    Uniform { limit: f64 },
    /// Normal with mean 0.
    Normal { deviation: f64 },
    /// Normal with variance `scale / fan in`; scale 2 is He et al. (2015).
    FanInNormal { scale: f64 },
    /// Normal with mean 0, drawn again beyond two deviations.
    TruncatedNormal { deviation: f64 },
    /// The same value everywhere.
    Constant { value: f64 },
    /// Rows of length 1 at right angles to each other: Saxe et al. (2013).
    Orthogonal,
    /// The first filters copy one input channel each; the others as `FanInUniform { scale: 1 }`.
    Dirac,
    /// Eigenvectors of the covariance of the training images' patches, and their negatives, scaled so that their
    /// results have variance 1; the number is added to each eigenvalue. Fixed in training.
    WhitenedPatches { epsilon: f64 },
}

/// Factors of a tensor's learning rate and weight decay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Multipliers {
    pub learning_rate: f64,
    pub weight_decay: f64,
    /// Share of the training from which the tensor is frozen.
    pub frozen_from: Option<f64>,
}

impl Default for Multipliers {
    fn default() -> Self {
        Self { learning_rate: 1.0, weight_decay: 1.0, frozen_from: None }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    pub kernel: Initializer,
    pub bias: Option<Initializer>,
    pub kernel_multipliers: Multipliers,
    pub bias_multipliers: Multipliers,
}

impl Weights {
    pub fn new(kernel: Initializer) -> Self {
        Self {
            kernel,
            bias: Some(Initializer::Constant { value: 0.0 }),
            kernel_multipliers: Multipliers::default(),
            bias_multipliers: Multipliers::default(),
        }
    }

    #[must_use]
    pub fn without_bias(self) -> Self {
        Self { bias: None, ..self }
    }

    #[must_use]
    pub fn with_bias(self, bias: Initializer) -> Self {
        Self { bias: Some(bias), ..self }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    Lstm,
    Gru(Activation),
    SimpleRnn(Activation),
}

impl Cell {
    /// Returns the number of gates, each with `units` values per step.
    pub(crate) fn gates(self) -> u32 {
        match self {
            Self::Lstm => 4,
            Self::Gru(_) => 3,
            Self::SimpleRnn(_) => 1,
        }
    }

    pub(crate) fn activation(self) -> Activation {
        match self {
            Self::Lstm => Activation::Tanh,
            Self::Gru(activation) | Self::SimpleRnn(activation) => activation,
        }
    }

    /// Returns true if the products with the hidden state have a separate bias.
    pub(crate) fn has_recurrent_bias(self) -> bool {
        matches!(self, Self::Gru(_))
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Lstm => "lstm",
            Self::Gru(_) => "gru",
            Self::SimpleRnn(_) => "simple_rnn",
        }
    }
}
