use std::fmt;

use serde::Serialize;

use super::{Activation, Initializer, Layer, Model, Padding, Rounding, Source};

/// Shape of one sample: height, width, channels. A vector is `1 × 1 × features`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
            let impossible = |reason: String| ModelError::Impossible { model: self.name, layer: index, reason };
            let mut inputs = Vec::with_capacity(node.inputs.len());
            for source in &node.inputs {
                inputs.push(match *source {
                    Source::Data => self.input,
                    Source::Node(node) => {
                        *shapes.get(node).ok_or_else(|| impossible(format!("it reads layer {node}, a later one")))?
                    }
                });
            }
            shapes.push(self.output_shape(index, &node.layer, &inputs)?);
        }
        Ok(shapes)
    }

    fn output_shape(&self, index: usize, layer: &Layer, inputs: &[Shape]) -> Result<Shape, ModelError> {
        let impossible = |reason: String| ModelError::Impossible { model: self.name, layer: index, reason };
        let two = matches!(layer, Layer::Add { .. } | Layer::PixelProducts | Layer::Concatenate);
        let wanted = if two { 2 } else { 1 };
        if inputs.len() != wanted {
            return Err(impossible(format!("it reads {} layers instead of {wanted}", inputs.len())));
        }
        let input = inputs[0];
        let windows = |window: [u32; 2], stride: u32, around: u32, rounding: Rounding| {
            let Shape { height, width, .. } = input;
            let [rows, columns] = window;
            if window.contains(&0) || stride == 0 || rows > height + around || columns > width + around {
                return Err(impossible(format!(
                    "a window of {rows} × {columns} does not fit into the layer's input of {height} × {width}; use a \
                     smaller one, or padding"
                )));
            }
            let extent = |extent: u32, side: u32| match rounding {
                Rounding::Floor => (extent + around - side) / stride + 1,
                Rounding::Ceil => (extent + around - side).div_ceil(stride) + 1,
            };
            Ok((extent(height, rows), extent(width, columns)))
        };
        Ok(match *layer {
            Layer::Conv2d { filters, size, stride, padding, weights, .. } => {
                let [rows, columns] = size.sides();
                if rows != columns && matches!(weights.kernel, Initializer::WhitenedPatches { .. }) {
                    return Err(impossible(format!("whitened patches are squares, not {rows} × {columns}")));
                }
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
                if !matches!(activation, Activation::Tanh | Activation::Relu) {
                    return Err(impossible("the activation of a recurrent layer must be `tanh` or `relu`".to_owned()));
                }
                Shape::new(1, input.height, units)
            }
            Layer::Embedding { units, first, count, .. } => {
                if first + count > input.features() {
                    let read = first + count;
                    return Err(impossible(format!("it reads {read} words, and a sample has {}", input.features())));
                }
                Shape::new(1, count, units)
            }
            Layer::Add { .. } => {
                let second = inputs[1];
                if second != input && second != Shape::vector(input.channels) {
                    return Err(impossible(format!("{second} cannot be added to {input}")));
                }
                input
            }
            Layer::Attention { heads } => {
                if heads == 0 || !input.channels.is_multiple_of(12 * heads) {
                    let channels = input.channels;
                    return Err(impossible(format!("{channels} channels are not three times {heads} heads of fours")));
                }
                Shape { channels: input.channels / 3, ..input }
            }
            Layer::SentenceSum { words } => {
                if words == 0 || !input.pixels().is_multiple_of(words) {
                    return Err(impossible(format!("{} words are not whole sentences of {words}", input.pixels())));
                }
                Shape::new(1, input.pixels() / words, input.channels)
            }
            Layer::WordScores { vocabulary, .. } => {
                if input.pixels() != 1 {
                    return Err(impossible(format!(
                        "it compares words with a single vector, not with {}",
                        input.pixels()
                    )));
                }
                Shape::vector(vocabulary)
            }
            Layer::PixelProducts => {
                if inputs[1].channels != input.channels {
                    let second = inputs[1];
                    let text = format!("{input} and {second} cannot be multiplied: they differ in channels");
                    return Err(impossible(text));
                }
                Shape::new(1, input.pixels(), inputs[1].pixels())
            }
            Layer::Transpose => Shape::new(1, input.channels, input.pixels()),
            Layer::Concatenate => {
                if inputs[1].pixels() != input.pixels() {
                    let second = inputs[1];
                    let text = format!("{second} cannot be concatenated to {input}: they differ in pixels");
                    return Err(impossible(text));
                }
                Shape { channels: input.channels + inputs[1].channels, ..input }
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
