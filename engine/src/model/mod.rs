//! Networks as data: layers and their inputs, which determine shapes, weights and operation counts.

mod layer;
mod shape;
mod stage;
mod stage_params;
mod tensor;
mod whitening;

use serde::{Deserialize, Serialize};

pub(crate) use layer::Cell;
pub use layer::{Activation, Initializer, KernelSize, Layer, Multipliers, Padding, PoolKind, Rounding, Weights};
pub use shape::{ModelError, Shape};
#[cfg(any(feature = "burn", feature = "wgsl"))]
pub(crate) use stage::{SlidingWindow, Words};
pub(crate) use stage::{Stage, StageKind, Stages, Storage, Value};
pub(crate) use stage_params::SizedStage;
pub use tensor::{Initial, TensorKind, TensorSpec};
pub(crate) use whitening::{CIFAR_DEVIATION, CIFAR_MEAN};

/// Network as a list of nodes that every backend interprets.
///
/// Each node reads only the data and earlier nodes. The last one returns the logits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Model {
    pub name: &'static str,
    pub input: Shape,
    pub nodes: Vec<Node>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    pub layer: Layer,
    pub inputs: Vec<Source>,
    /// Earlier node that owns this node's tensor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shares: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    Data,
    Node(usize),
}

impl Model {
    pub fn new(name: &'static str, input: Shape) -> Self {
        Self { name, input, nodes: Vec::new() }
    }

    pub fn sequence(name: &'static str, input: Shape, layers: Vec<Layer>) -> Self {
        let mut model = Self::new(name, input);
        for layer in layers {
            model.then(layer);
        }
        model
    }

    /// Returns the output of the last node, or the data if there is none.
    pub fn last(&self) -> Source {
        self.nodes.len().checked_sub(1).map_or(Source::Data, Source::Node)
    }

    pub fn then(&mut self, layer: Layer) -> Source {
        self.after(self.last(), layer)
    }

    pub fn after(&mut self, source: Source, layer: Layer) -> Source {
        self.reads(vec![source], layer)
    }

    pub fn reads(&mut self, inputs: Vec<Source>, layer: Layer) -> Source {
        self.nodes.push(Node { layer, inputs, shares: None });
        self.last()
    }

    /// Adds a layer that reads `source` and shares the tensor of `owner`. Panics if `owner` is the data.
    pub fn sharing(&mut self, owner: Source, source: Source, layer: Layer) -> Source {
        let Source::Node(owner) = owner else { panic!("the data has no tensor") };
        self.nodes.push(Node { layer, inputs: vec![source], shares: Some(owner) });
        self.last()
    }

    /// Returns the network with Glorot weights, as in golden traces. Normal embeddings become uniform, equally wide.
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
                | Layer::WordScores { initializer, .. } => {
                    *initializer = match *initializer {
                        Initializer::Normal { deviation } => Initializer::Uniform { limit: deviation * 3.0_f64.sqrt() },
                        _ => Initializer::GlorotUniform,
                    };
                }
                _ => {}
            }
        }
        self
    }

    /// Returns the network with Glorot weights where the scale does not depend on the shape, and distinct word vectors
    /// if it compares them.
    #[must_use]
    pub(crate) fn with_lively_weights(mut self) -> Self {
        use Initializer::{Constant, Normal, TruncatedNormal, Uniform};
        // Nearly equal word vectors would make the softmax uniform.
        const MIN_WORD_LIMIT: f64 = 0.5;
        let compares_words = self.nodes.iter().any(|node| node.layer == Layer::PixelProducts);
        for node in &mut self.nodes {
            if let Layer::Embedding { initializer: Uniform { limit }, .. } = &mut node.layer
                && compares_words
            {
                *limit = limit.max(MIN_WORD_LIMIT);
            }
            if let Layer::Conv2d { weights, .. } | Layer::Dense { weights, .. } = &mut node.layer
                && matches!(weights.kernel, Uniform { .. } | Normal { .. } | TruncatedNormal { .. } | Constant { .. })
            {
                weights.kernel = Initializer::GlorotUniform;
            }
        }
        self
    }

    /// Checks that backends can build the model. Fails at the first impossible layer.
    pub fn check(&self) -> Result<(), ModelError> {
        self.stages(true).map(drop)
    }

    /// Returns the share of training during which softmax layers pass their input through.
    pub(crate) fn linear_until(&self) -> f64 {
        let share = |node: &Node| if let Layer::Softmax { linear_until } = node.layer { linear_until } else { 0.0 };
        self.nodes.iter().map(share).fold(0.0, f64::max)
    }

    /// Returns the shape that a layer reads from `source`, given the output shapes of the nodes.
    pub(crate) fn shape_of(&self, source: Source, shapes: &[Shape]) -> Shape {
        match source {
            Source::Data => self.input,
            Source::Node(node) => shapes[node],
        }
    }

    pub(crate) fn owner(&self, node: usize) -> usize {
        self.nodes[node].shares.unwrap_or(node)
    }

    /// Returns the number of classes of an answer, which is its number of logits.
    pub fn classes(&self) -> Result<u32, ModelError> {
        Ok(self.output()?.channels)
    }

    /// Returns the number of answers for a sample: one, or one for each character of a window.
    pub fn positions(&self) -> Result<u32, ModelError> {
        Ok(self.output()?.pixels())
    }

    fn output(&self) -> Result<Shape, ModelError> {
        Ok(self.shapes()?.last().copied().unwrap_or(self.input))
    }

    /// Returns the number of trained and fixed parameters, excluding running statistics.
    pub fn parameters(&self) -> Result<u64, ModelError> {
        let tensors = self.tensors()?;
        Ok(tensors.iter().filter(|t| t.kind != TensorKind::Statistic).map(|t| t.elements() as u64).sum())
    }

    pub fn operations(&self) -> Result<Operations, ModelError> {
        let shapes = self.shapes()?;
        let (mut forward, mut unneeded) = (0, 0);
        for (node, output) in self.nodes.iter().zip(&shapes) {
            let input = self.shape_of(node.inputs[0], &shapes);
            let channels = u64::from(input.channels);
            // Products with the data need no input gradient.
            let (with_input, others) = match node.layer {
                Layer::Conv2d { size, .. } => (u64::from(size.area()) * channels * u64::from(output.features()), 0),
                Layer::Dense { units, .. } => (u64::from(input.features()) * u64::from(units), 0),
                Layer::Lstm { units, .. } | Layer::Gru { units, .. } | Layer::SimpleRnn { units, .. } => {
                    let gates = node.layer.recurrent().map_or(0, |(cell, ..)| cell.gates());
                    let gates = u64::from(input.pixels()) * u64::from(gates) * u64::from(units);
                    (gates * channels, gates * u64::from(units))
                }
                // Two products of pairs of tokens × channels, with two gradients each.
                Layer::Attention { causal, .. } => {
                    let tokens = u64::from(input.pixels());
                    let pairs = if causal { tokens * (tokens + 1) / 2 } else { tokens * tokens };
                    (0, 2 * pairs * u64::from(output.channels))
                }
                Layer::WordScores { vocabulary, .. } => (u64::from(input.features()) * u64::from(vocabulary), 0),
                Layer::PixelProducts => (0, channels * u64::from(output.features())),
                _ => (0, 0),
            };
            forward += with_input + others;
            unneeded += if node.inputs[0] == Source::Data { with_input } else { 0 };
            unneeded += if node.layer.has_fixed_kernel() { with_input } else { 0 };
        }
        Ok(Operations {
            forward_multiply_adds: forward,
            forward_flops: 2 * forward,
            backward_flops: 2 * (2 * forward - unneeded),
        })
    }
}

/// Operation counts for one sample, derived from shapes.
///
/// Counts only products (convolutions, dense layers, recurrent layers, attention), at two operations per multiply-add.
/// Excludes bias, activation, pooling, normalization, softmax, dropout and optimizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Operations {
    pub forward_multiply_adds: u64,
    pub forward_flops: u64,
    /// Weight gradients of trained layers, and input gradients of layers that do not read the data.
    pub backward_flops: u64,
}

impl Operations {
    pub fn training_flops(&self) -> u64 {
        self.forward_flops + self.backward_flops
    }
}
