//! What becomes of the weights after the gradients of a step.

use shaders::params::Optimizer as OptimizerParams;

use super::Planner;
use super::arenas::Arenas;
use crate::training::Rule;

impl Planner<'_> {
    #[expect(clippy::cast_possible_truncation, reason = "kernels compute in float32")]
    pub(super) fn optimize(&mut self) {
        let mut params = OptimizerParams {
            elements: self.arenas.elements,
            gradient_scale: 1.0 / self.gradient_scale,
            ..OptimizerParams::default()
        };
        let (kernel, states) = match self.job.optimizer.rule {
            Rule::Sgd { momentum } => {
                params.decay = momentum as f32;
                ("sgd", 1)
            }
            Rule::Nesterov { momentum } => {
                (params.decay, params.nesterov, params.rate_outside) = (momentum as f32, 1, 1);
                ("sgd", 1)
            }
            Rule::RmsProp { rho, epsilon } => {
                (params.decay, params.epsilon) = (rho as f32, epsilon as f32);
                ("rmsprop", 1)
            }
            Rule::Adadelta { rho, epsilon } => {
                (params.decay, params.epsilon) = (rho as f32, epsilon as f32);
                ("adadelta", 2)
            }
            Rule::Adam { beta1, beta2, epsilon, decoupled } => {
                (params.decay, params.second_decay, params.epsilon) = (beta1 as f32, beta2 as f32, epsilon as f32);
                (if decoupled { "adamw" } else { "adam" }, 2)
            }
        };
        let Arenas { blocks, gradients, weights, .. } = self.arenas;
        let mut bindings = vec![blocks, gradients, weights];
        bindings.extend(self.arenas.states(states, &mut self.builder));
        let invocations = u64::from(self.arenas.elements / 4);
        self.builder.dispatch(kernel, &params, &bindings, invocations);
        if let Some(shadow) = self.arenas.shadow {
            self.builder.dispatch("average", &params, &[weights, shadow], invocations);
        }
    }

    /// Rounds the weights of this step for the products of the next one.
    pub(super) fn round_weights(&mut self) {
        self.arenas.round_weights(self.results, &mut self.builder);
    }
}
