//! Networks newer than the studies: a residual network, a transformer, and a training speed record.

use results::Goal;

use super::imagenet::normalized_convolution;
use super::{CIFAR10, NOT_DECAYING, Workload, average_of_all, convolution, dense, max_pool, strided_convolution};
use crate::model::{
    Activation, CIFAR_DEVIATION, CIFAR_MEAN, Initializer, Layer, Model, Multipliers, Padding, Source, Weights,
};
use crate::training::{
    Augmentation, Batching, Edge, Flip, InputRecipe, Loss, Normalization, Optimizer, Rule, Schedule, Shift, TestView,
    WeightAverage,
};

#[expect(clippy::cast_possible_truncation, reason = "kernels compute in float32")]
fn normalised(edge: Edge, flip: Flip, shift_pixels: u32) -> InputRecipe {
    let normalization =
        Normalization::Channels { mean: CIFAR_MEAN.map(|v| v as f32), deviation: CIFAR_DEVIATION.map(|v| v as f32) };
    let augmentation = Augmentation { flip, shift: Shift::Pixels(shift_pixels), ..Augmentation::NONE };
    InputRecipe { normalization, edge, augmentation, ..InputRecipe::scaled(255.0) }
}

/// ResNet-20: He et al. (2015), "Deep Residual Learning for Image Recognition", section 4.2, with n = 3.
///
/// Shortcuts that change the shape are 1×1 convolutions.
pub(super) fn resnet20_cifar10() -> Workload {
    let mut network = Model::new("resnet20-cifar10", CIFAR10);
    let mut x = normalized_convolution(&mut network, Source::Data, [16, 3, 1], Activation::Relu);
    for (stage, filters) in [16, 32, 64].into_iter().enumerate() {
        for block in 0..3 {
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            let made = normalized_convolution(&mut network, x, [filters, 3, stride], Activation::Relu);
            let residual = normalized_convolution(&mut network, made, [filters, 3, 1], Activation::Identity);
            let shortcut = match stride {
                1 => x,
                _ => normalized_convolution(&mut network, x, [filters, 1, stride], Activation::Identity),
            };
            x = network.reads(vec![residual, shortcut], Layer::Add { activation: Activation::Relu });
        }
    }
    network.then(average_of_all(8));
    network.then(dense(10, Activation::Identity, Weights::new(Initializer::FanInUniform { scale: 1.0 })));
    let drops = vec![(0.5, 1.0), (0.5, 0.1), (0.75, 0.1), (0.75, 0.01)];
    let optimizer = Optimizer {
        schedule: Schedule::Linear { points: drops },
        weight_decay: 1e-4,
        ..Optimizer::new(Rule::Sgd { momentum: 0.9 }, 0.1)
    };
    Workload {
        title: "CIFAR-10, residual network of 20 layers",
        description: "ResNet-20 of He et al. with batch normalization and projected shortcuts; SGD with momentum 0.9, L2 \
                      decay, the rate divided by 10 after a half and three quarters of the training; images shifted by \
                      up to 4 pixels in a black border and mirrored.",
        input: normalised(Edge::Zero, Flip::Random, 4),
        published_epochs: 164,
        target: Goal::Accuracy(0.8),
        evaluations_per_epoch: 1,
        ..Workload::recipe("cifar10", network, optimizer)
    }
}

/// Small vision transformer: Dosovitskiy et al. (2020), with the mean of all tokens instead of a class token.
pub(super) fn transformer_cifar10() -> Workload {
    const WIDTH: u32 = 96;
    const HEADS: u32 = 3;
    const DEPTH: usize = 4;
    let start = Initializer::TruncatedNormal { deviation: 0.02 };
    let weights = || Weights { bias_multipliers: NOT_DECAYING, ..Weights::new(start) };
    let token_wise = |units, activation| convolution(units, 1, Padding::Valid, activation, weights());
    let sum = || Layer::Add { activation: Activation::Identity };
    let norm = || Layer::LayerNorm { epsilon: 1e-6, scale: Multipliers::default(), bias: Some(Multipliers::default()) };
    let mut network = Model::new("transformer-cifar10", CIFAR10);
    network.then(strided_convolution([WIDTH, 4, 4], Padding::Valid, Activation::Identity, weights()));
    let mut x = network.then(Layer::PositionEmbedding { initializer: start });
    for _ in 0..DEPTH {
        network.after(x, norm());
        network.then(token_wise(3 * WIDTH, Activation::Identity));
        network.then(Layer::Attention { heads: HEADS, causal: false });
        let attention = network.then(token_wise(WIDTH, Activation::Identity));
        x = network.reads(vec![x, attention], sum());
        network.after(x, norm());
        network.then(token_wise(2 * WIDTH, Activation::Gelu));
        let mixed = network.then(token_wise(WIDTH, Activation::Identity));
        x = network.reads(vec![x, mixed], sum());
    }
    network.after(x, norm());
    network.then(average_of_all(8));
    network.then(dense(10, Activation::Identity, weights()));
    Workload {
        name: "transformer-cifar10",
        title: "CIFAR-10, small transformer",
        description: "A vision transformer of 4 blocks, 96 channels and 3 heads on 64 patches of 4×4 pixels; AdamW with \
                      warm-up and cosine, label smoothing 0.1; images shifted by up to 4 pixels in a black border and \
                      mirrored. Gradmark's own: attention in addition to convolution and recurrence.",
        model: network,
        loss: Loss { label_smoothing: 0.1, ..Loss::default() },
        optimizer: Optimizer {
            schedule: Schedule::Cosine { warm_up: 0.05, last: 0.0 },
            weight_decay: 0.05,
            ..Optimizer::new(Rule::Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, decoupled: true }, 1e-3)
        },
        published_epochs: 60,
        target: Goal::Accuracy(0.65),
        ..resnet20_cifar10()
    }
}

/// Keller Jordan's airbench94 with SGD: 94 % on CIFAR-10 in 9.9 epochs.
pub(super) fn airbench94() -> Workload {
    const BATCH: f64 = 1024.0;
    const MOMENTUM: f64 = 0.85;
    // The recipe gives its rate and decay per 1024 samples without momentum.
    let scale = BATCH * (1.0 + 1.0 / (1.0 - MOMENTUM));
    let learning_rate = 11.5 / scale;
    let total_decay = 0.0153 * BATCH / scale;
    // Biases have 64 times the learning rate and the same effective decay.
    let bias = Multipliers { learning_rate: 64.0, weight_decay: 1.0 / 64.0, frozen_from: None };
    let norm =
        || Layer::BatchNorm { epsilon: 1e-12, keep: 0.6, trained_scale: false, bias, activation: Activation::Gelu };
    let dirac = |filters| {
        convolution(filters, 3, Padding::Same, Activation::Identity, Weights::new(Initializer::Dirac).without_bias())
    };
    let mut network = Model::new("airbench94", CIFAR10);
    let whitening = Weights {
        // Trained only in the first 3 of 9.9 epochs.
        bias_multipliers: Multipliers { frozen_from: Some(3.0 / 9.9), ..Multipliers::default() },
        ..Weights::new(Initializer::WhitenedPatches { epsilon: 5e-4 })
    };
    network.after(Source::Data, convolution(24, 2, Padding::Valid, Activation::Gelu, whitening));
    for filters in [64, 256, 256] {
        network.then(dirac(filters));
        network.then(max_pool(2, 2));
        network.then(norm());
        network.then(dirac(filters));
        network.then(norm());
    }
    network.then(max_pool(3, 3));
    let weights = Weights::new(Initializer::FanInUniform { scale: 1.0 }).without_bias();
    network.then(dense(10, Activation::Identity, weights));
    Workload {
        name: "airbench94",
        title: "CIFAR-10 to 94 % (airbench94)",
        description: "Keller Jordan's airbench94 (2024) with SGD: whitened patches, six 3×3 convolutions with batch \
                      normalization and GELU, Nesterov momentum, label smoothing 0.2, Lookahead, mirrored in every other \
                      epoch and shifted by up to 2 pixels; tests look at six views of each image.",
        model: network,
        input: InputRecipe {
            test_views: TestView::MIRROR_AND_SHIFT,
            ..normalised(Edge::Reflect, Flip::Alternating, 2)
        },
        loss: Loss { label_smoothing: 0.2, summed: true, logits_scale: 1.0 / 9.0 },
        optimizer: Optimizer {
            schedule: Schedule::Linear { points: vec![(0.0, 0.2), (0.23, 1.0), (1.0, 0.07)] },
            weight_decay: total_decay / learning_rate,
            ..Optimizer::new(Rule::Nesterov { momentum: MOMENTUM }, learning_rate)
        },
        average: Some(WeightAverage::Lookahead { every: 5, decay: 0.95 }),
        batch_size: 1024,
        batching: Batching::DropLast,
        published_epochs: 10,
        target: Goal::Accuracy(0.94),
        ..resnet20_cifar10()
    }
}
