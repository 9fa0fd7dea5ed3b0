//! Theano's tutorials, as GTDLBench ran them.

use super::{CIFAR10, MNIST, TrainingRange, Workload, convolution, dense, max_pool};
use crate::model::{Activation, Initializer, Layer, Model, Padding, PoolKind, Rounding, Weights};
use crate::training::{Batching, EarlyStopping, InputRecipe, Loss, Optimizer, Rule, SampleOrder};

pub(super) fn mnist() -> Workload {
    let name = "theano-mnist";
    // The bias and tanh come behind the pooling; the largest of sums with one bias is the sum with the largest.
    let pool = Layer::Pool {
        kind: PoolKind::Max,
        side: 2,
        stride: 2,
        padding: 0,
        rounding: Rounding::Floor,
        activation: Activation::Tanh,
    };
    // Glorot's limits, with the fan out divided by the area of the pooling, as integers.
    let within = |fans: f64| Weights::new(Initializer::Uniform { limit: (6.0 / fans).sqrt() });
    let layers = vec![
        convolution(20, 5, Padding::Valid, Activation::Identity, within(25.0 + 125.0)),
        pool.clone(),
        convolution(50, 5, Padding::Valid, Activation::Identity, within(500.0 + 312.0)),
        pool,
        dense(500, Activation::Tanh, within(800.0 + 500.0)),
        dense(10, Activation::Identity, Weights::new(Initializer::Constant { value: 0.0 })),
    ];
    Workload {
        name,
        title: "MNIST, LeNet (Theano)",
        description: "LeNet with tanh, plain SGD, batches of 500 in stored order, from the Theano tutorial \
                      (convolutional_mlp.py). Trains on 50,000 images; the last 10,000 are held out, and \
                      training stops when they are no longer classified better.",
        data_set: "mnist",
        training: Some(TrainingRange { first: 0, samples: 50_000 }),
        model: Model::sequence(name, MNIST, layers),
        input: InputRecipe::scaled(255.0),
        loss: Loss::default(),
        optimizer: Optimizer::new(Rule::Sgd { momentum: 0.0 }, 0.1),
        average: None,
        early_stopping: Some(EarlyStopping { updates: 10_000, factor: 2, threshold: 0.995 }),
        reduced: None,
        batch_size: 500,
        order: SampleOrder::File,
        batching: Batching::ShortLast,
        published_epochs: 200,
        target_accuracy: 0.98,
        evaluations_per_epoch: 1,
        loss_tolerance: 1e-3,
    }
}

pub(super) fn cifar10() -> Workload {
    let name = "theano-cifar10";
    let start = Initializer::Normal { deviation: 0.1 };
    let weights = || Weights::new(start).with_bias(start);
    let layers = vec![
        convolution(4, 3, Padding::Valid, Activation::Relu, weights()),
        max_pool(3, 3),
        convolution(8, 3, Padding::Valid, Activation::Relu, weights()),
        max_pool(2, 2),
        dense(100, Activation::Relu, weights()),
        dense(10, Activation::Identity, weights()),
    ];
    Workload {
        name,
        title: "CIFAR-10, small network in colour (Theano)",
        description: "Two small 3×3 convolutions, max pooling, dense 100, SGD with momentum 0.9, batches of 50 in stored \
                      order, from a Theano tutorial (6_convnet_color.py). Pixels / 255.",
        data_set: "cifar10",
        training: None,
        early_stopping: None,
        model: Model::sequence(name, CIFAR10, layers),
        optimizer: Optimizer::new(Rule::Sgd { momentum: 0.9 }, 0.01),
        batch_size: 50,
        published_epochs: 50,
        target_accuracy: 0.5,
        ..mnist()
    }
}
