use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Schedule;

/// How weights change: a rule, its learning rate, and an L2 penalty that tensors may multiply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Optimizer {
    pub rule: Rule,
    /// Before any schedule.
    pub learning_rate: f64,
    #[serde(default)]
    pub schedule: Schedule,
    #[serde(default)]
    pub weight_decay: f64,
    /// How long the gradients of all tensors may be together; longer ones are shortened to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_gradient: Option<f64>,
}

/// The rule that changes weights, with its constants; `reference/golden/README.md` section 3 defines them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Rule {
    /// `v = momentum·v + rate·g; w -= v`, as in Caffe.
    Sgd { momentum: f64 },
    /// `v = momentum·v + g; w -= rate·(g + momentum·v)`: Nesterov's momentum as in Torch.
    Nesterov { momentum: f64 },
    /// `a = ρa + (1-ρ)g²; w -= rate·g / (√a + ε)`, with ε outside the root as in Keras 2.
    RmsProp { rho: f64, epsilon: f64 },
    /// Zeiler (2012): `u = g·√(d + ε) / √(a + ε); w -= rate·u`, with running means a of g² and d of u².
    Adadelta { rho: f64, epsilon: f64 },
    /// Kingma and Ba (2014), with the bias correction folded into the rate. Decoupled, the weight decay leaves the
    /// running means alone: Loshchilov and Hutter (2017).
    Adam { beta1: f64, beta2: f64, epsilon: f64, decoupled: bool },
}

/// Constants of a rule, by what every update does with them; those that a rule does not have are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Constants {
    /// Share of the velocity or of the first running mean that stays: momentum, rho or beta1.
    pub(crate) decay: f64,
    /// The same of the second running mean: beta2.
    pub(crate) second_decay: f64,
    pub(crate) epsilon: f64,
    /// Whether the gradient is taken ahead along the velocity, from which the learning rate is kept apart then.
    pub(crate) nesterov: bool,
}

impl Rule {
    pub(crate) fn constants(self) -> Constants {
        let none = Constants::default();
        match self {
            Self::Sgd { momentum } => Constants { decay: momentum, ..none },
            Self::Nesterov { momentum } => Constants { decay: momentum, nesterov: true, ..none },
            Self::RmsProp { rho, epsilon } | Self::Adadelta { rho, epsilon } => {
                Constants { decay: rho, epsilon, ..none }
            }
            Self::Adam { beta1, beta2, epsilon, .. } => {
                Constants { decay: beta1, second_decay: beta2, epsilon, ..none }
            }
        }
    }

    /// Numbers that it remembers for each weight, momentum of zero included.
    pub fn states(self) -> usize {
        match self {
            Self::Sgd { .. } | Self::Nesterov { .. } | Self::RmsProp { .. } => 1,
            Self::Adadelta { .. } | Self::Adam { .. } => 2,
        }
    }
}

impl Optimizer {
    /// Without schedule, weight decay or limit.
    pub fn new(rule: Rule, learning_rate: f64) -> Self {
        Self { rule, learning_rate, schedule: Schedule::Constant, weight_decay: 0.0, largest_gradient: None }
    }

    /// The same optimiser with another rate.
    #[must_use]
    pub fn with_learning_rate(self, learning_rate: f64) -> Self {
        Self { learning_rate, ..self }
    }

    /// Learning rate of update `t`, from 0, of `planned`, in double precision, without the corrections of the rule.
    pub fn scheduled_rate(&self, t: u64, planned: u64) -> f64 {
        self.learning_rate * self.schedule.factor(t, planned)
    }

    /// What the rule multiplies the scheduled rate of update `t` by.
    pub fn correction(&self, t: u64) -> f64 {
        match self.rule {
            Rule::Adam { beta1, beta2, .. } => {
                let updates = i32::try_from(t + 1).unwrap_or(i32::MAX);
                (1.0 - beta2.powi(updates)).sqrt() / (1.0 - beta1.powi(updates))
            }
            _ => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adams_first_correction_takes_back_what_the_means_lack() {
        let adam = Optimizer::new(Rule::Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, decoupled: false }, 0.001);
        assert!((adam.correction(0) - 0.001f64.sqrt() / 0.1).abs() < 1e-9);
        assert!((adam.correction(1_000_000) - 1.0).abs() < 1e-9);
    }
}
