//! Torch's demonstrations, as GTDLBench ran them.

use super::{CIFAR10, Workload, convolution, dense, max_pool};
use crate::model::{Activation, Initializer, Layer, Model, Padding, PoolKind, Rounding, Shape, Weights};
use crate::training::{Batching, InputRecipe, Loss, Normalization, Optimizer, Rule, SampleOrder, Schedule};

/// Weights and biases within ±1/√(fan in).
fn weights() -> Weights {
    let start = Initializer::FanInUniform { scale: 1.0 };
    Weights::new(start).with_bias(start)
}

fn sgd(learning_rate: f64) -> Optimizer {
    let schedule = Schedule::Inverse { gamma: 5e-7, power: 1.0 };
    Optimizer { schedule, ..Optimizer::new(Rule::Sgd { momentum: 0.0 }, learning_rate) }
}

pub(super) fn mnist() -> Workload {
    let name = "torch-mnist";
    let layers = vec![
        convolution(32, 5, Padding::Valid, Activation::Tanh, weights()),
        Layer::Pool {
            kind: PoolKind::Max,
            side: 3,
            stride: 3,
            padding: 1,
            rounding: Rounding::Floor,
            activation: Activation::Identity,
        },
        convolution(64, 5, Padding::Valid, Activation::Tanh, weights()),
        max_pool(2, 2),
        dense(200, Activation::Tanh, weights()),
        dense(10, Activation::Identity, weights()),
    ];
    Workload {
        name,
        title: "MNIST, digit classifier (Torch)",
        description: "Two 5×5 convolutions with tanh, max pooling, dense 200, plain SGD, batches of 10 in stored order, \
                      from Torch's demonstration (train-on-mnist.lua). Digits in a border of 2, normalised by mean and \
                      deviation of the training set, which the original takes of each set.",
        data_set: "mnist",
        training: None,
        model: Model::sequence(name, Shape::new(32, 32, 1), layers),
        input: InputRecipe { normalization: Normalization::WholeSet, ..InputRecipe::scaled(1.0) },
        loss: Loss::default(),
        optimizer: sgd(0.05),
        average: None,
        early_stopping: None,
        reduced: None,
        batch_size: 10,
        order: SampleOrder::File,
        batching: Batching::ShortLast,
        published_epochs: 12,
        target_accuracy: 0.98,
        evaluations_per_epoch: 2,
        loss_tolerance: 1e-3,
    }
}

pub(super) fn cifar10() -> Workload {
    let name = "torch-cifar10";
    let layers = vec![
        convolution(16, 5, Padding::Valid, Activation::Tanh, weights()),
        max_pool(2, 2),
        convolution(256, 5, Padding::Valid, Activation::Tanh, weights()),
        max_pool(2, 2),
        dense(128, Activation::Tanh, weights()),
        dense(10, Activation::Identity, weights()),
    ];
    Workload {
        name,
        title: "CIFAR-10, demonstration (Torch)",
        description: "Two dense 5×5 convolutions with tanh (the network of the GPU runs), max pooling, dense 128, plain SGD \
                      with batches of 1 in stored order, from Torch's demonstration (train-on-cifar-10.lua). YUV, Y with \
                      local contrast normalisation.",
        data_set: "cifar10",
        model: Model::sequence(name, CIFAR10, layers),
        input: InputRecipe { normalization: Normalization::LocalContrast, ..InputRecipe::scaled(1.0) },
        optimizer: sgd(0.001),
        batch_size: 1,
        published_epochs: 45,
        target_accuracy: 0.5,
        ..mnist()
    }
}
