//! Gradients of every kind of layer against finite differences, in double precision.

use shaders::params::{Softmax, Step};
use shaders::reference as twin;

use super::*;
use crate::data::Split;
use crate::model::{
    Activation, Initializer, KernelSize, Layer, Model, ModelBuilder, Multipliers, Padding, PoolKind, Rounding, Shape,
    Source, TensorKind, Weights,
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
    Layer::Conv2d { filters, size: KernelSize::Square(3), stride, padding, activation, weights: weights() }
}

fn logits() -> Layer {
    Layer::Dense { units: CLASSES, activation: Activation::Identity, weights: weights() }
}

fn pool(kind: PoolKind, activation: Activation) -> Layer {
    Layer::Pool { kind, side: 3, stride: 2, padding: 1, rounding: Rounding::Ceil, activation }
}

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

/// Compares gradients with slopes between two losses.
fn check(model: &Model, input: &[f64]) {
    check_at(model, input, 0);
}

fn check_at(model: &Model, input: &[f64], linear: u32) {
    const DISTANCE: f64 = 1e-5;
    let specs = model.tensors().unwrap();
    let nothing = Split { images: Vec::new(), labels: Vec::new() };
    let start = |values: Vec<f32>| values.into_iter().map(f64::from).collect();
    let tensors = specs.iter().map(|spec| start(spec.initial_values(7, &nothing, 2))).collect();
    let mut network = Network::<f64>::new(model.stages(true).unwrap(), tensors);
    let step = Step { step: 2, seed: 5, count: ROWS, training: 1, linear, ..Step::default() };
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
            size: KernelSize::Square(1),
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
fn gru_and_simple_recurrent_layers_with_every_activation() {
    let recurrent = Initializer::Orthogonal;
    for activation in [Activation::Tanh, Activation::Relu] {
        let gru = |units| Layer::Gru { units, activation, recurrent };
        check_layers("gru", IMAGE, vec![gru(5), gru(3), Layer::Dropout { rate: 0.3 }, logits()]);
        let simple = |units| Layer::SimpleRnn { units, activation, recurrent };
        check_layers("simple rnn", IMAGE, vec![simple(5), simple(4), Layer::Dropout { rate: 0.3 }, logits()]);
    }
}

#[test]
fn a_recurrent_layer_without_a_slope_that_follows_from_its_result_is_refused() {
    let recurrent = Initializer::Orthogonal;
    for activation in [Activation::Gelu, Activation::Identity] {
        for layer in
            [Layer::Gru { units: 3, activation, recurrent }, Layer::SimpleRnn { units: 3, activation, recurrent }]
        {
            let refusal = Model::sequence("refused", IMAGE, vec![layer]).check().unwrap_err().to_string();
            assert!(refusal.contains("layer 0") && refusal.contains("tanh or ReLU"), "{refusal}");
        }
    }
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
fn convolutions_with_rectangular_kernels() {
    let rectangle = |height, width, stride, padding| Layer::Conv2d {
        filters: 3,
        size: KernelSize::Rectangle(height, width),
        stride,
        padding,
        activation: Activation::Tanh,
        weights: weights(),
    };
    let layers = vec![
        rectangle(1, 3, 1, Padding::Same),
        rectangle(4, 1, 2, Padding::Same),
        rectangle(2, 3, 1, Padding::Zeros(1)),
        logits(),
    ];
    check_layers("rectangles", IMAGE, layers);
}

#[test]
fn attention_with_positions_and_residuals() {
    let token_wise = |filters| Layer::Conv2d {
        filters,
        size: KernelSize::Square(1),
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
        zero_padding: false,
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

/// A memory network of two hops that shares the first memory's words with the question, the last one's with the
/// answers, and places of the memories.
fn memory_network(linear_until: f64) -> Model {
    let start = Initializer::Uniform { limit: 0.8 };
    let embedding = |first, count| Layer::Embedding {
        vocabulary: CLASSES,
        units: 5,
        first,
        count,
        zero_padding: true,
        initializer: start,
    };
    let sentences = Layer::SentenceSum { words: 3 };
    let mut network = ModelBuilder::new("memories", Shape::vector(12));
    let words = network.after(Source::Data, embedding(0, 9));
    network.then(sentences.clone());
    network.then(Layer::Dropout { rate: 0.3 });
    let places = network.then(Layer::PositionEmbedding { initializer: start });
    let others = network.after(Source::Data, embedding(0, 9));
    let told = network.then(sentences.clone());
    let answering = network.sharing(places, told, Layer::PositionEmbedding { initializer: start });
    network.sharing(words, Source::Data, embedding(9, 3));
    let mut state = network.then(sentences);
    for [asked, answering] in [[places, answering], [answering, places]] {
        network.reads(vec![state, asked], Layer::PixelProducts);
        let shares = network.then(Layer::Softmax { linear_until });
        let answers = network.after(answering, Layer::Transpose);
        let answer = network.reads(vec![shares, answers], Layer::PixelProducts);
        state = network.reads(vec![state, answer], Layer::Add { activation: Activation::Tanh });
    }
    network.sharing(others, state, Layer::WordScores { vocabulary: CLASSES, initializer: start });
    network.finish()
}

#[test]
fn memories_with_shared_words_and_a_softmax() {
    let words: Vec<f64> = (0..ROWS * 12).map(|place| f64::from(place * 3 % 7 % CLASSES)).collect();
    assert!(words.contains(&0.0), "padding is among the words");
    check(&memory_network(0.0), &words);
    check(&memory_network(0.5), &words);
    check_at(&memory_network(0.5), &words, 1);
}

#[test]
fn words_that_are_matched_with_a_question_and_laid_behind_it() {
    let mut network = ModelBuilder::new("matched", IMAGE);
    let conv = |filters| conv(filters, 1, Padding::Same, Activation::Tanh);
    let story = network.then(conv(5));
    network.after(Source::Data, conv(5));
    let question = network.then(pool(PoolKind::Average, Activation::Tanh));
    network.reads(vec![story, question], Layer::PixelProducts);
    network.then(Layer::Softmax { linear_until: 0.0 });
    network.then(Layer::Dropout { rate: 0.2 });
    let matched = network.then(Layer::Transpose);
    network.reads(vec![matched, question], Layer::Concatenate);
    network.then(Layer::Lstm { units: 3, recurrent: Initializer::Orthogonal });
    network.then(logits());
    check(&network.finish(), &random_input(IMAGE));
}
