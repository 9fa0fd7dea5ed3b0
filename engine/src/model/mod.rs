//! Networks as data: layers and what each reads, from which shapes, weights and operation counts follow.

mod builder;
mod initial;
mod initializer;
mod layer;
mod memory_params;
mod operations;
mod recurrent;
mod recurrent_params;
mod shape;
mod stage;
mod stage_params;
mod tensor;
mod whitening;

use serde::Serialize;

pub use builder::ModelBuilder;
pub use initializer::{Initializer, Multipliers, Weights};
pub use layer::{Activation, KernelSize, Layer, Padding, PoolKind, Rounding};
pub use operations::Operations;
pub(crate) use recurrent::Cell;
pub use shape::{ModelError, Shape};
pub(crate) use stage::Storage;
#[cfg(feature = "burn")]
pub(crate) use stage::zeros_before;
pub(crate) use stage::{SlidingWindow, Stage, StageKind, Stages, Value, Words};
pub use tensor::{Initial, TensorKind, TensorSpec};
pub(crate) use whitening::{CIFAR_DEVIATION, CIFAR_MEAN};

/// A network: nodes in an order in which each reads only the data and nodes before it. The last one makes the
/// logits. Every back end interprets the same list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Model {
    pub name: &'static str,
    /// Shape of one sample.
    pub input: Shape,
    pub nodes: Vec<Node>,
}

/// A layer and what it reads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Node {
    pub layer: Layer,
    pub inputs: Vec<Source>,
    /// The earlier node whose tensor is this one's as well, where it has none of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shares: Option<usize>,
}

/// Something that a layer can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The sample itself.
    Data,
    /// What the node with this index made.
    Node(usize),
}

impl Model {
    /// A network in which each layer reads the one before it.
    pub fn sequence(name: &'static str, input: Shape, layers: Vec<Layer>) -> Self {
        let mut builder = ModelBuilder::new(name, input);
        for layer in layers {
            builder.then(layer);
        }
        builder.finish()
    }

    /// The same network with every weight matrix drawn within Glorot's limit, as the golden traces have it; vectors of
    /// words and places that are drawn from a normal distribution, uniformly with its deviation.
    #[must_use]
    pub fn with_glorot_weights(mut self) -> Self {
        for node in &mut self.nodes {
            match &mut node.layer {
                Layer::Conv2d { weights, .. } | Layer::Dense { weights, .. } => {
                    weights.kernel = Initializer::GlorotUniform;
                }
                Layer::Lstm { recurrent, .. } | Layer::Gru { recurrent, .. } | Layer::SimpleRnn { recurrent, .. } => {
                    *recurrent = Initializer::GlorotUniform;
                }
                Layer::Embedding { initializer, .. }
                | Layer::PositionEmbedding { initializer }
                | Layer::WordScores { initializer, .. } => *initializer = initializer.uniform_or_glorot(),
                _ => {}
            }
        }
        self
    }

    /// The same network with every weight matrix that starts with random numbers of some size of its own, or with zeros,
    /// drawn within Glorot's limit, and with words apart where a network compares them.
    #[must_use]
    pub(crate) fn with_lively_weights(mut self) -> Self {
        // Words that are hardly apart look alike to every other word: each has the same share of the softmax.
        const APART: f64 = 0.5;
        let compares_words = self.nodes.iter().any(|node| node.layer == Layer::PixelProducts);
        for node in &mut self.nodes {
            if let Layer::Embedding { initializer: Initializer::Uniform { limit }, .. } = &mut node.layer
                && compares_words
            {
                *limit = limit.max(APART);
            }
            if let Layer::Conv2d { weights, .. } | Layer::Dense { weights, .. } = &mut node.layer
                && weights.kernel.has_a_size_of_its_own()
            {
                weights.kernel = Initializer::GlorotUniform;
            }
        }
        self
    }

    /// Whether back ends can put it together.
    ///
    /// # Errors
    /// The first layer that is not possible where it stands.
    pub fn check(&self) -> Result<(), ModelError> {
        self.stages(true).map(drop)
    }

    /// Share of the training in which its softmaxes pass what they read.
    pub(crate) fn linear_until(&self) -> f64 {
        let share = |node: &Node| if let Layer::Softmax { linear_until } = node.layer { linear_until } else { 0.0 };
        self.nodes.iter().map(share).fold(0.0, f64::max)
    }

    /// The node whose tensors a node reads: another, or itself.
    pub(crate) fn owner(&self, node: usize) -> usize {
        self.nodes[node].shares.unwrap_or(node)
    }

    /// Number of classes: the features of the logits.
    pub fn classes(&self) -> Result<u32, ModelError> {
        Ok(self.shapes()?.last().copied().unwrap_or(self.input).features())
    }

    /// Parameters, trained or fixed; running statistics are none.
    pub fn parameters(&self) -> Result<u64, ModelError> {
        let tensors = self.tensors()?;
        Ok(tensors.iter().filter(|t| t.kind != TensorKind::Statistic).map(|t| t.elements() as u64).sum())
    }
}
