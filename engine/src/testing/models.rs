//! Small models that together cover every kind of layer, for comparisons of backends and gradients.

use crate::model::{
    Activation, Initializer, KernelSize, Layer, Model, Multipliers, Padding, PoolKind, Rounding, Shape, Weights,
};

/// Intentionally odd shape, center-cropped from CIFAR-10 images.
pub(crate) const IMAGE: Shape = Shape::new(7, 5, 3);
pub(crate) const CLASSES: u32 = 10;

pub(crate) fn weights() -> Weights {
    let start = Initializer::Uniform { limit: 0.4 };
    Weights::new(start).with_bias(start)
}

pub(crate) fn conv(filters: u32, side: u32, stride: u32, padding: Padding, activation: Activation) -> Layer {
    conv_of(filters, KernelSize::Square(side), stride, padding, activation)
}

fn conv_of(filters: u32, size: KernelSize, stride: u32, padding: Padding, activation: Activation) -> Layer {
    Layer::Conv2d { filters, size, stride, padding, activation, weights: weights() }
}

pub(crate) fn dense(units: u32, activation: Activation) -> Layer {
    Layer::Dense { units, activation, weights: weights() }
}

pub(crate) fn logits() -> Layer {
    dense(CLASSES, Activation::Identity)
}

pub(crate) fn pool(kind: PoolKind, padding: u32, rounding: Rounding, activation: Activation) -> Layer {
    Layer::Pool { kind, side: 3, stride: 2, padding, rounding, activation }
}

pub(crate) fn batch_norm(activation: Activation) -> Layer {
    Layer::BatchNorm { epsilon: 1e-3, keep: 0.9, trained_scale: true, bias: Multipliers::default(), activation }
}

fn layer_norm() -> Layer {
    Layer::LayerNorm { epsilon: 1e-6, scale: Multipliers::default(), bias: Some(Multipliers::default()) }
}

/// Returns sequential image models, and graphs whose layers read more than the previous output.
pub(crate) fn small_models() -> Vec<Model> {
    use Activation::{Gelu, Identity, Relu, Tanh};
    use Padding::{Same, Valid, Zeros};
    let dropout = || Layer::Dropout { rate: 0.3 };
    let (size, weights) = (KernelSize::Square(1), weights().without_bias());
    let pointwise = Layer::Conv2d { filters: 5, size, stride: 1, padding: Valid, activation: Tanh, weights };
    let rectangle =
        |height, width, stride, padding| conv_of(4, KernelSize::Rectangle(height, width), stride, padding, Tanh);
    let recurrent = Initializer::Orthogonal;
    let lstm = |units| Layer::Lstm { units, recurrent };
    let gru = |units, activation| Layer::Gru { units, activation, recurrent };
    let simple = |units, activation| Layer::SimpleRnn { units, activation, recurrent };
    let convolutions = vec![
        conv(4, 3, 1, Same, Tanh),
        dropout(),
        conv(3, 4, 1, Same, Tanh),
        conv(4, 3, 2, Zeros(1), Relu),
        pointwise,
        logits(),
    ];
    let rectangles = vec![
        rectangle(1, 3, 1, Same),
        rectangle(3, 1, 1, Same),
        rectangle(5, 2, 2, Same),
        rectangle(1, 2, 1, Valid),
        rectangle(2, 1, 1, Zeros(1)),
        logits(),
    ];
    let pooling = vec![
        conv(3, 3, 1, Same, Identity),
        pool(PoolKind::Max, 1, Rounding::Ceil, Tanh),
        conv(3, 3, 1, Same, Relu),
        pool(PoolKind::Average, 0, Rounding::Ceil, Identity),
        logits(),
    ];
    let floors = vec![
        conv(3, 3, 1, Zeros(2), Identity),
        pool(PoolKind::Average, 1, Rounding::Floor, Tanh),
        conv(3, 3, 1, Same, Relu),
        pool(PoolKind::Max, 0, Rounding::Floor, Identity),
        logits(),
    ];
    let normalizations = vec![
        conv(6, 3, 1, Same, Identity),
        batch_norm(Gelu),
        Layer::LocalResponseNorm { radius: 2, bias: 1.5, alpha: 0.1, beta: 0.75 },
        conv(5, 3, 1, Same, Identity),
        batch_norm(Relu),
        layer_norm(),
        dense(6, Identity),
        batch_norm(Tanh),
        logits(),
    ];
    let sequences = vec![
        ("dense", vec![dense(6, Tanh), dropout(), dense(8, Gelu), dense(7, Relu), dropout(), logits()]),
        ("convolutions", convolutions),
        ("rectangles", rectangles),
        ("pooling", pooling),
        ("floors", floors),
        ("normalizations", normalizations),
        ("lstm", vec![lstm(5), lstm(3), dropout(), logits()]),
        ("gru with tanh", vec![gru(5, Tanh), gru(3, Tanh), dropout(), logits()]),
        ("gru with relu", vec![gru(5, Relu), gru(3, Relu), dropout(), logits()]),
        ("simple rnn with tanh", vec![simple(5, Tanh), simple(3, Tanh), logits()]),
        ("simple rnn with relu", vec![simple(5, Relu), simple(3, Relu), logits()]),
    ];
    let sequences = sequences.into_iter().map(|(name, layers)| Model::sequence(name, IMAGE, layers));
    sequences.chain([residual(), attention()]).collect()
}

fn residual() -> Model {
    let mut residual = Model::new("residual", IMAGE);
    let x = residual.then(conv(4, 3, 1, Padding::Same, Activation::Relu));
    residual.then(conv(4, 3, 1, Padding::Same, Activation::Tanh));
    let change = residual.then(conv(4, 3, 1, Padding::Same, Activation::Identity));
    residual.reads(vec![change, x], Layer::Add { activation: Activation::Relu });
    residual.then(logits());
    residual
}

fn attention() -> Model {
    let mut attention = Model::new("attention", IMAGE);
    attention.then(conv(8, 3, 2, Padding::Same, Activation::Identity));
    let x = attention.then(Layer::PositionEmbedding { initializer: Initializer::Uniform { limit: 0.5 } });
    attention.then(layer_norm());
    attention.then(conv(24, 1, 1, Padding::Valid, Activation::Identity));
    attention.then(Layer::Attention { heads: 2, causal: false });
    let attended = attention.then(conv(8, 1, 1, Padding::Valid, Activation::Identity));
    attention.reads(vec![x, attended], Layer::Add { activation: Activation::Identity });
    attention.then(logits());
    attention
}
