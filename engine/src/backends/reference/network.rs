//! Forward and backward pass through the stages of a model.

#[cfg(test)]
mod tests;

use shaders::Real;
use shaders::params::{
    Add, Attention, BatchNorm, ChannelSoftmax, Concatenate, Conv2d, Dense, Elementwise, Epilogue, LayerNorm,
    LocalResponse, PixelProducts, Pool, Recurrent, SentenceSum, Step, Transpose,
};
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
    numbers: Vec<Vec<T>>,
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
        self.rows = rows;
        self.values[0] = input;
        for index in 0..self.stages.stages.len() {
            let stage = self.stages.stages[index].clone();
            let features = self.stages.output(&stage).stored_features(ALIGNMENT);
            let mut y = vec![T::ZERO; (rows * features) as usize];
            self.stage_forward(index, &stage, step, &mut y);
            self.values[stage.output] = y;
        }
        self.logits()
    }

    pub(super) fn logits(&self) -> &[T] {
        self.values.last().map_or(&[], |logits| logits)
    }

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

    fn store_weight_gradient(&mut self, stage: &Stage, part: &[T], bias: bool) {
        let (kernel, rest) = part.split_at(self.gradients[stage.tensor].len());
        self.gradients[stage.tensor].copy_from_slice(kernel);
        if bias {
            self.gradients[stage.tensor + 1].copy_from_slice(rest);
        }
    }

    fn bias(&self, stage: &Stage, bias: bool, outputs: u32) -> Vec<T> {
        if bias { self.tensors[stage.tensor + 1].clone() } else { vec![T::ZERO; outputs as usize] }
    }
}

/// Forward passes.
impl<T: Real> Network<T> {
    fn stage_forward(&mut self, index: usize, stage: &Stage, step: &Step, y: &mut [T]) {
        let (sized, x) = (self.sized(stage), &self.values[stage.inputs[0]]);
        match stage.kind {
            StageKind::Pool { kind: PoolKind::Max, window } => {
                let taps = &mut self.kept[index].taps;
                *taps = vec![0; y.len()];
                twin::max_pool_forward(&sized.pool(window), step, x, y, taps);
            }
            StageKind::LayerNorm { epsilon } => {
                let params = sized.layer_norm(epsilon);
                let mut saved = vec![T::ZERO; (2 * params.rows * params.tokens) as usize];
                let [gamma, beta] = [0, 1].map(|place| &self.tensors[stage.tensor + place]);
                twin::layer_norm_forward(&params, step, x, gamma, beta, y, &mut saved);
                self.kept[index].numbers = vec![saved];
            }
            StageKind::Attention { heads } => {
                let params = sized.attention(heads);
                let mut log_sum_exp = vec![T::ZERO; (params.rows * params.heads * params.tokens) as usize];
                twin::attention_forward(&params, x, y, &mut log_sum_exp);
                self.kept[index].numbers = vec![log_sum_exp];
            }
            StageKind::BatchNorm { epsilon, keep, activation } => {
                let params = sized.batch_norm((epsilon, keep), activation);
                self.batch_norm_forward(index, stage, params, step, y);
            }
            StageKind::Recurrent(cell) => self.recurrent_forward(index, stage, cell, step, y),
            _ => self.unkept_forward(stage, step, y),
        }
    }

    /// Computes a stage that keeps nothing for its backward pass.
    fn unkept_forward(&self, stage: &Stage, step: &Step, y: &mut [T]) {
        let (sized, x) = (self.sized(stage), &self.values[stage.inputs[0]]);
        let tensor = || &self.tensors[stage.tensor];
        let second = || &self.values[stage.inputs[1]];
        match stage.kind {
            StageKind::Dense { bias, per_pixel } => {
                let params = sized.dense(per_pixel, bias);
                twin::dense_forward(&params, step, x, tensor(), &self.bias(stage, bias, params.outputs), y);
            }
            StageKind::Conv2d { window, bias } => {
                let params = sized.conv2d(window, bias);
                twin::conv2d_forward(&params, step, x, tensor(), &self.bias(stage, bias, params.output_channels), y);
            }
            StageKind::Pool { window, .. } => {
                twin::average_pool_forward(&sized.pool(window), step, x, y);
            }
            StageKind::LocalResponseNorm { radius, bias, alpha, beta } => {
                twin::local_response_forward(&sized.local_response(radius, [bias, alpha, beta]), step, x, y);
            }
            StageKind::Embedding(words) => {
                twin::embedding_forward(&sized.embedding(words), step, x, tensor(), y);
            }
            StageKind::SentenceSum { words } => {
                twin::sentence_sum_forward(&sized.sentence_sum(words), step, x, y);
            }
            StageKind::WordScores => {
                twin::pixel_products_forward(&sized.word_scores(), step, x, tensor(), y);
            }
            StageKind::PixelProducts => {
                twin::pixel_products_forward(&sized.pixel_products(), step, x, second(), y);
            }
            StageKind::Softmax { linear_start } => {
                twin::channel_softmax_forward(&sized.channel_softmax(linear_start), step, x, y);
            }
            StageKind::Transpose => {
                twin::transpose_forward(&sized.transpose(), step, x, y);
            }
            StageKind::Concatenate => {
                twin::concatenate_forward(&sized.concatenate(), step, x, second(), y);
            }
            StageKind::Add => {
                twin::add_forward(&sized.add(), step, x, second(), y);
            }
            StageKind::PositionEmbedding => {
                twin::position_forward(&sized.position(), step, x, tensor(), y);
            }
            StageKind::Gelu => {
                twin::gelu_forward(&sized.elementwise(), step, x, y);
            }
            _ => unreachable!("these stages keep numbers"),
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
        self.kept[index].numbers = vec![saved];
        twin::batch_norm_forward(&params, step, x, &self.normalizer(index, stage), y);
        let (mean, variance) = running.split_at(channels);
        self.tensors[stage.tensor + 2].copy_from_slice(mean);
        self.tensors[stage.tensor + 3].copy_from_slice(variance);
    }

    fn normalizer(&self, index: usize, stage: &Stage) -> Normalizer<'_, T> {
        Normalizer {
            saved: &self.kept[index].numbers[0],
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
    fn stage_backward(&mut self, index: usize, stage: &Stage, step: &Step, dy: &[T]) {
        let (sized, tensor, x) = (self.sized(stage), stage.tensor, &self.values[stage.inputs[0]]);
        match stage.kind {
            StageKind::Dense { bias, per_pixel } => {
                let params = sized.dense(per_pixel, bias);
                let mut part = vec![T::ZERO; params.part_stride as usize];
                twin::dense_weight_gradient(&params, x, dy, &mut part);
                self.store_weight_gradient(stage, &part, bias);
                self.contribute(stage, 0, |network, x, &epilogue, dx| {
                    let params = Dense { epilogue, ..params };
                    twin::dense_input_gradient(&params, step, dy, &network.tensors[tensor], x, dx);
                });
            }
            StageKind::Conv2d { window, bias } => {
                let params = sized.conv2d(window, bias);
                let mut part = vec![T::ZERO; params.part_stride as usize];
                twin::conv2d_weight_gradient(&params, x, dy, &mut part);
                self.store_weight_gradient(stage, &part, bias);
                self.contribute(stage, 0, |network, x, &epilogue, dx| {
                    let params = Conv2d { epilogue, ..params };
                    twin::conv2d_input_gradient(&params, step, dy, &network.tensors[tensor], x, dx);
                });
            }
            StageKind::BatchNorm { epsilon, keep, activation } => {
                let params = sized.batch_norm((epsilon, keep), activation);
                let channels = params.stored_channels as usize;
                let mut sums = vec![T::ZERO; 2 * channels];
                twin::batch_norm_gradient_sums(&params, step, x, dy, &self.normalizer(index, stage), &mut sums);
                self.gradients[tensor].copy_from_slice(&sums[..channels]);
                self.gradients[tensor + 1].copy_from_slice(&sums[channels..]);
                self.contribute(stage, 0, |network, x, &epilogue, dx| {
                    let by = network.normalizer(index, stage);
                    twin::batch_norm_input_gradient(&BatchNorm { epilogue, ..params }, step, x, dy, &by, &sums, dx);
                });
            }
            StageKind::LayerNorm { epsilon } => {
                let params = sized.layer_norm(epsilon);
                let mut part = vec![T::ZERO; params.part_stride as usize];
                twin::layer_norm_weight_gradient(&params, x, dy, &self.kept[index].numbers[0], &mut part);
                self.store_weight_gradient(stage, &part, true);
                self.contribute(stage, 0, |network, x, &epilogue, dx| {
                    let params = LayerNorm { epilogue, ..params };
                    let (saved, gamma) = (&network.kept[index].numbers[0], &network.tensors[tensor]);
                    twin::layer_norm_input_gradient(&params, step, x, dy, saved, gamma, dx);
                });
            }
            StageKind::Recurrent(cell) => self.recurrent_backward(index, stage, cell, step, dy),
            StageKind::Embedding(words) => {
                twin::embedding_weight_gradient(&sized.embedding(words), x, dy, &mut self.gradients[tensor]);
            }
            StageKind::WordScores => {
                let params = sized.word_vectors();
                twin::dense_weight_gradient(&params, dy, x, &mut self.gradients[tensor]);
                self.contribute(stage, 0, |network, x, &epilogue, dx| {
                    let params = PixelProducts { epilogue, ..sized.word_scores() };
                    twin::pixel_products_gradient(&params, step, dy, &network.tensors[tensor], x, dx);
                });
            }
            StageKind::PositionEmbedding => {
                let params = sized.position();
                twin::position_gradient(&params, dy, &mut self.gradients[tensor]);
                self.contribute(stage, 0, |_, x, &epilogue, dx| {
                    let params = Elementwise { epilogue, ..sized.elementwise() };
                    twin::pass_gradient(&params, step, dy, x, dx);
                });
            }
            _ => self.weightless_backward(index, stage, step, dy),
        }
    }

    /// Computes the input gradients of a stage without tensors.
    fn weightless_backward(&mut self, index: usize, stage: &Stage, step: &Step, dy: &[T]) {
        let sized = self.sized(stage);
        match stage.kind {
            StageKind::Pool { kind, window } => self.contribute(stage, 0, |network, x, &epilogue, dx| {
                let params = Pool { epilogue, ..sized.pool(window) };
                match kind {
                    PoolKind::Max => twin::max_pool_backward(&params, step, dy, &network.kept[index].taps, x, dx),
                    PoolKind::Average => twin::average_pool_backward(&params, step, dy, x, dx),
                }
            }),
            StageKind::LocalResponseNorm { radius, bias, alpha, beta } => {
                let params = sized.local_response(radius, [bias, alpha, beta]);
                self.contribute(stage, 0, |_, x, &epilogue, dx| {
                    twin::local_response_backward(&LocalResponse { epilogue, ..params }, step, dy, x, dx);
                });
            }
            StageKind::SentenceSum { words } => self.contribute(stage, 0, |_, x, &epilogue, dx| {
                let params = SentenceSum { epilogue, ..sized.sentence_sum(words) };
                twin::sentence_sum_gradient(&params, step, dy, x, dx);
            }),
            StageKind::PixelProducts => {
                for (input, of_second) in [(0, 0), (1, 1)] {
                    let other = self.values[stage.inputs[1 - input]].clone();
                    self.contribute(stage, input, |_, x, &epilogue, dx| {
                        let params = PixelProducts { of_second, epilogue, ..sized.pixel_products() };
                        twin::pixel_products_gradient(&params, step, dy, &other, x, dx);
                    });
                }
            }
            StageKind::Softmax { linear_start } => self.contribute(stage, 0, |_, x, &epilogue, dx| {
                let params = sized.channel_softmax(linear_start);
                twin::channel_softmax_backward(&ChannelSoftmax { epilogue, ..params }, step, dy, x, dx);
            }),
            StageKind::Transpose => self.contribute(stage, 0, |_, x, &epilogue, dx| {
                let params = Transpose { epilogue, ..sized.transpose() };
                twin::transpose_gradient(&params, step, dy, x, dx);
            }),
            StageKind::Concatenate => {
                let params = sized.concatenate();
                for (input, of_second) in [(0, 0), (1, 1)] {
                    self.contribute(stage, input, |_, x, &epilogue, dx| {
                        twin::concatenate_gradient(&Concatenate { of_second, epilogue, ..params }, step, dy, x, dx);
                    });
                }
            }
            StageKind::Add => {
                let params = sized.add();
                for (input, repeats) in [(0, 1), (1, params.repeats)] {
                    self.contribute(stage, input, |_, x, &epilogue, dx| {
                        twin::add_gradient(&Add { repeats, epilogue, ..params }, step, dy, x, dx);
                    });
                }
            }
            StageKind::Attention { heads } => self.contribute(stage, 0, |network, x, &epilogue, dx| {
                let params = Attention { epilogue, ..sized.attention(heads) };
                let log_sum_exp = &network.kept[index].numbers[0];
                let attended = Attended { y: &network.values[stage.output], log_sum_exp };
                let mut means = vec![T::ZERO; log_sum_exp.len()];
                twin::attention_query_gradient(&params, step, x, &attended, dy, dx, &mut means);
                twin::attention_key_value_gradient(&params, step, x, dy, log_sum_exp, &means, dx);
            }),
            StageKind::Gelu => self.contribute(stage, 0, |_, x, &epilogue, dx| {
                let params = Elementwise { epilogue, ..sized.elementwise() };
                twin::gelu_backward(&params, step, dy, x, dx);
            }),
            _ => unreachable!("these stages have tensors"),
        }
    }

    fn recurrent_backward(&mut self, index: usize, stage: &Stage, cell: Cell, step: &Step, dy: &[T]) {
        let params = self.sized(stage).recurrent(cell);
        let mut steps = std::mem::take(&mut self.kept[index].steps);
        // The values of the steps become their gradients.
        recurrent_backward(cell)(&params, &self.tensors[stage.tensor + 1], dy, &mut steps);
        let RecurrentSteps { gates, own, previous, .. } = &steps;
        let input = self.sized(stage).recurrent_input(cell);
        let of_input = weight_gradient(&input, &self.values[stage.inputs[0]], gates);
        let state = self.sized(stage).recurrent_state(cell);
        let into_products = if cell.has_recurrent_bias() { own } else { gates };
        let of_state = weight_gradient(&state, previous, into_products);
        let places = if cell.has_recurrent_bias() { &[0, 2, 1, 3][..] } else { &[0, 2, 1] };
        for (place, gradient) in places.iter().zip(of_input.iter().chain(&of_state)) {
            self.gradients[stage.tensor + place].copy_from_slice(gradient);
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
