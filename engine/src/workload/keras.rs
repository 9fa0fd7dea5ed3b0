//! Networks from the article on Keras backends, taken from the examples of Keras 2.0.8.

use results::Goal;

use super::{ADAM, CIFAR10, MNIST, TrainingRange, Workload, convolution, dense, max_pool};
use crate::model::{Activation, Initializer, Layer, Model, Padding, Shape, Source, Weights};
use crate::training::{Augmentation, Batching, Edge, Flip, InputRecipe, Optimizer, Rule, Schedule, Shift};

const RMSPROP: Rule = Rule::RmsProp { rho: 0.9, epsilon: 1e-8 };

fn glorot() -> Weights {
    Weights::new(Initializer::GlorotUniform)
}

pub(super) fn mnist_mlp() -> Workload {
    let layers = vec![
        dense(512, Activation::Relu, glorot()),
        Layer::Dropout { rate: 0.2 },
        dense(512, Activation::Relu, glorot()),
        Layer::Dropout { rate: 0.2 },
        dense(10, Activation::Identity, glorot()),
    ];
    Workload {
        title: "MNIST, multilayer perceptron (Keras)",
        description: "784-512-512-10 with dropout 0.2 and RMSprop, from the Keras 2.0.8 examples (mnist_mlp.py). \
                      Launch-bound: small matrix products. Pixels / 255.",
        ..Workload::recipe("mnist", Model::sequence("keras-mnist-mlp", MNIST, layers), Optimizer::new(RMSPROP, 0.001))
    }
}

pub(super) fn mnist_cnn() -> Workload {
    let layers = vec![
        convolution(32, 3, Padding::Valid, Activation::Relu, glorot()),
        convolution(64, 3, Padding::Valid, Activation::Relu, glorot()),
        max_pool(2, 2),
        Layer::Dropout { rate: 0.25 },
        dense(128, Activation::Relu, glorot()),
        Layer::Dropout { rate: 0.5 },
        dense(10, Activation::Identity, glorot()),
    ];
    let adadelta = Optimizer::new(Rule::Adadelta { rho: 0.95, epsilon: 1e-8 }, 1.0);
    Workload {
        title: "MNIST, convolutional network (Keras)",
        description: "Two 3×3 convolutions, max pooling and dense 128 with dropout, Adadelta, from the Keras 2.0.8 \
                      examples (mnist_cnn.py). Pixels / 255.",
        published_epochs: 12,
        target: Goal::Accuracy(0.985),
        ..Workload::recipe("mnist", Model::sequence("keras-mnist-cnn", MNIST, layers), adadelta)
    }
}

pub(super) fn cifar10_cnn() -> Workload {
    let layers = vec![
        convolution(32, 3, Padding::Same, Activation::Relu, glorot()),
        convolution(32, 3, Padding::Valid, Activation::Relu, glorot()),
        max_pool(2, 2),
        Layer::Dropout { rate: 0.25 },
        convolution(64, 3, Padding::Same, Activation::Relu, glorot()),
        convolution(64, 3, Padding::Valid, Activation::Relu, glorot()),
        max_pool(2, 2),
        Layer::Dropout { rate: 0.25 },
        dense(512, Activation::Relu, glorot()),
        Layer::Dropout { rate: 0.5 },
        dense(10, Activation::Identity, glorot()),
    ];
    let schedule = Schedule::Inverse { gamma: 1e-6, power: 1.0 };
    let optimizer = Optimizer { schedule, ..Optimizer::new(RMSPROP, 0.0001) };
    Workload {
        title: "CIFAR-10, convolutional network (Keras)",
        description: "Four 3×3 convolutions, two poolings and dense 512 with dropout, RMSprop, images shifted by up to \
                      10 % and mirrored, from the Keras 2.0.8 examples (cifar10_cnn.py). Pixels / 255.",
        input: InputRecipe {
            edge: Edge::Nearest,
            augmentation: Augmentation { flip: Flip::Random, shift: Shift::Share(0.1), ..Augmentation::NONE },
            ..InputRecipe::scaled(255.0)
        },
        batch_size: 32,
        batching: Batching::DropLast,
        published_epochs: 50,
        target: Goal::Accuracy(0.7),
        ..Workload::recipe("cifar10", Model::sequence("keras-cifar10-cnn", CIFAR10, layers), optimizer)
    }
}

pub(super) fn mnist_hrnn() -> Workload {
    let lstm = Layer::Lstm { units: 128, recurrent: Initializer::Orthogonal };
    let layers = vec![lstm.clone(), lstm, dense(10, Activation::Identity, glorot())];
    Workload {
        title: "MNIST, hierarchical recurrent network (Keras)",
        description: "An LSTM reads the pixels of each row, a second one the rows; RMSprop, from the Keras 2.0.8 \
                      examples (mnist_hierarchical_rnn.py). Pixels / 255.",
        batch_size: 32,
        published_epochs: 5,
        target: Goal::Accuracy(0.97),
        ..Workload::recipe("mnist", Model::sequence("keras-mnist-hrnn", MNIST, layers), Optimizer::new(RMSPROP, 0.001))
    }
}

/// Story length and question length in words, and vocabulary size including padding.
const STORY: u32 = 552;
const QUESTION: u32 = 5;
const VOCABULARY: u32 = 36;

fn embedding(vocabulary: u32, units: u32, first: u32, count: u32) -> Layer {
    let initializer = Initializer::Uniform { limit: 0.05 };
    Layer::Embedding { vocabulary, units, first, count, zero_padding: false, initializer }
}

pub(super) fn babi_rnn() -> Workload {
    let embedding = |first, count| embedding(VOCABULARY, 50, first, count);
    let lstm = Layer::Lstm { units: 50, recurrent: Initializer::Orthogonal };
    let mut network = Model::new("keras-babi-rnn", Shape::vector(STORY + QUESTION));
    network.after(Source::Data, embedding(0, STORY));
    let story = network.then(Layer::Dropout { rate: 0.3 });
    network.after(Source::Data, embedding(STORY, QUESTION));
    network.then(Layer::Dropout { rate: 0.3 });
    let question = network.then(lstm.clone());
    network.reads(vec![story, question], Layer::Add { activation: Activation::Identity });
    network.then(lstm);
    network.then(Layer::Dropout { rate: 0.3 });
    network.then(dense(VOCABULARY, Activation::Identity, glorot()));
    Workload {
        title: "bAbI task 2, recurrent network (Keras)",
        description: "Questions about stories with two supporting facts: embeddings, an LSTM over the question, added \
                      to every word of the story, an LSTM over the story; Adam, from the Keras 2.0.8 examples \
                      (babi_rnn.py). 552 sequential steps. The last 5 % of the training stories are held out.",
        training: Some(TrainingRange { first: 0, samples: 950 }),
        input: InputRecipe::scaled(1.0),
        batch_size: 32,
        published_epochs: 40,
        target: Goal::Accuracy(0.3),
        evaluations_per_epoch: 1,
        ..Workload::recipe("babi-qa2", network, Optimizer::new(ADAM, 0.001))
    }
}

pub(super) fn babi_memnn() -> Workload {
    // Longest story and question of task 1 with 10,000 training questions, and its vocabulary including padding.
    const STORY: u32 = 68;
    const QUESTION: u32 = 4;
    const VOCABULARY: u32 = 22;
    let mut network = Model::new("keras-babi-memnn", Shape::vector(STORY + QUESTION));
    let dropout = Layer::Dropout { rate: 0.3 };
    let [asked, answering, question] =
        [(0, STORY, 64), (0, STORY, QUESTION), (STORY, QUESTION, 64)].map(|(first, count, units)| {
            network.after(Source::Data, embedding(VOCABULARY, units, first, count));
            network.then(dropout.clone())
        });
    network.reads(vec![asked, question], Layer::PixelProducts);
    let matched = network.then(Layer::Softmax { linear_until: 0.0 });
    network.reads(vec![matched, answering], Layer::Add { activation: Activation::Identity });
    let response = network.then(Layer::Transpose);
    network.reads(vec![response, question], Layer::Concatenate);
    network.then(Layer::Lstm { units: 32, recurrent: Initializer::Orthogonal });
    network.then(dropout);
    network.then(dense(VOCABULARY, Activation::Identity, glorot()));
    Workload {
        title: "bAbI task 1, memory network (Keras)",
        description: "Words of the story matched with words of the question by products and a softmax over the question, \
                      an LSTM over the question's words with what they found; RMSprop, from the Keras 2 examples \
                      (babi_memnn.py), on 10,000 training questions.",
        input: InputRecipe::scaled(1.0),
        batch_size: 32,
        published_epochs: 120,
        target: Goal::Accuracy(0.95),
        evaluations_per_epoch: 1,
        ..Workload::recipe("babi-qa1-10k", network, Optimizer::new(RMSPROP, 0.001))
    }
}
