use shaders::Real;
use shaders::params::BLOCK_ELEMENTS;
use shaders::reference::{self as twin, Block, Update};

use crate::error::EngineError;
use crate::model::{TensorKind, TensorSpec};
use crate::trainer::TrainingJob;
use crate::training::Rule;

/// Changes tensors by their gradients, and remembers what the optimiser must.
pub(super) struct Updater<T> {
    specs: Vec<TensorSpec>,
    /// Velocities, means or mean squares; two lists for rules that need two.
    states: [Vec<Vec<T>>; 2],
    /// Averages of the tensors, where the job wants them.
    shadow: Vec<Vec<T>>,
}

impl<T: Real> Updater<T> {
    pub(super) fn new(job: &TrainingJob, tensors: &[Vec<T>]) -> Result<Self, EngineError> {
        let zeros: Vec<Vec<T>> = tensors.iter().map(|t| vec![T::ZERO; t.len()]).collect();
        let shadow = if job.average.is_some() { tensors.to_vec() } else { Vec::new() };
        Ok(Self { specs: job.model.tensors()?, states: [zeros.clone(), zeros], shadow })
    }

    /// Update number `number`. Scalars are computed in double precision.
    pub(super) fn update(&mut self, job: &TrainingJob, number: u64, gradients: &[Vec<T>], tensors: &mut [Vec<T>]) {
        let real = T::from_f64;
        let step = job.step(number, 0);
        let scheduled = job.optimizer.scheduled_rate(number, job.planned_steps);
        let constants = job.optimizer.rule.constants();
        let factor = job.optimizer.largest_gradient.map_or(T::ONE, |limit| {
            let trained = self.specs.iter().zip(gradients).filter(|(spec, _)| spec.kind == TensorKind::Trained);
            twin::gradient_factor(real(limit), trained.map(|(_, gradient)| gradient.as_slice()))
        });
        let update = Update {
            step: step.step,
            learning_rate: real(scheduled * job.optimizer.correction(number)),
            decay_rate: real(scheduled),
            decay: real(constants.decay),
            second_decay: real(constants.second_decay),
            epsilon: real(constants.epsilon),
            nesterov: constants.nesterov,
            rate_outside: constants.nesterov,
            gradient_scale: factor,
        };
        let [first, second] = &mut self.states;
        for (((spec, weights), gradient), (first, second)) in
            self.specs.iter().zip(tensors.iter_mut()).zip(gradients).zip(first.iter_mut().zip(second))
        {
            if spec.kind != TensorKind::Trained {
                continue;
            }
            let block = Block {
                learning_rate: real(spec.multipliers.learning_rate),
                weight_decay: real(job.optimizer.weight_decay * spec.multipliers.weight_decay),
                frozen_from: job.frozen_from(&spec.multipliers),
            };
            let blocks = vec![block; weights.len().div_ceil(BLOCK_ELEMENTS as usize)];
            match job.optimizer.rule {
                Rule::Sgd { .. } | Rule::Nesterov { .. } => twin::sgd(&update, &blocks, gradient, weights, first),
                Rule::RmsProp { .. } => twin::rmsprop(&update, &blocks, gradient, weights, first),
                Rule::Adadelta { .. } => twin::adadelta(&update, &blocks, gradient, weights, first, second),
                Rule::Adam { decoupled: false, .. } => twin::adam(&update, &blocks, gradient, weights, first, second),
                Rule::Adam { decoupled: true, .. } => twin::adamw(&update, &blocks, gradient, weights, first, second),
            }
        }
        for (weights, shadow) in tensors.iter_mut().zip(&mut self.shadow) {
            twin::average(step.average, real(f64::from(step.average_keep)), weights, shadow);
        }
    }

    /// Exchanges the tensors and their averages if tests look at those.
    pub(super) fn swap_average(&mut self, job: &TrainingJob, tensors: &mut Vec<Vec<T>>) {
        if job.average.is_some_and(|average| average.is_tested()) {
            std::mem::swap(tensors, &mut self.shadow);
        }
    }

    /// Returns the tensors of each memory of a state.
    pub(super) fn memories(&self, job: &TrainingJob) -> impl Iterator<Item = &Vec<Vec<T>>> {
        self.states.iter().take(job.optimizer.rule.states()).chain(job.average.map(|_| &self.shadow))
    }

    /// Restores memories as [`Self::memories`] returns them.
    pub(super) fn remember(&mut self, job: &TrainingJob, memories: impl Iterator<Item = Vec<Vec<T>>>) {
        let places = self.states.iter_mut().take(job.optimizer.rule.states()).chain([&mut self.shadow]);
        places.zip(memories).for_each(|(place, memory)| *place = memory);
    }

    pub(super) fn bytes(&self) -> u64 {
        let tensors = self.states.iter().flatten().chain(&self.shadow);
        tensors.map(|t| size_of_val(t.as_slice()) as u64).sum()
    }
}
