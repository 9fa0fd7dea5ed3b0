//! The layers of a workload's file, under the names that the field gives them.

use engine::{Activation, Initializer, KernelSize, Multipliers, Padding, Rounding, Weights};
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde_json::{Value, json};

/// Layers whose options may all be left out, and with them the braces.
const BARE: [&str; 5] = ["batch_norm", "layer_norm", "position_embedding", "word_scores", "softmax"];

/// A layer with its options, or one of the words that say how layers are joined.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(transform = allow_bare)]
pub(super) enum Layer {
    /// `y = x·W + b` on the flattened input.
    Dense(Dense),
    /// Cross-correlation.
    Conv2d(Conv2d),
    /// The largest element of square windows.
    MaxPool(Pool),
    /// The mean of square windows, of their real elements.
    AveragePool(Pool),
    /// Survivors are divided by `1 - rate` in training; nothing happens in tests.
    Dropout(Dropout),
    /// Per channel over batch and pixels.
    BatchNorm(BatchNorm),
    /// Per pixel over channels.
    LayerNorm(LayerNorm),
    /// `x / (bias + alpha·Σ x²)^beta`, the sum over the channels at most `radius` away.
    LocalResponseNorm(LocalResponseNorm),
    /// Each row of the input is a sequence of its columns; the last hidden state is the output. Gates of Keras 2.
    Lstm(Lstm),
    /// The same with the gates of Keras 3 and of cuDNN: the reset gate works on the products with the state (`reset_after`).
    Gru(Recurrent),
    /// The same without gates.
    SimpleRnn(Recurrent),
    /// Vectors of the words of a story. It reads the sample, wherever it stands.
    Embedding(Embedding),
    /// Adds a learned value to each pixel and channel.
    PositionEmbedding(PositionEmbedding),
    /// `softmax(q·kᵀ/√d)·v` among the pixels of a sample; the input's channels are q, k and v.
    Attention(Attention),
    /// The sum with what was kept under a label, which may have a single pixel.
    Add(Add),
    /// Channels of what was kept under a label behind those of the layer before.
    Concatenate(With),
    /// Products of each pixel with each pixel of what was kept under a label: pixels × pixels.
    PixelProducts(With),
    /// Each `words` pixels that follow each other are added up, weighted by their places.
    SentenceSum(SentenceSum),
    /// How much the input looks like each word: its products with the words' vectors.
    WordScores(WordScores),
    /// Over the channels of each pixel.
    Softmax(Softmax),
    /// Pixels become channels, and channels pixels.
    Transpose,
    /// A vector of all values, which `dense` makes by itself.
    Flatten,
    /// Of the layer before, which must be one with an activation.
    Relu,
    /// Of the layer before, which must be one with an activation.
    Tanh,
    /// Of the layer before, which must be one with an activation.
    Gelu,
    /// Keeps what the layer before made under this name.
    Label(String),
    /// The next layer reads what was kept under this name, or the sample, which is `data`.
    From(String),
}

fn allow_bare(schema: &mut Schema) {
    if let Some(Value::Array(layers)) = schema.get_mut("oneOf") {
        layers.push(json!({ "description": "With every option left out.", "type": "string", "enum": BARE }));
    }
}

impl Layer {
    /// As the file calls it.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Dense(_) => "dense",
            Self::Conv2d(_) => "conv2d",
            Self::MaxPool(_) => "max_pool",
            Self::AveragePool(_) => "average_pool",
            Self::Dropout(_) => "dropout",
            Self::BatchNorm(_) => "batch_norm",
            Self::LayerNorm(_) => "layer_norm",
            Self::LocalResponseNorm(_) => "local_response_norm",
            Self::Lstm(_) => "lstm",
            Self::Gru(_) => "gru",
            Self::SimpleRnn(_) => "simple_rnn",
            Self::Embedding(_) => "embedding",
            Self::PositionEmbedding(_) => "position_embedding",
            Self::Attention(_) => "attention",
            Self::Add(_) => "add",
            Self::Concatenate(_) => "concatenate",
            Self::PixelProducts(_) => "pixel_products",
            Self::SentenceSum(_) => "sentence_sum",
            Self::WordScores(_) => "word_scores",
            Self::Softmax(_) => "softmax",
            Self::Transpose => "transpose",
            Self::Flatten => "flatten",
            Self::Relu => "relu",
            Self::Tanh => "tanh",
            Self::Gelu => "gelu",
            Self::Label(_) => "label",
            Self::From(_) => "from",
        }
    }
}

/// A layer with a kernel, a bias and an activation, which a file says alike of each. (Fields of a struct within it would not do:
/// serde then lets unknown ones pass.)
macro_rules! layer_with_kernel {
    ($name:ident { $($own:tt)* }) => {
        #[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(super) struct $name {
            $($own)*
            #[serde(default = "identity")]
            pub(super) activation: Activation,
            #[serde(default = "glorot_uniform")]
            pub(super) kernel_initializer: Initializer,
            #[serde(default = "yes")]
            pub(super) bias: bool,
            #[serde(default = "zeros")]
            pub(super) bias_initializer: Initializer,
            #[serde(default)]
            pub(super) kernel_multipliers: Multipliers,
            #[serde(default)]
            pub(super) bias_multipliers: Multipliers,
        }

        impl $name {
            pub(super) fn weights(&self) -> Weights {
                Weights {
                    kernel: self.kernel_initializer,
                    bias: self.bias.then_some(self.bias_initializer),
                    kernel_multipliers: self.kernel_multipliers,
                    bias_multipliers: self.bias_multipliers,
                }
            }
        }
    };
}

layer_with_kernel!(Dense {
    pub(super) units: u32,
});

layer_with_kernel!(Conv2d {
    pub(super) filters: u32,
    /// Side of the square, or height and width.
    pub(super) kernel_size: KernelSize,
    #[serde(default = "one")]
    pub(super) stride: u32,
    #[serde(default = "no_padding")]
    pub(super) padding: Padding,
});

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Pool {
    /// Side of the square.
    pub(super) size: u32,
    /// Without it, the size.
    #[serde(default)]
    pub(super) stride: Option<u32>,
    /// Elements on each side that are in no window's result.
    #[serde(default)]
    pub(super) padding: u32,
    #[serde(default = "floor")]
    pub(super) rounding: Rounding,
    #[serde(default = "identity")]
    pub(super) activation: Activation,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Dropout {
    /// Share that is dropped.
    pub(super) rate: f32,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BatchNorm {
    #[serde(default = "small")]
    pub(super) epsilon: f32,
    /// Share of the running averages that stays in each step, as in Keras.
    #[serde(default = "most")]
    pub(super) momentum: f32,
    /// Otherwise the scale stays 1.
    #[serde(default = "yes")]
    pub(super) trained_scale: bool,
    #[serde(default = "identity")]
    pub(super) activation: Activation,
    #[serde(default)]
    pub(super) bias_multipliers: Multipliers,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LayerNorm {
    #[serde(default = "small")]
    pub(super) epsilon: f32,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LocalResponseNorm {
    pub(super) radius: u32,
    pub(super) bias: f32,
    pub(super) alpha: f32,
    pub(super) beta: f32,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Lstm {
    pub(super) units: u32,
    #[serde(default = "orthogonal")]
    pub(super) recurrent_initializer: Initializer,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Recurrent {
    pub(super) units: u32,
    /// `tanh` or `relu`.
    #[serde(default = "tanh")]
    pub(super) activation: Activation,
    #[serde(default = "orthogonal")]
    pub(super) recurrent_initializer: Initializer,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Embedding {
    /// Values of a word's vector.
    pub(super) units: u32,
    /// Place of the first word that is read in a sample.
    #[serde(default)]
    pub(super) first: u32,
    /// Words that are read; without it, all from the first on.
    #[serde(default)]
    pub(super) count: Option<u32>,
    /// Whether word 0, which fills up, has a vector of zeros.
    #[serde(default)]
    pub(super) zero_padding: bool,
    #[serde(default = "word_vectors")]
    pub(super) initializer: Initializer,
    /// The label of an earlier embedding whose vectors are these as well.
    #[serde(default)]
    pub(super) shares: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PositionEmbedding {
    #[serde(default = "word_vectors")]
    pub(super) initializer: Initializer,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Attention {
    pub(super) heads: u32,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Add {
    /// A label.
    pub(super) with: String,
    #[serde(default = "identity")]
    pub(super) activation: Activation,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct With {
    /// A label.
    pub(super) with: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SentenceSum {
    pub(super) words: u32,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WordScores {
    #[serde(default = "word_vectors")]
    pub(super) initializer: Initializer,
    /// The label of an earlier embedding whose vectors are these as well.
    #[serde(default)]
    pub(super) shares: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Softmax {
    /// Share of the training, 0 to 1, in which it passes what it reads.
    #[serde(default)]
    pub(super) linear_until: f64,
}

const fn yes() -> bool {
    true
}

const fn one() -> u32 {
    1
}

const fn small() -> f32 {
    1e-5
}

const fn most() -> f32 {
    0.9
}

const fn tanh() -> Activation {
    Activation::Tanh
}

const fn identity() -> Activation {
    Activation::Identity
}

const fn no_padding() -> Padding {
    Padding::Valid
}

const fn floor() -> Rounding {
    Rounding::Floor
}

const fn glorot_uniform() -> Initializer {
    Initializer::GlorotUniform
}

const fn orthogonal() -> Initializer {
    Initializer::Orthogonal
}

const fn zeros() -> Initializer {
    Initializer::Constant { value: 0.0 }
}

const fn word_vectors() -> Initializer {
    Initializer::Uniform { limit: 0.05 }
}
