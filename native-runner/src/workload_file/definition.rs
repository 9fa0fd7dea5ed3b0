//! What a workload's file may say. What the engine has as data is read as the engine's own types.

use std::borrow::Cow;

use engine::{
    DATA_SETS, EarlyStopping, Edge, Flip, Loss, Normalization, Optimizer, Shift, TrainingRange, WeightAverage,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema, schema_for};
use serde::{Deserialize, Serialize};

use super::layers::Layer;

/// A network of one's own with its data set and its recipe, for `native-runner --workload-file` (docs/WORKLOADS.md).
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Gradmark workload")]
pub(super) struct Definition {
    /// Where the JSON Schema of this file is, for editors; nothing else reads it.
    #[serde(default, rename = "$schema")]
    _schema: Option<String>,
    /// Of small letters, digits and hyphens; none that a built-in workload has.
    #[schemars(regex(pattern = "^[a-z][a-z0-9-]*$"), length(max = 40))]
    pub(super) name: String,
    /// One line.
    #[serde(default)]
    pub(super) title: String,
    /// What it is and where it comes from.
    #[serde(default)]
    pub(super) description: String,
    /// One that `native-runner data-sets` lists.
    pub(super) data_set: DataSetName,
    /// Samples of the training file to train on; the others are held out. Without it, all are trained on.
    #[serde(default)]
    pub(super) training_samples: Option<TrainingRange>,
    /// Samples in a batch.
    pub(super) batch_size: u32,
    /// What happens where the batch size does not divide the set.
    #[serde(default)]
    pub(super) last_batch: LastBatch,
    /// Whether each epoch has an order of its own; otherwise it is that of the file.
    #[serde(default = "yes")]
    pub(super) shuffle: bool,
    /// Epochs over which schedules are spread where a run has no `--epochs` or `--steps`. How long a run is, it says itself.
    #[serde(default = "usual_epochs")]
    pub(super) epochs: u32,
    /// Share of the test set, 0 to 1, whose first sighting is the time to accuracy. Without it, 1: the whole.
    #[serde(default)]
    pub(super) target_accuracy: Option<f64>,
    /// How often the test set is looked at in each epoch, evenly spread.
    #[serde(default = "once")]
    pub(super) evaluations_per_epoch: u32,
    /// From the bytes of a sample to what the network sees.
    #[serde(default)]
    pub(super) preprocessing: Preprocessing,
    pub(super) optimizer: Optimizer,
    /// Softmax cross-entropy, with its variations.
    #[serde(default)]
    pub(super) loss: Loss,
    /// A second set of weights that follows the trained ones.
    #[serde(default)]
    pub(super) average: Option<WeightAverage>,
    /// By the samples that are held out.
    #[serde(default)]
    pub(super) early_stopping: Option<EarlyStopping>,
    /// Each reads the one before it; the last makes the logits, one for each class.
    #[serde(deserialize_with = "super::bare::layers")]
    #[schemars(length(min = 1, max = 1024))]
    pub(super) layers: Vec<Layer>,
}

/// One of the data sets.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct DataSetName(pub(super) String);

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
pub(super) enum LastBatch {
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
pub(super) struct Preprocessing {
    /// A byte becomes `byte / divisor`. Without it, 255, and 1 for stories, whose bytes are words.
    pub(super) divisor: Option<f32>,
    pub(super) normalization: Normalization,
    /// Side of the square that the network sees: the middle of the image, or the image with a border. Without it, the image.
    pub(super) image_size: Option<u32>,
    /// What lies beyond the edges of an image.
    pub(super) edge: Edge,
    /// Left and right, in training.
    pub(super) flip: Flip,
    /// In training.
    pub(super) shift: Shift,
    /// Brightness changes by at most this, in training, where each image is normalised.
    pub(super) brightness: f32,
    /// Contrast is multiplied by a factor from this range, in training, where each image is normalised.
    pub(super) contrast: Option<(f32, f32)>,
    /// What tests look at.
    pub(super) test_views: TestViews,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum TestViews {
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
