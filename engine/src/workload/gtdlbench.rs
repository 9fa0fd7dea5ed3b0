//! Defaults and tutorials of Caffe, TensorFlow, Theano and Torch, as GTDLBench ran them.

use results::Goal;

use super::{ADAM, CIFAR10, MNIST, NOT_DECAYING, TrainingRange, Workload, convolution, dense, max_pool, pool};
use crate::model::{Activation, Initializer, Layer, Model, Multipliers, Padding, PoolKind, Rounding, Shape, Weights};
use crate::training::{
    Augmentation, Batching, EarlyStopping, Flip, InputRecipe, Normalization, Optimizer, Rule, SampleOrder, Schedule,
    Shift, WeightAverage,
};

/// Returns weights with twice the learning rate for biases.
fn caffe_weights(kernel: Initializer) -> Weights {
    Weights { bias_multipliers: Multipliers { learning_rate: 2.0, ..Multipliers::default() }, ..Weights::new(kernel) }
}

pub(super) fn caffe_mnist() -> Workload {
    let xavier = || caffe_weights(Initializer::FanInUniform { scale: 3.0 });
    let layers = vec![
        convolution(20, 5, Padding::Valid, Activation::Identity, xavier()),
        max_pool(2, 2),
        convolution(50, 5, Padding::Valid, Activation::Identity, xavier()),
        max_pool(2, 2),
        dense(500, Activation::Relu, xavier()),
        dense(10, Activation::Identity, xavier()),
    ];
    let optimizer = Optimizer {
        schedule: Schedule::Inverse { gamma: 0.0001, power: 0.75 },
        weight_decay: 0.0005,
        ..Optimizer::new(Rule::Sgd { momentum: 0.9 }, 0.01)
    };
    Workload {
        title: "MNIST, LeNet (Caffe)",
        description: "LeNet as Caffe ships it (lenet_train_test.prototxt): two 5×5 convolutions, max pooling, dense 500, \
                      SGD with momentum 0.9, L2 decay and the inverse schedule; samples in stored order. Pixels / 256.",
        input: InputRecipe::scaled(256.0),
        batch_size: 64,
        order: SampleOrder::File,
        batching: Batching::Wrap,
        // 10,000 iterations of 64 samples are 10.67 epochs.
        published_epochs: 11,
        target: Goal::Accuracy(0.98),
        ..Workload::recipe("mnist", Model::sequence("caffe-mnist", MNIST, layers), optimizer)
    }
}

pub(super) fn caffe_cifar10() -> Workload {
    let gaussian = |deviation| caffe_weights(Initializer::Normal { deviation });
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
    let optimizer = Optimizer {
        schedule: Schedule::Drop { after: 4000, factor: 0.1 },
        weight_decay: 0.004,
        ..Optimizer::new(Rule::Sgd { momentum: 0.9 }, 0.001)
    };
    Workload {
        title: "CIFAR-10, quick network (Caffe)",
        description: "Caffe's quick network (cifar10_quick): three 5×5 convolutions, max and average pooling rounded up, \
                      SGD with momentum 0.9, L2 decay and one drop of the rate; stored order, mean image subtracted.",
        input: InputRecipe { normalization: Normalization::MeanImage, ..InputRecipe::scaled(1.0) },
        batch_size: 100,
        order: SampleOrder::File,
        batching: Batching::Wrap,
        published_epochs: 10,
        target: Goal::Accuracy(0.7),
        ..Workload::recipe("cifar10", Model::sequence("caffe-cifar10", CIFAR10, layers), optimizer)
    }
}

fn tensorflow_weights(deviation: f64, bias: f64) -> Weights {
    Weights::new(Initializer::TruncatedNormal { deviation }).with_bias(Initializer::Constant { value: bias })
}

pub(super) fn tensorflow_mnist() -> Workload {
    let start = || tensorflow_weights(0.1, 0.1);
    let layers = vec![
        convolution(32, 5, Padding::Same, Activation::Relu, start()),
        max_pool(2, 2),
        convolution(64, 5, Padding::Same, Activation::Relu, start()),
        max_pool(2, 2),
        dense(1024, Activation::Relu, start()),
        Layer::Dropout { rate: 0.5 },
        dense(10, Activation::Identity, start()),
    ];
    Workload {
        title: "MNIST, deep tutorial (TensorFlow)",
        description: "Two 5×5 convolutions, max pooling and dense 1024 with dropout, Adam, from TensorFlow's tutorial \
                      (mnist_deep.py). Trains on 55,000 images; the first 5,000 are held out. Pixels / 255.",
        training: Some(TrainingRange { first: 5000, samples: 55_000 }),
        batch_size: 50,
        // 20,000 steps of 50 samples are 18.18 epochs.
        published_epochs: 18,
        target: Goal::Accuracy(0.98),
        ..Workload::recipe("mnist", Model::sequence("tensorflow-mnist", MNIST, layers), Optimizer::new(ADAM, 1e-4))
    }
}

pub(super) fn tensorflow_cifar10() -> Workload {
    // Weight decay applies only to the kernels of the two hidden dense layers.
    let decaying = |weights| Weights { bias_multipliers: NOT_DECAYING, ..weights };
    let free = |weights| Weights { kernel_multipliers: NOT_DECAYING, ..decaying(weights) };
    let pool = pool(PoolKind::Max, 3, 2, 0, Rounding::Ceil);
    let normalization = Layer::LocalResponseNorm { radius: 4, bias: 1.0, alpha: 0.001 / 9.0, beta: 0.75 };
    let layers = vec![
        convolution(64, 5, Padding::Same, Activation::Relu, free(tensorflow_weights(0.05, 0.0))),
        pool.clone(),
        normalization.clone(),
        convolution(64, 5, Padding::Same, Activation::Relu, free(tensorflow_weights(0.05, 0.1))),
        normalization,
        pool,
        dense(384, Activation::Relu, decaying(tensorflow_weights(0.04, 0.1))),
        dense(192, Activation::Relu, decaying(tensorflow_weights(0.04, 0.1))),
        dense(10, Activation::Identity, free(tensorflow_weights(1.0 / 192.0, 0.0))),
    ];
    let input = Shape { height: 24, width: 24, ..CIFAR10 };
    let optimizer = Optimizer {
        schedule: Schedule::Staircase { every: 136_718, factor: 0.1 },
        weight_decay: 0.004,
        ..Optimizer::new(Rule::Sgd { momentum: 0.0 }, 0.1)
    };
    Workload {
        title: "CIFAR-10, tutorial (TensorFlow)",
        description: "Two 5×5 convolutions with local response normalization, three dense layers, SGD and moving averages \
                      of the weights, from TensorFlow's tutorial (cifar10.py). Random 24×24 crops, mirrored, brightness \
                      and contrast changed, each image standardized. Shuffled each epoch instead of by a queue.",
        input: InputRecipe {
            normalization: Normalization::EachImage,
            augmentation: Augmentation {
                flip: Flip::Random,
                // Any 24-pixel crop of 32 pixels is at most 4 pixels from the center.
                shift: Shift::Pixels(4),
                brightness: 63.0,
                contrast: Some((0.2, 1.8)),
            },
            ..InputRecipe::scaled(1.0)
        },
        average: Some(WeightAverage::Exponential { largest: 0.9999 }),
        published_epochs: 2560,
        target: Goal::Accuracy(0.7),
        ..Workload::recipe("cifar10", Model::sequence("tensorflow-cifar10", input, layers), optimizer)
    }
}

pub(super) fn theano_mnist() -> Workload {
    // Bias and tanh are applied after pooling, which commutes with them.
    let (kind, rounding, activation) = (PoolKind::Max, Rounding::Floor, Activation::Tanh);
    let pool = Layer::Pool { kind, side: 2, stride: 2, padding: 0, rounding, activation };
    // Glorot's limits. The fan out is divided by the pooling area and rounded down.
    let within = |fans: f64| Weights::new(Initializer::Uniform { limit: (6.0 / fans).sqrt() });
    let layers = vec![
        convolution(20, 5, Padding::Valid, Activation::Identity, within(25.0 + 125.0)),
        pool.clone(),
        convolution(50, 5, Padding::Valid, Activation::Identity, within(500.0 + 312.0)),
        pool,
        dense(500, Activation::Tanh, within(800.0 + 500.0)),
        dense(10, Activation::Identity, Weights::new(Initializer::Constant { value: 0.0 })),
    ];
    let optimizer = Optimizer::new(Rule::Sgd { momentum: 0.0 }, 0.1);
    Workload {
        title: "MNIST, LeNet (Theano)",
        description: "LeNet with tanh, plain SGD, batches of 500 in stored order, from the Theano tutorial \
                      (convolutional_mlp.py). Trains on 50,000 images; the last 10,000 are held out, and \
                      training stops when they are no longer classified better.",
        training: Some(TrainingRange { first: 0, samples: 50_000 }),
        early_stopping: Some(EarlyStopping { updates: 10_000, factor: 2, threshold: 0.995 }),
        batch_size: 500,
        order: SampleOrder::File,
        published_epochs: 200,
        target: Goal::Accuracy(0.98),
        evaluations_per_epoch: 1,
        ..Workload::recipe("mnist", Model::sequence("theano-mnist", MNIST, layers), optimizer)
    }
}

pub(super) fn theano_cifar10() -> Workload {
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
    let optimizer = Optimizer::new(Rule::Sgd { momentum: 0.9 }, 0.01);
    Workload {
        title: "CIFAR-10, small network in colour (Theano)",
        description: "Two small 3×3 convolutions, max pooling, dense 100, SGD with momentum 0.9, batches of 50 in stored \
                      order, from a Theano tutorial (6_convnet_color.py). Pixels / 255.",
        batch_size: 50,
        order: SampleOrder::File,
        published_epochs: 50,
        target: Goal::Accuracy(0.5),
        evaluations_per_epoch: 1,
        ..Workload::recipe("cifar10", Model::sequence("theano-cifar10", CIFAR10, layers), optimizer)
    }
}

/// Returns Torch's default weights and biases, uniform in ±1/√(fan in).
fn torch_weights() -> Weights {
    let start = Initializer::FanInUniform { scale: 1.0 };
    Weights::new(start).with_bias(start)
}

fn sgd(learning_rate: f64) -> Optimizer {
    let schedule = Schedule::Inverse { gamma: 5e-7, power: 1.0 };
    Optimizer { schedule, ..Optimizer::new(Rule::Sgd { momentum: 0.0 }, learning_rate) }
}

pub(super) fn torch_mnist() -> Workload {
    let layers = vec![
        convolution(32, 5, Padding::Valid, Activation::Tanh, torch_weights()),
        pool(PoolKind::Max, 3, 3, 1, Rounding::Floor),
        convolution(64, 5, Padding::Valid, Activation::Tanh, torch_weights()),
        max_pool(2, 2),
        dense(200, Activation::Tanh, torch_weights()),
        dense(10, Activation::Identity, torch_weights()),
    ];
    Workload {
        title: "MNIST, digit classifier (Torch)",
        description: "Two 5×5 convolutions with tanh, max pooling, dense 200, plain SGD, batches of 10 in stored order, \
                      from Torch's demonstration (train-on-mnist.lua). Digits in a border of 2, normalized by mean and \
                      deviation of the training set, which the original takes of each set.",
        input: InputRecipe { normalization: Normalization::WholeSet, ..InputRecipe::scaled(1.0) },
        batch_size: 10,
        order: SampleOrder::File,
        published_epochs: 12,
        target: Goal::Accuracy(0.98),
        ..Workload::recipe("mnist", Model::sequence("torch-mnist", Shape::new(32, 32, 1), layers), sgd(0.05))
    }
}

pub(super) fn torch_cifar10() -> Workload {
    let layers = vec![
        convolution(16, 5, Padding::Valid, Activation::Tanh, torch_weights()),
        max_pool(2, 2),
        convolution(256, 5, Padding::Valid, Activation::Tanh, torch_weights()),
        max_pool(2, 2),
        dense(128, Activation::Tanh, torch_weights()),
        dense(10, Activation::Identity, torch_weights()),
    ];
    Workload {
        title: "CIFAR-10, demonstration (Torch)",
        description: "Two dense 5×5 convolutions with tanh (the network of the GPU runs), max pooling, dense 128, plain SGD \
                      with batches of 1 in stored order, from Torch's demonstration (train-on-cifar-10.lua). YUV, Y with \
                      local contrast normalization.",
        input: InputRecipe { normalization: Normalization::LocalContrast, ..InputRecipe::scaled(1.0) },
        batch_size: 1,
        order: SampleOrder::File,
        published_epochs: 45,
        target: Goal::Accuracy(0.5),
        ..Workload::recipe("cifar10", Model::sequence("torch-cifar10", CIFAR10, layers), sgd(0.001))
    }
}
