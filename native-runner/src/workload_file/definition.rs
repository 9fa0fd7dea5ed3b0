//! Format of a workload file. Types that the engine defines are used directly.

use std::borrow::Cow;
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

/// A network of one's own with its data set and its recipe, for `native-runner --workload-file` (docs/WORKLOADS.md).
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Gradmark workload")]
pub(crate) struct Definition {
    /// Address of this file's JSON Schema, for editors; not read otherwise.
    #[serde(default, rename = "$schema")]
    _schema: Option<String>,
    /// Of small letters, digits and hyphens; none that a built-in workload has.
    #[schemars(regex(pattern = "^[a-z][a-z0-9-]*$"), length(max = 40))]
    pub(crate) name: String,
    /// One line.
    #[serde(default)]
    pub(crate) title: String,
    /// Description and source of the workload.
    #[serde(default)]
    pub(crate) description: String,
    /// One that `native-runner data-sets` lists.
    pub(crate) data_set: DataSetName,
    /// Samples of the training file to train on. By default, all of them.
    #[serde(default)]
    pub(crate) training_samples: Option<TrainingRange>,
    /// Samples in a batch.
    pub(crate) batch_size: u32,
    /// Treatment of the last batch if the batch size does not divide the set.
    #[serde(default)]
    pub(crate) last_batch: LastBatch,
    /// True to shuffle each epoch; false to keep the order of the file.
    #[serde(default = "yes")]
    pub(crate) shuffle: bool,
    /// Epochs over which schedules are spread where a run has no `--epochs` or `--steps`. How long a run is, it says itself.
    #[serde(default = "usual_epochs")]
    pub(crate) epochs: u32,
    /// Share of the test set, 0 to 1, whose first sighting is the time to accuracy. Without it, 1: the whole.
    #[serde(default)]
    pub(crate) target_accuracy: Option<f64>,
    /// Tests per epoch, evenly spread.
    #[serde(default = "once")]
    pub(crate) evaluations_per_epoch: u32,
    /// From the bytes of a sample to what the network sees.
    #[serde(default)]
    pub(crate) preprocessing: Preprocessing,
    pub(crate) optimizer: Optimizer,
    /// Softmax cross-entropy, with its variations.
    #[serde(default)]
    pub(crate) loss: Loss,
    /// A second set of weights that follows the trained ones.
    #[serde(default)]
    pub(crate) average: Option<WeightAverage>,
    /// Early stopping on the samples that are not trained on.
    #[serde(default)]
    pub(crate) early_stopping: Option<EarlyStopping>,
    /// Each reads the one before it; the last makes the logits, one for each class.
    #[serde(deserialize_with = "layers")]
    #[schemars(length(min = 1, max = 1024))]
    pub(crate) layers: Vec<Layer>,
}

/// One of the data sets.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct DataSetName(pub(crate) String);

impl JsonSchema for DataSetName {
    fn schema_name() -> Cow<'static, str> {
        "DataSet".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": DATA_SETS.iter().map(|set| set.name.as_str()).collect::<Vec<_>>() })
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LastBatch {
    /// The last batch of an epoch is short.
    #[default]
    Short,
    /// Samples that do not fill a batch are left out.
    Drop,
    /// Batches run across the end of the set into its beginning; not with `shuffle`.
    Wrap,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Preprocessing {
    /// A byte becomes `byte / divisor`. Without it, 255, and 1 for stories, whose bytes are words.
    pub(crate) divisor: Option<f32>,
    pub(crate) normalization: Normalization,
    /// Side of the square that the network sees: the middle of the image, or the image with a border. Without it, the image.
    pub(crate) image_size: Option<u32>,
    /// Pixels beyond the edges of an image.
    pub(crate) edge: Edge,
    /// Left and right, in training.
    pub(crate) flip: Flip,
    /// In training.
    pub(crate) shift: Shift,
    /// Brightness changes by at most this, in training, where each image is normalised.
    pub(crate) brightness: f32,
    /// Contrast is multiplied by a factor from this range, in training, where each image is normalised.
    pub(crate) contrast: Option<(f32, f32)>,
    /// Views of each image in tests.
    pub(crate) test_views: TestViews,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TestViews {
    /// The sample.
    #[default]
    Plain,
    /// The sample and its mirror image with half of the weight, and both moved by a pixel, each way, with the other half.
    MirroredAndMoved,
}

/// Returns the schema with which editors check such a file.
pub(crate) fn schema() -> Schema {
    schema_for!(Definition)
}

/// Layers whose options may all be left out, and with them the braces.
const BARE: [&str; 5] = ["batch_norm", "layer_norm", "position_embedding", "word_scores", "softmax"];

/// A layer with its options, or one of the words that say how layers are joined.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(transform = allow_bare)]
pub(crate) enum Layer {
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
    /// Appends the channels kept under a label to the previous layer's channels.
    Concatenate(With),
    /// Products of each pixel with each pixel of what was kept under a label: pixels × pixels.
    PixelProducts(With),
    /// Each `words` pixels that follow each other are added up, weighted by their places.
    SentenceSum(SentenceSum),
    /// Similarity of the input to each word: its products with the words' vectors.
    WordScores(WordScores),
    /// Over the channels of each pixel.
    Softmax(Softmax),
    /// Pixels become channels, and channels pixels.
    Transpose,
    /// A vector of all values; `dense` flattens without it.
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

/// A layer with a kernel, a bias and an activation, which a file says alike of each. (Fields of a struct within it would not do:
/// serde then lets unknown ones pass.)
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

/// Defines the options of layers. (A struct in a struct would not do: serde then lets unknown fields pass.)
macro_rules! options {
    ($($name:ident { $($(#[$meta:meta])* $field:ident: $type:ty,)* })*) => {$(
        #[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct $name {
            $($(#[$meta])* pub(crate) $field: $type,)*
        }
    )*};
}

options! {
    Pool {
        /// Side of the square.
        size: u32,
        /// Without it, the size.
        #[serde(default)]
        stride: Option<u32>,
        /// Elements on each side that are in no window's result.
        #[serde(default)]
        padding: u32,
        #[serde(default = "floor")]
        rounding: Rounding,
        #[serde(default = "identity")]
        activation: Activation,
    }
    Dropout {
        /// Share that is dropped.
        rate: f32,
    }
    BatchNorm {
        #[serde(default = "small")]
        epsilon: f32,
        /// Share of the running averages that stays in each step, as in Keras.
        #[serde(default = "most")]
        momentum: f32,
        /// Otherwise the scale stays 1.
        #[serde(default = "yes")]
        trained_scale: bool,
        #[serde(default = "identity")]
        activation: Activation,
        #[serde(default)]
        bias_multipliers: Multipliers,
    }
    LayerNorm {
        #[serde(default = "small")]
        epsilon: f32,
    }
    LocalResponseNorm {
        radius: u32,
        bias: f32,
        alpha: f32,
        beta: f32,
    }
    Lstm {
        units: u32,
        #[serde(default = "orthogonal")]
        recurrent_initializer: Initializer,
    }
    Recurrent {
        units: u32,
        /// `tanh` or `relu`.
        #[serde(default = "tanh")]
        activation: Activation,
        #[serde(default = "orthogonal")]
        recurrent_initializer: Initializer,
    }
    Embedding {
        /// Values of a word's vector.
        units: u32,
        /// Place of the first word that is read in a sample.
        #[serde(default)]
        first: u32,
        /// Words that are read; without it, all from the first on.
        #[serde(default)]
        count: Option<u32>,
        /// True if word 0, the padding, has a vector of zeros.
        #[serde(default)]
        zero_padding: bool,
        #[serde(default = "word_vectors")]
        initializer: Initializer,
        /// The label of an earlier embedding whose vectors are these as well.
        #[serde(default)]
        shares: Option<String>,
    }
    PositionEmbedding {
        #[serde(default = "word_vectors")]
        initializer: Initializer,
    }
    Attention {
        heads: u32,
    }
    Add {
        /// A label.
        with: String,
        #[serde(default = "identity")]
        activation: Activation,
    }
    With {
        /// A label.
        with: String,
    }
    SentenceSum {
        words: u32,
    }
    WordScores {
        #[serde(default = "word_vectors")]
        initializer: Initializer,
        /// The label of an earlier embedding whose vectors are these as well.
        #[serde(default)]
        shares: Option<String>,
    }
    Softmax {
        /// Share of the training, 0 to 1, in which it passes what it reads.
        #[serde(default)]
        linear_until: f64,
    }
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
    once: u32 = 1;
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

/// Reads the layers of a file, each a name with its options, or a name alone.
pub(crate) fn layers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Layer>, D::Error> {
    let layers: Vec<Listed> = Vec::deserialize(deserializer)?;
    Ok(layers.into_iter().map(|Listed(layer)| layer).collect())
}

struct Listed(Layer);

impl<'de> Deserialize<'de> for Listed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LayerVisitor).map(Self)
    }
}

struct LayerVisitor;

impl<'de> Visitor<'de> for LayerVisitor {
    type Value = Layer;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a layer")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Layer, E> {
        let word = Layer::deserialize(json!(name));
        // A layer with every option left out.
        word.or_else(|_| Layer::deserialize(json!({ name: {} }))).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Layer, A::Error> {
        let layer = Layer::deserialize(MapAccessDeserializer::new(&mut map))?;
        match map.next_key::<String>()? {
            None => Ok(layer),
            Some(other) => Err(A::Error::custom(format_args!("`{other}` needs its own braces: a layer has one name"))),
        }
    }
}
