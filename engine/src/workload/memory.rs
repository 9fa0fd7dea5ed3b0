//! End-to-end memory network: Sukhbaatar, Szlam, Weston and Fergus (2015), "End-To-End Memory Networks".

use results::Goal;

use super::{TrainingRange, Workload};
use crate::model::{Activation, Initializer, Layer, Model, Shape, Source};
use crate::training::{InputRecipe, Loss, Optimizer, Rule, Schedule};

/// Number of sentences in the longest story of task 1, and of words in its longest sentence.
const SENTENCES: u32 = 10;
const WORDS: u32 = 6;
/// Vocabulary size of task 1: 19 words and padding.
const VOCABULARY: u32 = 20;
const UNITS: u32 = 20;
const HOPS: usize = 3;

const START: Initializer = Initializer::Normal { deviation: 0.1 };
/// Share of training without softmax. The paper instead inserts it when the held-out loss stops falling.
const LINEAR_UNTIL: f64 = 0.2;
const EPOCHS: u32 = 100;
/// Number of steps per epoch of 900 stories.
const STEPS_PER_EPOCH: u64 = 29;

const fn embedding(first: u32, count: u32) -> Layer {
    Layer::Embedding { vocabulary: VOCABULARY, units: UNITS, first, count, zero_padding: true, initializer: START }
}

/// Builds the network with adjacent weight tying.
///
/// The output embedding of a hop is the input embedding of the next, so there is one more memory than hops. The first
/// memory shares its word vectors with the question, the last with the answer.
fn network() -> Model {
    let sentences = Layer::SentenceSum { words: WORDS };
    let mut network = Model::new("memn2n-babi", Shape::vector((SENTENCES + 1) * WORDS));
    let mut words = Vec::new();
    let mut memories = Vec::new();
    for _ in 0..=HOPS {
        words.push(network.after(Source::Data, embedding(0, SENTENCES * WORDS)));
        network.then(sentences.clone());
        memories.push(network.then(Layer::PositionEmbedding { initializer: START }));
    }
    network.sharing(words[0], Source::Data, embedding(SENTENCES * WORDS, WORDS));
    let mut state = network.then(sentences);
    for hop in 0..HOPS {
        network.reads(vec![state, memories[hop]], Layer::PixelProducts);
        let shares = network.then(Layer::Softmax { linear_until: LINEAR_UNTIL });
        let answers = network.after(memories[hop + 1], Layer::Transpose);
        let answer = network.reads(vec![shares, answers], Layer::PixelProducts);
        state = network.reads(vec![state, answer], Layer::Add { activation: Activation::Identity });
    }
    network.sharing(words[HOPS], state, Layer::WordScores { vocabulary: VOCABULARY, initializer: START });
    network
}

pub(super) fn babi() -> Workload {
    let schedule = Schedule::Staircase { every: 25 * STEPS_PER_EPOCH, factor: 0.5 };
    let optimizer =
        Optimizer { schedule, largest_gradient: Some(40.0), ..Optimizer::new(Rule::Sgd { momentum: 0.0 }, 0.005) };
    Workload {
        title: "bAbI task 1, end-to-end memory network",
        description: "Three hops over the sentences of a story, with position encoding, learned places in time, adjacent \
                      tying and a linear start, SGD on the sum of a batch's losses, of Sukhbaatar et al. (2015), section \
                      4. A tenth of the training stories is held out. Without their noise of empty \
                      memories, and the softmax comes after a fifth of the epochs, not when the held-out loss stops \
                      falling. The padding's scores are learned.",
        training: Some(TrainingRange { first: 0, samples: 900 }),
        input: InputRecipe::scaled(1.0),
        loss: Loss { summed: true, ..Loss::default() },
        batch_size: 32,
        published_epochs: EPOCHS,
        target: Goal::Accuracy(0.95),
        evaluations_per_epoch: 1,
        ..Workload::recipe("babi-qa1-sentences", network(), optimizer)
    }
}
