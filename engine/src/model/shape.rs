use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Activation, Initializer, Layer, Model, Padding, Rounding, Source};

/// Shape of one sample: height, width, channels. A vector is `1 × 1 × features`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    pub height: u32,
    pub width: u32,
    pub channels: u32,
}

impl Shape {
    pub const fn new(height: u32, width: u32, channels: u32) -> Self {
        Self { height, width, channels }
    }

    pub const fn vector(features: u32) -> Self {
        Self::new(1, 1, features)
    }

    pub const fn features(self) -> u32 {
        self.height * self.width * self.channels
    }

    pub const fn pixels(self) -> u32 {
        self.height * self.width
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { height, width, channels } = self;
        if self.pixels() == 1 {
            write!(f, "a vector of {channels}")
        } else {
            write!(f, "{height} × {width} × {channels}")
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    #[error("{model}: layer {layer} is not possible: {reason}")]
    Impossible { model: &'static str, layer: usize, reason: String },
    #[error("{model}: layer {layer} is not supported by this backend: {reason}")]
    Unsupported { model: &'static str, layer: usize, reason: String },
}

impl Model {
    /// Returns the output shape of each node for one sample.
    pub fn shapes(&self) -> Result<Vec<Shape>, ModelError> {
        let mut shapes = Vec::with_capacity(self.nodes.len());
        for (index, node) in self.nodes.iter().enumerate() {
            let later = |node| self.impossible(index, format!("it reads layer {node}, a later one"));
            let input = |source: &Source| match *source {
                Source::Data => Ok(self.input),
                Source::Node(node) => shapes.get(node).copied().ok_or_else(|| later(node)),
            };
            let inputs = node.inputs.iter().map(input).collect::<Result<Vec<_>, _>>()?;
            shapes.push(self.output_shape(index, &node.layer, &inputs)?);
        }
        Ok(shapes)
    }

    pub(super) fn impossible(&self, layer: usize, reason: String) -> ModelError {
        ModelError::Impossible { model: self.name, layer, reason }
    }

    fn output_shape(&self, index: usize, layer: &Layer, inputs: &[Shape]) -> Result<Shape, ModelError> {
        let check = |is_possible: bool, reason: &dyn Fn() -> String| {
            if is_possible { Ok(()) } else { Err(self.impossible(index, reason())) }
        };
        let two = matches!(layer, Layer::Add { .. } | Layer::PixelProducts | Layer::Concatenate);
        let wanted = if two { 2 } else { 1 };
        check(inputs.len() == wanted, &|| format!("it reads {} layers instead of {wanted}", inputs.len()))?;
        let input = inputs[0];
        let windows = |window: [u32; 2], stride: u32, around: u32, rounding| -> Result<(u32, u32), ModelError> {
            let Shape { height, width, .. } = input;
            let [rows, columns] = window;
            let fits = !window.contains(&0) && stride != 0 && rows <= height + around && columns <= width + around;
            check(fits, &|| {
                format!(
                    "a window of {rows} × {columns} does not fit into the layer's input of {height} × {width}; use a \
                     smaller one, or padding"
                )
            })?;
            let extent = |extent: u32, side: u32| match rounding {
                Rounding::Floor => (extent + around - side) / stride + 1,
                Rounding::Ceil => (extent + around - side).div_ceil(stride) + 1,
            };
            Ok((extent(height, rows), extent(width, columns)))
        };
        Ok(match *layer {
            Layer::Conv2d { filters, size, stride, padding, weights, .. } => {
                let [rows, columns] = size.sides();
                let is_possible = rows == columns || !matches!(weights.kernel, Initializer::WhitenedPatches { .. });
                check(is_possible, &|| format!("whitened patches are squares, not {rows} × {columns}"))?;
                let (height, width) = match padding {
                    Padding::Valid => windows(size.sides(), stride, 0, Rounding::Floor)?,
                    Padding::Zeros(zeros) => windows(size.sides(), stride, 2 * zeros, Rounding::Floor)?,
                    Padding::Same => (input.height.div_ceil(stride), input.width.div_ceil(stride)),
                };
                Shape::new(height, width, filters)
            }
            Layer::Pool { side, stride, padding, rounding, .. } => {
                let (height, width) = windows([side; 2], stride, 2 * padding, rounding)?;
                Shape::new(height, width, input.channels)
            }
            Layer::Dense { units, .. } => Shape::vector(units),
            Layer::Lstm { units, .. } => Shape::new(1, input.height, units),
            Layer::Gru { units, activation, .. } | Layer::SimpleRnn { units, activation, .. } => {
                // Only the output is kept, so the slope must follow from it.
                let is_possible = matches!(activation, Activation::Tanh | Activation::Relu);
                check(is_possible, &|| "the activation of a recurrent layer must be `tanh` or `relu`".to_owned())?;
                Shape::new(1, input.height, units)
            }
            Layer::Embedding { units, first, count, .. } => {
                let (read, given) = (first + count, input.features());
                check(read <= given, &|| format!("it reads {read} words, and a sample has {given}"))?;
                Shape::new(1, count, units)
            }
            Layer::Add { .. } => {
                let second = inputs[1];
                let is_possible = second == input || second == Shape::vector(input.channels);
                check(is_possible, &|| format!("{second} cannot be added to {input}"))?;
                input
            }
            Layer::Attention { heads, .. } => {
                let channels = input.channels;
                let is_possible = heads != 0 && channels.is_multiple_of(12 * heads);
                check(is_possible, &|| format!("{channels} channels are not three times {heads} heads of fours"))?;
                Shape { channels: channels / 3, ..input }
            }
            Layer::SentenceSum { words } => {
                let pixels = input.pixels();
                let is_possible = words != 0 && pixels.is_multiple_of(words);
                check(is_possible, &|| format!("{pixels} words are not whole sentences of {words}"))?;
                Shape::new(1, pixels / words, input.channels)
            }
            Layer::WordScores { vocabulary, .. } => Shape { channels: vocabulary, ..input },
            Layer::PixelProducts => {
                let second = inputs[1];
                let is_possible = second.channels == input.channels;
                let reason = || format!("{input} and {second} cannot be multiplied: they differ in channels");
                check(is_possible, &reason)?;
                Shape::new(1, input.pixels(), second.pixels())
            }
            Layer::Transpose => Shape::new(1, input.channels, input.pixels()),
            Layer::Concatenate => {
                let second = inputs[1];
                check(second.pixels() == input.pixels(), &|| {
                    format!("{second} cannot be concatenated to {input}: they differ in pixels")
                })?;
                Shape { channels: input.channels + second.channels, ..input }
            }
            Layer::Dropout { .. }
            | Layer::Softmax { .. }
            | Layer::LocalResponseNorm { .. }
            | Layer::BatchNorm { .. }
            | Layer::LayerNorm { .. }
            | Layer::PositionEmbedding { .. } => input,
        })
    }
}
