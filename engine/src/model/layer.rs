use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Initializer, Multipliers, Weights};

/// One layer. Activations are N, H, W, C; flattening keeps that order.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// Cross-correlation; kernel `[height, width, in, filters]`, bias `[filters]`.
    Conv2d {
        filters: u32,
        // As it was called when all of them were squares, because records of networks from files have it.
        #[serde(rename = "side")]
        size: KernelSize,
        stride: u32,
        padding: Padding,
        activation: Activation,
        weights: Weights,
    },
    /// Square windows; padding never wins a maximum and an average divides by the real elements. A tie gives the
    /// whole gradient to the first element.
    Pool { kind: PoolKind, side: u32, stride: u32, padding: u32, rounding: Rounding, activation: Activation },
    /// `y = x·W + b` on the flattened input; kernel `[in, units]`, bias `[units]`.
    Dense { units: u32, activation: Activation, weights: Weights },
    /// Inverted dropout: survivors are divided by `1 - rate` in training, nothing happens in tests.
    Dropout { rate: f32 },
    /// `x / (bias + alpha·Σ x²)^beta`, the sum over the channels at most `radius` away.
    LocalResponseNorm { radius: u32, bias: f32, alpha: f32, beta: f32 },
    /// Each row of the input is a sequence of its columns; the last hidden state is the output. Gates i, f, c, o with
    /// hard sigmoid, tanh on cell input and output (Keras 2); kernel `[in, 4·units]`, recurrent `[units, 4·units]`.
    Lstm { units: u32, recurrent: Initializer },
    /// The same with the gates z, r, g of Keras 3, `reset_after`: with q = h·R + b', `z = sigmoid(x_z + q_z)`,
    /// `r = sigmoid(x_r + q_r)`, `g = activation(x_g + r ⊙ q_g)` and `z ⊙ h + (1 - z) ⊙ g` as the next state; tanh or ReLU.
    /// Kernel `[in, 3·units]`, recurrent `[units, 3·units]`, bias and recurrent bias `[3·units]`.
    Gru { units: u32, activation: Activation, recurrent: Initializer },
    /// The same without gates: `activation(x·W + b + h·R)`, tanh or ReLU; kernel `[in, units]`, recurrent
    /// `[units, units]`.
    SimpleRnn { units: u32, activation: Activation, recurrent: Initializer },
    /// Vectors of words: reads `count` numbers of the sample from `first` on; weights `[vocabulary, units]`. With zero
    /// padding, word 0 has a vector of zeros whatever its weights are, and trains none.
    Embedding { vocabulary: u32, units: u32, first: u32, count: u32, zero_padding: bool, initializer: Initializer },
    /// Each `words` pixels that follow each other are a sentence, whose vectors are added up, weighted by their places:
    /// the position encoding of Sukhbaatar et al. (2015), section 4.1.
    SentenceSum { words: u32 },
    /// How much the input looks like each word: its products with the words' vectors; kernel `[vocabulary, channels]`,
    /// the other way round than an embedding has it.
    WordScores { vocabulary: u32, initializer: Initializer },
    /// Products of each pixel of the first input with each pixel of the second: pixels × pixels.
    PixelProducts,
    /// Softmax over the channels of each pixel. Until this share of the training is over it passes what it reads: the
    /// linear start of Sukhbaatar et al. (2015), section 4.2. All of a network begin together.
    Softmax { linear_until: f64 },
    /// Pixels become channels, and channels pixels.
    Transpose,
    /// The channels of two inputs, one behind the other.
    Concatenate,
    /// Sum of two inputs; the second may have a single pixel, which is repeated.
    Add { activation: Activation },
    /// Per channel over batch and pixels: `activation((x - mean) / √(variance + epsilon)·scale + bias)`. Running
    /// averages keep the share `keep` in every step and are used in tests. A fixed scale is 1.
    BatchNorm { epsilon: f32, keep: f32, trained_scale: bool, bias: Multipliers, activation: Activation },
    /// Per pixel over channels: `(x - mean) / √(variance + epsilon)·scale + bias`.
    LayerNorm { epsilon: f32 },
    /// Adds a learned value to each pixel and channel; weights `[height·width, channels]`.
    PositionEmbedding { initializer: Initializer },
    /// `softmax(q·kᵀ/√d)·v` among the pixels of a sample; the input's channels are q, k and v, each `heads × d`.
    Attention { heads: u32 },
}

/// Height and width of a convolution's kernel. A square is written as its side, another one as both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum KernelSize {
    Square(u32),
    /// Height and width.
    Rectangle(u32, u32),
}

impl KernelSize {
    /// A square where both are the same.
    pub const fn new(height: u32, width: u32) -> Self {
        if height == width { Self::Square(height) } else { Self::Rectangle(height, width) }
    }

    /// Height and width.
    pub const fn sides(self) -> [u32; 2] {
        match self {
            Self::Square(side) => [side, side],
            Self::Rectangle(height, width) => [height, width],
        }
    }

    /// Pixels under it.
    pub const fn area(self) -> u32 {
        let [height, width] = self.sides();
        height * width
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Padding {
    /// None: windows stay inside the input.
    Valid,
    /// Output as large as the input divided by the stride; an odd zero goes to the bottom and right.
    Same,
    /// So many zeros on each side.
    Zeros(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PoolKind {
    Max,
    Average,
}

/// What happens to windows that hang over the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rounding {
    /// They are left out.
    Floor,
    /// They are kept and cut: Caffe's pooling, and TensorFlow's "same" where that pads only bottom and right.
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

impl Layer {
    /// Whether many small changes of its input change its gradient at once: at the edge of a ReLU. (That another element
    /// becomes the largest of a window is rare.)
    pub(crate) fn has_edges(&self) -> bool {
        match self {
            Self::Conv2d { activation, .. }
            | Self::Dense { activation, .. }
            | Self::Pool { activation, .. }
            | Self::Add { activation }
            | Self::Gru { activation, .. }
            | Self::SimpleRnn { activation, .. }
            | Self::BatchNorm { activation, .. } => *activation == Activation::Relu,
            _ => false,
        }
    }

    /// Whether its kernel stays as it starts.
    pub(crate) fn has_fixed_kernel(&self) -> bool {
        match self {
            Self::Conv2d { weights, .. } | Self::Dense { weights, .. } => {
                matches!(weights.kernel, Initializer::WhitenedPatches { .. })
            }
            _ => false,
        }
    }
}
