use shaders::params::{Conv2d, Dense, Epilogue, Pool, activation as activations};

use super::{Activation, Layer, Model, ModelError, Padding, Shape};
use crate::random::stream;

/// A layer as back ends compute it: with its activation and the dropout behind it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stage {
    pub(crate) kind: StageKind,
    pub(crate) input: Shape,
    pub(crate) output: Shape,
    pub(crate) epilogue: Epilogue,
    /// Epilogue of the stage below, whose slope its input gradient must include.
    pub(crate) epilogue_below: Epilogue,
    /// Whether it reads the data itself, so that no input gradient is needed.
    pub(crate) reads_data: bool,
    /// Number of its kernel tensor; its bias is the next one.
    pub(crate) kernel: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StageKind {
    Conv2d { side: u32, padding: u32 },
    MaxPool { side: u32, stride: u32 },
    Dense,
}

impl Model {
    /// The stages of this model; `dropout` says whether dropout layers do anything.
    pub(crate) fn stages(&self, dropout: bool) -> Result<Vec<Stage>, ModelError> {
        let mut stages: Vec<Stage> = Vec::new();
        let mut input = self.input;
        let (mut kernels, mut dropouts) = (0, 0);
        for (index, (layer, output)) in self.layers.iter().zip(self.shapes()?).enumerate() {
            let mut kernel = || {
                kernels += 1;
                Some(2 * (kernels - 1))
            };
            let (kind, activation, kernel) = match *layer {
                Layer::Conv2d { side, padding, activation, .. } => {
                    let padding = if padding == Padding::Same { (side - 1) / 2 } else { 0 };
                    (StageKind::Conv2d { side, padding }, activation, kernel())
                }
                Layer::MaxPool { side, stride } => (StageKind::MaxPool { side, stride }, Activation::Identity, None),
                Layer::Dense { activation, .. } => (StageKind::Dense, activation, kernel()),
                Layer::Dropout { rate } => {
                    let stage =
                        stages.last_mut().filter(|s| s.kind == StageKind::Dense && s.epilogue.dropout_stream == 0);
                    let stage = stage.ok_or_else(|| ModelError::Unsupported {
                        model: self.name,
                        layer: index,
                        reason: "dropout is supported behind a dense layer only".to_owned(),
                    })?;
                    if dropout {
                        stage.epilogue.dropout_stream = stream::DROPOUT + dropouts;
                        stage.epilogue.dropout_rate = rate;
                    }
                    dropouts += 1;
                    continue;
                }
            };
            stages.push(Stage {
                kind,
                input,
                output,
                epilogue: Epilogue {
                    activation: match activation {
                        Activation::Identity => activations::IDENTITY,
                        Activation::Relu => activations::RELU,
                    },
                    channels: output.channels,
                    ..Epilogue::default()
                },
                epilogue_below: Epilogue::default(),
                reads_data: stages.is_empty(),
                kernel,
            });
            input = output;
        }
        for above in 1..stages.len() {
            stages[above].epilogue_below = stages[above - 1].epilogue;
        }
        Ok(stages)
    }
}

/// Layouts store channels in multiples of `alignment`; what is beyond the real ones stays zero.
impl Stage {
    /// Channels as stored in this stage's input. Convolutions read the data's own channels as they are.
    pub(crate) fn stored_input_channels(&self, alignment: u32) -> u32 {
        if self.reads_data && self.kind != StageKind::Dense {
            self.input.channels
        } else {
            self.input.channels.next_multiple_of(alignment)
        }
    }

    pub(crate) fn stored_output_channels(&self, alignment: u32) -> u32 {
        self.output.channels.next_multiple_of(alignment)
    }

    /// Values of one sample as stored in this stage's input.
    pub(crate) fn stored_inputs(&self, alignment: u32) -> u32 {
        if self.reads_data && self.kind == StageKind::Dense {
            // The data is one flat row for a dense layer.
            self.input.features().next_multiple_of(alignment)
        } else {
            self.input.pixels() * self.stored_input_channels(alignment)
        }
    }

    pub(crate) fn stored_outputs(&self, alignment: u32) -> u32 {
        self.output.pixels() * self.stored_output_channels(alignment)
    }

    /// Parameters of a dense stage for `rows` samples, with its own epilogue and the gradient in one part.
    pub(crate) fn dense_params(&self, rows: u32, alignment: u32) -> Dense {
        let (inputs, outputs) = (self.stored_inputs(alignment), self.stored_outputs(alignment));
        Dense {
            rows,
            inputs,
            outputs,
            units: self.output.channels,
            rows_per_part: rows,
            part_stride: (inputs + 1) * outputs,
            bias_offset: inputs * outputs,
            reserved: 0,
            epilogue: self.epilogue.stored(alignment),
        }
    }

    /// Parameters of a convolution for `rows` samples, with its own epilogue and the gradient in one part.
    pub(crate) fn conv2d_params(&self, rows: u32, side: u32, padding: u32, alignment: u32) -> Conv2d {
        let input_channels = self.stored_input_channels(alignment);
        let output_channels = self.stored_output_channels(alignment);
        let kernel = side * side * input_channels * output_channels;
        Conv2d {
            rows,
            input_height: self.input.height,
            input_width: self.input.width,
            input_channels,
            output_height: self.output.height,
            output_width: self.output.width,
            output_channels,
            side,
            padding,
            pixels_per_part: rows * self.output.pixels(),
            part_stride: kernel + output_channels,
            bias_offset: kernel,
            epilogue: self.epilogue.stored(alignment),
        }
    }

    /// Parameters of a pooling stage for `rows` samples.
    pub(crate) fn pool_params(&self, rows: u32, side: u32, stride: u32, alignment: u32) -> Pool {
        Pool {
            rows,
            input_height: self.input.height,
            input_width: self.input.width,
            channels: self.stored_input_channels(alignment),
            output_height: self.output.height,
            output_width: self.output.width,
            side,
            stride,
            epilogue: self.epilogue_below.stored(alignment),
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn dropout_joins_the_dense_layer_before_it() {
        let stages = crate::workload("keras-mnist-mlp").unwrap().model.stages(true).unwrap();
        let streams: Vec<u32> = stages.iter().map(|s| s.epilogue.dropout_stream).collect();
        assert_eq!(streams, [1000, 1001, 0]);
        assert_eq!(stages[1].epilogue_below, stages[0].epilogue);
    }

    #[test]
    fn stored_layouts_round_channels_up() {
        let stages = crate::workload("caffe-mnist").unwrap().model.stages(true).unwrap();
        assert_eq!(stages[0].stored_inputs(4), 28 * 28);
        assert_eq!(stages[2].stored_outputs(4), 8 * 8 * 52);
        assert_eq!(stages[4].stored_inputs(4), 4 * 4 * 52);
        assert_eq!(stages[4].stored_inputs(1), 800);
    }
}
