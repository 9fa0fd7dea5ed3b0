//! Format of a workload file. Types that the engine defines are used directly.

use std::fmt;

use engine::{
    Activation, DATA_SETS, EarlyStopping, Edge, Flip, Initializer, KernelSize, Loss, Multipliers, Normalization,
    Optimizer, Padding, Rounding, Shift, TrainingRange, WeightAverage, Weights,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema, schema_for};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// User-defined network with its data set and training recipe, for `native-runner --workload-file` (docs/WORKLOADS.md).
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Gradmark workload")]
pub(crate) struct WorkloadDefinition {
    /// Location of this file's JSON Schema, for editors; otherwise ignored.
    #[serde(default, rename = "$schema")]
    _schema: Option<String>,
    /// Lowercase letters, digits and hyphens; must differ from the names of built-in workloads.
    #[schemars(regex(pattern = "^[a-z][a-z0-9-]*$"), length(max = 40))]
    pub(crate) name: String,
    /// Title, one line.
    #[serde(default)]
    pub(crate) title: String,
    /// Description and source of the workload.
    #[serde(default)]
    pub(crate) description: String,
    /// Name from `native-runner data-sets`.
    #[schemars(schema_with = "data_set_names")]
    pub(crate) data_set: String,
    /// Samples of the training file to train on. By default, all of them.
    pub(crate) training_samples: Option<TrainingRange>,
    /// Windows of characters that the network reads. Only for a text, which needs them.
    pub(crate) windows: Option<Windows>,
    /// Samples per batch.
    pub(crate) batch_size: u32,
    /// Treatment of the last batch if the batch size does not divide the number of samples.
    #[serde(default)]
    pub(crate) last_batch: LastBatch,
    /// True to shuffle each epoch; false to keep the order of the file. The windows of a text are drawn instead.
    #[serde(default = "yes")]
    pub(crate) shuffle: bool,
    /// Number of epochs that schedules span if a run has no `--epochs` or `--steps`. The length of a run is set by its
    /// own options.
    #[serde(default = "usual_epochs")]
    pub(crate) epochs: u32,
    /// Test accuracy, 0 to 1, that ends the time to target when first reached. Default: 1.
    pub(crate) target_accuracy: Option<f64>,
    /// Mean test loss that is the target instead of an accuracy. Default for a text: 0.
    pub(crate) target_loss: Option<f64>,
    /// Evaluations per epoch, evenly spaced.
    #[serde(default = "one")]
    pub(crate) evaluations_per_epoch: u32,
    /// Conversion of a sample's bytes to the network's input.
    #[serde(default)]
    pub(crate) preprocessing: PreprocessingOptions,
    pub(crate) optimizer: Optimizer,
    /// Softmax cross-entropy, with its variations.
    #[serde(default)]
    pub(crate) loss: Loss,
    /// Second set of weights that tracks the trained ones.
    pub(crate) average: Option<WeightAverage>,
    /// Early stopping on samples that are not trained on.
    pub(crate) early_stopping: Option<EarlyStopping>,
    /// Layers in order. Each reads the output of the previous one; the last outputs the logits, one per class. In a text,
    /// every character of a window has logits for the next one.
    #[serde(deserialize_with = "layers")]
    #[schemars(length(min = 1, max = 1024))]
    pub(crate) layers: Vec<FileLayer>,
}

fn data_set_names(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": DATA_SETS.iter().map(|set| set.name.as_str()).collect::<Vec<_>>() })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Windows {
    /// Length of a window. The network's input has one row of that many words.
    pub(crate) characters: u32,
    /// Windows per epoch, each drawn from the whole training text.
    pub(crate) per_epoch: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LastBatch {
    /// The last batch of an epoch is short.
    #[default]
    Short,
    /// Samples that do not fill a batch are dropped.
    Drop,
    /// Batches wrap around the end of the set; not with `shuffle`.
    Wrap,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Preprocessing")]
pub(crate) struct PreprocessingOptions {
    /// Divisor of each byte. Default: 255, or 1 for stories and texts, where bytes are words.
    pub(crate) divisor: Option<f32>,
    pub(crate) normalization: Normalization,
    /// Side of the square input of the network: the center of the image, or the image with a border. Default: the whole
    /// image.
    pub(crate) image_size: Option<u32>,
    /// Values of pixels beyond the edges of an image.
    pub(crate) edge: Edge,
    /// Horizontal flips, in training.
    pub(crate) flip: Flip,
    /// Random shifts, in training.
    pub(crate) shift: Shift,
    /// Maximum change of brightness in training. Needs `normalization = "each_image"`.
    pub(crate) brightness: f32,
    /// Range of the factor of contrast in training. Needs `normalization = "each_image"`.
    pub(crate) contrast: Option<(f32, f32)>,
    /// Views of each image in evaluations.
    pub(crate) test_views: TestViews,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TestViews {
    /// The sample itself.
    #[default]
    Plain,
    /// The sample and its mirror image with half of the weight; both shifted by a pixel each way, with the other half.
    MirroredAndMoved,
}

/// Returns the schema that editors check workload files against.
pub(crate) fn schema() -> Schema {
    schema_for!(WorkloadDefinition)
}

/// Layers with only optional options, which may be written without braces.
const BARE: [&str; 5] = ["batch_norm", "layer_norm", "position_embedding", "word_scores", "softmax"];

/// Layer with its options, or a keyword that connects layers.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[schemars(rename = "Layer", transform = allow_bare)]
pub(crate) enum FileLayer {
    /// `y = x·W + b` on the flattened input.
    Dense(Dense),
    /// Cross-correlation.
    Conv2d(Conv2d),
    /// Maximum of each square window.
    MaxPool(Pool),
    /// Mean of each square window, without padding.
    AveragePool(Pool),
    /// Divides the remaining values by `1 - rate` in training; does nothing in evaluations.
    Dropout {
        /// Share of values to drop.
        rate: f32,
    },
    /// Normalization per channel over batch and pixels.
    BatchNorm {
        #[serde(default = "small")]
        epsilon: f32,
        /// Share of the running averages that is kept in each step, as in Keras.
        #[serde(default = "most")]
        momentum: f32,
        /// True to train the scale; otherwise it stays 1.
        #[serde(default = "yes")]
        trained_scale: bool,
        #[serde(default = "identity")]
        activation: Activation,
        #[serde(default)]
        bias_multipliers: Multipliers,
    },
    /// Normalization per pixel over channels.
    LayerNorm {
        #[serde(default = "small")]
        epsilon: f32,
        #[serde(default = "yes")]
        bias: bool,
        #[serde(default)]
        scale_multipliers: Multipliers,
        #[serde(default)]
        bias_multipliers: Multipliers,
    },
    /// `x / (bias + alpha·Σ x²)^beta`, the sum over the channels at most `radius` away.
    LocalResponseNorm { radius: u32, bias: f32, alpha: f32, beta: f32 },
    /// Each row of the input is a sequence of its columns; the last hidden state is the output. Gates of Keras 2.
    Lstm {
        units: u32,
        #[serde(default = "orthogonal")]
        recurrent_initializer: Initializer,
    },
    /// Same as `lstm`, with the GRU gates of Keras 3 and cuDNN: the reset gate applies to the products with the state
    /// (`reset_after`).
    Gru(Recurrent),
    /// Same as `lstm`, without gates.
    SimpleRnn(Recurrent),
    /// Vectors of the words of a story, or of the characters of a text. Always reads the sample, at any position in the
    /// network.
    Embedding {
        /// Number of values in the vector of a word.
        units: u32,
        /// Index of the first word to read in a sample.
        #[serde(default)]
        first: u32,
        /// Number of words to read. Default: all from the first on.
        count: Option<u32>,
        /// True if word 0, the padding, has a zero vector.
        #[serde(default)]
        zero_padding: bool,
        #[serde(default = "word_vectors")]
        initializer: Initializer,
        /// Label of an earlier embedding to share vectors with.
        shares: Option<String>,
    },
    /// Adds a learned value to each pixel and channel.
    PositionEmbedding {
        #[serde(default = "word_vectors")]
        initializer: Initializer,
    },
    /// `softmax(q·kᵀ/√d)·v` among the pixels of a sample; the input's channels are q, k and v.
    Attention {
        heads: u32,
        /// True if a pixel attends only to itself and earlier pixels.
        #[serde(default)]
        causal: bool,
    },
    /// Sum with the output stored under a label, which may have a single pixel.
    Add {
        /// Label of the output to add.
        with: String,
        #[serde(default = "identity")]
        activation: Activation,
    },
    /// Appends the channels stored under a label to the previous layer's channels.
    Concatenate {
        /// Label of the other input.
        with: String,
    },
    /// Products of each pixel with each pixel of the output stored under a label: pixels × pixels.
    PixelProducts {
        /// Label of the other input.
        with: String,
    },
    /// Sums of every `words` consecutive pixels, weighted by position.
    SentenceSum { words: u32 },
    /// Similarity of each pixel to each word: its products with the words' vectors.
    WordScores {
        #[serde(default = "word_vectors")]
        initializer: Initializer,
        /// Label of an earlier embedding to share vectors with.
        shares: Option<String>,
    },
    /// Softmax over the channels of each pixel.
    Softmax {
        /// Share of the training, 0 to 1, during which the input passes through unchanged.
        #[serde(default)]
        linear_until: f64,
    },
    /// Swaps pixels and channels.
    Transpose,
    /// Flattens all values to a vector; `dense` flattens without it.
    Flatten,
    /// ReLU activation of the previous layer, which must support activations.
    Relu,
    /// Tanh activation of the previous layer, which must support activations.
    Tanh,
    /// GELU activation of the previous layer, which must support activations.
    Gelu,
    /// Stores the output of the previous layer under this name.
    Label(String),
    /// Makes the next layer read the output stored under this name, or the sample, named `data`.
    From(String),
}

fn allow_bare(schema: &mut Schema) {
    if let Some(Value::Array(layers)) = schema.get_mut("oneOf") {
        layers.push(json!({ "description": "With every option left out.", "type": "string", "enum": BARE }));
    }
}

/// Defines a layer with a kernel, a bias and an activation, which have the same options in every such layer. (A nested
/// struct would not do: serde then accepts unknown fields.)
macro_rules! layer_with_kernel {
    ($name:ident { $($own:tt)* }) => {
        #[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct $name {
            $($own)*
            #[serde(default = "identity")]
            pub(crate) activation: Activation,
            #[serde(default = "glorot_uniform")]
            pub(crate) kernel_initializer: Initializer,
            #[serde(default = "yes")]
            pub(crate) bias: bool,
            #[serde(default = "zeros")]
            pub(crate) bias_initializer: Initializer,
            #[serde(default)]
            pub(crate) kernel_multipliers: Multipliers,
            #[serde(default)]
            pub(crate) bias_multipliers: Multipliers,
        }

        impl $name {
            pub(crate) fn weights(&self) -> Weights {
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
    pub(crate) units: u32,
});

layer_with_kernel!(Conv2d {
    pub(crate) filters: u32,
    /// Side of the square, or height and width.
    pub(crate) kernel_size: KernelSize,
    #[serde(default = "one")]
    pub(crate) stride: u32,
    #[serde(default = "no_padding")]
    pub(crate) padding: Padding,
});

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pool {
    /// Side of the square window.
    pub(crate) size: u32,
    /// Distance between windows. Default: the size.
    pub(crate) stride: Option<u32>,
    /// Padding on each side, excluded from the result of every window.
    #[serde(default)]
    pub(crate) padding: u32,
    #[serde(default = "floor")]
    pub(crate) rounding: Rounding,
    #[serde(default = "identity")]
    pub(crate) activation: Activation,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Recurrent {
    pub(crate) units: u32,
    /// `tanh` or `relu`.
    #[serde(default = "tanh")]
    pub(crate) activation: Activation,
    #[serde(default = "orthogonal")]
    pub(crate) recurrent_initializer: Initializer,
}

/// Defines functions that return the defaults of options.
macro_rules! defaults {
    ($($name:ident: $type:ty = $value:expr;)*) => {
        $(const fn $name() -> $type {
            $value
        })*
    };
}

defaults! {
    yes: bool = true;
    usual_epochs: u32 = 10;
    one: u32 = 1;
    small: f32 = 1e-5;
    most: f32 = 0.9;
    tanh: Activation = Activation::Tanh;
    identity: Activation = Activation::Identity;
    no_padding: Padding = Padding::Valid;
    floor: Rounding = Rounding::Floor;
    glorot_uniform: Initializer = Initializer::GlorotUniform;
    orthogonal: Initializer = Initializer::Orthogonal;
    zeros: Initializer = Initializer::Constant { value: 0.0 };
    word_vectors: Initializer = Initializer::Uniform { limit: 0.05 };
}

/// Parses the layers of a file, each a name with options or a bare name.
fn layers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<FileLayer>, D::Error> {
    #[derive(Deserialize)]
    #[serde(transparent)]
    struct ListedLayer(#[serde(deserialize_with = "layer")] FileLayer);

    let layers: Vec<ListedLayer> = Vec::deserialize(deserializer)?;
    Ok(layers.into_iter().map(|ListedLayer(layer)| layer).collect())
}

fn layer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<FileLayer, D::Error> {
    deserializer.deserialize_any(LayerVisitor)
}

struct LayerVisitor;

impl<'de> Visitor<'de> for LayerVisitor {
    type Value = FileLayer;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a layer")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<FileLayer, E> {
        let word = FileLayer::deserialize(json!(name));
        // A layer with every option left out.
        word.or_else(|_| FileLayer::deserialize(json!({ name: {} }))).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<FileLayer, A::Error> {
        let layer = FileLayer::deserialize(MapAccessDeserializer::new(&mut map))?;
        match map.next_key::<String>()? {
            None => Ok(layer),
            Some(other) => Err(A::Error::custom(format_args!("`{other}` needs its own braces: a layer has one name"))),
        }
    }
}
