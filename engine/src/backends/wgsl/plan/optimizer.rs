//! What becomes of the weights after the gradients of a step.

use shaders::params::{GradientLimit, Optimizer as OptimizerParams};

use super::super::recording::{BufferRange, Combination};
use super::super::setup::Exchanging;
use super::Planner;
use super::arenas::Arenas;
use super::gradient_parts;
use crate::training::Rule;

impl Planner<'_> {
    /// Where several devices share the batch, each gets the sum of their gradients: in parts, each as soon as it is
    /// computed, or all together after the backward pass.
    pub(super) fn exchange_gradients(&mut self) {
        let gradients = self.arenas.gradients;
        match self.exchanging {
            None => {}
            Some(Exchanging::Afterwards) => self.builder.exchange(gradients, gradients, Combination::Sum),
            Some(Exchanging::WhileComputing) => {
                let parts = gradient_parts::parts(&self.tensors, gradients, self.builder.dispatches());
                self.builder.exchange_parts(gradients, &parts);
            }
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "kernels compute in float32")]
    pub(super) fn optimize(&mut self) {
        let rule = self.job.optimizer.rule;
        let constants = rule.constants();
        let params = OptimizerParams {
            elements: self.arenas.elements,
            decay: constants.decay as f32,
            second_decay: constants.second_decay as f32,
            epsilon: constants.epsilon as f32,
            nesterov: u32::from(constants.nesterov),
            rate_outside: u32::from(constants.nesterov),
            gradient_scale: 1.0 / self.gradient_scale,
            reserved: 0,
        };
        let kernel = match rule {
            Rule::Sgd { .. } | Rule::Nesterov { .. } => "sgd",
            Rule::RmsProp { .. } => "rmsprop",
            Rule::Adadelta { .. } => "adadelta",
            Rule::Adam { decoupled: false, .. } => "adam",
            Rule::Adam { decoupled: true, .. } => "adamw",
        };
        let Arenas { blocks, gradients, weights, .. } = self.arenas;
        let gradients = self.limited(gradients);
        let mut bindings = vec![blocks, gradients, weights];
        bindings.extend_from_slice(&self.arenas.memories);
        let invocations = u64::from(self.arenas.elements / 4);
        self.builder.dispatch(kernel, &params, &bindings, invocations);
        if let Some(shadow) = self.arenas.shadow {
            self.builder.dispatch("average", &params, &[weights, shadow], invocations);
        }
    }

    /// The gradients, no longer than the job wants them together: in an arena of their own, because the trainer tells those
    /// that were computed.
    #[expect(clippy::cast_possible_truncation, reason = "kernels compute in float32")]
    fn limited(&mut self, gradients: BufferRange) -> BufferRange {
        let Some(limit) = self.job.optimizer.largest_gradient else { return gradients };
        let elements = self.arenas.elements;
        let limited = self.builder.floats("limited gradients", u64::from(elements));
        let params = GradientLimit { elements, limit: limit as f32 * self.gradient_scale, reserved: [0; 2] };
        // One workgroup: it adds up all squares.
        self.builder.dispatch("limit_gradients", &params, &[gradients, limited], 1);
        limited
    }

    /// Rounds the weights of this step for the products of the next one.
    pub(super) fn round_weights(&mut self) {
        self.arenas.round_weights(self.results, &mut self.builder);
    }
}
