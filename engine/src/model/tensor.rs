use serde::Serialize;

use super::{Layer, Model, ModelError};
use crate::random::{Generator, stream};

/// How the weights of a matrix start. Biases start at zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Initializer {
    /// Uniform within ±√(6 / (fan in + fan out)): Glorot and Bengio (2010), equation 16.
    GlorotUniform,
    /// Uniform within ±√(3 / fan in): what Caffe calls "xavier".
    CaffeXavier,
}

/// A trainable tensor; the list of them is numbered in layer order, kernel before bias.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TensorSpec {
    pub number: u32,
    /// `dense1/kernel`, `conv2/bias`, …
    pub name: String,
    /// Index of its layer in the model.
    pub layer: usize,
    pub shape: Vec<u32>,
    /// Weights are uniform in ±limit; zero for a bias.
    pub limit: f64,
}

impl TensorSpec {
    pub fn elements(&self) -> usize {
        self.shape.iter().map(|&side| side as usize).product()
    }

    pub fn is_bias(&self) -> bool {
        self.shape.len() == 1
    }

    /// Start values, row-major: `(2u - 1)·limit` in double precision, rounded to float32.
    #[expect(clippy::cast_possible_truncation, reason = "rounding to float32 is part of the definition")]
    pub fn initial(&self, seed: u32) -> Vec<f32> {
        let generator = Generator { stream: stream::WEIGHTS + self.number, step: 0, seed };
        let count = u32::try_from(self.elements()).expect("a tensor has fewer than 2^32 elements");
        if self.limit == 0.0 {
            return vec![0.0; count as usize];
        }
        (0..count).map(|i| ((2.0 * generator.uniform(i) - 1.0) * self.limit) as f32).collect()
    }
}

impl Model {
    /// All trainable tensors in order.
    pub fn tensors(&self) -> Result<Vec<TensorSpec>, ModelError> {
        let mut tensors = Vec::new();
        let (mut convolutions, mut denses) = (0, 0);
        let mut input = self.input;
        for (layer, (definition, output)) in self.layers.iter().zip(self.shapes()?).enumerate() {
            let kernel = match *definition {
                Layer::Conv2d { filters, side, initializer, .. } => {
                    convolutions += 1;
                    let shape = vec![side, side, input.channels, filters];
                    let area = side * side;
                    Some((format!("conv{convolutions}"), shape, area * input.channels, area * filters, initializer))
                }
                Layer::Dense { units, initializer, .. } => {
                    denses += 1;
                    let shape = vec![input.features(), units];
                    Some((format!("dense{denses}"), shape, input.features(), units, initializer))
                }
                Layer::MaxPool { .. } | Layer::Dropout { .. } => None,
            };
            if let Some((name, shape, fan_in, fan_out, initializer)) = kernel {
                let limit = match initializer {
                    Initializer::GlorotUniform => (6.0 / (f64::from(fan_in) + f64::from(fan_out))).sqrt(),
                    Initializer::CaffeXavier => (3.0 / f64::from(fan_in)).sqrt(),
                };
                let columns = shape.last().copied().unwrap_or(0);
                let number = u32::try_from(tensors.len()).expect("a model has few tensors");
                tensors.push(TensorSpec { number, name: format!("{name}/kernel"), layer, shape, limit });
                let name = format!("{name}/bias");
                tensors.push(TensorSpec { number: number + 1, name, layer, shape: vec![columns], limit: 0.0 });
            }
            input = output;
        }
        Ok(tensors)
    }
}
