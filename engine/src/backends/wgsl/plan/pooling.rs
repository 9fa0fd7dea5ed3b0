use shaders::params::Pool;

use super::super::layout::CHANNEL_ALIGNMENT;
use super::super::recording::BufferRange;
use super::Planner;
use crate::model::{SlidingWindow, Stage};

impl Planner<'_> {
    fn pool_params(&self, stage: &Stage, window: SlidingWindow) -> Pool {
        self.stages.pool_params(stage, window, self.rows, CHANNEL_ALIGNMENT)
    }

    pub(super) fn max_pool_forward(&mut self, index: usize, stage: &Stage, window: SlidingWindow) {
        let params = self.pool_params(stage, window);
        let features = self.stages.output(stage).stored_features(CHANNEL_ALIGNMENT);
        let taps = self.keep(index, 0, "pooling taps", u64::from(features));
        let (x, y) = (self.input_of(stage, 0), self.output_of(stage));
        self.builder.dispatch("max_pool_forward", &params, &[x, y, taps], self.quads(y));
    }

    pub(super) fn max_pool_backward(&mut self, index: usize, stage: &Stage, window: SlidingWindow) {
        let (x, dy) = (self.input_of(stage, 0), self.output_gradient(stage));
        let taps = BufferRange { bytes: 4 * self.elements(dy), ..self.kept[index][0] };
        if let Some((dx, epilogue)) = self.input_gradient(stage, 0) {
            let params = Pool { epilogue, ..self.pool_params(stage, window) };
            self.builder.dispatch("max_pool_backward", &params, &[dy, taps, x, dx], self.quads(dx));
        }
    }

    pub(super) fn average_pool_forward(&mut self, stage: &Stage, window: SlidingWindow) {
        let params = self.pool_params(stage, window);
        let (x, y) = (self.input_of(stage, 0), self.output_of(stage));
        self.builder.dispatch("average_pool_forward", &params, &[x, y], self.quads(y));
    }

    pub(super) fn average_pool_backward(&mut self, stage: &Stage, window: SlidingWindow) {
        let (x, dy) = (self.input_of(stage, 0), self.output_gradient(stage));
        if let Some((dx, epilogue)) = self.input_gradient(stage, 0) {
            let params = Pool { epilogue, ..self.pool_params(stage, window) };
            self.builder.dispatch("average_pool_backward", &params, &[dy, x, dx], self.quads(dx));
        }
    }
}
