//! What a workload's file may say. What the engine has as data is read as the engine's own types.

use std::borrow::Cow;
use std::{fmt, iter};

use engine::{
    Activation, DATA_SETS, EarlyStopping, Edge, Flip, Initializer, KernelSize, Loss, Multipliers, Normalization,
    Optimizer, Padding, Rounding, Shift, TrainingRange, WeightAverage, Weights,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema, schema_for};
use serde::de::value::{EnumAccessDeserializer, MapDeserializer};
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, VariantAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A network of one's own with its data set and its recipe, for `native-runner --workload-file` (docs/WORKLOADS.md).
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Gradmark workload")]
pub(crate) struct Definition {
    /// Where the JSON Schema of this file is, for editors; nothing else reads it.
    #[serde(default, rename = "$schema")]
    _schema: Option<String>,
    /// Of small letters, digits and hyphens; none that a built-in workload has.
    #[schemars(regex(pattern = "^[a-z][a-z0-9-]*$"), length(max = 40))]
    pub(crate) name: String,
    /// One line.
    #[serde(default)]
    pub(crate) title: String,
    /// What it is and where it comes from.
    #[serde(default)]
    pub(crate) description: String,
    /// One that `native-runner data-sets` lists.
    pub(crate) data_set: DataSetName,
    /// Samples of the training file to train on; the others are held out. Without it, all are trained on.
    #[serde(default)]
    pub(crate) training_samples: Option<TrainingRange>,
    /// Samples in a batch.
    pub(crate) batch_size: u32,
    /// What happens where the batch size does not divide the set.
    #[serde(default)]
    pub(crate) last_batch: LastBatch,
    /// Whether each epoch has an order of its own; otherwise it is that of the file.
    #[serde(default = "yes")]
    pub(crate) shuffle: bool,
    /// Epochs over which schedules are spread where a run has no `--epochs` or `--steps`. How long a run is, it says itself.
    #[serde(default = "usual_epochs")]
    pub(crate) epochs: u32,
    /// Share of the test set, 0 to 1, whose first sighting is the time to accuracy. Without it, 1: the whole.
    #[serde(default)]
    pub(crate) target_accuracy: Option<f64>,
    /// How often the test set is looked at in each epoch, evenly spread.
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
    /// By the samples that are held out.
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
    /// What does not fill a batch is left out.
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
    /// What lies beyond the edges of an image.
    pub(crate) edge: Edge,
    /// Left and right, in training.
    pub(crate) flip: Flip,
    /// In training.
    pub(crate) shift: Shift,
    /// Brightness changes by at most this, in training, where each image is normalised.
    pub(crate) brightness: f32,
    /// Contrast is multiplied by a factor from this range, in training, where each image is normalised.
    pub(crate) contrast: Option<(f32, f32)>,
    /// What tests look at.
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

const fn yes() -> bool {
    true
}

const fn once() -> u32 {
    1
}

const fn usual_epochs() -> u32 {
    10
}

/// What editors check such a file with.
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

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pool {
    /// Side of the square.
    pub(crate) size: u32,
    /// Without it, the size.
    #[serde(default)]
    pub(crate) stride: Option<u32>,
    /// Elements on each side that are in no window's result.
    #[serde(default)]
    pub(crate) padding: u32,
    #[serde(default = "floor")]
    pub(crate) rounding: Rounding,
    #[serde(default = "identity")]
    pub(crate) activation: Activation,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Dropout {
    /// Share that is dropped.
    pub(crate) rate: f32,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BatchNorm {
    #[serde(default = "small")]
    pub(crate) epsilon: f32,
    /// Share of the running averages that stays in each step, as in Keras.
    #[serde(default = "most")]
    pub(crate) momentum: f32,
    /// Otherwise the scale stays 1.
    #[serde(default = "yes")]
    pub(crate) trained_scale: bool,
    #[serde(default = "identity")]
    pub(crate) activation: Activation,
    #[serde(default)]
    pub(crate) bias_multipliers: Multipliers,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LayerNorm {
    #[serde(default = "small")]
    pub(crate) epsilon: f32,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LocalResponseNorm {
    pub(crate) radius: u32,
    pub(crate) bias: f32,
    pub(crate) alpha: f32,
    pub(crate) beta: f32,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lstm {
    pub(crate) units: u32,
    #[serde(default = "orthogonal")]
    pub(crate) recurrent_initializer: Initializer,
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

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Embedding {
    /// Values of a word's vector.
    pub(crate) units: u32,
    /// Place of the first word that is read in a sample.
    #[serde(default)]
    pub(crate) first: u32,
    /// Words that are read; without it, all from the first on.
    #[serde(default)]
    pub(crate) count: Option<u32>,
    /// Whether word 0, which fills up, has a vector of zeros.
    #[serde(default)]
    pub(crate) zero_padding: bool,
    #[serde(default = "word_vectors")]
    pub(crate) initializer: Initializer,
    /// The label of an earlier embedding whose vectors are these as well.
    #[serde(default)]
    pub(crate) shares: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PositionEmbedding {
    #[serde(default = "word_vectors")]
    pub(crate) initializer: Initializer,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Attention {
    pub(crate) heads: u32,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Add {
    /// A label.
    pub(crate) with: String,
    #[serde(default = "identity")]
    pub(crate) activation: Activation,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct With {
    /// A label.
    pub(crate) with: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SentenceSum {
    pub(crate) words: u32,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WordScores {
    #[serde(default = "word_vectors")]
    pub(crate) initializer: Initializer,
    /// The label of an earlier embedding whose vectors are these as well.
    #[serde(default)]
    pub(crate) shares: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Softmax {
    /// Share of the training, 0 to 1, in which it passes what it reads.
    #[serde(default)]
    pub(crate) linear_until: f64,
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

/// Reads the layers of a file.
pub(crate) fn layers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Layer>, D::Error> {
    let layers: Vec<Listed> = Vec::deserialize(deserializer)?;
    Ok(layers.into_iter().map(|Listed(layer)| layer).collect())
}

struct Listed(Layer);

impl<'de> Deserialize<'de> for Listed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_enum("Layer", &[], LayerVisitor).map(Self)
    }
}

struct LayerVisitor;

impl<'de> Visitor<'de> for LayerVisitor {
    type Value = Layer;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a layer")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<Layer, A::Error> {
        Layer::deserialize(EnumAccessDeserializer::new(Bare(access)))
    }
}

/// Reads no options where a name stands alone.
struct Bare<A>(A);

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for Bare<A> {
    type Error = A::Error;
    type Variant = Bare<A::Variant>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self::Variant), A::Error> {
        let (name, options) = self.0.variant_seed(seed)?;
        Ok((name, Bare(options)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Bare<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.unit_variant()
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, A::Error> {
        let mut seed = Some(seed);
        let read = self.0.newtype_variant_seed(Once(&mut seed));
        match seed {
            // There was nothing to read options from.
            Some(seed) => seed.deserialize(MapDeserializer::<_, A::Error>::new(iter::empty::<(&str, &str)>())),
            None => read,
        }
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.0.tuple_variant(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.0.struct_variant(fields, visitor)
    }
}

/// Takes the seed when it is used.
struct Once<'a, T>(&'a mut Option<T>);

impl<'de, T: DeserializeSeed<'de>> DeserializeSeed<'de> for Once<'_, T> {
    type Value = T::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T::Value, D::Error> {
        self.0.take().expect("a value is read once").deserialize(deserializer)
    }
}
