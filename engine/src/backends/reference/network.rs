//! Forward and backward pass through the stages of a model.

#[cfg(test)]
mod tests;

use shaders::Real;
use shaders::params::{
    Add, Attention, BatchNorm, ChannelSoftmax, Concatenate, Conv2d, Dense, Elementwise, Epilogue, LayerNorm,
    LocalResponse, PixelProducts, Pool, SentenceSum, Step, Transpose,
};
use shaders::reference::{self as twin, Attended, GruSteps, Normalizer};

use crate::model::{Cell, PoolKind, SlidingWindow, Stage, StageKind, Stages, Words};

/// Layouts of the reference have no padding.
pub(super) const ALIGNMENT: u32 = 1;

pub(super) struct Network<T> {
    stages: Stages,
    /// All tensors in model order.
    pub(super) tensors: Vec<Vec<T>>,
    /// Gradients of `tensors` from the last [`Network::backward`].
    pub(super) gradients: Vec<Vec<T>>,
    /// (rows, features) of each value.
    values: Vec<Vec<T>>,
    /// Gradients of `values`, once something has contributed.
    value_gradients: Vec<Option<Vec<T>>>,
    /// Data of each stage's forward pass for its backward pass.
    kept: Vec<Kept<T>>,
    rows: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Kept<T> {
    /// Winning taps of a pooling stage.
    taps: Vec<u32>,
    numbers: Vec<Vec<T>>,
}

impl<T: Real> Network<T> {
    pub(super) fn new(stages: Stages, tensors: Vec<Vec<T>>) -> Self {
        Self {
            gradients: tensors.iter().map(|t| vec![T::ZERO; t.len()]).collect(),
            tensors,
            values: vec![Vec::new(); stages.values.len()],
            value_gradients: vec![None; stages.values.len()],
            kept: vec![Kept::default(); stages.stages.len()],
            stages,
            rows: 0,
        }
    }

    /// Returns the logits of `input` (`rows` samples).
    pub(super) fn forward(&mut self, step: &Step, input: Vec<T>, rows: u32) -> &[T] {
        self.rows = rows;
        self.values[0] = input;
        for index in 0..self.stages.stages.len() {
            let stage = self.stages.stages[index].clone();
            let features = self.stages.output(&stage).stored_features(ALIGNMENT);
            let y = vec![T::ZERO; (rows * features) as usize];
            self.values[stage.output] = self.stage_forward(index, &stage, step, y);
        }
        self.logits()
    }

    fn stage_forward(&mut self, index: usize, stage: &Stage, step: &Step, y: Vec<T>) -> Vec<T> {
        let rows = self.rows;
        match stage.kind {
            StageKind::Dense { bias, per_pixel } => self.dense_forward(stage, per_pixel, bias, step, y),
            StageKind::Conv2d { window, bias } => self.conv2d_forward(stage, window, bias, step, y),
            StageKind::Pool { kind: PoolKind::Max, window } => self.max_pool_forward(index, stage, window, step, y),
            StageKind::Pool { kind: PoolKind::Average, window } => self.average_pool_forward(stage, window, step, y),
            StageKind::LocalResponseNorm { radius, bias, alpha, beta } => {
                let params = self.stages.local_response_params(stage, radius, [bias, alpha, beta], rows, ALIGNMENT);
                self.local_response_forward(stage, params, step, y)
            }
            StageKind::BatchNorm { epsilon, keep, activation } => {
                let params = self.stages.batch_norm_params(stage, (epsilon, keep), activation, rows, ALIGNMENT);
                self.batch_norm_forward(index, stage, params, step, y)
            }
            StageKind::LayerNorm { epsilon } => self.layer_norm_forward(index, stage, epsilon, step, y),
            StageKind::Recurrent(cell) => self.recurrent_forward(index, stage, cell, step, y),
            StageKind::Embedding(words) => self.embedding_forward(stage, words, step, y),
            StageKind::SentenceSum { words } => self.sentence_sum_forward(stage, words, step, y),
            StageKind::WordScores => self.word_scores_forward(stage, step, y),
            StageKind::PixelProducts => self.pixel_products_forward(stage, step, y),
            StageKind::Softmax { linear_start } => self.softmax_forward(stage, linear_start, step, y),
            StageKind::Transpose => self.transpose_forward(stage, step, y),
            StageKind::Concatenate => self.concatenate_forward(stage, step, y),
            StageKind::Add => self.add_forward(stage, step, y),
            StageKind::PositionEmbedding => self.position_forward(stage, step, y),
            StageKind::Attention { heads } => self.attention_forward(index, stage, heads, y),
            StageKind::Gelu => self.gelu_forward(stage, step, y),
        }
    }

    pub(super) fn logits(&self) -> &[T] {
        self.values.last().map_or(&[], |logits| logits)
    }

    /// Computes the gradient of every tensor from the gradient of the logits.
    pub(super) fn backward(&mut self, step: &Step, dy: Vec<T>) {
        self.value_gradients.fill(None);
        *self.value_gradients.last_mut().expect("there is at least the data") = Some(dy);
        for index in (0..self.stages.stages.len()).rev() {
            let stage = self.stages.stages[index].clone();
            let dy = self.value_gradients[stage.output].take().expect("every value is used");
            let later = stage.adds_to_gradient.then(|| self.gradients[stage.tensor].clone());
            self.stage_backward(index, &stage, step, &dy);
            if let Some(later) = later {
                self.gradients[stage.tensor].iter_mut().zip(later).for_each(|(gradient, later)| *gradient += later);
            }
        }
    }

    fn stage_backward(&mut self, index: usize, stage: &Stage, step: &Step, dy: &[T]) {
        let rows = self.rows;
        match stage.kind {
            StageKind::Dense { bias, per_pixel } => self.dense_backward(stage, per_pixel, bias, step, dy),
            StageKind::Conv2d { window, bias } => {
                self.conv2d_backward(stage, window, bias, step, dy);
            }
            StageKind::Pool { kind: PoolKind::Max, window } => {
                self.max_pool_backward(index, stage, window, step, dy);
            }
            StageKind::Pool { kind: PoolKind::Average, window } => {
                self.average_pool_backward(stage, window, step, dy);
            }
            StageKind::LocalResponseNorm { radius, bias, alpha, beta } => {
                let params = self.stages.local_response_params(stage, radius, [bias, alpha, beta], rows, ALIGNMENT);
                self.local_response_backward(stage, params, step, dy);
            }
            StageKind::BatchNorm { epsilon, keep, activation } => {
                let params = self.stages.batch_norm_params(stage, (epsilon, keep), activation, rows, ALIGNMENT);
                self.batch_norm_backward(index, stage, params, step, dy);
            }
            StageKind::LayerNorm { epsilon } => self.layer_norm_backward(index, stage, epsilon, step, dy),
            StageKind::Recurrent(cell) => self.recurrent_backward(index, stage, cell, step, dy),
            StageKind::Embedding(words) => self.embedding_backward(stage, words, dy),
            StageKind::SentenceSum { words } => self.sentence_sum_backward(stage, words, step, dy),
            StageKind::WordScores => self.word_scores_backward(stage, step, dy),
            StageKind::PixelProducts => self.pixel_products_backward(stage, step, dy),
            StageKind::Softmax { linear_start } => self.softmax_backward(stage, linear_start, step, dy),
            StageKind::Transpose => self.transpose_backward(stage, step, dy),
            StageKind::Concatenate => self.concatenate_backward(stage, step, dy),
            StageKind::Add => self.add_backward(stage, step, dy),
            StageKind::PositionEmbedding => self.position_backward(stage, step, dy),
            StageKind::Attention { heads } => self.attention_backward(index, stage, heads, step, dy),
            StageKind::Gelu => self.gelu_backward(stage, step, dy),
        }
    }

    /// Adds to the gradient of the stage's input number `input`: `compute` gets the value, its epilogue, and the
    /// gradient to write. The data needs no gradient.
    fn contribute(&mut self, stage: &Stage, input: usize, compute: impl FnOnce(&Self, &[T], &Epilogue, &mut [T])) {
        let value = stage.inputs[input];
        if value == 0 {
            return;
        }
        let so_far = self.value_gradients[value].take();
        let epilogue = Epilogue {
            accumulate: u32::from(so_far.is_some()),
            ..self.stages.values[value].stored_epilogue(ALIGNMENT)
        };
        let x = std::mem::take(&mut self.values[value]);
        let mut dx = so_far.unwrap_or_else(|| vec![T::ZERO; x.len()]);
        compute(self, &x, &epilogue, &mut dx);
        self.values[value] = x;
        self.value_gradients[value] = Some(dx);
    }

    /// Splits a gradient among kernel and bias.
    fn store_weight_gradient(&mut self, stage: &Stage, part: &[T], bias: bool) {
        let (kernel, rest) = part.split_at(self.gradients[stage.tensor].len());
        self.gradients[stage.tensor].copy_from_slice(kernel);
        if bias {
            self.gradients[stage.tensor + 1].copy_from_slice(rest);
        }
    }

    /// Returns the bias of a stage, or zeros.
    fn bias(&self, stage: &Stage, bias: bool, outputs: u32) -> Vec<T> {
        if bias { self.tensors[stage.tensor + 1].clone() } else { vec![T::ZERO; outputs as usize] }
    }
}

impl<T: Real> Network<T> {
    fn dense_params(&self, stage: &Stage, per_pixel: bool, bias: bool) -> Dense {
        self.stages.dense_params(stage, per_pixel, bias, self.rows, ALIGNMENT)
    }

    fn dense_forward(&self, stage: &Stage, per_pixel: bool, bias: bool, step: &Step, mut y: Vec<T>) -> Vec<T> {
        let params = self.dense_params(stage, per_pixel, bias);
        let (x, weights) = (&self.values[stage.inputs[0]], &self.tensors[stage.tensor]);
        twin::dense_forward(&params, step, x, weights, &self.bias(stage, bias, params.outputs), &mut y);
        y
    }

    fn dense_backward(&mut self, stage: &Stage, per_pixel: bool, bias: bool, step: &Step, dy: &[T]) {
        let params = self.dense_params(stage, per_pixel, bias);
        let mut part = vec![T::ZERO; params.part_stride as usize];
        twin::dense_weight_gradient(&params, &self.values[stage.inputs[0]], dy, &mut part);
        self.store_weight_gradient(stage, &part, bias);
        self.contribute(stage, 0, |network, x, &epilogue, dx| {
            let params = Dense { epilogue, ..params };
            twin::dense_input_gradient(&params, step, dy, &network.tensors[stage.tensor], x, dx);
        });
    }
}

impl<T: Real> Network<T> {
    fn conv2d_params(&self, stage: &Stage, window: SlidingWindow, bias: bool) -> Conv2d {
        self.stages.conv2d_params(stage, window, bias, self.rows, ALIGNMENT)
    }

    fn conv2d_forward(&self, stage: &Stage, window: SlidingWindow, bias: bool, step: &Step, mut y: Vec<T>) -> Vec<T> {
        let params = self.conv2d_params(stage, window, bias);
        let (x, weights) = (&self.values[stage.inputs[0]], &self.tensors[stage.tensor]);
        twin::conv2d_forward(&params, step, x, weights, &self.bias(stage, bias, params.output_channels), &mut y);
        y
    }

    fn conv2d_backward(&mut self, stage: &Stage, window: SlidingWindow, bias: bool, step: &Step, dy: &[T]) {
        let params = self.conv2d_params(stage, window, bias);
        let mut part = vec![T::ZERO; params.part_stride as usize];
        twin::conv2d_weight_gradient(&params, &self.values[stage.inputs[0]], dy, &mut part);
        self.store_weight_gradient(stage, &part, bias);
        self.contribute(stage, 0, |network, x, &epilogue, dx| {
            let params = Conv2d { epilogue, ..params };
            twin::conv2d_input_gradient(&params, step, dy, &network.tensors[stage.tensor], x, dx);
        });
    }
}

impl<T: Real> Network<T> {
    fn pool_params(&self, stage: &Stage, window: SlidingWindow) -> Pool {
        self.stages.pool_params(stage, window, self.rows, ALIGNMENT)
    }

    fn max_pool_forward(
        &mut self,
        index: usize,
        stage: &Stage,
        window: SlidingWindow,
        step: &Step,
        mut y: Vec<T>,
    ) -> Vec<T> {
        let params = self.pool_params(stage, window);
        let mut taps = vec![0; y.len()];
        twin::max_pool_forward(&params, step, &self.values[stage.inputs[0]], &mut y, &mut taps);
        self.kept[index].taps = taps;
        y
    }

    fn max_pool_backward(&mut self, index: usize, stage: &Stage, window: SlidingWindow, step: &Step, dy: &[T]) {
        let params = self.pool_params(stage, window);
        self.contribute(stage, 0, |network, x, &epilogue, dx| {
            let params = Pool { epilogue, ..params };
            twin::max_pool_backward(&params, step, dy, &network.kept[index].taps, x, dx);
        });
    }

    fn average_pool_forward(&self, stage: &Stage, window: SlidingWindow, step: &Step, mut y: Vec<T>) -> Vec<T> {
        let params = self.pool_params(stage, window);
        twin::average_pool_forward(&params, step, &self.values[stage.inputs[0]], &mut y);
        y
    }

    fn average_pool_backward(&mut self, stage: &Stage, window: SlidingWindow, step: &Step, dy: &[T]) {
        let params = self.pool_params(stage, window);
        self.contribute(stage, 0, |_, x, &epilogue, dx| {
            let params = Pool { epilogue, ..params };
            twin::average_pool_backward(&params, step, dy, x, dx);
        });
    }
}

impl<T: Real> Network<T> {
    fn local_response_forward(&self, stage: &Stage, params: LocalResponse, step: &Step, mut y: Vec<T>) -> Vec<T> {
        twin::local_response_forward(&params, step, &self.values[stage.inputs[0]], &mut y);
        y
    }

    fn local_response_backward(&mut self, stage: &Stage, params: LocalResponse, step: &Step, dy: &[T]) {
        self.contribute(stage, 0, |_, x, &epilogue, dx| {
            twin::local_response_backward(&LocalResponse { epilogue, ..params }, step, dy, x, dx);
        });
    }

    fn batch_norm_forward(
        &mut self,
        index: usize,
        stage: &Stage,
        params: BatchNorm,
        step: &Step,
        mut y: Vec<T>,
    ) -> Vec<T> {
        let channels = params.stored_channels as usize;
        let x = &self.values[stage.inputs[0]];
        let mut part = vec![T::ZERO; 2 * channels];
        if step.training == 1 {
            twin::batch_norm_statistics(&params, step, x, &mut part);
        }
        let mut running = self.tensors[stage.tensor + 2..stage.tensor + 4].concat();
        let mut saved = vec![T::ZERO; 2 * channels];
        twin::batch_norm_finish(&params, step, &part, &mut running, &mut saved);
        let by =
            Normalizer { saved: &saved, gamma: &self.tensors[stage.tensor], beta: &self.tensors[stage.tensor + 1] };
        twin::batch_norm_forward(&params, step, x, &by, &mut y);
        let (mean, variance) = running.split_at(channels);
        self.tensors[stage.tensor + 2].copy_from_slice(mean);
        self.tensors[stage.tensor + 3].copy_from_slice(variance);
        self.kept[index].numbers = vec![saved];
        y
    }

    fn batch_norm_backward(&mut self, index: usize, stage: &Stage, params: BatchNorm, step: &Step, dy: &[T]) {
        let channels = params.stored_channels as usize;
        let mut sums = vec![T::ZERO; 2 * channels];
        let by = self.normalizer(index, stage);
        twin::batch_norm_gradient_sums(&params, step, &self.values[stage.inputs[0]], dy, &by, &mut sums);
        self.gradients[stage.tensor].copy_from_slice(&sums[..channels]);
        self.gradients[stage.tensor + 1].copy_from_slice(&sums[channels..]);
        self.contribute(stage, 0, |network, x, &epilogue, dx| {
            let by = network.normalizer(index, stage);
            twin::batch_norm_input_gradient(&BatchNorm { epilogue, ..params }, step, x, dy, &by, &sums, dx);
        });
    }

    fn normalizer(&self, index: usize, stage: &Stage) -> Normalizer<'_, T> {
        Normalizer {
            saved: &self.kept[index].numbers[0],
            gamma: &self.tensors[stage.tensor],
            beta: &self.tensors[stage.tensor + 1],
        }
    }

    fn layer_norm_forward(&mut self, index: usize, stage: &Stage, epsilon: f32, step: &Step, mut y: Vec<T>) -> Vec<T> {
        let params = self.stages.layer_norm_params(stage, epsilon, self.rows, ALIGNMENT);
        let mut saved = vec![T::ZERO; (2 * params.rows * params.tokens) as usize];
        let [gamma, beta] = [0, 1].map(|place| &self.tensors[stage.tensor + place]);
        twin::layer_norm_forward(&params, step, &self.values[stage.inputs[0]], gamma, beta, &mut y, &mut saved);
        self.kept[index].numbers = vec![saved];
        y
    }

    fn layer_norm_backward(&mut self, index: usize, stage: &Stage, epsilon: f32, step: &Step, dy: &[T]) {
        let params = self.stages.layer_norm_params(stage, epsilon, self.rows, ALIGNMENT);
        let mut part = vec![T::ZERO; params.part_stride as usize];
        let saved = &self.kept[index].numbers[0];
        twin::layer_norm_weight_gradient(&params, &self.values[stage.inputs[0]], dy, saved, &mut part);
        self.store_weight_gradient(stage, &part, true);
        self.contribute(stage, 0, |network, x, &epilogue, dx| {
            let params = LayerNorm { epilogue, ..params };
            let (saved, gamma) = (&network.kept[index].numbers[0], &network.tensors[stage.tensor]);
            twin::layer_norm_input_gradient(&params, step, x, dy, saved, gamma, dx);
        });
    }
}

impl<T: Real> Network<T> {
    fn recurrent_forward(&mut self, index: usize, stage: &Stage, cell: Cell, step: &Step, mut y: Vec<T>) -> Vec<T> {
        let params = self.stages.recurrent_params(stage, cell, self.rows, ALIGNMENT);
        let product = self.stages.recurrent_input_params(stage, cell, self.rows, ALIGNMENT);
        let [kernel, recurrent, bias] = [0, 1, 2].map(|place| &self.tensors[stage.tensor + place]);
        let mut gates = vec![T::ZERO; (product.rows * product.outputs) as usize];
        twin::dense_forward(&product, step, &self.values[stage.inputs[0]], kernel, bias, &mut gates);
        let mut previous = vec![T::ZERO; (product.rows * params.stored_units) as usize];
        // An LSTM keeps its cells, and a GRU its products with the state.
        let mut kept = Vec::new();
        match cell {
            Cell::Lstm => {
                kept = previous.clone();
                twin::lstm_forward(&params, step, recurrent, &mut gates, &mut kept, &mut previous, &mut y);
            }
            Cell::Gru(_) => {
                kept = gates.clone();
                let weights = [recurrent.as_slice(), &self.tensors[stage.tensor + 3]];
                let steps = GruSteps { gates: &mut gates, products: &mut kept };
                twin::gru_forward(&params, step, weights, steps, &mut previous, &mut y);
            }
            Cell::SimpleRnn(_) => {
                twin::simple_rnn_forward(&params, step, recurrent, &mut gates, &mut previous, &mut y);
            }
        }
        self.kept[index].numbers = vec![gates, kept, previous];
        y
    }

    fn recurrent_backward(&mut self, index: usize, stage: &Stage, cell: Cell, step: &Step, dy: &[T]) {
        let params = self.stages.recurrent_params(stage, cell, self.rows, ALIGNMENT);
        let mut numbers = std::mem::take(&mut self.kept[index].numbers);
        let [gates, kept, previous] = numbers.as_mut_slice() else { unreachable!("three lists were kept") };
        let recurrent = &self.tensors[stage.tensor + 1];
        // The gates become the gradients of their inputs.
        match cell {
            Cell::Lstm => twin::lstm_backward(&params, recurrent, dy, kept, gates),
            Cell::Gru(_) => {
                let steps = GruSteps { gates, products: kept };
                twin::gru_backward(&params, recurrent, dy, previous, steps, &mut vec![T::ZERO; dy.len()]);
            }
            Cell::SimpleRnn(_) => twin::simple_rnn_backward(&params, recurrent, dy, gates),
        }
        let input = self.stages.recurrent_input_params(stage, cell, self.rows, ALIGNMENT);
        let x = &self.values[stage.inputs[0]];
        let gradients = weight_gradient(&input, x, gates);
        self.gradients[stage.tensor].copy_from_slice(&gradients[0]);
        self.gradients[stage.tensor + 2].copy_from_slice(&gradients[1]);
        let state = self.stages.recurrent_state_params(stage, cell, self.rows, ALIGNMENT);
        let into_products = if cell.has_recurrent_bias() { &*kept } else { &*gates };
        let gradients = weight_gradient(&state, previous, into_products);
        self.gradients[stage.tensor + 1].copy_from_slice(&gradients[0]);
        if cell.has_recurrent_bias() {
            self.gradients[stage.tensor + 3].copy_from_slice(&gradients[1]);
        }
        self.contribute(stage, 0, |network, x, &epilogue, dx| {
            let params = Dense { epilogue, ..input };
            twin::dense_input_gradient(&params, step, gates, &network.tensors[stage.tensor], x, dx);
        });
    }
}

/// Returns the gradients of a kernel and of its bias, if it has one.
fn weight_gradient<T: Real>(params: &Dense, x: &[T], dy: &[T]) -> [Vec<T>; 2] {
    let mut kernel = vec![T::ZERO; params.part_stride as usize];
    twin::dense_weight_gradient(params, x, dy, &mut kernel);
    let bias = kernel.split_off((params.inputs * params.outputs) as usize);
    [kernel, bias]
}

impl<T: Real> Network<T> {
    fn embedding_forward(&self, stage: &Stage, words: Words, step: &Step, mut y: Vec<T>) -> Vec<T> {
        let params = self.stages.embedding_params(stage, words, self.rows, ALIGNMENT);
        twin::embedding_forward(&params, step, &self.values[stage.inputs[0]], &self.tensors[stage.tensor], &mut y);
        y
    }

    fn embedding_backward(&mut self, stage: &Stage, words: Words, dy: &[T]) {
        let params = self.stages.embedding_params(stage, words, self.rows, ALIGNMENT);
        let ids = &self.values[stage.inputs[0]];
        twin::embedding_weight_gradient(&params, ids, dy, &mut self.gradients[stage.tensor]);
    }

    fn add_forward(&self, stage: &Stage, step: &Step, mut y: Vec<T>) -> Vec<T> {
        let params = self.stages.add_params(stage, self.rows, ALIGNMENT);
        let [a, b] = [0, 1].map(|input| &self.values[stage.inputs[input]]);
        twin::add_forward(&params, step, a, b, &mut y);
        y
    }

    fn add_backward(&mut self, stage: &Stage, step: &Step, dy: &[T]) {
        let params = self.stages.add_params(stage, self.rows, ALIGNMENT);
        for (input, repeats) in [(0, 1), (1, params.repeats)] {
            self.contribute(stage, input, |_, x, &epilogue, dx| {
                twin::add_gradient(&Add { repeats, epilogue, ..params }, step, dy, x, dx);
            });
        }
    }
}

impl<T: Real> Network<T> {
    fn sentence_sum_forward(&self, stage: &Stage, words: u32, step: &Step, mut y: Vec<T>) -> Vec<T> {
        let params = self.stages.sentence_sum_params(stage, words, self.rows, ALIGNMENT);
        twin::sentence_sum_forward(&params, step, &self.values[stage.inputs[0]], &mut y);
        y
    }

    fn sentence_sum_backward(&mut self, stage: &Stage, words: u32, step: &Step, dy: &[T]) {
        let params = self.stages.sentence_sum_params(stage, words, self.rows, ALIGNMENT);
        self.contribute(stage, 0, |_, x, &epilogue, dx| {
            twin::sentence_sum_gradient(&SentenceSum { epilogue, ..params }, step, dy, x, dx);
        });
    }

    fn word_scores_forward(&self, stage: &Stage, step: &Step, mut y: Vec<T>) -> Vec<T> {
        let params = self.stages.word_scores_params(stage, self.rows, ALIGNMENT);
        let (x, words) = (&self.values[stage.inputs[0]], &self.tensors[stage.tensor]);
        twin::pixel_products_forward(&params, step, x, words, &mut y);
        y
    }

    fn word_scores_backward(&mut self, stage: &Stage, step: &Step, dy: &[T]) {
        let params = self.stages.word_vectors_params(stage, self.rows, ALIGNMENT);
        let x = &self.values[stage.inputs[0]];
        twin::dense_weight_gradient(&params, dy, x, &mut self.gradients[stage.tensor]);
        let params = self.stages.word_scores_params(stage, self.rows, ALIGNMENT);
        self.contribute(stage, 0, |network, x, &epilogue, dx| {
            let params = PixelProducts { epilogue, ..params };
            twin::pixel_products_gradient(&params, step, dy, &network.tensors[stage.tensor], x, dx);
        });
    }

    fn pixel_products_forward(&self, stage: &Stage, step: &Step, mut y: Vec<T>) -> Vec<T> {
        let params = self.stages.pixel_products_params(stage, self.rows, ALIGNMENT);
        let [a, b] = [0, 1].map(|input| &self.values[stage.inputs[input]]);
        twin::pixel_products_forward(&params, step, a, b, &mut y);
        y
    }

    fn pixel_products_backward(&mut self, stage: &Stage, step: &Step, dy: &[T]) {
        let params = self.stages.pixel_products_params(stage, self.rows, ALIGNMENT);
        for (input, of_second) in [(0, 0), (1, 1)] {
            let other = self.values[stage.inputs[1 - input]].clone();
            self.contribute(stage, input, |_, x, &epilogue, dx| {
                let params = PixelProducts { of_second, epilogue, ..params };
                twin::pixel_products_gradient(&params, step, dy, &other, x, dx);
            });
        }
    }

    fn softmax_forward(&self, stage: &Stage, linear_start: bool, step: &Step, mut y: Vec<T>) -> Vec<T> {
        let params = self.stages.channel_softmax_params(stage, linear_start, self.rows, ALIGNMENT);
        twin::channel_softmax_forward(&params, step, &self.values[stage.inputs[0]], &mut y);
        y
    }

    fn softmax_backward(&mut self, stage: &Stage, linear_start: bool, step: &Step, dy: &[T]) {
        let params = self.stages.channel_softmax_params(stage, linear_start, self.rows, ALIGNMENT);
        self.contribute(stage, 0, |_, x, &epilogue, dx| {
            let params = ChannelSoftmax { epilogue, ..params };
            twin::channel_softmax_backward(&params, step, dy, x, dx);
        });
    }

    fn transpose_forward(&self, stage: &Stage, step: &Step, mut y: Vec<T>) -> Vec<T> {
        let params = self.stages.transpose_params(stage, self.rows, ALIGNMENT);
        twin::transpose_forward(&params, step, &self.values[stage.inputs[0]], &mut y);
        y
    }

    fn transpose_backward(&mut self, stage: &Stage, step: &Step, dy: &[T]) {
        let params = self.stages.transpose_params(stage, self.rows, ALIGNMENT);
        self.contribute(stage, 0, |_, x, &epilogue, dx| {
            let params = Transpose { epilogue, ..params };
            twin::transpose_gradient(&params, step, dy, x, dx);
        });
    }

    fn concatenate_forward(&self, stage: &Stage, step: &Step, mut y: Vec<T>) -> Vec<T> {
        let params = self.stages.concatenate_params(stage, self.rows, ALIGNMENT);
        let [a, b] = [0, 1].map(|input| &self.values[stage.inputs[input]]);
        twin::concatenate_forward(&params, step, a, b, &mut y);
        y
    }

    fn concatenate_backward(&mut self, stage: &Stage, step: &Step, dy: &[T]) {
        let params = self.stages.concatenate_params(stage, self.rows, ALIGNMENT);
        for (input, of_second) in [(0, 0), (1, 1)] {
            self.contribute(stage, input, |_, x, &epilogue, dx| {
                let params = Concatenate { of_second, epilogue, ..params };
                twin::concatenate_gradient(&params, step, dy, x, dx);
            });
        }
    }
}

impl<T: Real> Network<T> {
    fn attention_forward(&mut self, index: usize, stage: &Stage, heads: u32, mut y: Vec<T>) -> Vec<T> {
        let params = self.stages.attention_params(stage, heads, self.rows);
        let mut log_sum_exp = vec![T::ZERO; (params.rows * params.heads * params.tokens) as usize];
        twin::attention_forward(&params, &self.values[stage.inputs[0]], &mut y, &mut log_sum_exp);
        self.kept[index].numbers = vec![log_sum_exp];
        y
    }

    fn attention_backward(&mut self, index: usize, stage: &Stage, heads: u32, step: &Step, dy: &[T]) {
        let params = self.stages.attention_params(stage, heads, self.rows);
        self.contribute(stage, 0, |network, x, &epilogue, dx| {
            let params = Attention { epilogue, ..params };
            let log_sum_exp = &network.kept[index].numbers[0];
            let attended = Attended { y: &network.values[stage.output], log_sum_exp };
            let mut means = vec![T::ZERO; log_sum_exp.len()];
            twin::attention_query_gradient(&params, step, x, &attended, dy, dx, &mut means);
            twin::attention_key_value_gradient(&params, step, x, dy, log_sum_exp, &means, dx);
        });
    }

    fn position_forward(&self, stage: &Stage, step: &Step, mut y: Vec<T>) -> Vec<T> {
        let params = self.stages.position_params(stage, self.rows, ALIGNMENT);
        twin::position_forward(&params, step, &self.values[stage.inputs[0]], &self.tensors[stage.tensor], &mut y);
        y
    }

    fn position_backward(&mut self, stage: &Stage, step: &Step, dy: &[T]) {
        let params = self.stages.position_params(stage, self.rows, ALIGNMENT);
        twin::position_gradient(&params, dy, &mut self.gradients[stage.tensor]);
        let elementwise = self.stages.elementwise_params(stage, self.rows, ALIGNMENT);
        self.contribute(stage, 0, |_, x, &epilogue, dx| {
            twin::pass_gradient(&Elementwise { epilogue, ..elementwise }, step, dy, x, dx);
        });
    }

    fn gelu_forward(&self, stage: &Stage, step: &Step, mut y: Vec<T>) -> Vec<T> {
        let params = self.stages.elementwise_params(stage, self.rows, ALIGNMENT);
        twin::gelu_forward(&params, step, &self.values[stage.inputs[0]], &mut y);
        y
    }

    fn gelu_backward(&mut self, stage: &Stage, step: &Step, dy: &[T]) {
        let params = self.stages.elementwise_params(stage, self.rows, ALIGNMENT);
        self.contribute(stage, 0, |_, x, &epilogue, dx| {
            twin::gelu_backward(&Elementwise { epilogue, ..params }, step, dy, x, dx);
        });
    }
}
