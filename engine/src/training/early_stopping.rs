use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Training ends when held-out samples are no longer classified better, as in Theano's tutorials: after `updates`
/// updates at the earliest, and not before `factor` times the update of the last real improvement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EarlyStopping {
    pub updates: u64,
    pub factor: u64,
    /// An error counts as improved below this share of the best one so far.
    pub threshold: f64,
}

/// What has been seen of the held-out samples.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    rule: EarlyStopping,
    /// Training goes on up to this update.
    until: u64,
    best_error: f64,
}

impl Patience {
    pub(crate) fn new(rule: EarlyStopping) -> Self {
        Self { rule, until: rule.updates, best_error: f64::INFINITY }
    }

    /// Learns that after `updates` updates the share `error` of the held-out samples is classified wrongly; says
    /// whether training should go on.
    pub(crate) fn goes_on(&mut self, updates: u64, error: f64) -> bool {
        if error < self.best_error * self.rule.threshold {
            self.until = self.until.max(updates * self.rule.factor);
        }
        self.best_error = self.best_error.min(error);
        updates < self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patience() -> Patience {
        Patience::new(EarlyStopping { updates: 1000, factor: 2, threshold: 0.995 })
    }

    #[test]
    fn training_goes_on_at_least_for_the_first_patience() {
        let mut patience = patience();
        assert!(patience.goes_on(100, 0.1));
        assert!(patience.goes_on(900, 0.2));
        assert!(!patience.goes_on(1000, 0.2));
    }

    #[test]
    fn a_real_improvement_doubles_the_time_and_a_tiny_one_does_not() {
        let mut patience = patience();
        assert!(patience.goes_on(800, 0.1));
        // 1600 updates are allowed now.
        assert!(patience.goes_on(1500, 0.0999));
        assert!(!patience.goes_on(1600, 0.0998));
        let mut patience = self::patience();
        assert!(patience.goes_on(800, 0.1));
        assert!(patience.goes_on(1500, 0.09));
        assert!(patience.goes_on(2900, 0.09));
        assert!(!patience.goes_on(3000, 0.09));
    }
}
