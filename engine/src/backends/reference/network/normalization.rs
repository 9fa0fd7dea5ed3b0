use shaders::Real;
use shaders::params::{BatchNorm, LayerNorm, LocalResponse, Step};
use shaders::reference::{self as twin, Normalizer};

use super::{ALIGNMENT, Network};
use crate::model::Stage;

impl<T: Real> Network<T> {
    pub(super) fn local_response_forward(
        &self,
        stage: &Stage,
        params: LocalResponse,
        step: &Step,
        mut y: Vec<T>,
    ) -> Vec<T> {
        twin::local_response_forward(&params, step, &self.values[stage.inputs[0]], &mut y);
        y
    }

    pub(super) fn local_response_backward(&mut self, stage: &Stage, params: LocalResponse, step: &Step, dy: &[T]) {
        self.contribute(stage, 0, |_, x, &epilogue, dx| {
            twin::local_response_backward(&LocalResponse { epilogue, ..params }, step, dy, x, dx);
        });
    }

    pub(super) fn batch_norm_forward(
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

    pub(super) fn batch_norm_backward(
        &mut self,
        index: usize,
        stage: &Stage,
        params: BatchNorm,
        step: &Step,
        dy: &[T],
    ) {
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

    pub(super) fn layer_norm_forward(
        &mut self,
        index: usize,
        stage: &Stage,
        epsilon: f32,
        step: &Step,
        mut y: Vec<T>,
    ) -> Vec<T> {
        let params = self.stages.layer_norm_params(stage, epsilon, self.rows, ALIGNMENT);
        let mut saved = vec![T::ZERO; (2 * params.rows * params.tokens) as usize];
        let [gamma, beta] = [0, 1].map(|place| &self.tensors[stage.tensor + place]);
        twin::layer_norm_forward(&params, step, &self.values[stage.inputs[0]], gamma, beta, &mut y, &mut saved);
        self.kept[index].numbers = vec![saved];
        y
    }

    pub(super) fn layer_norm_backward(&mut self, index: usize, stage: &Stage, epsilon: f32, step: &Step, dy: &[T]) {
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
