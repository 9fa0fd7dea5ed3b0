//! Parameter blocks of recurrent stages.

use shaders::params::{Dense, Epilogue, NO_BIAS, Recurrent};

use super::{Cell, Stage, Stages};

impl Stages {
    /// A recurrent layer over the rows of `rows` samples, each of which is a sequence of its pixels.
    pub(crate) fn recurrent_params(&self, stage: &Stage, cell: Cell, rows: u32, alignment: u32) -> Recurrent {
        let (input, output) = (self.input(stage), self.output(stage));
        Recurrent {
            sequences: rows * input.shape.height,
            steps: input.shape.width,
            units: output.shape.channels,
            stored_units: output.stored_channels(alignment),
            activation: cell.activation_number(),
            reserved: [0; 3],
            epilogue: output.stored_epilogue(alignment),
        }
    }

    /// Its products with the input, for all steps at once.
    pub(crate) fn recurrent_input_params(&self, stage: &Stage, cell: Cell, rows: u32, alignment: u32) -> Dense {
        let inputs = self.input(stage).stored_channels(alignment);
        gates_product(&self.recurrent_params(stage, cell, rows, alignment), cell, inputs, true)
    }

    /// Its products with the hidden states, for all steps at once: for the gradient of the recurrent weights.
    pub(crate) fn recurrent_state_params(&self, stage: &Stage, cell: Cell, rows: u32, alignment: u32) -> Dense {
        let params = self.recurrent_params(stage, cell, rows, alignment);
        gates_product(&params, cell, params.stored_units, cell.has_recurrent_bias())
    }
}

/// A product whose results are the gates of all steps of all sequences.
fn gates_product(params: &Recurrent, cell: Cell, inputs: u32, bias: bool) -> Dense {
    let (rows, outputs) = (params.sequences * params.steps, cell.gates() * params.stored_units);
    Dense {
        rows,
        inputs,
        outputs,
        units: outputs,
        rows_per_part: rows,
        part_stride: (inputs + u32::from(bias)) * outputs,
        bias_offset: if bias { inputs * outputs } else { NO_BIAS },
        reserved: 0,
        epilogue: Epilogue { channels: outputs, stored_channels: outputs, ..Epilogue::default() },
    }
}
