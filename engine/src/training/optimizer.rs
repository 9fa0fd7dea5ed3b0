use results::statistics::interpolate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rule, learning rate, and an L2 penalty that tensors may multiply.
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
    /// Maximum joint length of all gradients; longer ones are scaled down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_gradient: Option<f64>,
}

/// Update rule with its constants; `reference/golden/README.md` section 3 defines them.
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
    /// Kingma and Ba (2014), with the bias correction folded into the rate. If decoupled, the weight decay does not
    /// affect the running means: Loshchilov and Hutter (2017).
    Adam { beta1: f64, beta2: f64, epsilon: f64, decoupled: bool },
}

/// Constants of a rule by role. Missing ones are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Constants {
    /// Decay of the velocity or the first running mean: momentum, rho or beta1.
    pub(crate) decay: f64,
    /// Decay of the second running mean: beta2.
    pub(crate) second_decay: f64,
    pub(crate) epsilon: f64,
    /// True for Nesterov momentum, which excludes the learning rate from the velocity.
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

    /// Number of state values per weight, even with zero momentum.
    pub fn states(self) -> usize {
        match self {
            Self::Sgd { .. } | Self::Nesterov { .. } | Self::RmsProp { .. } => 1,
            Self::Adadelta { .. } | Self::Adam { .. } => 2,
        }
    }
}

impl Optimizer {
    pub fn new(rule: Rule, learning_rate: f64) -> Self {
        Self { rule, learning_rate, schedule: Schedule::Constant, weight_decay: 0.0, largest_gradient: None }
    }

    /// Returns the learning rate of update `t`, zero-based, of `planned`, without the rule's correction.
    pub fn scheduled_rate(&self, t: u64, planned: u64) -> f64 {
        self.learning_rate * self.schedule.factor(t, planned)
    }

    /// Returns the factor that the rule applies to the scheduled rate of update `t`.
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

/// Factor on the learning rate, as a function of the number `t` of updates.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Schedule {
    #[default]
    Constant,
    /// `(1 + γt)^(-p)`: Caffe's "inv", and with p = 1 the decay of Keras 2 and Torch.
    Inverse { gamma: f64, power: f64 },
    /// Multiplied by `factor` after every `every` updates.
    Staircase { every: u64, factor: f64 },
    /// Multiplied by `factor` once, after `after` updates.
    Drop { after: u64, factor: f64 },
    /// Straight lines between (share of the planned training, factor) points, constant beyond the ends.
    Linear { points: Vec<(f64, f64)> },
    /// A linear warm-up over a share of the training, then half a cosine down to `last`: Loshchilov and Hutter (2016).
    Cosine {
        warm_up: f64,
        #[serde(default)]
        last: f64,
    },
}

impl Schedule {
    pub fn factor(&self, t: u64, planned: u64) -> f64 {
        let updates = t as f64;
        let share = updates / planned.max(1) as f64;
        match self {
            Self::Constant => 1.0,
            Self::Inverse { gamma, power } => (1.0 + gamma * updates).powf(-power),
            Self::Staircase { every, factor } => factor.powf((t / (*every).max(1)) as f64),
            Self::Drop { after, .. } if t < *after => 1.0,
            Self::Drop { factor, .. } => *factor,
            Self::Linear { points } => interpolate(points, share).unwrap_or(1.0),
            Self::Cosine { warm_up, .. } if share < *warm_up => (updates + 1.0) / (warm_up * planned as f64).max(1.0),
            Self::Cosine { warm_up, last } => {
                let way = ((share - warm_up) / (1.0 - warm_up)).clamp(0.0, 1.0);
                last + (1.0 - last) * 0.5 * (1.0 + (std::f64::consts::PI * way).cos())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adam_corrects_the_bias_of_early_means() {
        let adam = Optimizer::new(Rule::Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, decoupled: false }, 0.001);
        assert!((adam.correction(0) - 0.001f64.sqrt() / 0.1).abs() < 1e-9);
        assert!((adam.correction(1_000_000) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn schedules_have_their_factors_at_each_update() {
        let triangle = || Schedule::Linear { points: vec![(0.0, 0.2), (0.23, 1.0), (1.0, 0.07)] };
        let staircase = || Schedule::Staircase { every: 10, factor: 0.1 };
        let cases: [(Schedule, &[(u64, f64)]); 6] = [
            // As in Caffe.
            (Schedule::Inverse { gamma: 0.0001, power: 0.75 }, &[(9, 0.999_325_531_124_330_8)]),
            (staircase(), &[(0, 1.0), (9, 1.0), (10, 0.1), (19, 0.1), (20, 0.01)]),
            (Schedule::Drop { after: 10, factor: 0.1 }, &[(9, 1.0), (10, 0.1), (1000, 0.1)]),
            (triangle(), &[(0, 0.2), (23, 1.0), (100, 0.07), (500, 0.07)]),
            (Schedule::Cosine { warm_up: 0.1, last: 0.0 }, &[(0, 0.1), (10, 1.0), (55, 0.5), (100, 0.0)]),
            (Schedule::Cosine { warm_up: 0.1, last: 0.1 }, &[(0, 0.1), (10, 1.0), (55, 0.55), (100, 0.1)]),
        ];
        for (schedule, factors) in cases {
            for &(update, expected) in factors {
                let found = schedule.factor(update, 100);
                assert!((found - expected).abs() < 1e-15, "{schedule:?} at {update}: {found}");
            }
        }
        let inverse = Schedule::Inverse { gamma: 0.0001, power: 0.75 };
        assert!((0.01 * inverse.factor(10_000, 0) - 0.005_946).abs() < 1e-6);
    }
}
