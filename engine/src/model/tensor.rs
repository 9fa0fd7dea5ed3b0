use std::collections::BTreeMap;

use libm::{cos, log};
use serde::Serialize;

use super::layer::Cell;
use super::{Initializer, Layer, Model, ModelError, Multipliers, Shape, Weights, whitening};
use crate::data::Split;
use crate::random::{Generator, stream};

/// Tensor of a model.
///
/// Tensors are numbered by layer, then kernel, recurrent kernel, bias, recurrent bias.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TensorSpec {
    pub number: u32,
    /// `dense1/kernel`, `conv2/bias`, …
    pub name: String,
    pub layer: usize,
    pub shape: Vec<u32>,
    pub initial: Initial,
    pub kind: TensorKind,
    pub multipliers: Multipliers,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TensorKind {
    Trained,
    Fixed,
    /// Running average, updated in the forward pass.
    Statistic,
}

/// Initial values of a tensor, as an [`Initializer`] with resolved fans. A limit is symmetric about 0, and the bias of
/// an LSTM is 1 for the forget gate and 0 elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Initial {
    Uniform { limit: f64 },
    Normal { deviation: f64 },
    TruncatedNormal { deviation: f64 },
    Constant { value: f64 },
    LstmBias,
    Orthogonal,
    Dirac { limit: f64 },
    WhitenedPatches { epsilon: f64 },
}

impl TensorSpec {
    pub fn elements(&self) -> usize {
        self.shape.iter().map(|&side| side as usize).product()
    }

    /// Computes row-major values in double precision, rounded to float32. Whitened patches are from training images.
    #[expect(clippy::cast_possible_truncation, reason = "rounding to float32 is part of the definition")]
    pub fn initial_values(&self, seed: u32, training: &Split, channels: u32) -> Vec<f32> {
        let draw = Generator { stream: stream::WEIGHTS + self.number, step: 0, seed };
        let count = u32::try_from(self.elements()).expect("a tensor has fewer than 2^32 elements");
        let each = |value: &dyn Fn(u32) -> f64| (0..count).map(|i| value(i) as f32).collect();
        match self.initial {
            Initial::Uniform { limit } => each(&|i| draw.symmetric(i, limit)),
            Initial::Normal { deviation } => each(&|i| deviation * draw.normal(i, 0)),
            Initial::TruncatedNormal { deviation } => each(&|i| deviation * draw.truncated_normal(i)),
            Initial::Constant { value } => vec![value as f32; self.elements()],
            Initial::LstmBias => {
                let units = count / 4;
                each(&|i| if i / units == 1 { 1.0 } else { 0.0 })
            }
            Initial::Orthogonal => {
                let rows = self.shape[0] as usize;
                orthogonal(rows, self.elements() / rows, draw).into_iter().map(|value| value as f32).collect()
            }
            // Some filters copy a channel through the middle of the kernel `[height, width, in, filters]`.
            Initial::Dirac { limit } => {
                let &[height, width, inputs, filters] = self.shape.as_slice() else {
                    unreachable!("only convolutions start as copies");
                };
                let middle = height / 2 * width + width / 2;
                each(&|i| match (i % filters, i / filters % inputs, i / filters / inputs) {
                    (filter, ..) if filter >= inputs => draw.symmetric(i, limit),
                    (filter, channel, tap) => f64::from(u8::from(filter == channel && tap == middle)),
                })
            }
            Initial::WhitenedPatches { epsilon } => whitening::filters(training, channels, self.shape[0], epsilon),
        }
    }
}

impl Initial {
    fn new(initializer: Initializer, [fan_in, fan_out]: [f64; 2]) -> Self {
        match initializer {
            Initializer::GlorotUniform => Self::Uniform { limit: (6.0 / (fan_in + fan_out)).sqrt() },
            Initializer::FanInUniform { scale } => Self::Uniform { limit: (scale / fan_in).sqrt() },
            Initializer::Uniform { limit } => Self::Uniform { limit },
            Initializer::Normal { deviation } => Self::Normal { deviation },
            Initializer::FanInNormal { scale } => Self::Normal { deviation: (scale / fan_in).sqrt() },
            Initializer::TruncatedNormal { deviation } => Self::TruncatedNormal { deviation },
            Initializer::Constant { value } => Self::Constant { value },
            Initializer::Orthogonal => Self::Orthogonal,
            Initializer::Dirac => Self::Dirac { limit: (1.0 / fan_in).sqrt() },
            Initializer::WhitenedPatches { epsilon } => Self::WhitenedPatches { epsilon },
        }
    }
}

#[derive(Default)]
struct Tensors {
    list: Vec<TensorSpec>,
    counts: BTreeMap<&'static str, u32>,
    layer: usize,
}

impl Tensors {
    /// Returns a numbered name, such as `conv3` after two other convolutions.
    fn name(&mut self, kind: &'static str) -> String {
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        format!("{kind}{count}")
    }

    fn push(&mut self, name: String, shape: Vec<u32>, initial: Initial, kind: TensorKind, multipliers: Multipliers) {
        let number = u32::try_from(self.list.len()).expect("a model has few tensors");
        self.list.push(TensorSpec { number, name, layer: self.layer, shape, initial, kind, multipliers });
    }

    fn weights(&mut self, name: &str, shape: Vec<u32>, weights: &Weights, fans: [f64; 2]) {
        let columns = shape.last().copied().unwrap_or(0);
        let is_fixed = matches!(weights.kernel, Initializer::WhitenedPatches { .. });
        let kind = if is_fixed { TensorKind::Fixed } else { TensorKind::Trained };
        let initial = Initial::new(weights.kernel, fans);
        self.push(format!("{name}/kernel"), shape, initial, kind, weights.kernel_multipliers);
        if let Some(bias) = weights.bias {
            // A bias uses its kernel's fan in, as in Torch.
            let initial = Initial::new(bias, fans);
            let multipliers = weights.bias_multipliers;
            self.push(format!("{name}/bias"), vec![columns], initial, TensorKind::Trained, multipliers);
        }
    }

    fn of_layer(&mut self, layer: &Layer, input: Shape) {
        match layer {
            Layer::Conv2d { filters, size, weights, .. } => {
                let name = self.name("conv");
                let (area, [height, width]) = (f64::from(size.area()), size.sides());
                let shape = vec![height, width, input.channels, *filters];
                let fans = [input.channels, *filters].map(|channels| area * f64::from(channels));
                self.weights(&name, shape, weights, fans);
            }
            Layer::Dense { units, weights, .. } => {
                let name = self.name("dense");
                let sides = [input.features(), *units];
                self.weights(&name, sides.to_vec(), weights, sides.map(f64::from));
            }
            Layer::Lstm { .. } | Layer::Gru { .. } | Layer::SimpleRnn { .. } => {
                if let Some((cell, units, recurrent)) = layer.recurrent() {
                    self.recurrent(cell, units, recurrent, input.channels);
                }
            }
            Layer::Embedding { vocabulary, units, initializer, .. } => {
                let name = self.name("embedding");
                self.matrix(&name, "kernel", [*vocabulary, *units], *initializer);
            }
            Layer::WordScores { vocabulary, initializer } => {
                let name = self.name("word_scores");
                self.matrix(&name, "kernel", [*vocabulary, input.channels], *initializer);
            }
            Layer::PositionEmbedding { initializer } => {
                let name = self.name("position");
                self.matrix(&name, "kernel", [input.pixels(), input.channels], *initializer);
            }
            Layer::BatchNorm { trained_scale, bias, .. } => {
                let name = self.name("batch_norm");
                let kind = if *trained_scale { TensorKind::Trained } else { TensorKind::Fixed };
                self.norm(&name, input.channels, (kind, Multipliers::default()), Some(*bias));
                for (statistic, value) in [("running_mean", 0.0), ("running_variance", 1.0)] {
                    let initial = Initial::Constant { value };
                    let name = format!("{name}/{statistic}");
                    self.push(name, vec![input.channels], initial, TensorKind::Statistic, Multipliers::default());
                }
            }
            Layer::LayerNorm { scale, bias, .. } => {
                let name = self.name("layer_norm");
                self.norm(&name, input.channels, (TensorKind::Trained, *scale), *bias);
            }
            Layer::Pool { .. }
            | Layer::Dropout { .. }
            | Layer::LocalResponseNorm { .. }
            | Layer::Add { .. }
            | Layer::Attention { .. }
            | Layer::SentenceSum { .. }
            | Layer::PixelProducts
            | Layer::Softmax { .. }
            | Layer::Transpose
            | Layer::Concatenate => {}
        }
    }

    fn recurrent(&mut self, cell: Cell, units: u32, recurrent: Initializer, inputs: u32) {
        let name = self.name(cell.name());
        let columns = cell.gates() * units;
        let zeros = Initial::Constant { value: 0.0 };
        let bias = if cell == Cell::Lstm { Initial::LstmBias } else { zeros };
        self.matrix(&name, "kernel", [inputs, columns], Initializer::GlorotUniform);
        self.matrix(&name, "recurrent_kernel", [units, columns], recurrent);
        let recurrent_bias = cell.has_recurrent_bias().then_some(("recurrent_bias", zeros));
        for (part, initial) in [("bias", bias)].into_iter().chain(recurrent_bias) {
            self.push(format!("{name}/{part}"), vec![columns], initial, TensorKind::Trained, Multipliers::default());
        }
    }

    /// Adds a trained matrix with its sides as fans.
    fn matrix(&mut self, name: &str, part: &str, sides: [u32; 2], initializer: Initializer) {
        let initial = Initial::new(initializer, sides.map(f64::from));
        self.push(format!("{name}/{part}"), sides.to_vec(), initial, TensorKind::Trained, Multipliers::default());
    }

    fn norm(&mut self, name: &str, channels: u32, (kind, scale): (TensorKind, Multipliers), bias: Option<Multipliers>) {
        self.push(format!("{name}/scale"), vec![channels], Initial::Constant { value: 1.0 }, kind, scale);
        if let Some(bias) = bias {
            let zero = Initial::Constant { value: 0.0 };
            self.push(format!("{name}/bias"), vec![channels], zero, TensorKind::Trained, bias);
        }
    }
}

impl Model {
    pub fn tensors(&self) -> Result<Vec<TensorSpec>, ModelError> {
        let shapes = self.shapes()?;
        let mut tensors = Tensors::default();
        for (layer, node) in self.nodes.iter().enumerate() {
            tensors.layer = layer;
            let input = self.shape_of(node.inputs[0], &shapes);
            match node.shares {
                None => tensors.of_layer(&node.layer, input),
                Some(owner) => self.check_shared(layer, input, owner, &tensors.list)?,
            }
        }
        Ok(tensors.list)
    }

    /// Checks that both layers have a single tensor of the same shape.
    fn check_shared(&self, layer: usize, input: Shape, owner: usize, list: &[TensorSpec]) -> Result<(), ModelError> {
        let mut own = Tensors { layer, ..Tensors::default() };
        own.of_layer(&self.nodes[layer].layer, input);
        let shapes = |list: &[TensorSpec], layer: usize| -> Vec<Vec<u32>> {
            list.iter().filter(|tensor| tensor.layer == layer).map(|tensor| tensor.shape.clone()).collect()
        };
        let (theirs, ours) = (shapes(list, owner), shapes(&own.list, layer));
        if ours.len() == 1 && ours == theirs {
            return Ok(());
        }
        Err(self.impossible(layer, format!("it shares the tensors of layer {owner}, {theirs:?}, and needs {ours:?}")))
    }
}

impl Generator {
    /// Draws a uniform value in ±limit: `(2u - 1)·limit`.
    fn symmetric(self, index: u32, limit: f64) -> f64 {
        (2.0 * self.uniform(index) - 1.0) * limit
    }

    /// Draws from the standard normal distribution: Box and Muller (1958). `attempt` distinguishes draws for one index.
    ///
    /// The leaderboard hashes initial weights, so every platform computes logarithm and cosine with libm.
    fn normal(self, index: u32, attempt: u32) -> f64 {
        let [first, second] = [2 * attempt, 2 * attempt + 1].map(|step| Self { step, ..self }.uniform(index));
        // 1 - u is never 0.
        (-2.0 * log(1.0 - first)).sqrt() * cos(std::f64::consts::TAU * second)
    }

    fn truncated_normal(self, index: u32) -> f64 {
        (0..).map(|attempt| self.normal(index, attempt)).find(|value| value.abs() <= 2.0).expect("infinite range")
    }
}

/// Returns a random matrix with orthonormal rows or columns. Runs Gram-Schmidt twice for accuracy.
fn orthogonal(rows: usize, columns: usize, draw: Generator) -> Vec<f64> {
    let (vectors, length) = (rows.min(columns), rows.max(columns));
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(vectors);
    for vector in 0..vectors {
        let start = u32::try_from(vector * length).expect("a tensor has fewer than 2^32 elements");
        let indices = start..start + u32::try_from(length).expect("a tensor has fewer than 2^32 elements");
        let mut next: Vec<f64> = indices.map(|i| draw.normal(i, 0)).collect();
        for earlier in basis.iter().chain(&basis) {
            let shared: f64 = next.iter().zip(earlier).map(|(a, b)| a * b).sum();
            next.iter_mut().zip(earlier).for_each(|(value, &b)| *value -= shared * b);
        }
        let norm = next.iter().map(|v| v * v).sum::<f64>().sqrt();
        next.iter_mut().for_each(|value| *value /= norm);
        basis.push(next);
    }
    let at = |row: usize, column: usize| if rows <= columns { basis[row][column] } else { basis[column][row] };
    (0..rows * columns).map(|i| at(i / columns, i % columns)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAW: Generator = Generator { stream: 3, step: 0, seed: 5 };

    #[test]
    fn orthogonal_vectors_are_orthonormal() {
        for (rows, columns) in [(5, 20), (20, 5)] {
            let matrix = orthogonal(rows, columns, DRAW);
            let shorter = rows.min(columns);
            let at =
                |i: usize, k: usize| if rows <= columns { matrix[i * columns + k] } else { matrix[k * columns + i] };
            for i in 0..shorter {
                for j in 0..=i {
                    let product: f64 = (0..rows.max(columns)).map(|k| at(i, k) * at(j, k)).sum();
                    assert!((product - f64::from(u8::from(i == j))).abs() < 1e-12, "{rows} × {columns}: {i}, {j}");
                }
            }
        }
    }

    #[test]
    fn normal_draws_match_moments_and_truncated_draws_stay_bounded() {
        let normal: Vec<f64> = (0..20_000).map(|i| DRAW.normal(i, 0)).collect();
        let mean = normal.iter().sum::<f64>() / 20_000.0;
        let variance = normal.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean}, {variance}");
        assert!((0..20_000).all(|i| DRAW.truncated_normal(i).abs() <= 2.0));
    }
}
