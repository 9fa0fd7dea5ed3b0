//! Products of layers: their parameter blocks, and the equivalent matrix products.

pub(super) use results::kernels::Pass;
use shaders::params::{Conv2d, Dense, Recurrent, SumParts};

use crate::model::Cell;

/// A product with its kernels' parameter block. A weight gradient includes all parts. A recurrent layer has products
/// with its recurrent weights at all steps. Its weight gradients are products of dense layers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Product {
    pub(super) pass: Pass,
    pub(super) params: Params,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Params {
    Dense(Dense),
    Conv2d(Conv2d),
    Recurrent(Cell, Recurrent),
}

/// Size of a matrix product: parts of rows × columns, each a sum of `depth` products. The steps of a recurrent product
/// are its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extents {
    pub(super) rows: u32,
    pub(super) columns: u32,
    pub(super) depth: u32,
    pub(super) parts: u32,
}

impl Product {
    pub(super) fn extents(&self) -> Extents {
        let (rows, columns, depth, parts) = match (self.params, self.pass) {
            (Params::Dense(p), Pass::Forward) => (p.rows, p.outputs, p.inputs, 1),
            (Params::Dense(p), Pass::InputGradient) => (p.rows, p.inputs, p.outputs, 1),
            (Params::Dense(p), Pass::WeightGradient) => {
                (p.inputs, p.outputs, p.rows_per_part, p.rows.div_ceil(p.rows_per_part))
            }
            (Params::Conv2d(p), pass) => {
                let taps = p.window_height * p.window_width;
                let output_pixels = p.rows * p.output_height * p.output_width;
                let input_pixels = p.rows * p.input_height * p.input_width;
                let (inputs, outputs) = (p.input_channels, p.output_channels);
                match pass {
                    Pass::Forward => (output_pixels, outputs, taps * inputs, 1),
                    Pass::InputGradient => (input_pixels, inputs, taps * outputs, 1),
                    Pass::WeightGradient => {
                        (taps * inputs, outputs, p.pixels_per_part, output_pixels.div_ceil(p.pixels_per_part))
                    }
                }
            }
            (Params::Recurrent(cell, p), pass) => {
                let (units, gates) = (p.stored_units, cell.gates() * p.stored_units);
                let (columns, depth) = if pass == Pass::Forward { (gates, units) } else { (units, gates) };
                (p.sequences, columns, depth, p.steps)
            }
        };
        Extents { rows, columns, depth, parts }
    }

    /// Returns the sum of the parts of a weight gradient, if there are several.
    pub(super) fn sum_of_parts(&self) -> Option<SumParts> {
        let parts = self.extents().parts;
        let elements = match self.params {
            Params::Dense(p) => p.part_stride,
            Params::Conv2d(p) => p.part_stride,
            Params::Recurrent(..) => return None,
        };
        let is_divided = self.pass == Pass::WeightGradient && parts > 1;
        is_divided.then_some(SumParts { elements, parts, accumulate: 0, reserved: 0 })
    }

    pub(super) fn flops(&self) -> u64 {
        let Extents { rows, columns, depth, parts } = self.extents();
        2 * volume(&[rows, columns, depth, parts])
    }

    /// Returns the number of elements of each storage buffer, in binding order. An element has at most four bytes.
    pub(super) fn elements(&self) -> Vec<u64> {
        let parts = u64::from(self.extents().parts);
        let layer = |x: u64, weights: u64, bias: u32, dy: u64, part_stride: u32| match self.pass {
            Pass::Forward => vec![x, weights, u64::from(bias), dy],
            Pass::InputGradient => vec![dy, weights, x, x],
            Pass::WeightGradient => vec![x, dy, parts * u64::from(part_stride)],
        };
        match self.params {
            Params::Dense(p) => {
                let (x, dy) = (volume(&[p.rows, p.inputs]), volume(&[p.rows, p.outputs]));
                layer(x, volume(&[p.inputs, p.outputs]), p.outputs, dy, p.part_stride)
            }
            Params::Conv2d(p) => {
                let spare = volume(&[p.rows, p.input_spare]);
                let x = volume(&[p.rows, p.input_height, p.input_width, p.input_channels]) + spare;
                let dy = volume(&[p.rows, p.output_height, p.output_width, p.output_channels]);
                let weights = volume(&[p.window_height, p.window_width, p.input_channels, p.output_channels]);
                layer(x, weights, p.output_channels, dy, p.part_stride)
            }
            Params::Recurrent(cell, p) => {
                let y = volume(&[p.sequences, p.stored_units]);
                let states = volume(&[p.sequences, p.steps, p.stored_units]);
                let gates = u64::from(cell.gates()) * states;
                let weights = volume(&[cell.gates(), p.stored_units, p.stored_units]);
                let bias = volume(&[cell.gates(), p.stored_units]);
                let own = if cell == Cell::Lstm { states } else { gates };
                recurrent_bindings(cell, self.pass, [weights, bias, gates, own, states, y, y])
            }
        }
    }
}

impl Params {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Dense(params) => bytemuck::bytes_of(params),
            Self::Conv2d(params) => bytemuck::bytes_of(params),
            Self::Recurrent(_, params) => bytemuck::bytes_of(params),
        }
    }
}

/// Returns the buffers of a recurrent kernel in binding order, given all that a cell may have: recurrent weights,
/// recurrent bias, gates, an LSTM's cells or a GRU's products, hidden states, the last state or its gradient, and the
/// gradient that a GRU keeps.
pub(super) fn recurrent_bindings<T>(
    cell: Cell,
    pass: Pass,
    [weights, bias, gates, own, previous, last, kept]: [T; 7],
) -> Vec<T> {
    match (cell, pass) {
        (Cell::Lstm, Pass::Forward) => vec![weights, gates, own, previous, last],
        (Cell::Lstm, _) => vec![weights, last, own, gates],
        (Cell::Gru(_), Pass::Forward) => vec![weights, bias, gates, own, previous, last],
        (Cell::Gru(_), _) => vec![weights, last, previous, gates, own, kept],
        (Cell::SimpleRnn(_), Pass::Forward) => vec![weights, gates, previous, last],
        (Cell::SimpleRnn(_), _) => vec![weights, last, gates],
    }
}

fn volume(sides: &[u32]) -> u64 {
    sides.iter().map(|&side| u64::from(side)).product()
}

/// A pass of a dense layer without activation, whose gradients are summed in parts of 16 rows; for tests.
#[cfg(test)]
pub(super) fn dense(pass: Pass, rows: u32, inputs: u32, outputs: u32) -> Product {
    let params = Dense { rows, inputs, outputs, units: outputs, rows_per_part: 16, ..Dense::default() };
    Product { pass, params: Params::Dense(params) }
}

#[cfg(test)]
pub(super) fn recurrent(sequences: u32, steps: u32, units: u32) -> Recurrent {
    Recurrent {
        sequences,
        steps,
        units,
        stored_units: units.next_multiple_of(4),
        activation: shaders::params::activation::TANH,
        ..Recurrent::default()
    }
}
