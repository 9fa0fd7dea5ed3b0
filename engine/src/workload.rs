//! The registries of workloads and suites.

use serde::Serialize;

use crate::model::{Activation, Initializer, Layer, Model, Padding, Shape};
use crate::training::{Batching, Optimizer, SampleOrder, Schedule};

/// A network with its data set and its published recipe.
#[derive(Clone, Debug, Serialize)]
pub struct Workload {
    pub name: &'static str,
    pub title: &'static str,
    /// What it is, where it comes from, and every deliberate difference.
    pub description: &'static str,
    /// Name in [`crate::DATA_SETS`].
    pub data_set: &'static str,
    pub model: Model,
    pub input_scale: InputScale,
    pub optimizer: Optimizer,
    pub batch_size: u32,
    pub order: SampleOrder,
    pub batching: Batching,
    /// Epochs of the published recipe.
    pub published_epochs: u32,
    /// Test accuracy whose first sighting is the time to accuracy, 0 to 1.
    pub target_accuracy: f64,
    /// The test set is looked at so many times in each epoch, evenly spread, the last time at its end.
    pub evaluations_per_epoch: u32,
    /// Largest relative difference of any early loss from the reference back end's.
    pub loss_tolerance: f64,
}

/// How bytes become numbers: `pixel / divisor`, in float32.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct InputScale {
    pub divisor: f32,
}

impl Workload {
    /// The workload as the golden traces train it: Glorot weights, pixels over 255, samples in file order.
    #[must_use]
    pub fn with_trace_conventions(mut self) -> Self {
        self.model = self.model.with_glorot_weights();
        self.input_scale = InputScale { divisor: 255.0 };
        self.order = SampleOrder::File;
        self
    }
}

/// Makes a workload.
type Definition = fn() -> Workload;

/// Every workload. A new one is a function and a line here.
pub const WORKLOADS: &[Definition] = &[keras_mnist_mlp, caffe_mnist];

/// The workload with this name.
pub fn workload(name: &str) -> Option<Workload> {
    WORKLOADS.iter().map(|make| make()).find(|w| w.name == name)
}

/// A versioned list of workloads with a budget. Scores of different versions are never compared.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SuiteDefinition {
    pub name: &'static str,
    pub version: u32,
    pub description: &'static str,
    pub workloads: &'static [&'static str],
    /// Each workload trains for this many epochs …
    pub epochs: u32,
    /// … or until it has trained for so long.
    pub training_seconds: f64,
}

/// Every suite.
pub const SUITES: &[SuiteDefinition] = &[SuiteDefinition {
    name: "quick",
    version: 1,
    description: "Two classic MNIST networks, two epochs each or half a minute of training, whichever is shorter.",
    workloads: &["keras-mnist-mlp", "caffe-mnist"],
    epochs: 2,
    training_seconds: 30.0,
}];

/// The suite with this name.
pub fn suite(name: &str) -> Option<&'static SuiteDefinition> {
    SUITES.iter().find(|s| s.name == name)
}

const MNIST: Shape = Shape::new(28, 28, 1);

fn keras_mnist_mlp() -> Workload {
    let dense = |units, activation| Layer::Dense { units, activation, initializer: Initializer::GlorotUniform };
    Workload {
        name: "keras-mnist-mlp",
        title: "MNIST, multilayer perceptron (Keras)",
        description: "784-512-512-10 with dropout 0.2 and RMSprop, from the Keras 2.0.8 examples (mnist_mlp.py). \
                      Launch-bound: small matrix products. Pixels / 255.",
        data_set: "mnist",
        model: Model {
            name: "keras-mnist-mlp",
            input: MNIST,
            layers: vec![
                dense(512, Activation::Relu),
                Layer::Dropout { rate: 0.2 },
                dense(512, Activation::Relu),
                Layer::Dropout { rate: 0.2 },
                dense(10, Activation::Identity),
            ],
        },
        input_scale: InputScale { divisor: 255.0 },
        optimizer: Optimizer::RmsProp { learning_rate: 0.001, schedule: Schedule::Constant, rho: 0.9, epsilon: 1e-8 },
        batch_size: 128,
        order: SampleOrder::Shuffled,
        batching: Batching::ShortLast,
        published_epochs: 20,
        target_accuracy: 0.97,
        evaluations_per_epoch: 2,
        loss_tolerance: 1e-3,
    }
}

fn caffe_mnist() -> Workload {
    let dense = |units, activation| Layer::Dense { units, activation, initializer: Initializer::CaffeXavier };
    let convolution = |filters| Layer::Conv2d {
        filters,
        side: 5,
        padding: Padding::Valid,
        activation: Activation::Identity,
        initializer: Initializer::CaffeXavier,
    };
    let pool = Layer::MaxPool { side: 2, stride: 2 };
    Workload {
        name: "caffe-mnist",
        title: "MNIST, LeNet (Caffe)",
        description: "LeNet as Caffe ships it (lenet_train_test.prototxt): two 5×5 convolutions, max pooling, dense 500, \
                      SGD with momentum 0.9, L2 decay and the inverse schedule; samples in stored order. Pixels / 256.",
        data_set: "mnist",
        model: Model {
            name: "caffe-mnist",
            input: MNIST,
            layers: vec![
                convolution(20),
                pool.clone(),
                convolution(50),
                pool,
                dense(500, Activation::Relu),
                dense(10, Activation::Identity),
            ],
        },
        input_scale: InputScale { divisor: 256.0 },
        optimizer: Optimizer::Sgd {
            learning_rate: 0.01,
            schedule: Schedule::Inverse { gamma: 0.0001, power: 0.75 },
            momentum: 0.9,
            weight_decay: 0.0005,
            bias_rate_multiplier: 2.0,
        },
        batch_size: 64,
        order: SampleOrder::File,
        batching: Batching::Wrap,
        // 10,000 iterations of 64 samples are 10.67 passes over the set.
        published_epochs: 11,
        target_accuracy: 0.98,
        evaluations_per_epoch: 2,
        loss_tolerance: 1e-3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `reference/workloads.md`, summary table: parameters, forward multiply-adds, forward and backward operations.
    #[test]
    fn parameters_and_operations_equal_the_table_of_the_sources() {
        let table = [
            ("keras-mnist-mlp", 669_706, 668_672, 1_337_344, 1_871_872),
            ("caffe-mnist", 431_080, 2_293_000, 4_586_000, 8_596_000),
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
    fn every_suite_names_workloads_that_exist() {
        for suite in SUITES {
            for name in suite.workloads {
                assert!(workload(name).is_some(), "{} names {name}", suite.name);
            }
        }
    }

    #[test]
    fn every_workload_names_a_data_set_of_its_shape() {
        for workload in WORKLOADS.iter().map(|make| make()) {
            let set = crate::data_set(workload.data_set).expect(workload.name);
            assert_eq!(set.train.features(), workload.model.input.features(), "{}", workload.name);
            assert_eq!(set.train.classes, workload.model.classes().unwrap(), "{}", workload.name);
        }
    }
}
