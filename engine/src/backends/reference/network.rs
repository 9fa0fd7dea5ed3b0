//! Forward and backward pass through the stages of a model.

#[cfg(test)]
mod tests;

use shaders::Real;
use shaders::params::{Add, Attention, BatchNorm, Concatenate, Dense, Epilogue, PixelProducts, Recurrent, Step};
use shaders::reference::{self as twin, Attended, Normalizer, RecurrentSteps};

use crate::model::{Cell, PoolKind, SizedStage, Stage, StageKind, Stages};

/// Layouts of the reference have no padding.
pub(super) const ALIGNMENT: u32 = 1;

pub(super) struct Network<T> {
    stages: Stages,
    pub(super) tensors: Vec<Vec<T>>,
    /// Gradients of `tensors` from the last [`Network::backward`], which [`Network::allocate_gradients`] precedes.
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
    numbers: Vec<T>,
    steps: RecurrentSteps<T>,
}

/// Twin of a recurrent layer's forward pass. The weights are the recurrent ones and their bias, if it has one.
type RecurrentForward<T> = fn(&Recurrent, &Step, [&[T]; 2], &mut RecurrentSteps<T>, &mut [T]);

/// Returns the twin of the forward pass of layers of `cell`.
pub(in crate::backends) fn recurrent_forward<T: Real>(cell: Cell) -> RecurrentForward<T> {
    match cell {
        Cell::Lstm => twin::lstm_forward,
        Cell::Gru(_) => twin::gru_forward,
        Cell::SimpleRnn(_) => twin::simple_rnn_forward,
    }
}

/// Returns the twin of the backward pass of layers of `cell`, with their recurrent weights and output gradients.
pub(in crate::backends) fn recurrent_backward<T: Real>(
    cell: Cell,
) -> fn(&Recurrent, &[T], &[T], &mut RecurrentSteps<T>) {
    match cell {
        Cell::Lstm => twin::lstm_backward,
        Cell::Gru(_) => twin::gru_backward,
        Cell::SimpleRnn(_) => twin::simple_rnn_backward,
    }
}

impl<T: Real> Network<T> {
    pub(super) fn new(stages: Stages, tensors: Vec<Vec<T>>) -> Self {
        Self {
            gradients: Vec::new(),
            tensors,
            values: vec![Vec::new(); stages.values.len()],
            value_gradients: vec![None; stages.values.len()],
            kept: vec![Kept::default(); stages.stages.len()],
            stages,
            rows: 0,
        }
    }

    pub(super) fn allocate_gradients(&mut self) {
        self.gradients = self.tensors.iter().map(|t| vec![T::ZERO; t.len()]).collect();
    }

    fn sized(&self, stage: &Stage) -> SizedStage {
        self.stages.sized(stage, self.rows, ALIGNMENT)
    }

    /// Returns the logits of `input` (`rows` samples).
    pub(super) fn forward(&mut self, step: &Step, input: Vec<T>, rows: u32) -> &[T] {
        self.forward_except(step, input, rows, |_, _, _, _| false)
    }

    /// Like [`Self::forward`], but without the stages that `compute` computes from tensors and first input. It writes
    /// to the output, which is zero, and returns true.
    pub(super) fn forward_except(
        &mut self,
        step: &Step,
        input: Vec<T>,
        rows: u32,
        mut compute: impl FnMut(&Stage, &[Vec<T>], &[T], &mut [T]) -> bool,
    ) -> &[T] {
        self.rows = rows;
        self.values[0] = input;
        for index in 0..self.stages.stages.len() {
            let stage = self.stages.stages[index].clone();
            let features = self.stages.output(&stage).stored_features(ALIGNMENT);
            let mut y = vec![T::ZERO; (rows * features) as usize];
            if !compute(&stage, &self.tensors, &self.values[stage.inputs[0]], &mut y) {
                self.stage_forward(index, &stage, step, &mut y);
            }
            self.values[stage.output] = y;
        }
        self.values.last().expect("there is at least the data")
    }

    pub(super) fn backward(&mut self, step: &Step, dy: Vec<T>) {
        self.value_gradients.fill(None);
        *self.value_gradients.last_mut().expect("there is at least the data") = Some(dy);
        for index in (0..self.stages.stages.len()).rev() {
            let stage = self.stages.stages[index].clone();
            let dy = self.value_gradients[stage.output].take().expect("every value is used");
            let later = stage.adds_to_gradient.then(|| self.gradients[stage.tensor].clone());
            self.tensor_gradients(index, &stage, step, &dy);
            // The data needs no gradient.
            for (input, &value) in stage.inputs.iter().enumerate().filter(|(_, value)| **value != 0) {
                let so_far = self.value_gradients[value].take();
                let epilogue = Epilogue {
                    accumulate: u32::from(so_far.is_some()),
                    ..self.stages.values[value].stored_epilogue(ALIGNMENT)
                };
                let x = &self.values[value];
                let mut dx = so_far.unwrap_or_else(|| vec![T::ZERO; x.len()]);
                let sized = self.sized(&stage).with_epilogue(epilogue);
                self.input_gradient((index, &stage), input, sized, step, [&dy, x], &mut dx);
                self.value_gradients[value] = Some(dx);
            }
            if let Some(later) = later {
                self.gradients[stage.tensor].iter_mut().zip(later).for_each(|(gradient, later)| *gradient += later);
            }
        }
    }
}

/// Forward passes.
impl<T: Real> Network<T> {
    fn stage_forward(&mut self, index: usize, stage: &Stage, step: &Step, y: &mut [T]) {
        let (sized, x) = (self.sized(stage), &self.values[stage.inputs[0]]);
        let second = || &self.values[stage.inputs[1]];
        let tensor = |place: usize| self.tensors[stage.tensor + place].as_slice();
        let bias_if = |has_bias: bool| if has_bias { tensor(1) } else { &[] };
        match stage.kind {
            StageKind::Dense { bias, per_pixel } => {
                twin::dense_forward(&sized.dense(per_pixel, bias), step, x, tensor(0), bias_if(bias), y);
            }
            StageKind::Conv2d { window, bias } => {
                twin::conv2d_forward(&sized.conv2d(window, bias), step, x, tensor(0), bias_if(bias), y);
            }
            StageKind::Pool { kind: PoolKind::Average, window } => {
                twin::average_pool_forward(&sized.pool(window), step, x, y);
            }
            StageKind::Pool { kind: PoolKind::Max, window } => {
                let taps = &mut self.kept[index].taps;
                *taps = vec![0; y.len()];
                twin::max_pool_forward(&sized.pool(window), step, x, y, taps);
            }
            StageKind::LocalResponseNorm { radius, bias, alpha, beta } => {
                twin::local_response_forward(&sized.local_response(radius, [bias, alpha, beta]), step, x, y);
            }
            StageKind::Embedding(words) => twin::embedding_forward(&sized.embedding(words), step, x, tensor(0), y),
            StageKind::SentenceSum { words } => twin::sentence_sum_forward(&sized.sentence_sum(words), step, x, y),
            StageKind::WordScores => twin::pixel_products_forward(&sized.word_scores(), step, x, tensor(0), y),
            StageKind::PixelProducts => twin::pixel_products_forward(&sized.pixel_products(), step, x, second(), y),
            StageKind::Softmax { linear_start } => {
                twin::channel_softmax_forward(&sized.channel_softmax(linear_start), step, x, y);
            }
            StageKind::Transpose => twin::transpose_forward(&sized.transpose(), step, x, y),
            StageKind::Concatenate => twin::concatenate_forward(&sized.concatenate(), step, x, second(), y),
            StageKind::Add => twin::add_forward(&sized.add(), step, x, second(), y),
            StageKind::PositionEmbedding => twin::position_forward(&sized.position(), step, x, tensor(0), y),
            StageKind::Gelu => twin::gelu_forward(&sized.elementwise(), step, x, y),
            StageKind::LayerNorm { epsilon, bias } => {
                let params = sized.layer_norm(epsilon, bias);
                let mut saved = vec![T::ZERO; (2 * params.rows * params.tokens) as usize];
                twin::layer_norm_forward(&params, step, x, tensor(0), bias_if(bias), y, &mut saved);
                self.kept[index].numbers = saved;
            }
            StageKind::Attention { heads, causal } => {
                let params = sized.attention(heads, causal);
                let mut log_sum_exp = vec![T::ZERO; (params.rows * params.heads * params.tokens) as usize];
                twin::attention_forward(&params, x, y, &mut log_sum_exp);
                self.kept[index].numbers = log_sum_exp;
            }
            StageKind::BatchNorm { epsilon, keep, activation } => {
                let params = sized.batch_norm((epsilon, keep), activation);
                self.batch_norm_forward(index, stage, params, step, y);
            }
            StageKind::Recurrent(cell) => self.recurrent_forward(index, stage, cell, step, y),
        }
    }

    fn batch_norm_forward(&mut self, index: usize, stage: &Stage, params: BatchNorm, step: &Step, y: &mut [T]) {
        let channels = params.stored_channels as usize;
        let x = &self.values[stage.inputs[0]];
        let mut part = vec![T::ZERO; 2 * channels];
        if step.training == 1 {
            twin::batch_norm_statistics(&params, step, x, &mut part);
        }
        let mut running = self.tensors[stage.tensor + 2..stage.tensor + 4].concat();
        let mut saved = vec![T::ZERO; 2 * channels];
        twin::batch_norm_finish(&params, step, &part, &mut running, &mut saved);
        self.kept[index].numbers = saved;
        twin::batch_norm_forward(&params, step, x, &self.normalizer(index, stage), y);
        let (mean, variance) = running.split_at(channels);
        self.tensors[stage.tensor + 2].copy_from_slice(mean);
        self.tensors[stage.tensor + 3].copy_from_slice(variance);
    }

    fn normalizer(&self, index: usize, stage: &Stage) -> Normalizer<'_, T> {
        Normalizer {
            saved: &self.kept[index].numbers,
            gamma: &self.tensors[stage.tensor],
            beta: &self.tensors[stage.tensor + 1],
        }
    }

    fn recurrent_forward(&mut self, index: usize, stage: &Stage, cell: Cell, step: &Step, y: &mut [T]) {
        let (params, product) = (self.sized(stage).recurrent(cell), self.sized(stage).recurrent_input(cell));
        let [kernel, recurrent, bias] = [0, 1, 2].map(|place| &self.tensors[stage.tensor + place]);
        let mut gates = vec![T::ZERO; (product.rows * product.outputs) as usize];
        twin::dense_forward(&product, step, &self.values[stage.inputs[0]], kernel, bias, &mut gates);
        let recurrent_bias: &[T] = if cell.has_recurrent_bias() { &self.tensors[stage.tensor + 3] } else { &[] };
        let mut steps = RecurrentSteps::from(gates);
        recurrent_forward(cell)(&params, step, [recurrent, recurrent_bias], &mut steps, y);
        self.kept[index].steps = steps;
    }
}

/// Backward passes.
impl<T: Real> Network<T> {
    /// Computes the gradients of a stage's tensors.
    fn tensor_gradients(&mut self, index: usize, stage: &Stage, step: &Step, dy: &[T]) {
        let (sized, x) = (self.sized(stage), &self.values[stage.inputs[0]]);
        let count = match stage.kind {
            StageKind::Dense { bias, .. } | StageKind::Conv2d { bias, .. } | StageKind::LayerNorm { bias, .. } => {
                1 + usize::from(bias)
            }
            StageKind::BatchNorm { .. } => 2,
            StageKind::Embedding(_) | StageKind::WordScores | StageKind::PositionEmbedding => 1,
            _ => 0,
        };
        let tensors = stage.tensor..stage.tensor + count;
        // Twins write the gradients of a kernel and of its bias in sequence.
        let mut part = self.gradients[tensors.clone()].concat();
        match stage.kind {
            StageKind::Dense { bias, per_pixel } => {
                twin::dense_weight_gradient(&sized.dense(per_pixel, bias), x, dy, &mut part);
            }
            StageKind::Conv2d { window, bias } => {
                twin::conv2d_weight_gradient(&sized.conv2d(window, bias), x, dy, &mut part);
            }
            StageKind::BatchNorm { epsilon, keep, activation } => {
                let (params, by) = (sized.batch_norm((epsilon, keep), activation), self.normalizer(index, stage));
                twin::batch_norm_gradient_sums(&params, step, x, dy, &by, &mut part);
            }
            StageKind::LayerNorm { epsilon, bias } => {
                let saved = &self.kept[index].numbers;
                twin::layer_norm_weight_gradient(&sized.layer_norm(epsilon, bias), x, dy, saved, &mut part);
            }
            StageKind::Embedding(words) => twin::embedding_weight_gradient(&sized.embedding(words), x, dy, &mut part),
            StageKind::WordScores => twin::dense_weight_gradient(&sized.word_vectors(), dy, x, &mut part),
            StageKind::PositionEmbedding => twin::position_gradient(&sized.position(), dy, &mut part),
            StageKind::Recurrent(cell) => self.recurrent_gradients(index, stage, cell, dy),
            _ => {}
        }
        let mut rest = part.as_slice();
        for gradient in &mut self.gradients[tensors] {
            let (own, others) = rest.split_at(gradient.len());
            gradient.copy_from_slice(own);
            rest = others;
        }
    }

    /// Adds to the gradient of one of a stage's inputs, `x`, whose epilogue `sized` has.
    fn input_gradient(
        &self,
        (index, stage): (usize, &Stage),
        input: usize,
        sized: SizedStage,
        step: &Step,
        [dy, x]: [&[T]; 2],
        dx: &mut [T],
    ) {
        let (kept, of_second) = (&self.kept[index], u32::from(input == 1));
        let tensor = || &self.tensors[stage.tensor];
        match stage.kind {
            StageKind::Dense { bias, per_pixel } => {
                twin::dense_input_gradient(&sized.dense(per_pixel, bias), step, dy, tensor(), x, dx);
            }
            StageKind::Conv2d { window, bias } => {
                twin::conv2d_input_gradient(&sized.conv2d(window, bias), step, dy, tensor(), x, dx);
            }
            StageKind::Pool { kind: PoolKind::Max, window } => {
                twin::max_pool_backward(&sized.pool(window), step, dy, &kept.taps, x, dx);
            }
            StageKind::Pool { kind: PoolKind::Average, window } => {
                twin::average_pool_backward(&sized.pool(window), step, dy, x, dx);
            }
            StageKind::LocalResponseNorm { radius, bias, alpha, beta } => {
                let params = sized.local_response(radius, [bias, alpha, beta]);
                twin::local_response_backward(&params, step, dy, x, dx);
            }
            StageKind::Recurrent(cell) => {
                let params = Dense { epilogue: sized.epilogue, ..sized.recurrent_input(cell) };
                twin::dense_input_gradient(&params, step, &kept.steps.gates, tensor(), x, dx);
            }
            StageKind::Embedding(_) => unreachable!("words are data"),
            StageKind::SentenceSum { words } => {
                twin::sentence_sum_gradient(&sized.sentence_sum(words), step, dy, x, dx);
            }
            StageKind::WordScores => twin::pixel_products_gradient(&sized.word_scores(), step, dy, tensor(), x, dx),
            StageKind::PixelProducts => {
                let params = PixelProducts { of_second, ..sized.pixel_products() };
                let other = &self.values[stage.inputs[1 - input]];
                twin::pixel_products_gradient(&params, step, dy, other, x, dx);
            }
            StageKind::Softmax { linear_start } => {
                twin::channel_softmax_backward(&sized.channel_softmax(linear_start), step, dy, x, dx);
            }
            StageKind::Transpose => twin::transpose_gradient(&sized.transpose(), step, dy, x, dx),
            StageKind::Concatenate => {
                let params = Concatenate { of_second, ..sized.concatenate() };
                twin::concatenate_gradient(&params, step, dy, x, dx);
            }
            StageKind::Add => {
                let params = sized.add();
                let repeats = if input == 1 { params.repeats } else { 1 };
                twin::add_gradient(&Add { repeats, ..params }, step, dy, x, dx);
            }
            StageKind::BatchNorm { epsilon, keep, activation } => {
                let (params, by) = (sized.batch_norm((epsilon, keep), activation), self.normalizer(index, stage));
                let sums = self.gradients[stage.tensor..stage.tensor + 2].concat();
                twin::batch_norm_input_gradient(&params, step, x, dy, &by, &sums, dx);
            }
            StageKind::LayerNorm { epsilon, bias } => {
                let params = sized.layer_norm(epsilon, bias);
                twin::layer_norm_input_gradient(&params, step, x, dy, &kept.numbers, tensor(), dx);
            }
            StageKind::PositionEmbedding => twin::pass_gradient(&sized.elementwise(), step, dy, x, dx),
            StageKind::Attention { heads, causal } => {
                let params = Attention { epilogue: sized.epilogue, ..sized.attention(heads, causal) };
                let log_sum_exp = &kept.numbers;
                let attended = Attended { y: &self.values[stage.output], log_sum_exp };
                let mut means = vec![T::ZERO; log_sum_exp.len()];
                twin::attention_query_gradient(&params, step, x, &attended, dy, dx, &mut means);
                twin::attention_key_value_gradient(&params, step, x, dy, log_sum_exp, &means, dx);
            }
            StageKind::Gelu => twin::gelu_backward(&sized.elementwise(), step, dy, x, dx),
        }
    }

    fn recurrent_gradients(&mut self, index: usize, stage: &Stage, cell: Cell, dy: &[T]) {
        let sized = self.sized(stage);
        let steps = &mut self.kept[index].steps;
        // The values of the steps become their gradients.
        recurrent_backward(cell)(&sized.recurrent(cell), &self.tensors[stage.tensor + 1], dy, steps);
        let RecurrentSteps { gates, own, previous, .. } = &*steps;
        let of_input = weight_gradient(&sized.recurrent_input(cell), &self.values[stage.inputs[0]], gates);
        let into_products = if cell.has_recurrent_bias() { own } else { gates };
        let of_state = weight_gradient(&sized.recurrent_state(cell), previous, into_products);
        let places = if cell.has_recurrent_bias() { &[0, 2, 1, 3][..] } else { &[0, 2, 1] };
        for (place, gradient) in places.iter().zip(of_input.iter().chain(&of_state)) {
            self.gradients[stage.tensor + place].copy_from_slice(gradient);
        }
    }
}

/// Returns the gradients of a kernel and of its bias, if it has one.
fn weight_gradient<T: Real>(params: &Dense, x: &[T], dy: &[T]) -> [Vec<T>; 2] {
    let mut kernel = vec![T::ZERO; params.part_stride as usize];
    twin::dense_weight_gradient(params, x, dy, &mut kernel);
    let bias = kernel.split_off((params.inputs * params.outputs) as usize);
    [kernel, bias]
}
