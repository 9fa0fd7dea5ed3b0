//! Start values of tensors, from the seed.

#[cfg(not(target_arch = "wasm32"))]
use libm::{cos, log};

use super::{Initial, TensorSpec};
use crate::data::Split;
use crate::random::{Generator, stream};

// A leaderboard hashes the initial weights, so their logarithms and cosines need the same bits on every platform. In a page
// the standard library's functions are libm's.
#[cfg(target_arch = "wasm32")]
fn log(x: f64) -> f64 {
    x.ln()
}

#[cfg(target_arch = "wasm32")]
fn cos(x: f64) -> f64 {
    x.cos()
}

impl TensorSpec {
    /// Start values, row-major, computed in double precision and rounded to float32. Whitened patches need the
    /// training images.
    #[expect(clippy::cast_possible_truncation, reason = "rounding to float32 is part of the definition")]
    pub fn initial_values(&self, seed: u32, training: &Split, channels: u32) -> Vec<f32> {
        let draw = Draw { stream: stream::WEIGHTS + self.number, seed };
        let count = u32::try_from(self.elements()).expect("a tensor has fewer than 2^32 elements");
        let each = |value: &dyn Fn(u32) -> f64| (0..count).map(|i| value(i) as f32).collect();
        match self.initial {
            Initial::Uniform { limit } => each(&|i| draw.uniform(i, limit)),
            Initial::Normal { deviation } => each(&|i| deviation * draw.normal(i, 0)),
            Initial::TruncatedNormal { deviation } => each(&|i| deviation * draw.truncated_normal(i)),
            Initial::Constant { value } => vec![value as f32; self.elements()],
            Initial::LstmBias => {
                let units = count / 4;
                each(&|i| if i / units == 1 { 1.0 } else { 0.0 })
            }
            Initial::Orthogonal => {
                let rows = self.shape[0] as usize;
                orthogonal(rows, self.elements() / rows, &draw).into_iter().map(|value| value as f32).collect()
            }
            Initial::Dirac { limit } => self.dirac(limit, &draw),
            Initial::WhitenedPatches { epsilon } => {
                super::whitening::filters(training, channels, self.shape[0], epsilon)
            }
        }
    }

    /// The first filters copy one channel each through the middle of the kernel `[height, width, in, filters]`.
    #[expect(clippy::cast_possible_truncation, reason = "rounding to float32 is part of the definition")]
    fn dirac(&self, limit: f64, draw: &Draw) -> Vec<f32> {
        let &[height, width, inputs, filters] = self.shape.as_slice() else {
            unreachable!("only convolutions start as copies");
        };
        let middle = height / 2 * width + width / 2;
        let count = height * width * inputs * filters;
        (0..count)
            .map(|i| {
                let (filter, channel, tap) = (i % filters, i / filters % inputs, i / filters / inputs);
                if filter < inputs {
                    return if filter == channel && tap == middle { 1.0 } else { 0.0 };
                }
                draw.uniform(i, limit) as f32
            })
            .collect()
    }
}

/// Random numbers of one tensor.
struct Draw {
    stream: u32,
    seed: u32,
}

impl Draw {
    fn number(&self, index: u32, step: u32) -> f64 {
        Generator { stream: self.stream, step, seed: self.seed }.uniform(index)
    }

    /// Uniform in ±limit: `(2u - 1)·limit`.
    fn uniform(&self, index: u32, limit: f64) -> f64 {
        (2.0 * self.number(index, 0) - 1.0) * limit
    }

    /// Normal with mean 0 and deviation 1: Box and Muller (1958). `attempt` tells draws of one index apart.
    fn normal(&self, index: u32, attempt: u32) -> f64 {
        // 1 - u is never 0.
        let radius = (-2.0 * log(1.0 - self.number(index, 2 * attempt))).sqrt();
        radius * cos(std::f64::consts::TAU * self.number(index, 2 * attempt + 1))
    }

    /// Drawn again beyond two deviations.
    fn truncated_normal(&self, index: u32) -> f64 {
        (0..).map(|attempt| self.normal(index, attempt)).find(|value| value.abs() <= 2.0).expect("there is no end")
    }
}

/// A matrix whose shorter sides are of length 1 and at right angles: random vectors, of which what they share with
/// those before is taken away (Gram and Schmidt, twice for accuracy).
fn orthogonal(rows: usize, columns: usize, draw: &Draw) -> Vec<f64> {
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

    const DRAW: Draw = Draw { stream: 3, seed: 5 };

    #[test]
    fn orthogonal_rows_have_length_one_and_share_nothing() {
        for (rows, columns) in [(5, 20), (20, 5)] {
            let matrix = orthogonal(rows, columns, &DRAW);
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
    fn normal_numbers_have_their_mean_and_deviation_and_truncated_ones_their_bound() {
        let normal: Vec<f64> = (0..20_000).map(|i| DRAW.normal(i, 0)).collect();
        let mean = normal.iter().sum::<f64>() / 20_000.0;
        let variance = normal.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean}, {variance}");
        assert!((0..20_000).all(|i| DRAW.truncated_normal(i).abs() <= 2.0));
    }
}
