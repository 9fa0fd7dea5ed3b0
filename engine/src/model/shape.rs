use serde::Serialize;

use super::{Layer, Model, Padding};

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

    /// Values of one sample.
    pub const fn features(self) -> u32 {
        self.height * self.width * self.channels
    }

    pub const fn pixels(self) -> u32 {
        self.height * self.width
    }
}

/// A list of layers that is not a network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    #[error("{model}: a window of {side} × {side} does not fit into layer {layer}'s input of {height} × {width}")]
    WindowTooLarge { model: &'static str, layer: usize, side: u32, height: u32, width: u32 },
    #[error("{model}: layer {layer} is not supported by this back end: {reason}")]
    Unsupported { model: &'static str, layer: usize, reason: String },
}

impl Model {
    /// Output shape of each layer for one sample.
    pub fn shapes(&self) -> Result<Vec<Shape>, ModelError> {
        let mut current = self.input;
        let mut shapes = Vec::with_capacity(self.layers.len());
        for (index, layer) in self.layers.iter().enumerate() {
            let fits = |side: u32| {
                if side == 0 || side > current.height || side > current.width {
                    let Shape { height, width, .. } = current;
                    return Err(ModelError::WindowTooLarge { model: self.name, layer: index, side, height, width });
                }
                Ok(())
            };
            current = match *layer {
                Layer::Conv2d { filters, side, padding: Padding::Valid, .. } => {
                    fits(side)?;
                    Shape::new(current.height + 1 - side, current.width + 1 - side, filters)
                }
                Layer::Conv2d { filters, padding: Padding::Same, .. } => {
                    Shape::new(current.height, current.width, filters)
                }
                Layer::MaxPool { side, stride } => {
                    fits(side)?;
                    let out = |extent: u32| (extent - side) / stride + 1;
                    Shape::new(out(current.height), out(current.width), current.channels)
                }
                Layer::Dense { units, .. } => Shape::vector(units),
                Layer::Dropout { .. } => current,
            };
            shapes.push(current);
        }
        Ok(shapes)
    }
}
