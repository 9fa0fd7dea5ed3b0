use shaders::Real;
use shaders::params::{Pool, Step};
use shaders::reference as twin;

use super::{ALIGNMENT, Network};
use crate::model::{SlidingWindow, Stage};

impl<T: Real> Network<T> {
    fn pool_params(&self, stage: &Stage, window: SlidingWindow) -> Pool {
        self.stages.pool_params(stage, window, self.rows, ALIGNMENT)
    }

    pub(super) fn max_pool_forward(
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

    pub(super) fn max_pool_backward(
        &mut self,
        index: usize,
        stage: &Stage,
        window: SlidingWindow,
        step: &Step,
        dy: &[T],
    ) {
        let params = self.pool_params(stage, window);
        self.contribute(stage, 0, |network, x, &epilogue, dx| {
            let params = Pool { epilogue, ..params };
            twin::max_pool_backward(&params, step, dy, &network.kept[index].taps, x, dx);
        });
    }

    pub(super) fn average_pool_forward(
        &self,
        stage: &Stage,
        window: SlidingWindow,
        step: &Step,
        mut y: Vec<T>,
    ) -> Vec<T> {
        let params = self.pool_params(stage, window);
        twin::average_pool_forward(&params, step, &self.values[stage.inputs[0]], &mut y);
        y
    }

    pub(super) fn average_pool_backward(&mut self, stage: &Stage, window: SlidingWindow, step: &Step, dy: &[T]) {
        let params = self.pool_params(stage, window);
        self.contribute(stage, 0, |_, x, &epilogue, dx| {
            let params = Pool { epilogue, ..params };
            twin::average_pool_backward(&params, step, dy, x, dx);
        });
    }
}
