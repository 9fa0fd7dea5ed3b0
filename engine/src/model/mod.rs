//! Networks as data: layers and what each reads, from which shapes, weights and operation counts follow.

mod layer;
mod shape;
mod stage;
mod stage_params;
mod tensor;
mod whitening;

use serde::Serialize;

pub(crate) use layer::Cell;
pub use layer::{Activation, Initializer, KernelSize, Layer, Multipliers, Padding, PoolKind, Rounding, Weights};
pub use shape::{ModelError, Shape};
#[cfg(feature = "burn")]
pub(crate) use stage::zeros_before;
pub(crate) use stage::{SlidingWindow, Stage, StageKind, Stages, Storage, Value, Words};
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

/// Puts a network together, front to back.
#[derive(Clone, Debug)]
pub struct ModelBuilder {
    model: Model,
    last: Source,
}

impl ModelBuilder {
    pub fn new(name: &'static str, input: Shape) -> Self {
        Self { model: Model { name, input, nodes: Vec::new() }, last: Source::Data }
    }

    /// What the last layer made.
    pub fn last(&self) -> Source {
        self.last
    }

    /// Adds a layer that reads the last one.
    pub fn then(&mut self, layer: Layer) -> Source {
        self.after(self.last, layer)
    }

    /// Adds a layer that reads `source`.
    pub fn after(&mut self, source: Source, layer: Layer) -> Source {
        self.reads(vec![source], layer)
    }

    /// Adds a layer that reads several sources.
    pub fn reads(&mut self, inputs: Vec<Source>, layer: Layer) -> Source {
        self.model.nodes.push(Node { layer, inputs, shares: None });
        self.last = Source::Node(self.model.nodes.len() - 1);
        self.last
    }

    /// Adds a layer that reads `source`, with the tensor of the layer that made `owner` instead of its own.
    ///
    /// # Panics
    /// The data has no tensor.
    pub fn sharing(&mut self, owner: Source, source: Source, layer: Layer) -> Source {
        let Source::Node(owner) = owner else { panic!("the data has no tensor") };
        self.model.nodes.push(Node { layer, inputs: vec![source], shares: Some(owner) });
        self.last = Source::Node(self.model.nodes.len() - 1);
        self.last
    }

    pub fn finish(self) -> Model {
        self.model
    }
}

/// Arithmetic that one sample needs, counted from shapes.
///
/// Only products are counted (convolutions, dense layers, recurrent layers, attention), two operations for each
/// multiply-add; bias, activation, pooling, normalisation, softmax, dropout and optimiser are not
/// (`reference/workloads.md`, conventions).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Operations {
    pub forward_multiply_adds: u64,
    pub forward_flops: u64,
    /// Weight gradients of all layers that are trained, input gradients of all that do not read the data.
    pub backward_flops: u64,
}

impl Operations {
    /// Forward and backward, floating-point operations for one training sample.
    pub fn training_flops(&self) -> u64 {
        self.forward_flops + self.backward_flops
    }
}

impl Model {
    pub fn operations(&self) -> Result<Operations, ModelError> {
        let shapes = self.shapes()?;
        let (mut forward, mut unneeded) = (0, 0);
        for (node, output) in self.nodes.iter().zip(&shapes) {
            let (input, reads_data) = match node.inputs[0] {
                Source::Data => (self.input, true),
                Source::Node(node) => (shapes[node], false),
            };
            let channels = u64::from(input.channels);
            // Products with the input, whose gradient the data does not need, and others.
            let (with_input, others) = match node.layer {
                Layer::Conv2d { size, .. } => (u64::from(size.area()) * channels * u64::from(output.features()), 0),
                Layer::Dense { units, .. } => (u64::from(input.features()) * u64::from(units), 0),
                Layer::Lstm { units, .. } | Layer::Gru { units, .. } | Layer::SimpleRnn { units, .. } => {
                    let gates = node.layer.recurrent().map_or(0, |layer| layer.cell.gates());
                    let gates = u64::from(input.pixels()) * u64::from(gates) * u64::from(units);
                    (gates * channels, gates * u64::from(units))
                }
                // Two products of tokens × tokens × channels; each has two gradients as well.
                Layer::Attention { .. } => (0, 2 * u64::from(input.pixels()).pow(2) * u64::from(output.channels)),
                Layer::WordScores { vocabulary, .. } => (u64::from(input.features()) * u64::from(vocabulary), 0),
                // A product for each pair of pixels, with two gradients.
                Layer::PixelProducts => (0, channels * u64::from(output.features())),
                _ => (0, 0),
            };
            forward += with_input + others;
            unneeded += if reads_data { with_input } else { 0 };
            unneeded += if node.layer.has_fixed_kernel() { with_input } else { 0 };
        }
        Ok(Operations {
            forward_multiply_adds: forward,
            forward_flops: 2 * forward,
            backward_flops: 2 * (2 * forward - unneeded),
        })
    }
}
