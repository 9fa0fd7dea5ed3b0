//! TensorFlow's tutorials, as GTDLBench ran them.

use super::{CIFAR10, MNIST, TrainingRange, Workload, convolution, dense, max_pool};
use crate::model::{Activation, Initializer, Layer, Model, Multipliers, Padding, PoolKind, Rounding, Shape, Weights};
use crate::training::{
    Augmentation, Batching, Flip, InputRecipe, Loss, Normalization, Optimizer, Rule, SampleOrder, Schedule, Shift,
    WeightAverage,
};

fn weights(deviation: f64, bias: f64) -> Weights {
    Weights::new(Initializer::TruncatedNormal { deviation }).with_bias(Initializer::Constant { value: bias })
}

pub(super) fn mnist() -> Workload {
    let name = "tensorflow-mnist";
    let start = || weights(0.1, 0.1);
    let layers = vec![
        convolution(32, 5, Padding::Same, Activation::Relu, start()),
        max_pool(2, 2),
        convolution(64, 5, Padding::Same, Activation::Relu, start()),
        max_pool(2, 2),
        dense(1024, Activation::Relu, start()),
        Layer::Dropout { rate: 0.5 },
        dense(10, Activation::Identity, start()),
    ];
    let adam = Rule::Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, decoupled: false };
    Workload {
        name,
        title: "MNIST, deep tutorial (TensorFlow)",
        description: "Two 5×5 convolutions, max pooling and dense 1024 with dropout, Adam, from TensorFlow's tutorial \
                      (mnist_deep.py). Trains on 55,000 images; the first 5,000 are held out. Pixels / 255.",
        data_set: "mnist",
        training: Some(TrainingRange { first: 5000, samples: 55_000 }),
        model: Model::sequence(name, MNIST, layers),
        input: InputRecipe::scaled(255.0),
        loss: Loss::default(),
        optimizer: Optimizer::new(adam, 1e-4),
        average: None,
        early_stopping: None,
        reduced: None,
        batch_size: 50,
        order: SampleOrder::Shuffled,
        batching: Batching::ShortLast,
        // 20,000 steps of 50 samples are 18.18 passes over the set.
        published_epochs: 18,
        target_accuracy: 0.98,
        evaluations_per_epoch: 2,
        loss_tolerance: 1e-3,
    }
}

pub(super) fn cifar10() -> Workload {
    let name = "tensorflow-cifar10";
    // Only the two hidden dense layers decay.
    let free = |weights: Weights| Weights {
        kernel_multipliers: Multipliers { weight_decay: 0.0, ..Multipliers::default() },
        bias_multipliers: Multipliers { weight_decay: 0.0, ..Multipliers::default() },
        ..weights
    };
    let decaying = |weights: Weights| Weights { kernel_multipliers: Multipliers::default(), ..free(weights) };
    let pool = Layer::Pool {
        kind: PoolKind::Max,
        side: 3,
        stride: 2,
        padding: 0,
        rounding: Rounding::Ceil,
        activation: Activation::Identity,
    };
    let normalization = Layer::LocalResponseNorm { radius: 4, bias: 1.0, alpha: 0.001 / 9.0, beta: 0.75 };
    let layers = vec![
        convolution(64, 5, Padding::Same, Activation::Relu, free(weights(0.05, 0.0))),
        pool.clone(),
        normalization.clone(),
        convolution(64, 5, Padding::Same, Activation::Relu, free(weights(0.05, 0.1))),
        normalization,
        pool,
        dense(384, Activation::Relu, decaying(weights(0.04, 0.1))),
        dense(192, Activation::Relu, decaying(weights(0.04, 0.1))),
        dense(10, Activation::Identity, free(weights(1.0 / 192.0, 0.0))),
    ];
    Workload {
        name,
        title: "CIFAR-10, tutorial (TensorFlow)",
        description: "Two 5×5 convolutions with local response normalisation, three dense layers, SGD and moving averages \
                      of the weights, from TensorFlow's tutorial (cifar10.py). Random 24×24 crops, mirrored, brightness \
                      and contrast changed, each image standardised. Shuffled each epoch instead of by a queue.",
        data_set: "cifar10",
        training: None,
        model: Model::sequence(name, Shape { height: 24, width: 24, ..CIFAR10 }, layers),
        input: InputRecipe {
            normalization: Normalization::EachImage,
            augmentation: Augmentation {
                flip: Flip::Random,
                // From the middle of 32 pixels, any crop of 24 is at most 4 away.
                shift: Shift::Pixels(4),
                brightness: 63.0,
                contrast: Some((0.2, 1.8)),
            },
            ..InputRecipe::scaled(1.0)
        },
        optimizer: Optimizer {
            schedule: Schedule::Staircase { every: 136_718, factor: 0.1 },
            weight_decay: 0.004,
            ..Optimizer::new(Rule::Sgd { momentum: 0.0 }, 0.1)
        },
        average: Some(WeightAverage::Exponential { largest: 0.9999 }),
        batch_size: 128,
        published_epochs: 2560,
        target_accuracy: 0.7,
        ..mnist()
    }
}
