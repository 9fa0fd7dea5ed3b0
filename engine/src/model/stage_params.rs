//! Parameter blocks of stages. Layouts store channels in multiples of `alignment`; what is beyond the real ones
//! stays zero. Blocks come with the stage's own epilogue, and with gradients in one part.

use shaders::params::{Conv2d, Dense, Epilogue, NO_BIAS, Pool};

use super::stage::Storage;
use super::{Stage, Stages, Value};

impl Value {
    /// Channels of a pixel as stored.
    pub(crate) fn stored_channels(&self, alignment: u32) -> u32 {
        match self.storage {
            Storage::PaddedChannels => self.shape.channels.next_multiple_of(alignment),
            Storage::Flat => self.shape.channels,
        }
    }

    /// Values of a sample as stored.
    pub(crate) fn stored_features(&self, alignment: u32) -> u32 {
        match self.storage {
            Storage::PaddedChannels => self.shape.pixels() * self.stored_channels(alignment),
            Storage::Flat => self.shape.features().next_multiple_of(alignment),
        }
    }

    /// Its epilogue, for kernels that store it or its gradient.
    pub(crate) fn stored_epilogue(&self, alignment: u32) -> Epilogue {
        Epilogue { stored_channels: self.stored_channels(alignment), ..self.epilogue }
    }
}

impl Stages {
    /// A dense stage for `rows` samples.
    pub(crate) fn dense_params(&self, stage: &Stage, per_pixel: bool, bias: bool, rows: u32, alignment: u32) -> Dense {
        let (input, output) = (self.input(stage), self.output(stage));
        let (rows, inputs) = if per_pixel {
            (rows * input.shape.pixels(), input.stored_channels(alignment))
        } else {
            (rows, input.stored_features(alignment))
        };
        let outputs = output.stored_channels(alignment);
        Dense {
            rows,
            inputs,
            outputs,
            units: output.shape.channels,
            rows_per_part: rows,
            part_stride: (inputs + u32::from(bias)) * outputs,
            bias_offset: if bias { inputs * outputs } else { NO_BIAS },
            reserved: 0,
            epilogue: output.stored_epilogue(alignment),
        }
    }

    /// A convolution of `rows` samples.
    pub(crate) fn conv2d_params(
        &self,
        stage: &Stage,
        (side, stride, padding): (u32, u32, u32),
        bias: bool,
        rows: u32,
        alignment: u32,
    ) -> Conv2d {
        let (input, output) = (self.input(stage), self.output(stage));
        let input_channels = input.stored_channels(alignment);
        let output_channels = output.stored_channels(alignment);
        let kernel = side * side * input_channels * output_channels;
        Conv2d {
            rows,
            input_height: input.shape.height,
            input_width: input.shape.width,
            input_channels,
            output_height: output.shape.height,
            output_width: output.shape.width,
            output_channels,
            side,
            padding,
            pixels_per_part: rows * output.shape.pixels(),
            part_stride: kernel + if bias { output_channels } else { 0 },
            bias_offset: if bias { kernel } else { NO_BIAS },
            stride,
            reserved: [0; 3],
            epilogue: output.stored_epilogue(alignment),
        }
    }

    /// A pooling stage of `rows` samples.
    pub(crate) fn pool_params(
        &self,
        stage: &Stage,
        (side, stride, padding): (u32, u32, u32),
        rows: u32,
        alignment: u32,
    ) -> Pool {
        let (input, output) = (self.input(stage), self.output(stage));
        Pool {
            rows,
            input_height: input.shape.height,
            input_width: input.shape.width,
            channels: input.stored_channels(alignment),
            output_height: output.shape.height,
            output_width: output.shape.width,
            side,
            stride,
            padding,
            reserved: [0; 3],
            epilogue: output.stored_epilogue(alignment),
        }
    }
}
