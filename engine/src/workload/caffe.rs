//! Caffe's defaults, as GTDLBench ran them.

use super::{CIFAR10, MNIST, Workload, convolution, dense, max_pool};
use crate::model::{Activation, Initializer, Layer, Model, Multipliers, Padding, PoolKind, Rounding, Weights};
use crate::training::{Batching, InputRecipe, Loss, Normalization, Optimizer, Rule, SampleOrder, Schedule};

/// Biases learn twice as fast, and decay like the rest.
fn weights(kernel: Initializer) -> Weights {
    Weights { bias_multipliers: Multipliers { learning_rate: 2.0, ..Multipliers::default() }, ..Weights::new(kernel) }
}

pub(super) fn mnist() -> Workload {
    let name = "caffe-mnist";
    let xavier = || weights(Initializer::FanInUniform { scale: 3.0 });
    let layers = vec![
        convolution(20, 5, Padding::Valid, Activation::Identity, xavier()),
        max_pool(2, 2),
        convolution(50, 5, Padding::Valid, Activation::Identity, xavier()),
        max_pool(2, 2),
        dense(500, Activation::Relu, xavier()),
        dense(10, Activation::Identity, xavier()),
    ];
    Workload {
        name,
        title: "MNIST, LeNet (Caffe)",
        description: "LeNet as Caffe ships it (lenet_train_test.prototxt): two 5×5 convolutions, max pooling, dense 500, \
                      SGD with momentum 0.9, L2 decay and the inverse schedule; samples in stored order. Pixels / 256.",
        data_set: "mnist",
        training: None,
        model: Model::sequence(name, MNIST, layers),
        input: InputRecipe::scaled(256.0),
        loss: Loss::default(),
        optimizer: Optimizer {
            schedule: Schedule::Inverse { gamma: 0.0001, power: 0.75 },
            weight_decay: 0.0005,
            ..Optimizer::new(Rule::Sgd { momentum: 0.9 }, 0.01)
        },
        average: None,
        early_stopping: None,
        reduced: None,
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

pub(super) fn cifar10() -> Workload {
    let name = "caffe-cifar10";
    let gaussian = |deviation| weights(Initializer::Normal { deviation });
    let pool =
        |kind, activation| Layer::Pool { kind, side: 3, stride: 2, padding: 0, rounding: Rounding::Ceil, activation };
    let layers = vec![
        convolution(32, 5, Padding::Same, Activation::Identity, gaussian(0.0001)),
        pool(PoolKind::Max, Activation::Relu),
        convolution(32, 5, Padding::Same, Activation::Relu, gaussian(0.01)),
        pool(PoolKind::Average, Activation::Identity),
        convolution(64, 5, Padding::Same, Activation::Relu, gaussian(0.01)),
        pool(PoolKind::Average, Activation::Identity),
        dense(64, Activation::Identity, gaussian(0.1)),
        dense(10, Activation::Identity, gaussian(0.1)),
    ];
    Workload {
        name,
        title: "CIFAR-10, quick network (Caffe)",
        description: "Caffe's quick network (cifar10_quick): three 5×5 convolutions, max and average pooling rounded up, \
                      SGD with momentum 0.9, L2 decay and one drop of the rate; stored order, mean image subtracted.",
        data_set: "cifar10",
        model: Model::sequence(name, CIFAR10, layers),
        input: InputRecipe { normalization: Normalization::MeanImage, ..InputRecipe::scaled(1.0) },
        optimizer: Optimizer {
            schedule: Schedule::Drop { after: 4000, factor: 0.1 },
            weight_decay: 0.004,
            ..Optimizer::new(Rule::Sgd { momentum: 0.9 }, 0.001)
        },
        batch_size: 100,
        published_epochs: 10,
        target_accuracy: 0.7,
        ..mnist()
    }
}
