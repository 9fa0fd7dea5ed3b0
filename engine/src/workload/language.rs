//! Language models on the characters of a novel: the recipes of Karpathy's nanoGPT for Shakespeare.

use results::Goal;

use super::{NOT_DECAYING, Workload, convolution};
use crate::model::{Activation, Initializer, Layer, Model, Padding, Shape, Source, Weights};
use crate::training::{Batching, InputRecipe, Optimizer, Rule, SampleOrder, Schedule};

/// Kinds of characters of `moby-dick`, with one for all rare ones.
const VOCABULARY: u32 = 80;
/// Deviation of all initial weights, except of those that write into the residual stream.
const DEVIATION: f64 = 0.02;
/// Epochs of a recipe. The text has no natural ones, so an epoch is a tenth of the steps.
const EPOCHS: u32 = 10;
const WARM_UP_STEPS: f64 = 100.0;

/// Sizes of a language model.
struct Sizes {
    /// Characters of a window.
    window: u32,
    channels: u32,
    heads: u32,
    blocks: u32,
    dropout: Option<f32>,
}

/// Builds a transformer whose last layer shares the vectors of the characters with the first.
fn network(name: &'static str, sizes: &Sizes) -> Model {
    let Sizes { window, channels, heads, blocks, dropout } = *sizes;
    let start = Initializer::Normal { deviation: DEVIATION };
    // Each block adds twice to the residual stream, so that the sum has the deviation of one.
    let into_stream = Initializer::Normal { deviation: DEVIATION / f64::from(2 * blocks).sqrt() };
    let token_wise = |filters, activation, start| {
        convolution(filters, 1, Padding::Valid, activation, Weights::new(start).without_bias())
    };
    let norm = || Layer::LayerNorm { epsilon: 1e-5, scale: NOT_DECAYING, bias: None };
    let drop = |network: &mut Model| {
        if let Some(rate) = dropout {
            network.then(Layer::Dropout { rate });
        }
        network.last()
    };
    let sum = || Layer::Add { activation: Activation::Identity };
    let mut network = Model::new(name, Shape::new(1, window, 1));
    let characters = network.after(
        Source::Data,
        Layer::Embedding {
            vocabulary: VOCABULARY,
            units: channels,
            first: 0,
            count: window,
            zero_padding: false,
            initializer: start,
        },
    );
    network.then(Layer::PositionEmbedding { initializer: start });
    let mut x = drop(&mut network);
    for _ in 0..blocks {
        network.after(x, norm());
        network.then(token_wise(3 * channels, Activation::Identity, start));
        network.then(Layer::Attention { heads, causal: true });
        network.then(token_wise(channels, Activation::Identity, into_stream));
        let attention = drop(&mut network);
        x = network.reads(vec![x, attention], sum());
        network.after(x, norm());
        network.then(token_wise(4 * channels, Activation::Gelu, start));
        network.then(token_wise(channels, Activation::Identity, into_stream));
        let mixed = drop(&mut network);
        x = network.reads(vec![x, mixed], sum());
    }
    let normalized = network.after(x, norm());
    network.sharing(characters, normalized, Layer::WordScores { vocabulary: VOCABULARY, initializer: start });
    network
}

fn recipe(model: Model, reduced: Model, batch_size: u32, steps_per_epoch: u32) -> Workload {
    let steps = f64::from(EPOCHS * steps_per_epoch);
    let optimizer = Optimizer {
        schedule: Schedule::Cosine { warm_up: WARM_UP_STEPS / steps, last: 0.1 },
        weight_decay: 0.1,
        largest_gradient: Some(1.0),
        ..Optimizer::new(Rule::Adam { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, decoupled: true }, 1e-3)
    };
    Workload {
        reduced: Some(reduced),
        input: InputRecipe::scaled(1.0),
        batch_size,
        order: SampleOrder::Drawn { per_epoch: batch_size * steps_per_epoch },
        batching: Batching::DropLast,
        published_epochs: EPOCHS,
        // Ten seeds of `gpt-nano` in PyTorch reach it after four fifths of the steps (docs/PERFORMANCE.md).
        target: Goal::Loss(1.91),
        evaluations_per_epoch: 1,
        ..Workload::recipe("moby-dick", model, optimizer)
    }
}

pub(super) fn gpt_nano() -> Workload {
    const NAME: &str = "gpt-nano";
    let sizes = Sizes { window: 64, channels: 128, heads: 4, blocks: 4, dropout: None };
    let reduced = Sizes { window: 16, channels: 32, heads: 2, blocks: 2, dropout: None };
    Workload {
        title: "Moby Dick, smallest language model",
        description: "nanoGPT's recipe for a processor: 4 blocks, 4 heads and 128 channels on windows of 64 characters, \
                      batches of 12, 2,000 steps of AdamW with warm-up, cosine and clipped gradients. Output and input \
                      share their vectors, and no layer has a bias. The text is Moby Dick instead of Shakespeare, and \
                      the loss is over all of its last tenth.",
        ..recipe(network(NAME, &sizes), network(NAME, &reduced), 12, 200)
    }
}

pub(super) fn gpt_small() -> Workload {
    const NAME: &str = "gpt-small";
    let sizes = Sizes { window: 256, channels: 384, heads: 6, blocks: 6, dropout: Some(0.2) };
    let reduced = Sizes { window: 16, channels: 48, heads: 3, blocks: 2, dropout: Some(0.2) };
    Workload {
        title: "Moby Dick, small language model",
        description: "nanoGPT's recipe for a graphics card: 6 blocks, 6 heads and 384 channels on windows of 256 \
                      characters, batches of 64, 5,000 steps of AdamW with warm-up, cosine and clipped gradients, \
                      dropout 0.2 everywhere but in attention's weights. Output and input share their vectors, and no \
                      layer has a bias. The text is Moby Dick instead of Shakespeare, and the loss is over all of its \
                      last tenth.",
        ..recipe(network(NAME, &sizes), network(NAME, &reduced), 64, 500)
    }
}
