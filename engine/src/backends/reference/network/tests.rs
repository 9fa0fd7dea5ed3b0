//! Gradients of every kind of layer against finite differences, in double precision.

use shaders::params::{Softmax, Step};
use shaders::reference as twin;

use super::*;
use crate::data::Split;
use crate::model::{
    Activation, Initializer, Layer, Model, ModelBuilder, Multipliers, Padding, PoolKind, Rounding, Shape, Source,
    TensorKind, Weights,
};
use crate::random::Generator;

const ROWS: u32 = 3;
const CLASSES: u32 = 4;
const IMAGE: Shape = Shape::new(6, 5, 2);

fn weights() -> Weights {
    let start = Initializer::Uniform { limit: 0.4 };
    Weights::new(start).with_bias(start)
}

fn conv(filters: u32, stride: u32, padding: Padding, activation: Activation) -> Layer {
    Layer::Conv2d { filters, side: 3, stride, padding, activation, weights: weights() }
}

fn logits() -> Layer {
    Layer::Dense { units: CLASSES, activation: Activation::Identity, weights: weights() }
}

fn pool(kind: PoolKind, activation: Activation) -> Layer {
    Layer::Pool { kind, side: 3, stride: 2, padding: 1, rounding: Rounding::Ceil, activation }
}

/// Mean loss of the network's own input and labels.
fn loss(network: &mut Network<f64>, step: &Step, input: &[f64]) -> (f64, Vec<f64>) {
    let logits = network.forward(step, input.to_vec(), ROWS).to_vec();
    let params = Softmax {
        rows: ROWS,
        classes: CLASSES,
        stride: CLASSES,
        summed: 0,
        label_smoothing: 0.1,
        logits_scale: 1.0,
        gradient_scale: 1.0,
        reserved: 0,
    };
    let labels: Vec<u32> = (0..ROWS).map(|row| row % CLASSES).collect();
    let mut gradient = vec![0.0; logits.len()];
    let (loss, _) = twin::softmax_cross_entropy(&params, step, &logits, &labels, &mut gradient);
    (loss, gradient)
}

/// Holds the gradient of every trained tensor, in some places, to the slope between two losses.
fn check(model: &Model, input: &[f64]) {
    const DISTANCE: f64 = 1e-5;
    let specs = model.tensors().unwrap();
    let nothing = Split { images: Vec::new(), labels: Vec::new() };
    let start = |values: Vec<f32>| values.into_iter().map(f64::from).collect();
    let tensors = specs.iter().map(|spec| start(spec.initial_values(7, &nothing, 2))).collect();
    let mut network = Network::<f64>::new(model.stages(true).unwrap(), tensors);
    let step = Step { step: 2, seed: 5, count: ROWS, training: 1, ..Step::default() };
    let (_, gradient) = loss(&mut network, &step, input);
    network.backward(&step, gradient);
    let gradients = network.gradients.clone();
    for spec in specs.iter().filter(|spec| spec.kind == TensorKind::Trained) {
        let tensor = spec.number as usize;
        for place in (0..spec.elements()).step_by((spec.elements() / 12).max(1)) {
            let value = network.tensors[tensor][place];
            let mut at = |moved: f64| {
                network.tensors[tensor][place] = moved;
                loss(&mut network, &step, input).0
            };
            let slope = (at(value + DISTANCE) - at(value - DISTANCE)) / (2.0 * DISTANCE);
            network.tensors[tensor][place] = value;
            let found = gradients[tensor][place];
            let allowed = 1e-8 + 1e-5 * slope.abs();
            assert!((found - slope).abs() <= allowed, "{}: {}[{place}]: {found}, not {slope}", model.name, spec.name);
        }
    }
}

fn random_input(shape: Shape) -> Vec<f64> {
    let generator = Generator { stream: 99, step: 0, seed: 1 };
    (0..ROWS * shape.features()).map(|i| 2.0 * generator.uniform(i) - 1.0).collect()
}

fn check_layers(name: &'static str, shape: Shape, layers: Vec<Layer>) {
    check(&Model::sequence(name, shape, layers), &random_input(shape));
}

#[test]
fn dense_layers_with_every_activation_and_dropout() {
    let dense = |activation| Layer::Dense { units: 6, activation, weights: weights() };
    let dropout = || Layer::Dropout { rate: 0.3 };
    let layers = vec![
        dense(Activation::Tanh),
        dropout(),
        dense(Activation::Identity),
        dropout(),
        dense(Activation::Gelu),
        dense(Activation::Relu),
        dropout(),
        logits(),
    ];
    check_layers("dense", IMAGE, layers);
}

#[test]
fn convolutions_with_strides_padding_and_no_bias() {
    let layers = vec![
        conv(3, 1, Padding::Same, Activation::Tanh),
        conv(4, 2, Padding::Zeros(1), Activation::Relu),
        Layer::Conv2d {
            filters: 5,
            side: 1,
            stride: 1,
            padding: Padding::Valid,
            activation: Activation::Tanh,
            weights: weights().without_bias(),
        },
        logits(),
    ];
    check_layers("convolutions", IMAGE, layers);
}

#[test]
fn pooling_that_overlaps_and_hangs_over_the_edges() {
    let layers = vec![
        conv(3, 1, Padding::Same, Activation::Identity),
        pool(PoolKind::Max, Activation::Tanh),
        Layer::Dropout { rate: 0.2 },
        conv(3, 1, Padding::Same, Activation::Relu),
        pool(PoolKind::Average, Activation::Identity),
        logits(),
    ];
    check_layers("pooling", IMAGE, layers);
}

#[test]
fn normalisations() {
    let norm = |activation| Layer::BatchNorm {
        epsilon: 1e-5,
        keep: 0.9,
        trained_scale: true,
        bias: Multipliers::default(),
        activation,
    };
    let layers = vec![
        conv(6, 1, Padding::Same, Activation::Identity),
        norm(Activation::Gelu),
        Layer::LocalResponseNorm { radius: 2, bias: 1.0, alpha: 0.1, beta: 0.75 },
        conv(5, 1, Padding::Same, Activation::Identity),
        norm(Activation::Relu),
        Layer::LayerNorm { epsilon: 1e-6 },
        logits(),
    ];
    check_layers("normalisations", IMAGE, layers);
}

#[test]
fn recurrent_layers_over_pixels_and_over_rows() {
    let lstm = |units| Layer::Lstm { units, recurrent: Initializer::Orthogonal };
    check_layers("recurrent", IMAGE, vec![lstm(5), lstm(3), Layer::Dropout { rate: 0.3 }, logits()]);
}

#[test]
fn residuals_whose_values_are_read_more_than_once() {
    let mut network = ModelBuilder::new("residual", IMAGE);
    let x = network.then(conv(4, 1, Padding::Same, Activation::Relu));
    network.then(conv(4, 1, Padding::Same, Activation::Tanh));
    let residual = network.then(conv(4, 1, Padding::Same, Activation::Identity));
    network.reads(vec![residual, x], Layer::Add { activation: Activation::Relu });
    network.then(logits());
    check(&network.finish(), &random_input(IMAGE));
}

#[test]
fn attention_with_positions_and_residuals() {
    let token_wise = |filters| Layer::Conv2d {
        filters,
        side: 1,
        stride: 1,
        padding: Padding::Valid,
        activation: Activation::Identity,
        weights: weights(),
    };
    let mut network = ModelBuilder::new("attention", IMAGE);
    network.then(conv(8, 2, Padding::Same, Activation::Identity));
    let x = network.then(Layer::PositionEmbedding { initializer: Initializer::Uniform { limit: 0.5 } });
    network.then(Layer::LayerNorm { epsilon: 1e-6 });
    network.then(token_wise(24));
    network.then(Layer::Attention { heads: 2 });
    let attended = network.then(token_wise(8));
    network.reads(vec![x, attended], Layer::Add { activation: Activation::Identity });
    network.then(logits());
    check(&network.finish(), &random_input(IMAGE));
}

#[test]
fn embeddings_and_a_vector_that_is_added_to_every_word() {
    let embedding = |first, count| Layer::Embedding {
        vocabulary: 7,
        units: 5,
        first,
        count,
        initializer: Initializer::Uniform { limit: 0.5 },
    };
    let lstm = Layer::Lstm { units: 5, recurrent: Initializer::Orthogonal };
    let mut network = ModelBuilder::new("stories", Shape::vector(9));
    let story = network.after(Source::Data, embedding(0, 6));
    network.after(Source::Data, embedding(6, 3));
    let question = network.then(lstm.clone());
    network.reads(vec![story, question], Layer::Add { activation: Activation::Identity });
    network.then(lstm);
    network.then(logits());
    let words = (0..ROWS * 9).map(|place| f64::from(place * 5 % 7)).collect::<Vec<_>>();
    check(&network.finish(), &words);
}
