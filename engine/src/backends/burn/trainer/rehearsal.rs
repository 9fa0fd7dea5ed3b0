//! What a trainer does while it is built, so that no step of the training pays for it.

use super::BurnTrainer;
use crate::clock::Clock;
use crate::error::EngineError;
use crate::trainer::{EvaluationSet, Trainer};

/// So many steps in a row have to take about as long as the fastest …
const AGREEING_STEPS: usize = 3;
/// … which is at most so many times as long. Chosen kernels are faster than others by more than that.
const AGREEMENT: f64 = 1.1;
/// After so many steps, or so long, training begins all the same.
const MOST_STEPS: usize = 64;
const MOST_SECONDS: f64 = 60.0;

/// What happens on a device when an operation is first used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::backends::burn) enum FirstUse {
    /// What happens later, too.
    Ordinary,
    /// It is compiled.
    Compiles,
    /// Operations are fused, each of several kernels is compiled and timed, and the fastest is kept for its size.
    CompilesAndTunes,
}

impl FirstUse {
    /// On a device that compiles kernels or not, in a program whose Burn tunes what it compiles or not.
    pub(in crate::backends::burn) fn new(compiles: bool, tunes: bool) -> Self {
        match (compiles, tunes) {
            (false, _) => Self::Ordinary,
            (true, false) => Self::Compiles,
            (true, true) => Self::CompilesAndTunes,
        }
    }
}

impl BurnTrainer {
    /// Uses everything for the first time, and forgets what was learned: one step and one test where Burn compiles;
    /// where it also tunes, batches of the other sizes as well, and then steps until they no longer get faster.
    pub(super) async fn rehearse(&mut self, first_use: FirstUse, clock: &dyn Clock) -> Result<(), EngineError> {
        if first_use == FirstUse::Ordinary {
            return Ok(());
        }
        let start = self.state.clone();
        let begin = clock.now_seconds();
        self.train_steps(1).await?;
        self.evaluate(EvaluationSet::Test, self.job.data.test.samples().min(self.test_batch())).await?;
        let compiled = clock.now_seconds();
        self.preparation.compiling_seconds = Some(compiled - begin);
        if first_use == FirstUse::CompilesAndTunes {
            self.use_other_sizes().await?;
            let outcome = self.settle(clock).await?;
            self.settings.push(outcome);
            self.preparation.tuning_seconds = Some(clock.now_seconds() - compiled);
        }
        self.state = start;
        self.gradients.fill(None);
        (self.step, self.logits) = (0, None);
        Ok(())
    }

    /// The last batches of an epoch and of a test may be short, and other kernels may be the fastest for them.
    async fn use_other_sizes(&mut self) -> Result<(), EngineError> {
        let batches = self.job.batches;
        let last = batches.steps_of_epochs(1).saturating_sub(1);
        if batches.step(last).count != batches.batch_size {
            self.step = last;
            self.train_steps(1).await?;
        }
        let (samples, batch) = (self.job.data.test.samples(), self.test_batch());
        if samples > batch && !samples.is_multiple_of(batch) {
            self.evaluate(EvaluationSet::Test, batch + samples % batch).await?;
        }
        self.step = 0;
        Ok(())
    }

    /// Trains until the time of a step has settled, and says whether it did.
    async fn settle(&mut self, clock: &dyn Clock) -> Result<String, EngineError> {
        let start = clock.now_seconds();
        let mut seconds = Vec::new();
        loop {
            let begin = clock.now_seconds();
            self.train_steps(1).await?;
            let end = clock.now_seconds();
            seconds.push(end - begin);
            if has_settled(&seconds) {
                return Ok(format!("burn tuning: settled after {} steps", seconds.len()));
            }
            if seconds.len() == MOST_STEPS || end - start >= MOST_SECONDS {
                return Ok(format!("burn tuning: not settled after {} steps", seconds.len()));
            }
        }
    }
}

/// Whether the last steps took about as long as the fastest of all: none got faster, and none was held up.
fn has_settled(seconds: &[f64]) -> bool {
    let fastest = seconds.iter().copied().fold(f64::INFINITY, f64::min);
    let last = seconds.last_chunk::<AGREEING_STEPS>();
    last.is_some_and(|last| last.iter().all(|&step| step <= AGREEMENT * fastest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_have_settled_when_several_in_a_row_agree_with_the_fastest() {
        assert!(!has_settled(&[]));
        assert!(!has_settled(&[1.0, 1.0]), "too few");
        assert!(has_settled(&[1.0, 1.0, 1.0]));
        assert!(!has_settled(&[9.0, 1.0, 1.0]), "the first of three was still tuning");
        assert!(has_settled(&[9.0, 1.0, 1.05, 1.0]));
        assert!(!has_settled(&[1.0, 1.0, 0.5]), "it became faster only now");
        assert!(!has_settled(&[4.0, 3.0, 2.5, 2.0]), "it is becoming faster");
        assert!(!has_settled(&[1.0, 1.0, 7.0]), "something else was tuned");
    }
}
