//! Registries of workloads and suites.

mod gtdlbench;
mod imagenet;
mod keras;
mod language;
mod memory;
mod modern;
mod open;

use std::sync::Arc;

use results::{Goal, WorkloadRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use crate::data::{DataSet, DataSetDefinition, SplitDefinition, data_set};
use crate::error::EngineError;
use crate::model::{
    Activation, Cell, KernelSize, Layer, Model, ModelError, Multipliers, Padding, PoolKind, Rounding, Shape, Weights,
};
use crate::training::{
    BatchPlan, Batching, EarlyStopping, Flip, InputRecipe, Loss, Optimizer, Rule, SampleOrder, Segments, TrainingJob,
    WeightAverage,
};
pub use open::{MAX_TEST_FLOPS, OPEN, OpenRefusal};

/// Network with its data set and published training recipe.
#[derive(Clone, Debug, Serialize)]
pub struct Workload {
    pub name: &'static str,
    pub title: &'static str,
    /// Description, source, and all deliberate differences from it.
    pub description: &'static str,
    pub data_set: &'static str,
    /// Range of training samples, unless the whole file is used.
    pub training: Option<TrainingRange>,
    pub model: Model,
    pub input: InputRecipe,
    pub loss: Loss,
    pub optimizer: Optimizer,
    pub average: Option<WeightAverage>,
    pub early_stopping: Option<EarlyStopping>,
    /// Smaller network with the same kinds of layers, for checks that would take minutes. Not part of the recipe.
    #[serde(skip)]
    pub reduced: Option<Model>,
    pub batch_size: u32,
    pub order: SampleOrder,
    pub batching: Batching,
    /// Epochs of the published recipe, which learning rate schedules span.
    pub published_epochs: u32,
    #[serde(flatten, serialize_with = "serialize_target")]
    pub target: Goal,
    /// Number of evenly spaced evaluations per epoch, the last one at its end.
    pub evaluations_per_epoch: u32,
    /// Relative tolerance for early losses, compared with the reference.
    pub loss_tolerance: f64,
}

/// Training samples of the file; the others are not trained on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrainingRange {
    pub first: u32,
    pub samples: u32,
}

impl Workload {
    /// Creates a workload with the most common settings as defaults.
    fn recipe(data_set: &'static str, model: Model, optimizer: Optimizer) -> Self {
        Self {
            name: model.name,
            title: "",
            description: "",
            data_set,
            training: None,
            model,
            input: InputRecipe::scaled(255.0),
            loss: Loss::default(),
            optimizer,
            average: None,
            early_stopping: None,
            reduced: None,
            batch_size: 128,
            order: SampleOrder::Shuffled,
            batching: Batching::ShortLast,
            published_epochs: 20,
            target: Goal::Accuracy(0.97),
            evaluations_per_epoch: 2,
            loss_tolerance: 1e-3,
        }
    }

    /// Returns true for a text, whose loss is also shown in bits per character.
    pub fn reads_text(&self) -> bool {
        self.data_set_definition().is_text()
    }

    pub(crate) fn data_set_definition(&self) -> &'static DataSetDefinition {
        data_set(self.data_set).expect("tests check that every workload has a known data set")
    }

    pub fn is_built_in(&self) -> bool {
        WORKLOADS.iter().any(|make| make().name == self.name)
    }

    pub fn is_provable(&self) -> bool {
        self.proof_obstacle().is_none()
    }

    /// Returns the reason that a leaderboard cannot prove the training.
    pub fn proof_obstacle(&self) -> Option<ProofObstacle> {
        let is_large = || self.bytes_of_state().is_ok_and(|parts| parts.iter().sum::<u64>() > MAX_STATE_BYTES);
        match self.input.augmentation.flip {
            Flip::Alternating => Some(ProofObstacle::AlternatingImages),
            _ => is_large().then_some(ProofObstacle::LargeStates),
        }
    }

    /// Returns the bytes of the weights in a state, and of the optimizer's memories and averages.
    pub fn bytes_of_state(&self) -> Result<[u64; 2], ModelError> {
        let weights: u64 = self.model.tensors()?.iter().map(|tensor| BYTES_PER_NUMBER * tensor.elements() as u64).sum();
        let memories = self.optimizer.rule.states() + usize::from(self.average.is_some());
        Ok([weights, memories as u64 * weights])
    }

    /// Returns the definition for a record, unless the network is built in.
    pub fn described(&self) -> Option<serde_json::Value> {
        // Converts through text, which keeps the short decimal form of 32-bit numbers.
        let described = || serde_json::from_str(&serde_json::to_string(self).ok()?).ok();
        if self.is_built_in() { None } else { described() }
    }

    #[cfg(test)]
    #[must_use]
    pub(crate) fn reduced(mut self) -> Self {
        if let Some(model) = self.reduced.take() {
            self.model = model;
        }
        self
    }

    /// Returns the workload as in golden traces: Glorot weights, pixels / 255, file order, no averages or early stop.
    #[must_use]
    pub fn with_trace_conventions(mut self) -> Self {
        self.model = self.model.with_glorot_weights();
        // Word numbers are not scaled.
        let reads_words = self.model.nodes.iter().any(|node| matches!(node.layer, Layer::Embedding { .. }));
        self.input = InputRecipe::scaled(if reads_words { 1.0 } else { 255.0 });
        self.order = SampleOrder::File;
        self.training = None;
        self.average = None;
        self.early_stopping = None;
        self
    }

    /// Returns the job of the recipe, for as many epochs as were published.
    pub(crate) fn job(&self, data: Arc<DataSet>, batches: BatchPlan, seed: u32) -> TrainingJob {
        TrainingJob {
            model: self.model.clone(),
            data,
            input: self.input,
            loss: self.loss,
            optimizer: self.optimizer.clone(),
            average: self.average,
            early_stopping: self.early_stopping,
            batches,
            planned_steps: batches.steps_of_epochs(self.published_epochs),
            seed,
            dropout: true,
            segments: Segments::default(),
        }
    }

    /// Estimates the bytes of the network and the data set, for backends without predictions.
    pub fn bytes_of_layers(&self, batch_size: u32) -> Result<u64, ModelError> {
        let set = self.data_set_definition();
        let bytes = |split: SplitDefinition| u64::from(split.samples) * u64::from(split.features());
        Ok(self.bytes_of_network(batch_size)? + bytes(set.train) + bytes(set.test))
    }

    /// Estimates the bytes of weights, optimizer state and a batch's activations, with the gradients of both.
    pub fn bytes_of_network(&self, batch_size: u32) -> Result<u64, ModelError> {
        let model = &self.model;
        let shapes = model.shapes()?;
        let made = model.nodes.iter().zip(&shapes).map(|(node, output)| {
            let Some((cell, units, _)) = node.layer.recurrent() else { return u64::from(output.features()) };
            // Numbers kept per unit and step.
            let numbers = match cell {
                // Four gates, cell and output.
                Cell::Lstm => 6,
                // Three gates, three products with the state, and output.
                Cell::Gru(_) => 7,
                // Output, twice.
                Cell::SimpleRnn(_) => 2,
            };
            let steps = model.shape_of(node.inputs[0], &shapes).pixels();
            u64::from(steps) * u64::from(units) * numbers
        });
        let activations: u64 = made.sum::<u64>() + u64::from(model.input.features());
        let weights = model.parameters()?;
        let batch = u64::from(batch_size) * activations * COPIES_PER_ACTIVATION;
        Ok(BYTES_PER_NUMBER * (weights * COPIES_PER_WEIGHT + batch))
    }

    /// Returns the size of the test set. Every evaluation uses all of it.
    pub fn test_samples(&self) -> u32 {
        let set = self.data_set_definition();
        set.samples_for(self.model.input.features(), set.test.samples)
    }

    /// Assigns samples of the training file to steps. Fails if the batch is empty or larger than the training set.
    pub fn batches(&self, file_samples: u32, batch_size: u32) -> Result<BatchPlan, EngineError> {
        let file_samples = self.data_set_definition().samples_for(self.model.input.features(), file_samples);
        let all = TrainingRange { first: 0, samples: file_samples };
        let TrainingRange { first, mut samples } = self.training.unwrap_or(all);
        if let SampleOrder::Drawn { per_epoch } = self.order {
            samples = per_epoch;
        }
        if batch_size == 0 || batch_size > samples {
            let allowed = format!("from 1 to {samples}, the training samples of {}", self.data_set);
            return Err(EngineError::invalid("the batch size", allowed, batch_size));
        }
        Ok(BatchPlan { first, samples, batch_size, order: self.order, batching: self.batching })
    }
}

/// All workloads. To add one, write its function and list it here.
pub const WORKLOADS: &[fn() -> Workload] = &[
    keras::mnist_mlp,
    keras::mnist_cnn,
    keras::cifar10_cnn,
    keras::mnist_hrnn,
    keras::babi_rnn,
    keras::babi_memnn,
    memory::babi,
    gtdlbench::tensorflow_mnist,
    gtdlbench::tensorflow_cifar10,
    gtdlbench::caffe_mnist,
    gtdlbench::caffe_cifar10,
    gtdlbench::torch_mnist,
    gtdlbench::torch_cifar10,
    gtdlbench::theano_mnist,
    gtdlbench::theano_cifar10,
    modern::resnet20_cifar10,
    modern::transformer_cifar10,
    modern::airbench94,
    imagenet::resnet50,
    imagenet::inception_v3,
    language::gpt_nano,
    language::gpt_small,
];

/// Serializes a goal under the names that workloads have for it.
fn serialize_target<S: Serializer>(goal: &Goal, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map([(format!("target_{}", goal.name()), goal.number())])
}

pub fn workload(name: &str) -> Option<Workload> {
    WORKLOADS.iter().map(|make| make()).find(|w| w.name == name)
}

/// Versioned list of workloads with a budget. Scores of different versions are never compared.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SuiteDefinition {
    pub name: &'static str,
    pub version: u32,
    pub description: &'static str,
    pub workloads: &'static [&'static str],
    /// Number of epochs per workload, unless `training_seconds` elapse first.
    pub epochs: u32,
    pub training_seconds: f64,
}

/// All suites; the first is the default.
pub const SUITES: &[SuiteDefinition] = &[
    SuiteDefinition {
        name: "quick",
        version: 1,
        description: "Two classic MNIST networks, two epochs each or half a minute of training, whichever is shorter.",
        workloads: &["keras-mnist-mlp", "caffe-mnist"],
        epochs: 2,
        training_seconds: 30.0,
    },
    SuiteDefinition {
        name: "complete",
        version: 1,
        description: "Every network, from perceptrons to a transformer, one epoch each or half a minute of training, \
                      whichever is shorter.",
        workloads: &[
            "keras-mnist-mlp",
            "keras-mnist-cnn",
            "keras-cifar10-cnn",
            "keras-mnist-hrnn",
            "keras-babi-rnn",
            "tensorflow-mnist",
            "tensorflow-cifar10",
            "caffe-mnist",
            "caffe-cifar10",
            "torch-mnist",
            "torch-cifar10",
            "theano-mnist",
            "theano-cifar10",
            "resnet20-cifar10",
            "transformer-cifar10",
            "airbench94",
        ],
        epochs: 1,
        training_seconds: 30.0,
    },
    SuiteDefinition {
        name: "language",
        version: 1,
        description: "Two language models on the characters of a novel, ten epochs each or ten minutes of training, \
                      whichever is shorter.",
        workloads: &["gpt-nano", "gpt-small"],
        epochs: 10,
        training_seconds: 600.0,
    },
    SuiteDefinition {
        name: "speedrun",
        version: 1,
        description: "The smallest language model, ten epochs or ten minutes of training, whichever is shorter.",
        workloads: &["gpt-nano"],
        epochs: 10,
        training_seconds: 600.0,
    },
];

/// Returns a suite or the open class.
pub fn suite(name: &str) -> Option<&'static SuiteDefinition> {
    SUITES.iter().chain([&OPEN]).find(|s| s.name == name)
}

impl SuiteDefinition {
    /// Returns true for the open class, whose networks are from files.
    pub fn is_open(&self) -> bool {
        self.name == OPEN.name
    }

    /// Returns the number of epochs of a workload. In the open class, its file sets them.
    pub fn epochs_of(&self, workload: &Workload) -> u32 {
        if self.is_open() { workload.published_epochs } else { self.epochs }
    }
}

/// Adam with the constants of the paper.
const ADAM: Rule = Rule::Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, decoupled: false };
const NOT_DECAYING: Multipliers = Multipliers { learning_rate: 1.0, weight_decay: 0.0, frozen_from: None };
const MNIST: Shape = Shape::new(28, 28, 1);
const CIFAR10: Shape = Shape::new(32, 32, 3);

const fn pool(kind: PoolKind, side: u32, stride: u32, padding: u32, rounding: Rounding) -> Layer {
    Layer::Pool { kind, side, stride, padding, rounding, activation: Activation::Identity }
}

const fn average_of_all(side: u32) -> Layer {
    pool(PoolKind::Average, side, side, 0, Rounding::Floor)
}

/// Max pooling without padding, rounded down.
const fn max_pool(side: u32, stride: u32) -> Layer {
    pool(PoolKind::Max, side, stride, 0, Rounding::Floor)
}

/// Batch normalization with Torch's defaults.
fn batch_norm(activation: Activation) -> Layer {
    Layer::BatchNorm { epsilon: 1e-5, keep: 0.9, trained_scale: true, bias: Multipliers::default(), activation }
}

/// Convolution of stride 1 with a square kernel.
const fn convolution(filters: u32, side: u32, padding: Padding, activation: Activation, weights: Weights) -> Layer {
    strided_convolution([filters, side, 1], padding, activation, weights)
}

const fn strided_convolution(
    [filters, side, stride]: [u32; 3],
    padding: Padding,
    activation: Activation,
    weights: Weights,
) -> Layer {
    Layer::Conv2d { filters, size: KernelSize::Square(side), stride, padding, activation, weights }
}

const fn dense(units: u32, activation: Activation, weights: Weights) -> Layer {
    Layer::Dense { units, activation, weights }
}

/// Largest state that leaderboards accept.
pub const MAX_STATE_BYTES: u64 = 44 << 20;

/// Reason that a leaderboard cannot prove the training of a network, as a part of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofObstacle {
    #[error("its images are mirrored in every other epoch, which does not depend on a single segment")]
    AlternatingImages,
    #[error("its states are larger than {} MiB, the most that a leaderboard accepts", MAX_STATE_BYTES >> 20)]
    LargeStates,
}

const BYTES_PER_NUMBER: u64 = 4;
/// Copies of each weight: the weight, its gradient, and up to two optimizer states.
const COPIES_PER_WEIGHT: u64 = 4;
const COPIES_PER_ACTIVATION: u64 = 2;

#[derive(Clone, Debug)]
pub struct Standard {
    pub workload: Workload,
    pub batches: BatchPlan,
    /// Limits of training. The first one reached ends it.
    pub steps: u64,
    pub training_seconds: f64,
    /// Size of the test set. Every evaluation uses all of it.
    pub test_samples: u32,
}

impl Standard {
    pub fn of(suite: &SuiteDefinition, name: &str) -> Option<Self> {
        Some(Self::new(suite, workload(name)?).expect("tests check that every batch fits its data set"))
    }

    /// Returns the training of a recorded network, or `None` if it is unknown. A network from a file must follow the
    /// rules of the open class.
    pub fn of_record(suite: &SuiteDefinition, record: &WorkloadRecord) -> Option<Self> {
        match &record.network {
            Some(network) => Self::of_network(network).ok().filter(|_| network["name"] == record.workload),
            None => Self::of(suite, &record.workload),
        }
    }

    /// Returns the training of a network in the open class, as a record contains the network.
    ///
    /// # Errors The open class does not accept the network.
    pub fn of_network(network: &serde_json::Value) -> Result<Self, OpenRefusal> {
        let workload = open::read(network)?;
        Self::new(&OPEN, workload).map_err(|error| OpenRefusal::new("out_of_range", "batch_size", error.to_string()))
    }

    fn new(suite: &SuiteDefinition, workload: Workload) -> Result<Self, EngineError> {
        let sets = workload.data_set_definition();
        let batches = workload.batches(sets.train.samples, workload.batch_size)?;
        let steps = batches.steps_of_epochs(suite.epochs_of(&workload));
        let (training_seconds, test_samples) = (suite.training_seconds, workload.test_samples());
        Ok(Self { workload, batches, steps, training_seconds, test_samples })
    }

    pub fn job(&self, data: Arc<DataSet>, seed: u32) -> TrainingJob {
        self.workload.job(data, self.batches, seed)
    }

    /// Returns the step of evaluation `number`, counted from 1.
    pub fn evaluation_step(&self, number: u32) -> u64 {
        self.batches.step_of_mark(number, self.workload.evaluations_per_epoch)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    /// Compares parameters, forward multiply-adds, and forward and backward operations with counts from the sources.
    #[test]
    fn parameters_and_operations_match_the_reference_table() {
        let table = [
            ("keras-mnist-mlp", 669_706, 668_672, 1_337_344, 1_871_872),
            ("keras-mnist-cnn", 1_199_882, 11_992_448, 23_984_896, 47_580_416),
            ("keras-cifar10-cnn", 1_250_858, 20_741_120, 41_482_240, 81_195_008),
            ("keras-mnist-hrnn", 199_434, 55_452_928, 110_905_856, 221_008_896),
            ("keras-babi-rnn", 45_836, 11_141_800, 22_283_600, 44_567_200),
            ("tensorflow-mnist", 3_274_634, 13_883_904, 27_767_808, 54_281_216),
            ("tensorflow-cifar10", 1_068_298, 18_470_784, 36_941_568, 68_353_536),
            ("caffe-mnist", 431_080, 2_293_000, 4_586_000, 8_596_000),
            ("caffe-cifar10", 145_578, 12_354_176, 24_708_352, 44_501_504),
            ("torch-mnist", 169_506, 2_587_600, 5_175_200, 9_096_000),
            ("torch-cifar10", 924_490, 12_001_280, 24_002_560, 46_123_520),
            ("theano-mnist", 431_080, 2_293_000, 4_586_000, 8_596_000),
            ("theano-cifar10", 14_318, 129_432, 258_864, 323_328),
            ("airbench94", 1_972_792, 118_147_360, 236_294_720, 471_482_368),
            // nanoGPT, without biases. A window has one vector of 80 logits for each character.
            ("gpt-nano", 806_016, 53_116_928, 106_233_856, 212_467_712),
            ("gpt-small", 10_750_848, 2_877_358_080, 5_754_716_160, 11_509_432_320),
            // Computed manually, layer by layer, because the sources lack these.
            ("keras-babi-memnn", 24_750, 102_080, 204_160, 408_320),
            ("memn2n-babi", 2_400, 1_600, 3_200, 6_400),
            ("resnet20-cifar10", 272_474, 40_813_184, 81_626_368, 162_368_000),
            ("transformer-cifar10", 311_146, 22_315_968, 44_631_936, 88_674_048),
            // Keras also counts running averages, and convolution biases that normalization cancels. The multiply-adds
            // are the 3.8 billion of table 1 of the paper.
            ("resnet50-synthetic", 25_636_712 - 53_120 - 26_560, 3_857_973_248, 7_715_946_496, 15_195_865_088),
            // Keras also counts running averages, but not fixed scales. Section 1 of the paper says 5 billion.
            ("inception-v3-synthetic", 23_851_784 - 34_432 + 17_216, 5_713_216_096, 11_426_432_192, 22_814_501_056),
        ];
        assert_eq!(table.len(), WORKLOADS.len());
        for (name, parameters, multiply_adds, forward, backward) in table {
            let model = workload(name).unwrap().model;
            let operations = model.operations().unwrap();
            assert_eq!(model.parameters().unwrap(), parameters, "{name}");
            assert_eq!(operations.forward_multiply_adds, multiply_adds, "{name}");
            assert_eq!(operations.forward_flops, forward, "{name}");
            assert_eq!(operations.backward_flops, backward, "{name}");
        }
    }

    #[test]
    fn only_custom_networks_are_described() {
        let built_in = workload("keras-mnist-mlp").unwrap();
        assert!(built_in.is_built_in() && built_in.described().is_none());
        let own = Workload { name: "own", ..built_in };
        let described = own.described().unwrap();
        assert_eq!((&described["name"], &described["data_set"]), (&"own".into(), &"mnist".into()));
        // As short as in the recipe, although the number has 32 bits.
        assert_eq!(described["model"]["nodes"][1]["layer"]["dropout"]["rate"].to_string(), "0.2");
        assert_eq!(described["optimizer"]["rule"]["rms_prop"]["rho"], 0.9);
    }

    #[test]
    fn complete_suite_has_every_earlier_workload_once() {
        /// Workloads added after the suite, which never changes.
        const LATER: [&str; 6] = [
            "keras-babi-memnn",
            "memn2n-babi",
            "resnet50-synthetic",
            "inception-v3-synthetic",
            "gpt-nano",
            "gpt-small",
        ];
        let mut names = suite("complete").unwrap().workloads.to_vec();
        let all = WORKLOADS.iter().map(|make| make().name);
        let mut all: Vec<&str> = all.filter(|name| !LATER.contains(name)).collect();
        names.sort_unstable();
        all.sort_unstable();
        assert_eq!(names, all);
    }

    #[test]
    fn two_networks_of_suites_cannot_be_proven() {
        let suites = SUITES.iter().flat_map(|suite| suite.workloads).map(|name| workload(name).unwrap());
        let obstacles: BTreeMap<&str, ProofObstacle> =
            suites.filter_map(|workload| Some((workload.name, workload.proof_obstacle()?))).collect();
        let expected = [("airbench94", ProofObstacle::AlternatingImages), ("gpt-small", ProofObstacle::LargeStates)];
        assert_eq!(obstacles, BTreeMap::from(expected));
        // Four bytes for each weight, and as many for each of Adam's two memories.
        assert_eq!(workload("gpt-nano").unwrap().bytes_of_state(), Ok([4 * 806_016, 8 * 806_016]));
    }

    fn kind(layer: &Layer) -> String {
        match layer {
            Layer::Conv2d { size, stride, padding, .. } => format!("{size:?} {stride} {padding:?}"),
            Layer::Pool { kind, side, stride, .. } if side == stride => format!("{kind:?} of all"),
            Layer::Embedding { .. } => "embedding".to_owned(),
            Layer::Attention { causal, .. } => format!("attention {causal}"),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn reduced_network_has_every_kind_of_layer() {
        let reduced: Vec<Workload> = WORKLOADS.iter().map(|make| make()).filter(|of| of.reduced.is_some()).collect();
        assert_eq!(reduced.len(), 4);
        for workload in reduced {
            let (whole, small) = (&workload.model, workload.reduced.as_ref().unwrap());
            let kinds = |model: &Model| model.nodes.iter().map(|node| kind(&node.layer)).collect::<BTreeSet<_>>();
            assert_eq!(kinds(small), kinds(whole), "{}", workload.name);
            assert_eq!((small.name, small.classes()), (whole.name, whole.classes()));
            let least = whole.operations().unwrap().training_flops() / 8;
            assert!(small.operations().unwrap().training_flops() < least, "{}", workload.name);
        }
    }

    #[test]
    fn workload_shapes_match_their_data_sets() {
        for workload in WORKLOADS.iter().map(|make| make()) {
            let set = crate::data_set(workload.data_set).expect(workload.name);
            // Images may be cropped or get a border.
            let input = workload.model.input;
            let same = set.train.features() == input.features();
            // A text has windows of any length.
            assert!(same || set.train.channels == input.channels || set.is_text(), "{}", workload.name);
            assert_eq!(set.train.classes, workload.model.classes().unwrap(), "{}", workload.name);
        }
    }

    #[test]
    fn predicted_bytes_match_a_manual_sum_and_grow_with_batches() {
        let workload = crate::workload("keras-mnist-mlp").unwrap();
        let predicted = workload.bytes_of_layers(128).unwrap();
        let weights = 669_706 * 4 * 4;
        let data = 70_000 * 784;
        // 784 pixels, 512 and 512 units, each with a dropout, and 10 logits.
        let batch = 128 * (784 + 4 * 512 + 10) * 2 * 4;
        assert_eq!(predicted, weights + data + batch);
        let recurrent = crate::workload("keras-mnist-hrnn").unwrap();
        assert!(recurrent.bytes_of_layers(64).unwrap() > recurrent.bytes_of_layers(32).unwrap());
    }

    #[test]
    fn suites_train_on_data_and_end_with_an_evaluation() {
        for suite in SUITES {
            for name in suite.workloads {
                let standard = Standard::of(suite, name).unwrap();
                let set = data_set(standard.workload.data_set).unwrap();
                assert!(!set.origin.is_always_generated(), "{name} trains on noise");
                let evaluations = standard.workload.evaluations_per_epoch.max(1) * suite.epochs;
                assert_eq!(standard.evaluation_step(evaluations), standard.steps, "{} of {}", name, suite.name);
                assert!(standard.evaluation_step(1) > 0 && standard.test_samples > 0, "{name}");
            }
        }
        assert!(Standard::of(&SUITES[0], "no-such-network").is_none());
    }
}
