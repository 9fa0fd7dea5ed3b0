//! Parameter blocks of the stages that memory networks are made of.

use shaders::params::{ChannelSoftmax, Concatenate, Dense, NO_BIAS, PixelProducts, SentenceSum, Transpose};

use super::{Stage, Stages};

impl Stages {
    pub(crate) fn sentence_sum_params(&self, stage: &Stage, words: u32, rows: u32, alignment: u32) -> SentenceSum {
        let output = self.output(stage);
        SentenceSum {
            sentences: rows * output.shape.pixels(),
            words,
            channels: output.shape.channels,
            stored_channels: output.stored_channels(alignment),
            epilogue: output.stored_epilogue(alignment),
        }
    }

    /// Products of two values; gradients of the second need to be told so.
    pub(crate) fn pixel_products_params(&self, stage: &Stage, rows: u32, alignment: u32) -> PixelProducts {
        let (input, output) = (self.input(stage), self.output(stage));
        PixelProducts {
            rows,
            first_pixels: input.shape.pixels(),
            second_pixels: output.shape.channels,
            channels: input.stored_channels(alignment),
            stored_products: output.stored_channels(alignment),
            of_second: 0,
            reserved: [0; 2],
            epilogue: output.stored_epilogue(alignment),
        }
    }

    /// Products with the words' vectors, which are the pixels of a second factor that the whole batch has in common.
    pub(crate) fn word_scores_params(&self, stage: &Stage, rows: u32, alignment: u32) -> PixelProducts {
        PixelProducts { rows: 1, first_pixels: rows, ..self.pixel_products_params(stage, rows, alignment) }
    }

    /// The same as the product of which the words' vectors are the weight gradient: of the scores, with the input.
    pub(crate) fn word_vectors_params(&self, stage: &Stage, rows: u32, alignment: u32) -> Dense {
        let (input, output) = (self.input(stage), self.output(stage));
        let (inputs, outputs) = (output.stored_channels(alignment), input.stored_channels(alignment));
        Dense {
            rows,
            inputs,
            outputs,
            units: input.shape.channels,
            rows_per_part: rows,
            part_stride: inputs * outputs,
            bias_offset: NO_BIAS,
            reserved: 0,
            epilogue: input.stored_epilogue(alignment),
        }
    }

    pub(crate) fn channel_softmax_params(
        &self,
        stage: &Stage,
        linear_start: bool,
        rows: u32,
        alignment: u32,
    ) -> ChannelSoftmax {
        let output = self.output(stage);
        ChannelSoftmax {
            pixels: rows * output.shape.pixels(),
            channels: output.shape.channels,
            stored_channels: output.stored_channels(alignment),
            linear_start: u32::from(linear_start),
            epilogue: output.stored_epilogue(alignment),
        }
    }

    pub(crate) fn transpose_params(&self, stage: &Stage, rows: u32, alignment: u32) -> Transpose {
        let (input, output) = (self.input(stage), self.output(stage));
        Transpose {
            rows,
            pixels: input.shape.pixels(),
            channels: input.shape.channels,
            stored_channels: input.stored_channels(alignment),
            stored_pixels: output.stored_channels(alignment),
            reserved: [0; 3],
            epilogue: output.stored_epilogue(alignment),
        }
    }

    /// Both inputs; gradients of the second need to be told so.
    pub(crate) fn concatenate_params(&self, stage: &Stage, rows: u32, alignment: u32) -> Concatenate {
        let [first, second] = [0, 1].map(|input| &self.values[stage.inputs[input]]);
        let output = self.output(stage);
        Concatenate {
            pixels: rows * output.shape.pixels(),
            first: first.shape.channels,
            second: second.shape.channels,
            stored_first: first.stored_channels(alignment),
            stored_second: second.stored_channels(alignment),
            stored_channels: output.stored_channels(alignment),
            of_second: 0,
            reserved: 0,
            epilogue: output.stored_epilogue(alignment),
        }
    }
}
