//! Parameter blocks of stages. Layouts zero-pad channels to a multiple of `alignment`. Blocks include the stage's
//! epilogue, and keep gradients in one part.

use shaders::params::{
    Add, Attention, BatchNorm, ChannelSoftmax, Concatenate, Conv2d, Dense, Elementwise, Embedding, Epilogue, LayerNorm,
    LocalResponse, NO_BIAS, PixelProducts, Pool, Position, Recurrent, SentenceSum, Transpose,
};

use super::stage::{SlidingWindow, Storage, Words};
use super::{Activation, Cell, Stage, Stages, Value};

impl Value {
    pub(crate) fn stored_channels(&self, alignment: u32) -> u32 {
        match self.storage {
            Storage::PaddedChannels => self.shape.channels.next_multiple_of(alignment),
            Storage::Flat => self.shape.channels,
        }
    }

    pub(crate) fn stored_features(&self, alignment: u32) -> u32 {
        match self.storage {
            Storage::PaddedChannels => self.shape.pixels() * self.stored_channels(alignment),
            Storage::Flat => self.shape.features().next_multiple_of(alignment),
        }
    }

    pub(crate) fn stored_epilogue(&self, alignment: u32) -> Epilogue {
        Epilogue { stored_channels: self.stored_channels(alignment), ..self.epilogue }
    }
}

impl Stages {
    pub(crate) fn dense_params(&self, stage: &Stage, per_pixel: bool, bias: bool, rows: u32, alignment: u32) -> Dense {
        let (input, output) = (self.input(stage), self.output(stage));
        let (rows, inputs) = if per_pixel {
            (rows * input.shape.pixels(), input.stored_channels(alignment))
        } else {
            (rows, input.stored_features(alignment))
        };
        let outputs = output.stored_channels(alignment);
        dense(rows, [inputs, outputs], output.shape.channels, bias, output.stored_epilogue(alignment))
    }

    pub(crate) fn conv2d_params(
        &self,
        stage: &Stage,
        window: SlidingWindow,
        bias: bool,
        rows: u32,
        alignment: u32,
    ) -> Conv2d {
        let (input, output) = (self.input(stage), self.output(stage));
        let [window_height, window_width] = window.sides;
        let input_channels = input.stored_channels(alignment);
        let output_channels = output.stored_channels(alignment);
        let kernel = window_height * window_width * input_channels * output_channels;
        Conv2d {
            rows,
            input_height: input.shape.height,
            input_width: input.shape.width,
            input_channels,
            output_height: output.shape.height,
            output_width: output.shape.width,
            output_channels,
            window_height,
            window_width,
            padding_rows: window.padding[0],
            padding_columns: window.padding[1],
            pixels_per_part: rows * output.shape.pixels(),
            part_stride: kernel + if bias { output_channels } else { 0 },
            bias_offset: if bias { kernel } else { NO_BIAS },
            stride: window.stride,
            input_spare: input.stored_features(alignment) - input.shape.pixels() * input_channels,
            epilogue: output.stored_epilogue(alignment),
        }
    }

    pub(crate) fn pool_params(&self, stage: &Stage, window: SlidingWindow, rows: u32, alignment: u32) -> Pool {
        let (input, output) = (self.input(stage), self.output(stage));
        // Pooling windows are square.
        let SlidingWindow { sides: [side, _], stride, padding: [padding, _] } = window;
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

    pub(crate) fn embedding_params(&self, stage: &Stage, words: Words, rows: u32, alignment: u32) -> Embedding {
        let (input, output) = (self.input(stage), self.output(stage));
        let (tokens, channels) = (output.shape.pixels(), output.stored_channels(alignment));
        Embedding {
            rows,
            tokens,
            id_stride: input.stored_features(alignment),
            id_offset: words.first,
            vocabulary: words.vocabulary,
            channels,
            tokens_per_part: rows * tokens,
            part_stride: words.vocabulary * channels,
            zero_padding: u32::from(words.zero_padding),
            reserved: [0; 3],
            epilogue: output.stored_epilogue(alignment),
        }
    }

    /// Returns the parameters of a sum. The number of repeats is used for gradients of the second summand.
    pub(crate) fn add_params(&self, stage: &Stage, rows: u32, alignment: u32) -> Add {
        let (output, second) = (self.output(stage), &self.values[stage.inputs[1]]);
        Add {
            pixels: rows * output.shape.pixels(),
            channels: output.stored_channels(alignment),
            repeats: output.shape.pixels() / second.shape.pixels(),
            reserved: 0,
            epilogue: output.stored_epilogue(alignment),
        }
    }

    pub(crate) fn local_response_params(
        &self,
        stage: &Stage,
        radius: u32,
        [bias, alpha, beta]: [f32; 3],
        rows: u32,
        alignment: u32,
    ) -> LocalResponse {
        let output = self.output(stage);
        LocalResponse {
            rows,
            pixels: output.shape.pixels(),
            stored_channels: output.stored_channels(alignment),
            radius,
            bias,
            alpha,
            beta,
            reserved: 0,
            epilogue: output.stored_epilogue(alignment),
        }
    }

    pub(crate) fn batch_norm_params(
        &self,
        stage: &Stage,
        (epsilon, keep): (f32, f32),
        activation: Activation,
        rows: u32,
        alignment: u32,
    ) -> BatchNorm {
        let output = self.output(stage);
        let (pixels, channels) = (output.shape.pixels(), output.stored_channels(alignment));
        BatchNorm {
            rows,
            pixels,
            stored_channels: channels,
            pixels_per_part: rows * pixels,
            parts: 1,
            part_stride: 2 * channels,
            bias_offset: channels,
            activation: activation.number(),
            epsilon,
            keep,
            reserved: [0; 2],
            epilogue: output.stored_epilogue(alignment),
        }
    }

    pub(crate) fn layer_norm_params(&self, stage: &Stage, epsilon: f32, rows: u32, alignment: u32) -> LayerNorm {
        let output = self.output(stage);
        let (tokens, stored_channels) = (output.shape.pixels(), output.stored_channels(alignment));
        LayerNorm {
            rows,
            tokens,
            channels: output.shape.channels,
            stored_channels,
            tokens_per_part: rows * tokens,
            part_stride: 2 * stored_channels,
            bias_offset: stored_channels,
            epsilon,
            epilogue: output.stored_epilogue(alignment),
        }
    }

    pub(crate) fn elementwise_params(&self, stage: &Stage, rows: u32, alignment: u32) -> Elementwise {
        let output = self.output(stage);
        Elementwise {
            elements: rows * output.stored_features(alignment),
            reserved: [0; 3],
            epilogue: output.stored_epilogue(alignment),
        }
    }

    pub(crate) fn position_params(&self, stage: &Stage, rows: u32, alignment: u32) -> Position {
        let output = self.output(stage);
        let values = output.stored_features(alignment);
        Position { rows, values, rows_per_part: rows, part_stride: values, epilogue: output.stored_epilogue(alignment) }
    }

    /// Returns the parameters of attention. Gradients of queries, keys and values set the epilogue.
    pub(crate) fn attention_params(&self, stage: &Stage, heads: u32, rows: u32) -> Attention {
        let shape = self.output(stage).shape;
        let head_size = shape.channels / heads;
        Attention {
            rows,
            tokens: shape.pixels(),
            heads,
            head_size,
            #[expect(clippy::cast_possible_truncation, reason = "kernels compute in float32")]
            scale: (1.0 / f64::from(head_size).sqrt()) as f32,
            reserved: [0; 3],
            epilogue: Epilogue::default(),
        }
    }

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

    /// Returns the parameters of pixel products. Gradients of the second factor set `of_second`.
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

    /// Returns the parameters of products with word vectors: pixels of a second factor shared by the batch.
    pub(crate) fn word_scores_params(&self, stage: &Stage, rows: u32, alignment: u32) -> PixelProducts {
        PixelProducts { rows: 1, first_pixels: rows, ..self.pixel_products_params(stage, rows, alignment) }
    }

    /// Returns the parameters of the product whose weight gradient is the gradient of the word vectors.
    pub(crate) fn word_vectors_params(&self, stage: &Stage, rows: u32, alignment: u32) -> Dense {
        let (input, output) = (self.input(stage), self.output(stage));
        let (inputs, outputs) = (output.stored_channels(alignment), input.stored_channels(alignment));
        dense(rows, [inputs, outputs], input.shape.channels, false, input.stored_epilogue(alignment))
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

    /// Returns the parameters of a concatenation. Gradients of the second input set `of_second`.
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

    /// Returns the parameters of a recurrent layer. Each row of an image is a sequence of pixels.
    pub(crate) fn recurrent_params(&self, stage: &Stage, cell: Cell, rows: u32, alignment: u32) -> Recurrent {
        let (input, output) = (self.input(stage), self.output(stage));
        Recurrent {
            sequences: rows * input.shape.height,
            steps: input.shape.width,
            units: output.shape.channels,
            stored_units: output.stored_channels(alignment),
            activation: cell.activation().number(),
            reserved: [0; 3],
            epilogue: output.stored_epilogue(alignment),
        }
    }

    /// Returns the parameters of the products with the input, for all steps at once.
    pub(crate) fn recurrent_input_params(&self, stage: &Stage, cell: Cell, rows: u32, alignment: u32) -> Dense {
        let inputs = self.input(stage).stored_channels(alignment);
        gates_product(&self.recurrent_params(stage, cell, rows, alignment), cell, inputs, true)
    }

    /// Returns the parameters of the products with all hidden states, for the gradient of the recurrent weights.
    pub(crate) fn recurrent_state_params(&self, stage: &Stage, cell: Cell, rows: u32, alignment: u32) -> Dense {
        let params = self.recurrent_params(stage, cell, rows, alignment);
        gates_product(&params, cell, params.stored_units, cell.has_recurrent_bias())
    }
}

fn gates_product(params: &Recurrent, cell: Cell, inputs: u32, bias: bool) -> Dense {
    let (rows, outputs) = (params.sequences * params.steps, cell.gates() * params.stored_units);
    let epilogue = Epilogue { channels: outputs, stored_channels: outputs, ..Epilogue::default() };
    dense(rows, [inputs, outputs], outputs, bias, epilogue)
}

fn dense(rows: u32, [inputs, outputs]: [u32; 2], units: u32, bias: bool, epilogue: Epilogue) -> Dense {
    Dense {
        rows,
        inputs,
        outputs,
        units,
        rows_per_part: rows,
        part_stride: (inputs + u32::from(bias)) * outputs,
        bias_offset: if bias { inputs * outputs } else { NO_BIAS },
        reserved: 0,
        epilogue,
    }
}
