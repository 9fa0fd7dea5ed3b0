//! The warm-up of a trainer while it is built: what Burn compiles and tunes on first use is not paid for in training.

use super::test_batch;
use crate::backends::burn::FirstUse;
use crate::clock::Clock;
use crate::error::EngineError;
use crate::trainer::{EvaluationSet, Preparation, Trainer, TrainingJob};

/// So many steps in a row have to take about as long as the fastest …
const AGREEING_STEPS: usize = 3;
/// … which is at most so many times as long. Chosen kernels are faster than others by more than that.
const AGREEMENT: f64 = 1.1;
/// After so many steps, or so long, training begins all the same.
const MOST_STEPS: usize = 64;
const MOST_SECONDS: f64 = 60.0;

/// A trainer that can forget what it learned.
pub(in super::super) trait Rehearsing: Trainer {
    /// What training changes.
    type State;
    fn job(&self) -> &TrainingJob;
    fn learned(&self) -> Self::State;
    /// Goes on with the step of this number.
    fn jump(&mut self, step: u64);
    /// Begins again, with the state that it had at the start.
    fn forget(&mut self, start: Self::State);
    /// What it took, and what it says of itself.
    fn notes(&mut self) -> (&mut Preparation, &mut Vec<String>);
}

/// Uses everything for the first time, and forgets what was learned: one step and one test where Burn compiles; where it also
/// tunes, batches of the other sizes as well, and then steps until they no longer get faster.
pub(in super::super) async fn warm_up(
    trainer: &mut impl Rehearsing,
    first_use: FirstUse,
    clock: &dyn Clock,
) -> Result<(), EngineError> {
    if first_use == FirstUse::Ordinary {
        return Ok(());
    }
    let start = trainer.learned();
    let begin = clock.now_seconds();
    trainer.train_steps(1).await?;
    let samples = trainer.job().data.test.samples().min(test_batch(trainer.job()));
    trainer.evaluate(EvaluationSet::Test, samples).await?;
    if first_use == FirstUse::CompilesAndTunes {
        use_other_sizes(trainer).await?;
        let settling = settle(trainer, clock).await?;
        let (preparation, settings) = trainer.notes();
        settings.push(settling.setting());
        preparation.unsettled_after_steps = (!settling.settled).then_some(settling.steps);
        // Kernels are timed as they are compiled, most of them in the very first step.
        preparation.tuning_seconds = Some(clock.now_seconds() - begin);
    } else {
        trainer.notes().0.compiling_seconds = Some(clock.now_seconds() - begin);
    }
    trainer.forget(start);
    Ok(())
}

/// The last batches of an epoch and of a test may be short, and other kernels may be the fastest for them.
async fn use_other_sizes(trainer: &mut impl Rehearsing) -> Result<(), EngineError> {
    let batches = trainer.job().batches;
    let last = batches.steps_of_epochs(1).saturating_sub(1);
    if batches.step(last).count != batches.batch_size {
        trainer.jump(last);
        trainer.train_steps(1).await?;
    }
    let (samples, batch) = (trainer.job().data.test.samples(), test_batch(trainer.job()));
    if samples > batch && !samples.is_multiple_of(batch) {
        trainer.evaluate(EvaluationSet::Test, batch + samples % batch).await?;
    }
    trainer.jump(0);
    Ok(())
}

/// Trains until the time of a step has settled, or that has taken too long.
async fn settle(trainer: &mut impl Rehearsing, clock: &dyn Clock) -> Result<Settling, EngineError> {
    let start = clock.now_seconds();
    let mut seconds = Vec::new();
    loop {
        let begin = clock.now_seconds();
        trainer.train_steps(1).await?;
        let end = clock.now_seconds();
        seconds.push(end - begin);
        let settled = has_settled(&seconds);
        if settled || seconds.len() == MOST_STEPS || end - start >= MOST_SECONDS {
            return Ok(Settling { settled, steps: u32::try_from(seconds.len()).unwrap_or(u32::MAX) });
        }
    }
}

/// How the steps ended that were trained until their time settles.
#[derive(Clone, Copy)]
struct Settling {
    settled: bool,
    steps: u32,
}

impl Settling {
    /// For the record.
    fn setting(self) -> String {
        let not = if self.settled { "" } else { "not " };
        format!("burn tuning: {not}settled after {} steps", self.steps)
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
    fn the_setting_says_whether_the_time_of_a_step_had_settled() {
        let setting = |settled| Settling { settled, steps: 5 }.setting();
        assert_eq!(setting(true), "burn tuning: settled after 5 steps");
        assert_eq!(setting(false), "burn tuning: not settled after 5 steps");
    }

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
