//! Layers without matrix products.

use bytemuck::Pod;
use shaders::params::{
    Add, Attention, BatchNorm, ChannelSoftmax, Concatenate, Dense, Elementwise, Embedding, Epilogue, LayerNorm,
    LocalResponse, PixelProducts, Pool, Position, SentenceSum, Transpose,
};

use super::super::layout::CHANNEL_ALIGNMENT;
use super::super::products::{Params, Pass};
use super::super::recording::{BufferRange, Combination};
use super::super::variants::AttentionVariant;
use super::planner::{LayerPhase, Planner, is_plain};
use super::products::{GradientSum, rows_per_part};
use crate::model::{PoolKind, SlidingWindow, Stage, Words};

impl Planner<'_> {
    /// Launches a kernel that reads only a stage's inputs (and gradient) and computes four values per invocation.
    /// `of_input` returns the parameters of the gradient of an input, given its number.
    fn map_values<P: Pod>(
        &mut self,
        stage: &Stage,
        phase: LayerPhase,
        [forward, backward]: [&str; 2],
        params: &P,
        of_input: impl Fn(u32, Epilogue) -> P,
    ) {
        if phase != LayerPhase::Backward {
            return self.map_inputs(forward, stage, params);
        }
        for (number, input) in (0..).zip(0..stage.inputs.len()) {
            let bindings = [self.output_gradient(stage), self.input_of(stage, input)];
            self.pass_back(backward, stage, input, &bindings, |epilogue| of_input(number, epilogue));
        }
    }

    /// Launches a kernel that computes a stage's output from its inputs, with four values per invocation.
    fn map_inputs<P: Pod>(&mut self, kernel: &str, stage: &Stage, params: &P) {
        let y = self.output_of(stage);
        let mut bindings: Vec<_> = (0..stage.inputs.len()).map(|input| self.input_of(stage, input)).collect();
        bindings.push(y);
        self.builder.dispatch(kernel, params, &bindings, self.quads(y));
    }

    /// Launches a kernel that computes an input's gradient from what it reads, with four values per invocation.
    fn pass_back<P: Pod>(
        &mut self,
        kernel: &str,
        stage: &Stage,
        input: usize,
        read: &[BufferRange],
        params: impl FnOnce(Epilogue) -> P,
    ) {
        if let Some((dx, epilogue)) = self.input_gradient(stage, input) {
            self.builder.dispatch(kernel, &params(epilogue), &[read, &[dx]].concat(), self.quads(dx));
        }
    }

    /// Launches a kernel that sums a weight gradient, with an invocation per part and four channels (`quads`).
    fn sum_over_rows<P: Pod>(
        &mut self,
        kernel: &str,
        (tensor, bias): (usize, Option<usize>),
        (rows, quads): (u32, u64),
        read: &[BufferRange],
        params: impl FnOnce(&GradientSum) -> P,
    ) -> BufferRange {
        let rows_per_part = rows_per_part(rows, quads, self.choices.abilities.software);
        self.weight_gradient(tensor, bias, rows, rows_per_part, |planner, sum| {
            let bindings = [read, &[sum.output]].concat();
            planner.builder.dispatch(kernel, &params(sum), &bindings, u64::from(sum.parts) * quads);
        })
    }

    pub(super) fn gelu(&mut self, stage: &Stage, phase: LayerPhase) {
        let params = self.sized(stage).elementwise();
        let kernels = ["gelu_forward", "gelu_backward"];
        self.map_values(stage, phase, kernels, &params, |_, epilogue| Elementwise { epilogue, ..params });
    }

    pub(super) fn local_response(&mut self, stage: &Stage, phase: LayerPhase, radius: u32, constants: [f32; 3]) {
        let params = self.sized(stage).local_response(radius, constants);
        let kernels = ["local_response_forward", "local_response_backward"];
        self.map_values(stage, phase, kernels, &params, |_, epilogue| LocalResponse { epilogue, ..params });
    }

    pub(super) fn sentence_sum(&mut self, stage: &Stage, phase: LayerPhase, words: u32) {
        let params = self.sized(stage).sentence_sum(words);
        let kernels = ["sentence_sum_forward", "sentence_sum_gradient"];
        self.map_values(stage, phase, kernels, &params, |_, epilogue| SentenceSum { epilogue, ..params });
    }

    pub(super) fn transpose(&mut self, stage: &Stage, phase: LayerPhase) {
        let params = self.sized(stage).transpose();
        let kernels = ["transpose_forward", "transpose_gradient"];
        self.map_values(stage, phase, kernels, &params, |_, epilogue| Transpose { epilogue, ..params });
    }

    pub(super) fn pool(&mut self, stage: &Stage, phase: LayerPhase, kind: PoolKind, window: SlidingWindow) {
        let params = self.sized(stage).pool(window);
        if kind == PoolKind::Average {
            let kernels = ["average_pool_forward", "average_pool_backward"];
            return self.map_values(stage, phase, kernels, &params, |_, epilogue| Pool { epilogue, ..params });
        }
        let features = self.stages.output(stage).stored_features(CHANNEL_ALIGNMENT);
        let taps = self.keep(stage, 0, "pooling taps", 4 * u64::from(features));
        let x = self.input_of(stage, 0);
        if phase != LayerPhase::Backward {
            let y = self.output_of(stage);
            return self.builder.dispatch("max_pool_forward", &params, &[x, y, taps], self.quads(y));
        }
        let bindings = [self.output_gradient(stage), taps, x];
        self.pass_back("max_pool_backward", stage, 0, &bindings, |epilogue| Pool { epilogue, ..params });
    }

    pub(super) fn add(&mut self, stage: &Stage, phase: LayerPhase) {
        let params = self.sized(stage).add();
        if phase != LayerPhase::Backward {
            return self.map_inputs("add_forward", stage, &params);
        }
        for (input, repeats) in [(0, 1), (1, params.repeats)] {
            if !self.hand_gradient_on(stage, input) {
                let bindings = [self.output_gradient(stage), self.input_of(stage, input)];
                let with = |epilogue| Add { repeats, epilogue, ..params };
                self.pass_back("add_gradient", stage, input, &bindings, with);
            }
        }
    }

    pub(super) fn concatenate(&mut self, stage: &Stage, phase: LayerPhase) {
        let params = self.sized(stage).concatenate();
        let kernels = ["concatenate_forward", "concatenate_gradient"];
        let of_input = |of_second, epilogue| Concatenate { of_second, epilogue, ..params };
        self.map_values(stage, phase, kernels, &params, of_input);
    }

    pub(super) fn pixel_products(&mut self, stage: &Stage, phase: LayerPhase) {
        let params = self.sized(stage).pixel_products();
        if phase != LayerPhase::Backward {
            return self.map_inputs("pixel_products_forward", stage, &params);
        }
        for (input, of_second) in [(0, 0), (1, 1)] {
            let [x, other] = [input, 1 - input].map(|input| self.input_of(stage, input));
            let bindings = [self.output_gradient(stage), other, x];
            let with = |epilogue| PixelProducts { of_second, epilogue, ..params };
            self.pass_back("pixel_products_gradient", stage, input, &bindings, with);
        }
    }

    /// Uses the words' vectors as the weights of a layer whose output is `x`: the scores are like the gradient of its
    /// input, and their gradient is like its input. Epilogues of the other direction need another kernel, which reads
    /// the vectors as the pixels of a second factor.
    pub(super) fn word_scores(&mut self, stage: &Stage, phase: LayerPhase) {
        let (params, product) = (self.sized(stage).word_scores(), self.sized(stage).word_vectors());
        let (x, vectors) = (self.input_of(stage, 0), self.product_weight(stage, 0));
        if phase != LayerPhase::Backward {
            let (y, epilogue) = (self.output_of(stage), params.epilogue);
            if stage.output + 1 == self.values.len() && is_plain(&epilogue) {
                // The slope of a plain epilogue does not depend on the result, so that any buffer of its size can be
                // bound. The gradient of the logits has as many rows as a test.
                let bindings = [x, vectors, self.output_gradient(stage), y];
                return self.product(Pass::InputGradient, Params::Dense(Dense { epilogue, ..product }), &bindings);
            }
            return self.builder.dispatch("pixel_products_forward", &params, &[x, vectors, y], self.quads(y));
        }
        let dy = self.output_gradient(stage);
        self.product_gradient(stage.tensor, None, product, dy, x);
        let Some((dx, epilogue)) = self.input_gradient(stage, 0) else { return };
        if is_plain(&epilogue) {
            let params = Params::Dense(Dense { epilogue, ..product });
            return self.product(Pass::Forward, params, &[dy, vectors, self.arenas.zeros, dx]);
        }
        let params = PixelProducts { epilogue, ..params };
        self.builder.dispatch("pixel_products_gradient", &params, &[dy, vectors, x, dx], self.quads(dx));
    }

    pub(super) fn softmax_layer(&mut self, stage: &Stage, phase: LayerPhase, linear_start: bool) {
        let params = self.sized(stage).channel_softmax(linear_start);
        let (x, pixels) = (self.input_of(stage, 0), u64::from(params.pixels));
        if phase != LayerPhase::Backward {
            let bindings = [x, self.output_of(stage)];
            return self.builder.dispatch("channel_softmax_forward", &params, &bindings, pixels);
        }
        let dy = self.output_gradient(stage);
        if let Some((dx, epilogue)) = self.input_gradient(stage, 0) {
            let params = ChannelSoftmax { epilogue, ..params };
            self.builder.dispatch("channel_softmax_backward", &params, &[dy, x, dx], pixels);
        }
    }

    pub(super) fn embedding(&mut self, stage: &Stage, phase: LayerPhase, words: Words) {
        let params = self.sized(stage).embedding(words);
        let ids = self.input_of(stage, 0);
        if phase != LayerPhase::Backward {
            let y = self.output_of(stage);
            let bindings = [ids, self.weight(stage, 0), y];
            return self.builder.dispatch("embedding_forward", &params, &bindings, self.quads(y));
        }
        let dy = self.output_gradient(stage);
        // One invocation per four channels of all words.
        let size = (params.rows * params.tokens, u64::from(params.channels / 4));
        self.sum_over_rows("embedding_weight_gradient", (stage.tensor, None), size, &[ids, dy], |sum| Embedding {
            tokens_per_part: sum.rows_per_part,
            part_stride: sum.part_stride,
            ..params
        });
    }

    pub(super) fn position(&mut self, stage: &Stage, phase: LayerPhase) {
        let params = self.sized(stage).position();
        if phase != LayerPhase::Backward {
            let y = self.output_of(stage);
            let bindings = [self.input_of(stage, 0), self.weight(stage, 0), y];
            return self.builder.dispatch("position_forward", &params, &bindings, self.quads(y));
        }
        let dy = self.output_gradient(stage);
        let size = (params.rows, u64::from(params.values / 4));
        self.sum_over_rows("position_gradient", (stage.tensor, None), size, &[dy], |sum| Position {
            rows_per_part: sum.rows_per_part,
            part_stride: sum.part_stride,
            ..params
        });
        if !self.hand_gradient_on(stage, 0) {
            let elementwise = self.sized(stage).elementwise();
            let bindings = [dy, self.input_of(stage, 0)];
            self.pass_back("pass_gradient", stage, 0, &bindings, |epilogue| Elementwise { epilogue, ..elementwise });
        }
    }

    pub(super) fn attention(&mut self, stage: &Stage, phase: LayerPhase, heads: u32, causal: bool) {
        let params = self.sized(stage).attention(heads, causal);
        let queries_of_sample = u64::from(params.heads) * u64::from(params.tokens);
        let variant = AttentionVariant::usual(self.choices.abilities, &params);
        let invocations = variant.invocations(&params);
        let log_sum_exp = self.keep(stage, 0, "log of sums", 4 * queries_of_sample);
        let (x, y) = (self.input_of(stage, 0), self.output_of(stage));
        if phase != LayerPhase::Backward {
            let bindings = [x, y, log_sum_exp];
            return self.builder.dispatch(&variant.kernel("forward"), &params, &bindings, invocations);
        }
        let means = self.keep(stage, 1, "mean products", 4 * queries_of_sample);
        let dy = self.output_gradient(stage);
        if let Some((dx, epilogue)) = self.input_gradient(stage, 0) {
            let params = Attention { epilogue, ..params };
            let bindings = [x, y, dy, log_sum_exp, dx, means];
            self.builder.dispatch(&variant.kernel("query_gradient"), &params, &bindings, invocations);
            let bindings = [x, dy, log_sum_exp, means, dx];
            self.builder.dispatch(&variant.kernel("key_value_gradient"), &params, &bindings, invocations);
        }
    }

    pub(super) fn batch_norm_forward(&mut self, stage: &Stage, phase: LayerPhase, params: BatchNorm) {
        let pixels = params.rows * params.pixels;
        let pixels_per_part =
            rows_per_part(pixels, u64::from(params.stored_channels / 4), self.choices.abilities.software);
        let params = BatchNorm { pixels_per_part, parts: pixels.div_ceil(pixels_per_part), ..params };
        let channels = u64::from(params.stored_channels);
        let (x, y) = (self.input_of(stage, 0), self.output_of(stage));
        let parts = self.keep_bytes(stage, 1, "batch statistics", u64::from(params.parts) * 8 * channels);
        let saved = self.keep_bytes(stage, 0, "mean and deviation", 8 * channels);
        if phase == LayerPhase::Training {
            let invocations = u64::from(params.parts) * channels / 4;
            self.builder.dispatch("batch_norm_statistics", &params, &[x, parts], invocations);
        }
        // The running statistics give the same for all views of a sample.
        if phase != LayerPhase::AnotherView {
            // Running mean and variance follow each other in the arena.
            let mean = self.weight(stage, 2);
            let running = BufferRange { bytes: 2 * mean.bytes, ..mean };
            let (mut parts, mut finish) = (parts, params);
            if phase == LayerPhase::Training && self.setup.devices > 1 {
                let BatchNorm { stored_channels: channels, pixels: pixels_of_sample, .. } = params;
                let all = self.keep_bytes(stage, 2, "statistics of all devices", 8 * u64::from(channels));
                self.builder.exchange(parts, all, Combination::Moments { channels, pixels_of_sample, pixels_per_part });
                (parts, finish) = (all, BatchNorm { parts: 1, pixels_per_part: u32::MAX, ..params });
            }
            self.builder.dispatch("batch_norm_finish", &finish, &[parts, running, saved], 64 * channels / 4);
        }
        let [gamma, beta] = [0, 1].map(|tensor| self.weight(stage, tensor));
        self.builder.dispatch("batch_norm_forward", &params, &[x, saved, gamma, beta, y], self.quads(y));
    }

    pub(super) fn batch_norm_backward(&mut self, stage: &Stage, params: BatchNorm) {
        let (x, dy) = (self.input_of(stage, 0), self.output_gradient(stage));
        let saved = self.keep_bytes(stage, 0, "mean and deviation", 8 * u64::from(params.stored_channels));
        let [gamma, beta] = [0, 1].map(|tensor| self.weight(stage, tensor));
        let (tensors, read) = ((stage.tensor, Some(stage.tensor + 1)), [x, dy, saved, gamma, beta]);
        let size = (params.rows * params.pixels, u64::from(params.stored_channels / 4));
        let sums = self.sum_over_rows("batch_norm_gradient_sums", tensors, size, &read, |sum| BatchNorm {
            pixels_per_part: sum.rows_per_part,
            parts: sum.parts,
            part_stride: sum.part_stride,
            bias_offset: sum.bias_offset,
            ..params
        });
        // The arena keeps this device's share, which is summed with the other gradients.
        let sums = if self.setup.devices > 1 {
            let all = self.builder.zeros("gradient sums of all devices", sums.bytes);
            self.builder.exchange(sums, all, Combination::Sum);
            all
        } else {
            sums
        };
        let bias_offset = self.tensors[stage.tensor + 1].offset - self.tensors[stage.tensor].offset;
        let with = |epilogue| BatchNorm { epilogue, bias_offset, ..params };
        self.pass_back("batch_norm_input_gradient", stage, 0, &[x, dy, saved, gamma, beta, sums], with);
    }

    pub(super) fn layer_norm(&mut self, stage: &Stage, phase: LayerPhase, epsilon: f32, bias: bool) {
        let params = self.sized(stage).layer_norm(epsilon, bias);
        let saved = self.keep(stage, 0, "mean and deviation", 8 * u64::from(params.tokens));
        let (x, tokens) = (self.input_of(stage, 0), params.rows * params.tokens);
        let (gamma, beta) = (self.weight(stage, 0), self.bias(stage, bias));
        // On an emulated GPU, waiting for other invocations costs more than loads that are far apart.
        let (end, lanes) = if self.choices.abilities.software { ("", 1) } else { ("_shared", 16) };
        let invocations = lanes * u64::from(tokens);
        if phase != LayerPhase::Backward {
            let bindings = [x, gamma, beta, self.output_of(stage), saved];
            return self.builder.dispatch(&format!("layer_norm_forward{end}"), &params, &bindings, invocations);
        }
        let dy = self.output_gradient(stage);
        let tensors = (stage.tensor, bias.then_some(stage.tensor + 1));
        let size = (tokens, u64::from(params.stored_channels / 4));
        self.sum_over_rows("layer_norm_weight_gradient", tensors, size, &[x, dy, saved], |sum| LayerNorm {
            tokens_per_part: sum.rows_per_part,
            part_stride: sum.part_stride,
            bias_offset: sum.bias_offset,
            ..params
        });
        if let Some((dx, epilogue)) = self.input_gradient(stage, 0) {
            let params = LayerNorm { epilogue, ..params };
            let bindings = [x, dy, saved, gamma, dx];
            self.builder.dispatch(&format!("layer_norm_input_gradient{end}"), &params, &bindings, invocations);
        }
    }
}
