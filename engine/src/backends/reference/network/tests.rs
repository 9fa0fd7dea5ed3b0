//! Gradients of every kind of layer against finite differences, in double precision.

use std::ops::Range;

use shaders::params::{Softmax, Step};
use shaders::reference as twin;

use super::*;
use crate::data::Split;
use crate::model::{Activation, Initializer, Layer, Model, Shape, Source, TensorKind};
use crate::random::Generator;
use crate::testing::models::{CLASSES, IMAGE, logits, small_models};

const ROWS: u32 = 3;

fn embedding(vocabulary: u32, words: Range<u32>, zero_padding: bool, initializer: Initializer) -> Layer {
    let (first, count) = (words.start, words.end - words.start);
    Layer::Embedding { vocabulary, units: 5, first, count, zero_padding, initializer }
}

fn loss(network: &mut Network<f64>, step: &Step, input: &[f64]) -> (f64, Vec<f64>) {
    let logits = network.forward(step, input.to_vec(), ROWS).to_vec();
    let sizes = Softmax { rows: ROWS, classes: CLASSES, stride: CLASSES, positions: 1, ..Softmax::default() };
    let params = Softmax { label_smoothing: 0.1, logits_scale: 1.0, gradient_scale: 1.0, ..sizes };
    let labels: Vec<u32> = (0..ROWS).map(|row| row % CLASSES).collect();
    let mut gradient = vec![0.0; logits.len()];
    let (loss, _) = twin::softmax_cross_entropy(&params, step, &logits, &labels, &mut gradient);
    (loss, gradient)
}

fn check(model: &Model, input: &[f64], linear: u32) {
    const DISTANCE: f64 = 1e-5;
    let specs = model.tensors().unwrap();
    let nothing = Split { images: Vec::new(), labels: Vec::new() };
    let start = |values: Vec<f32>| values.into_iter().map(f64::from).collect();
    let tensors = specs.iter().map(|spec| start(spec.initial_values(7, &nothing, 2))).collect();
    let mut network = Network::<f64>::new(model.stages(true).unwrap(), tensors);
    network.allocate_gradients();
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
            let allowed = f64::min(1e-8 + 1e-5 * slope.abs(), 1e-7 * (1.0 + slope.abs()));
            assert!((found - slope).abs() <= allowed, "{}: {}[{place}]: {found}, not {slope}", model.name, spec.name);
        }
    }
}

fn random_input(shape: Shape) -> Vec<f64> {
    let generator = Generator { stream: 99, step: 0, seed: 1 };
    (0..ROWS * shape.features()).map(|i| 2.0 * generator.uniform(i) - 1.0).collect()
}

#[test]
fn gradients_of_small_models_are_slopes() {
    for model in small_models() {
        check(&model, &random_input(IMAGE), 0);
    }
}

#[test]
fn recurrent_layers_refuse_other_activations() {
    let recurrent = Initializer::Orthogonal;
    for activation in [Activation::Gelu, Activation::Identity] {
        for layer in
            [Layer::Gru { units: 3, activation, recurrent }, Layer::SimpleRnn { units: 3, activation, recurrent }]
        {
            let refusal = Model::sequence("refused", IMAGE, vec![layer]).check().unwrap_err().to_string();
            assert!(refusal.contains("layer 0") && refusal.contains("`tanh` or `relu`"), "{refusal}");
        }
    }
}

#[test]
fn embeddings_and_a_vector_that_is_added_to_every_word() {
    let embedding = |words| embedding(7, words, false, Initializer::Uniform { limit: 0.5 });
    let lstm = Layer::Lstm { units: 5, recurrent: Initializer::Orthogonal };
    let mut network = Model::new("stories", Shape::vector(9));
    let story = network.after(Source::Data, embedding(0..6));
    network.after(Source::Data, embedding(6..9));
    let question = network.then(lstm.clone());
    network.reads(vec![story, question], Layer::Add { activation: Activation::Identity });
    let read = network.then(lstm);
    network.reads(vec![read, question], Layer::Concatenate);
    network.then(logits());
    let words = (0..ROWS * 9).map(|place| f64::from(place * 5 % 7)).collect::<Vec<_>>();
    check(&network, &words, 0);
}

/// A memory network of two hops that shares the first memory's words with the question, the last one's with the
/// answers, and places of the memories.
fn memory_network(linear_until: f64) -> Model {
    let start = Initializer::Uniform { limit: 0.8 };
    let embedding = |words| embedding(CLASSES, words, true, start);
    let sentences = Layer::SentenceSum { words: 3 };
    let mut network = Model::new("memories", Shape::vector(12));
    let words = network.after(Source::Data, embedding(0..9));
    network.then(sentences.clone());
    network.then(Layer::Dropout { rate: 0.3 });
    let places = network.then(Layer::PositionEmbedding { initializer: start });
    let others = network.after(Source::Data, embedding(0..9));
    let told = network.then(sentences.clone());
    let answering = network.sharing(places, told, Layer::PositionEmbedding { initializer: start });
    network.sharing(words, Source::Data, embedding(9..12));
    let mut state = network.then(sentences);
    for [asked, answering] in [[places, answering], [answering, places]] {
        network.reads(vec![state, asked], Layer::PixelProducts);
        let shares = network.then(Layer::Softmax { linear_until });
        let answers = network.after(answering, Layer::Transpose);
        let answer = network.reads(vec![shares, answers], Layer::PixelProducts);
        state = network.reads(vec![state, answer], Layer::Add { activation: Activation::Tanh });
    }
    network.sharing(others, state, Layer::WordScores { vocabulary: CLASSES, initializer: start });
    network
}

#[test]
fn memories_with_shared_words_and_a_softmax() {
    let words: Vec<f64> = (0..ROWS * 12).map(|place| f64::from(place * 3 % 7 % CLASSES)).collect();
    assert!(words.contains(&0.0), "padding is among the words");
    for (linear_until, linear) in [(0.0, 0), (0.5, 0), (0.5, 1)] {
        check(&memory_network(linear_until), &words, linear);
    }
}
