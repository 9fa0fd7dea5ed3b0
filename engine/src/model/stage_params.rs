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

/// Stage with its number of samples and its layout in memory, which determine its parameter blocks. Blocks include the
/// stage's epilogue, and keep gradients in one part.
#[derive(Clone, Copy)]
pub(crate) struct SizedStage {
    input: Value,
    /// Last input, which may be the only one.
    second: Value,
    output: Value,
    pub(crate) epilogue: Epilogue,
    rows: u32,
    alignment: u32,
}

impl Stages {
    /// Returns a stage for `rows` samples in a layout that zero-pads channels to a multiple of `alignment`.
    pub(crate) fn sized(&self, stage: &Stage, rows: u32, alignment: u32) -> SizedStage {
        let [input, second] =
            [stage.inputs.first(), stage.inputs.last()].map(|input| self.values[*input.expect("stages read values")]);
        let output = *self.output(stage);
        SizedStage { input, second, output, epilogue: output.stored_epilogue(alignment), rows, alignment }
    }
}

impl SizedStage {
    fn input_channels(&self) -> u32 {
        self.input.stored_channels(self.alignment)
    }

    /// Returns the stored channels of the output.
    fn channels(&self) -> u32 {
        self.output.stored_channels(self.alignment)
    }

    /// Returns the pixels of the output in one sample.
    fn pixels(&self) -> u32 {
        self.output.shape.pixels()
    }

    /// Replaces the epilogue in parameter blocks, for the gradient of a value that another stage made.
    pub(crate) fn with_epilogue(self, epilogue: Epilogue) -> Self {
        Self { epilogue, ..self }
    }

    pub(crate) fn dense(&self, per_pixel: bool, bias: bool) -> Dense {
        let (rows, inputs) = if per_pixel {
            (self.rows * self.input.shape.pixels(), self.input_channels())
        } else {
            (self.rows, self.input.stored_features(self.alignment))
        };
        dense(rows, [inputs, self.channels()], self.output.shape.channels, bias, self.epilogue)
    }

    pub(crate) fn conv2d(&self, window: SlidingWindow, bias: bool) -> Conv2d {
        let (input, output) = (self.input.shape, self.output.shape);
        let [window_height, window_width] = window.sides;
        let (input_channels, output_channels) = (self.input_channels(), self.channels());
        let kernel = window_height * window_width * input_channels * output_channels;
        Conv2d {
            rows: self.rows,
            input_height: input.height,
            input_width: input.width,
            input_channels,
            output_height: output.height,
            output_width: output.width,
            output_channels,
            window_height,
            window_width,
            padding_rows: window.padding[0],
            padding_columns: window.padding[1],
            pixels_per_part: self.rows * self.pixels(),
            part_stride: kernel + if bias { output_channels } else { 0 },
            bias_offset: if bias { kernel } else { NO_BIAS },
            stride: window.stride,
            input_spare: self.input.stored_features(self.alignment) - input.pixels() * input_channels,
            epilogue: self.epilogue,
        }
    }

    pub(crate) fn pool(&self, window: SlidingWindow) -> Pool {
        // Pooling windows are square.
        let SlidingWindow { sides: [side, _], stride, padding: [padding, _] } = window;
        Pool {
            rows: self.rows,
            input_height: self.input.shape.height,
            input_width: self.input.shape.width,
            channels: self.input_channels(),
            output_height: self.output.shape.height,
            output_width: self.output.shape.width,
            side,
            stride,
            padding,
            reserved: [0; 3],
            epilogue: self.epilogue,
        }
    }

    pub(crate) fn embedding(&self, words: Words) -> Embedding {
        Embedding {
            rows: self.rows,
            tokens: self.pixels(),
            id_stride: self.input.stored_features(self.alignment),
            id_offset: words.first,
            vocabulary: words.vocabulary,
            channels: self.channels(),
            tokens_per_part: self.rows * self.pixels(),
            part_stride: words.vocabulary * self.channels(),
            zero_padding: u32::from(words.zero_padding),
            reserved: [0; 3],
            epilogue: self.epilogue,
        }
    }

    /// Returns the parameters of a sum. The number of repeats is used for gradients of the second summand.
    pub(crate) fn add(&self) -> Add {
        Add {
            pixels: self.rows * self.pixels(),
            channels: self.channels(),
            repeats: self.pixels() / self.second.shape.pixels(),
            reserved: 0,
            epilogue: self.epilogue,
        }
    }

    pub(crate) fn local_response(&self, radius: u32, [bias, alpha, beta]: [f32; 3]) -> LocalResponse {
        LocalResponse {
            rows: self.rows,
            pixels: self.pixels(),
            stored_channels: self.channels(),
            radius,
            bias,
            alpha,
            beta,
            reserved: 0,
            epilogue: self.epilogue,
        }
    }

    pub(crate) fn batch_norm(&self, (epsilon, keep): (f32, f32), activation: Activation) -> BatchNorm {
        BatchNorm {
            rows: self.rows,
            pixels: self.pixels(),
            stored_channels: self.channels(),
            pixels_per_part: self.rows * self.pixels(),
            parts: 1,
            part_stride: 2 * self.channels(),
            bias_offset: self.channels(),
            activation: activation.number(),
            epsilon,
            keep,
            reserved: [0; 2],
            epilogue: self.epilogue,
        }
    }

    pub(crate) fn layer_norm(&self, epsilon: f32, bias: bool) -> LayerNorm {
        LayerNorm {
            rows: self.rows,
            tokens: self.pixels(),
            channels: self.output.shape.channels,
            stored_channels: self.channels(),
            tokens_per_part: self.rows * self.pixels(),
            part_stride: (1 + u32::from(bias)) * self.channels(),
            bias_offset: if bias { self.channels() } else { NO_BIAS },
            epsilon,
            epilogue: self.epilogue,
        }
    }

    pub(crate) fn elementwise(&self) -> Elementwise {
        let elements = self.rows * self.output.stored_features(self.alignment);
        Elementwise { elements, reserved: [0; 3], epilogue: self.epilogue }
    }

    pub(crate) fn position(&self) -> Position {
        let values = self.output.stored_features(self.alignment);
        Position { rows: self.rows, values, rows_per_part: self.rows, part_stride: values, epilogue: self.epilogue }
    }

    /// Returns the parameters of attention. Gradients of queries, keys and values set the epilogue.
    pub(crate) fn attention(&self, heads: u32, causal: bool) -> Attention {
        let head_size = self.output.shape.channels / heads;
        Attention {
            rows: self.rows,
            tokens: self.pixels(),
            heads,
            head_size,
            #[expect(clippy::cast_possible_truncation, reason = "kernels compute in float32")]
            scale: (1.0 / f64::from(head_size).sqrt()) as f32,
            causal: u32::from(causal),
            reserved: [0; 2],
            epilogue: Epilogue::default(),
        }
    }

    pub(crate) fn sentence_sum(&self, words: u32) -> SentenceSum {
        SentenceSum {
            sentences: self.rows * self.pixels(),
            words,
            channels: self.output.shape.channels,
            stored_channels: self.channels(),
            epilogue: self.epilogue,
        }
    }

    /// Returns the parameters of pixel products. Gradients of the second factor set `of_second`.
    pub(crate) fn pixel_products(&self) -> PixelProducts {
        PixelProducts {
            rows: self.rows,
            first_pixels: self.input.shape.pixels(),
            second_pixels: self.output.shape.channels,
            channels: self.input_channels(),
            stored_products: self.channels(),
            of_second: 0,
            reserved: [0; 2],
            epilogue: self.epilogue,
        }
    }

    /// Returns the parameters of products with word vectors: pixels of a second factor shared by the batch.
    pub(crate) fn word_scores(&self) -> PixelProducts {
        PixelProducts { rows: 1, first_pixels: self.rows * self.input.shape.pixels(), ..self.pixel_products() }
    }

    /// Returns the parameters of the product whose weight gradient is the gradient of the word vectors.
    pub(crate) fn word_vectors(&self) -> Dense {
        let (sides, epilogue) = ([self.channels(), self.input_channels()], self.input.stored_epilogue(self.alignment));
        dense(self.rows * self.input.shape.pixels(), sides, self.input.shape.channels, false, epilogue)
    }

    pub(crate) fn channel_softmax(&self, linear_start: bool) -> ChannelSoftmax {
        ChannelSoftmax {
            pixels: self.rows * self.pixels(),
            channels: self.output.shape.channels,
            stored_channels: self.channels(),
            linear_start: u32::from(linear_start),
            epilogue: self.epilogue,
        }
    }

    pub(crate) fn transpose(&self) -> Transpose {
        Transpose {
            rows: self.rows,
            pixels: self.input.shape.pixels(),
            channels: self.input.shape.channels,
            stored_channels: self.input_channels(),
            stored_pixels: self.channels(),
            reserved: [0; 3],
            epilogue: self.epilogue,
        }
    }

    /// Returns the parameters of a concatenation. Gradients of the second input set `of_second`.
    pub(crate) fn concatenate(&self) -> Concatenate {
        Concatenate {
            pixels: self.rows * self.pixels(),
            first: self.input.shape.channels,
            second: self.second.shape.channels,
            stored_first: self.input_channels(),
            stored_second: self.second.stored_channels(self.alignment),
            stored_channels: self.channels(),
            of_second: 0,
            reserved: 0,
            epilogue: self.epilogue,
        }
    }

    /// Returns the parameters of a recurrent layer. Each row of an image is a sequence of pixels.
    pub(crate) fn recurrent(&self, cell: Cell) -> Recurrent {
        Recurrent {
            sequences: self.rows * self.input.shape.height,
            steps: self.input.shape.width,
            units: self.output.shape.channels,
            stored_units: self.channels(),
            activation: cell.activation().number(),
            reserved: [0; 3],
            epilogue: self.epilogue,
        }
    }

    /// Returns the parameters of the products with the input, for all steps at once.
    pub(crate) fn recurrent_input(&self, cell: Cell) -> Dense {
        self.gates(cell, self.input_channels(), true)
    }

    /// Returns the parameters of the products with all hidden states, for the gradient of the recurrent weights.
    pub(crate) fn recurrent_state(&self, cell: Cell) -> Dense {
        self.gates(cell, self.channels(), cell.has_recurrent_bias())
    }

    fn gates(&self, cell: Cell, inputs: u32, bias: bool) -> Dense {
        let (rows, outputs) = (self.rows * self.input.shape.pixels(), cell.gates() * self.channels());
        let epilogue = Epilogue { channels: outputs, stored_channels: outputs, ..Epilogue::default() };
        dense(rows, [inputs, outputs], outputs, bias, epilogue)
    }
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
