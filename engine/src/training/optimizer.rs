use serde::Serialize;

/// The rule that changes weights, with its constants; `reference/golden/README.md` section 3 defines them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Optimizer {
    /// `a = ρa + (1-ρ)g²; w -= rate·g / (√a + ε)`, with ε outside the root as in Keras 2.
    RmsProp { learning_rate: f64, schedule: Schedule, rho: f64, epsilon: f64 },
    /// `g += decay·w; v = momentum·v + rate·g; w -= v`, as in Caffe: the rate is inside the velocity.
    Sgd {
        learning_rate: f64,
        schedule: Schedule,
        momentum: f64,
        /// L2 penalty, on all tensors.
        weight_decay: f64,
        /// Biases learn this many times as fast.
        bias_rate_multiplier: f64,
    },
}

/// How the learning rate changes with the number `t` of updates done.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum Schedule {
    Constant,
    /// `rate·(1 + γt)^(-p)`: Caffe's "inv".
    Inverse {
        gamma: f64,
        power: f64,
    },
}

impl Optimizer {
    /// The rate before any schedule.
    pub fn learning_rate(&self) -> f64 {
        match *self {
            Self::RmsProp { learning_rate, .. } | Self::Sgd { learning_rate, .. } => learning_rate,
        }
    }

    /// The same rule with another rate.
    #[must_use]
    pub fn with_learning_rate(mut self, rate: f64) -> Self {
        match &mut self {
            Self::RmsProp { learning_rate, .. } | Self::Sgd { learning_rate, .. } => *learning_rate = rate,
        }
        self
    }

    /// Learning rate of update `t`, from 0, in double precision.
    pub fn rate(&self, t: u64) -> f64 {
        let (Self::RmsProp { schedule, .. } | Self::Sgd { schedule, .. }) = *self;
        self.learning_rate()
            * match schedule {
                Schedule::Constant => 1.0,
                Schedule::Inverse { gamma, power } => (1.0 + gamma * t as f64).powf(-power),
            }
    }

    /// How many times as fast a tensor learns.
    pub fn rate_multiplier(&self, is_bias: bool) -> f64 {
        match *self {
            Self::Sgd { bias_rate_multiplier, .. } if is_bias => bias_rate_multiplier,
            _ => 1.0,
        }
    }

    /// The L2 penalty on a tensor.
    pub fn weight_decay(&self) -> f64 {
        match *self {
            Self::Sgd { weight_decay, .. } => weight_decay,
            Self::RmsProp { .. } => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caffes_inverse_schedule_ends_where_caffe_says() {
        let sgd = Optimizer::Sgd {
            learning_rate: 0.01,
            schedule: Schedule::Inverse { gamma: 0.0001, power: 0.75 },
            momentum: 0.9,
            weight_decay: 0.0005,
            bias_rate_multiplier: 2.0,
        };
        assert!((sgd.rate(10_000) - 0.005_946).abs() < 1e-6);
        assert!((sgd.rate(9) - 0.009_993_255_311_243_308).abs() < 1e-15);
    }
}
