use burn_tensor::ops::{AvgPoolOptions, ConvOptions, MaxPoolOptions};
use burn_tensor::{Tensor, activation, module};
use shaders::params::SentenceSum;
use shaders::reference::sentence_weight;

use super::Tape;
use crate::backends::burn::functions::Functions;
use crate::backends::burn::value::{AxisOrder, LayerValue, list, sides};
use crate::model::{Activation, Cell, PoolKind, Shape, SlidingWindow, Words};

/// Stage with the shapes of its first input and its output, and the layout of the latter.
pub(super) struct Planned {
    pub(super) input: Shape,
    pub(super) output: Shape,
    pub(super) order: AxisOrder,
    /// Index of its first tensor.
    pub(super) tensor: usize,
    pub(super) functions: Functions,
}

/// Values without the stage's activation.
impl Planned {
    /// Composes `softmax(q·kᵀ/√d)·v` from operations, because Burn's attention is for inference only.
    pub(super) fn attention(&self, input: LayerValue, heads: usize, causal: bool, pass: &Tape<'_>) -> LayerValue {
        let [height, width, channels] = sides(self.output);
        let (tokens, size) = (height * width, channels / heads);
        let x = input.channels_last(self.input);
        let rows = x.dims()[0];
        // One third of the channels, as (rows, heads, tokens, d).
        let third = |third: usize| -> Tensor<4> {
            let part = x.clone().narrow(2, third * channels, channels);
            part.reshape([rows, tokens, heads, size]).swap_dims(1, 2)
        };
        let [queries, keys, values] = [0, 1, 2].map(third);
        let scale = 1.0 / (size as f32).sqrt();
        let mut scores = queries.matmul(keys.swap_dims(2, 3)) * scale;
        if causal {
            // Later tokens get a score that softmax turns into zero.
            let later = |at: usize| if at % tokens > at / tokens { f32::NEG_INFINITY } else { 0.0 };
            let mask = list((0..tokens * tokens).map(later).collect(), pass.device);
            scores = scores + mask.reshape([1, 1, tokens, tokens]);
        }
        let attended = activation::softmax(scores, 3).matmul(values);
        LayerValue::ChannelsLast(attended.swap_dims(1, 2).reshape([rows, tokens, channels]))
    }

    /// Computes a dense layer over all values of a sample.
    pub(super) fn dense(&self, input: LayerValue, bias: bool, pass: &mut Tape<'_>) -> LayerValue {
        let sides = [self.input.features(), self.output.channels].map(|side| side as usize);
        let kernel = pass.shaped(self.tensor, sides);
        let bias = bias.then(|| pass.vector(self.tensor + 1));
        LayerValue::Flat(module::linear(input.flat(), kernel, bias))
    }

    pub(super) fn convolution(
        &self,
        input: LayerValue,
        window: SlidingWindow,
        bias: bool,
        pass: &mut Tape<'_>,
    ) -> LayerValue {
        let ([_, _, channels], [_, _, filters]) = (sides(self.input), sides(self.output));
        let bias = bias.then(|| pass.vector(self.tensor + 1));
        if self.order == AxisOrder::ChannelsLast {
            let kernel = pass.shaped(self.tensor, [channels, filters]);
            return LayerValue::ChannelsLast(module::linear(input.channels_last(self.input), kernel, bias));
        }
        let [height, width] = window.sides.map(|side| side as usize);
        let kernel = pass.shaped(self.tensor, [filters, channels, height, width]);
        let options = ConvOptions::new_with_padding([window.stride as usize; 2], self.zeros(window), [1; 2], 1);
        // Add the bias afterwards. A GPU kernel that starts its sum with a large bias would round every product to the
        // remaining precision, and the bias gradient would be one long sum.
        let sums = module::conv2d(input.channels_first(self.input), kernel, None, options);
        LayerValue::ChannelsFirst(match bias {
            Some(bias) => sums + bias.reshape([1, filters, 1, 1]),
            None => sums,
        })
    }

    /// Returns the padding before and after the rows and columns.
    fn zeros(&self, window: SlidingWindow) -> [(usize, usize); 2] {
        let ([height, width, _], [output_height, output_width, _]) = (sides(self.input), sides(self.output));
        let stride = window.stride as usize;
        let of_axis = |axis: usize, given: usize, made: usize| {
            let (before, side) = (window.padding[axis] as usize, window.sides[axis] as usize);
            // Use even padding if the output size allows it, because not every backend is fast with uneven padding.
            let even = (given + 2 * before).checked_sub(side).map(|room| room / stride + 1);
            let after = ((made - 1) * stride + side).saturating_sub(given + before);
            (before, if even == Some(made) { before } else { after })
        };
        [of_axis(0, height, output_height), of_axis(1, width, output_width)]
    }

    pub(super) fn pool(&self, input: LayerValue, kind: PoolKind, window: SlidingWindow) -> LayerValue {
        let [side, stride, padding] =
            [window.sides, [window.stride; 2], window.padding].map(|numbers| numbers.map(|number| number as usize));
        let ([height, width, _], made) = (sides(self.input), sides(self.output));
        // Windows that cross the last edge.
        let crosses =
            |axis: usize, given: usize| (made[axis] - 1) * stride[axis] + side[axis] > given + 2 * padding[axis];
        let ceil = crosses(0, height) || crosses(1, width);
        let image = input.channels_first(self.input);
        let pooled = match kind {
            PoolKind::Max => {
                let options = MaxPoolOptions::new(side).with_stride(stride).with_padding(padding).with_ceil_mode(ceil);
                module::max_pool2d(image, options)
            }
            PoolKind::Average => {
                let options = AvgPoolOptions::new(side).with_stride(stride).with_padding(padding).with_ceil_mode(ceil);
                module::avg_pool2d(image, options.with_count_include_pad(false))
            }
        };
        assert_eq!(pooled.dims()[2..], made[..2], "Burn pools to the shape of the stage");
        LayerValue::ChannelsFirst(pooled)
    }

    /// Computes `x / (bias + alpha·Σ x²)^beta`, which Burn lacks. The sum over channels is a mean of a pooling window.
    pub(super) fn local_response(&self, input: LayerValue, radius: u32, [bias, alpha, beta]: [f32; 3]) -> LayerValue {
        let image = input.channels_first(self.input);
        let dims = image.dims();
        let [rows, channels, height, width] = dims;
        let (radius, window) = (radius as usize, 2 * radius as usize + 1);
        let options = AvgPoolOptions::new([window, 1]).with_stride([1; 2]).with_padding([radius, 0]);
        let squares = image.clone().square().reshape([rows, 1, channels, height * width]);
        // The mean includes padding, so it is a constant share of the sum.
        let means = module::avg_pool2d(squares, options.with_count_include_pad(true)).reshape(dims);
        let excess = means * (alpha / bias * window as f32);
        let kept = image.clone() - image * normalizing_power(excess, beta);
        LayerValue::ChannelsFirst(if bias == 1.0 { kept } else { kept * bias.powf(-beta) })
    }

    pub(super) fn batch_norm(&self, input: LayerValue, epsilon: f32, keep: f32, pass: &mut Tape<'_>) -> LayerValue {
        match self.order {
            AxisOrder::Flat => LayerValue::Flat(self.normalized(input.flat(), epsilon, keep, pass)),
            _ => LayerValue::ChannelsFirst(self.normalized(input.channels_first(self.input), epsilon, keep, pass)),
        }
    }

    /// Batch normalization. In training, it moves the running averages towards the batch's mean and unbiased variance.
    fn normalized<const D: usize>(&self, x: Tensor<D>, epsilon: f32, keep: f32, pass: &mut Tape<'_>) -> Tensor<D> {
        let [mean, variance] = [2, 3].map(|place| self.tensor + place);
        let [gamma, beta] = [0, 1].map(|place| pass.vector(self.tensor + place));
        let epsilon = f64::from(epsilon);
        let running = [mean, variance].map(|tensor| pass.tensors[tensor].clone());
        if pass.step.training == 0 {
            let [mean, variance] = running;
            return module::batch_norm(x, gamma, beta, mean, variance, epsilon);
        }
        let [_, channels, ..] = x.dims()[..] else { unreachable!("a batch has channels") };
        let values = x.dims().iter().product::<usize>() / channels;
        let unbiased = values as f32 / (values - 1).max(1) as f32;
        let made = module::batch_norm_train(x, gamma, beta, epsilon);
        let found = [made.mean.inner(), made.variance.inner() * unbiased];
        for ((tensor, running), found) in [mean, variance].into_iter().zip(running).zip(found) {
            pass.statistics.push((tensor, running * keep + found * (1.0 - keep)));
        }
        made.output
    }

    pub(super) fn layer_norm(&self, input: LayerValue, epsilon: f32, bias: bool, pass: &mut Tape<'_>) -> LayerValue {
        let gamma = pass.vector(self.tensor);
        let beta = bias.then(|| pass.vector(self.tensor + 1));
        let x = input.channels_last(self.input);
        LayerValue::ChannelsLast(module::layer_norm(x, gamma, beta, f64::from(epsilon)))
    }

    pub(super) fn position(&self, input: LayerValue, pass: &mut Tape<'_>) -> LayerValue {
        let [height, width, channels] = sides(self.input);
        let learned = pass.shaped(self.tensor, [height * width, channels]);
        LayerValue::ChannelsLast(input.channels_last(self.input) + learned.unsqueeze())
    }

    pub(super) fn embedding(&self, input: LayerValue, words: Words, pass: &mut Tape<'_>) -> LayerValue {
        let [_, count, units] = sides(self.output);
        let weights = pass.shaped(self.tensor, [words.vocabulary as usize, units]);
        let numbers = input.flat().narrow(1, words.first as usize, count);
        let vectors = module::embedding(weights, numbers.clone().int());
        if !words.zero_padding {
            return LayerValue::ChannelsLast(vectors);
        }
        let is_word = numbers.clamp(0.0, 1.0);
        LayerValue::ChannelsLast(vectors * is_word.unsqueeze_dim(2))
    }

    pub(super) fn word_scores(&self, input: LayerValue, pass: &mut Tape<'_>) -> LayerValue {
        let vectors = pass.shaped(self.tensor, [self.output, self.input].map(|shape| shape.channels as usize));
        match self.order {
            AxisOrder::Flat => LayerValue::Flat(input.flat().matmul(vectors.transpose())),
            _ => LayerValue::ChannelsLast(module::linear(input.channels_last(self.input), vectors.transpose(), None)),
        }
    }

    /// Adds up the words of each sentence, weighted by position.
    pub(super) fn sentence_sum(&self, input: LayerValue, words: u32, pass: &Tape<'_>) -> LayerValue {
        let params = SentenceSum { words, channels: self.output.channels, ..SentenceSum::default() };
        let ([_, sentences, channels], words) = (sides(self.output), words as usize);
        let x = input.channels_last(self.input);
        let rows = x.dims()[0];
        let weight = |at: usize| sentence_weight(&params, at / channels, at % channels);
        let weights: Vec<f64> = (0..words * channels).map(weight).collect();
        let weights = Tensor::<1>::from_floats(weights.as_slice(), pass.device).reshape([1, 1, words, channels]);
        let sum = (x.reshape([rows, sentences, words, channels]) * weights).sum_dim(2);
        LayerValue::ChannelsLast(sum.reshape([rows, sentences, channels]))
    }

    /// Treats each image row as a sequence of columns. Returns the last hidden state.
    pub(super) fn recurrent(&self, input: LayerValue, cell: Cell, pass: &mut Tape<'_>) -> LayerValue {
        let ([height, width, channels], [_, _, units]) = (sides(self.input), sides(self.output));
        let columns = cell.gates() as usize * units;
        let kernel = pass.shaped(self.tensor, [channels, columns]);
        let recurrence = Recurrence {
            weights: pass.shaped(self.tensor + 1, [units, columns]),
            bias: cell.has_recurrent_bias().then(|| pass.vector(self.tensor + 3)),
            units,
            functions: self.functions,
        };
        let bias = pass.vector(self.tensor + 2);
        let x = input.channels_last(self.input);
        let rows = x.dims()[0];
        let sequences = x.reshape([rows * height, width, channels]);
        let (mut hidden, mut cells) = (None, None);
        for place in 0..width {
            let now = sequences.clone().narrow(1, place, 1).reshape([rows * height, channels]);
            let input = module::linear(now, kernel.clone(), Some(bias.clone()));
            hidden = Some(match cell {
                Cell::Lstm => recurrence.lstm(input, hidden, &mut cells),
                Cell::Gru(activation) => recurrence.gru(input, hidden, activation),
                Cell::SimpleRnn(activation) => {
                    self.functions.activate(recurrence.with_products(input, hidden), activation.number())
                }
            });
        }
        let hidden = hidden.expect("a sequence has at least one step");
        LayerValue::ChannelsLast(hidden.reshape([rows, height, units]))
    }
}

struct Recurrence {
    /// (units, gates·units).
    weights: Tensor<2>,
    /// (gates·units), added to the products with the hidden state.
    bias: Option<Tensor<1>>,
    units: usize,
    functions: Functions,
}

/// Cells that return the next hidden state. `input` is `x·W + b`, as (sequences, gates·units).
impl Recurrence {
    fn with_products(&self, input: Tensor<2>, hidden: Option<Tensor<2>>) -> Tensor<2> {
        match hidden {
            Some(hidden) => input + hidden.matmul(self.weights.clone()),
            None => input,
        }
    }

    fn part(&self, gates: &Tensor<2>, gate: usize) -> Tensor<2> {
        gates.clone().narrow(1, gate * self.units, self.units)
    }

    /// Gates i, f, c, o.
    fn lstm(&self, input: Tensor<2>, hidden: Option<Tensor<2>>, cells: &mut Option<Tensor<2>>) -> Tensor<2> {
        let gates = self.with_products(input, hidden);
        // Gate activation of Keras 2.
        let squashed = |gate: usize| activation::hard_sigmoid(self.part(&gates, gate), 0.2, 0.5);
        let written = squashed(0) * self.functions.tanh(self.part(&gates, 2));
        let next = match cells.take() {
            Some(cells) => squashed(1) * cells + written,
            None => written,
        };
        *cells = Some(next.clone());
        squashed(3) * self.functions.tanh(next)
    }

    /// Gates z, r, g. The reset gate applies to the products, which have a separate bias.
    fn gru(&self, input: Tensor<2>, hidden: Option<Tensor<2>>, function: Activation) -> Tensor<2> {
        let bias = self.bias.clone().expect("a GRU has two biases").unsqueeze_dim(0);
        let products = match hidden.clone() {
            Some(hidden) => hidden.matmul(self.weights.clone()) + bias,
            None => bias.expand(input.dims()),
        };
        let gate = |gate: usize| activation::sigmoid(self.part(&input, gate) + self.part(&products, gate));
        let candidate = self.part(&input, 2) + gate(1) * self.part(&products, 2);
        let candidate = self.functions.activate(candidate, function.number());
        let kept = gate(0);
        let written = candidate.clone() - kept.clone() * candidate;
        match hidden {
            Some(hidden) => kept * hidden + written,
            None => written,
        }
    }
}

/// Computes `1 - (1 + excess)^-beta`. A power would lose digits, because the result is mostly small.
fn normalizing_power(excess: Tensor<4>, beta: f32) -> Tensor<4> {
    if beta != 0.75 {
        return (excess.log1p() * -beta).exp().neg() + 1.0;
    }
    // The usual 3/4 needs two square roots, each computed minus 1.
    let root = (excess.clone() + 1.0).sqrt();
    let first = excess / (root.clone() + 1.0);
    let second = first.clone() / (root.sqrt() + 1.0);
    let more = first.clone() + second.clone() + first * second;
    more.clone() / (more + 1.0)
}
