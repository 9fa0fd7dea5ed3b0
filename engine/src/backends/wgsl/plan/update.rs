//! The update of the weights after the gradients of a step.

use shaders::params::{GradientLimit, Optimizer};

use super::super::recording::{BufferRange, Combination};
use super::arenas::Arenas;
use super::gradient_parts;
use super::planner::{Exchanging, Planner};
use crate::training::Rule;

impl Planner<'_> {
    /// Sums gradients across the devices that share the batch: in parts, each as soon as it is computed, or all
    /// together after the backward pass.
    pub(super) fn exchange_gradients(&mut self) {
        let gradients = self.arenas.gradients;
        match self.exchanging {
            None => {}
            Some(Exchanging::Afterwards) => self.builder.exchange(gradients, gradients, Combination::Sum),
            Some(Exchanging::WhileComputing) => {
                let parts = gradient_parts::parts(&self.tensors, gradients, self.builder.dispatches());
                self.builder.exchange_parts(&parts);
            }
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "kernels compute in float32")]
    pub(super) fn optimize(&mut self) {
        let rule = self.job.optimizer.rule;
        let constants = rule.constants();
        let params = Optimizer {
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
        let gradients = self.limit_gradients(gradients);
        let mut bindings = vec![blocks, gradients, weights];
        bindings.extend_from_slice(&self.arenas.memories);
        let invocations = u64::from(self.arenas.elements / 4);
        self.builder.dispatch(kernel, &params, &bindings, invocations);
        if let Some(shadow) = self.arenas.shadow {
            self.builder.dispatch("average", &params, &[weights, shadow], invocations);
        }
    }

    /// Limits the norm of all gradients together, in a separate arena because the trainer reports the computed ones.
    #[expect(clippy::cast_possible_truncation, reason = "kernels compute in float32")]
    fn limit_gradients(&mut self, gradients: BufferRange) -> BufferRange {
        let Some(limit) = self.job.optimizer.largest_gradient else { return gradients };
        let elements = self.arenas.elements;
        let limited = self.builder.floats("limited gradients", u64::from(elements));
        let params = GradientLimit { elements, limit: limit as f32 * self.gradient_scale, reserved: [0; 2] };
        // A single workgroup adds up all squares.
        self.builder.dispatch("limit_gradients", &params, &[gradients, limited], 1);
        limited
    }
}
