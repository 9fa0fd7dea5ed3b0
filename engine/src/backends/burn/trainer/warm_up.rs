//! Warm-up of a trainer as it is built, so that training time excludes compiling and tuning.

use super::BurnTrainer;
use crate::backends::burn::FirstUse;
use crate::clock::Clock;
use crate::error::Result;
use crate::trainer::{EvaluationSet, Trainer, TrainerFacts, TrainingJob};

/// Number of consecutive steps that must be about as fast as the fastest step.
const AGREEING_STEPS: usize = 3;
/// Largest ratio to the fastest step. Better kernels differ by more.
const MAX_STEP_RATIO: f64 = 1.1;
/// Limits of tuning. Beyond them, training begins even if step times have not settled.
const MAX_STEPS: usize = 64;
const MAX_SECONDS: f64 = 60.0;

/// Runs one step and one test if Burn compiles, and discards the results. If Burn also tunes, runs batches of the other
/// sizes too, and then steps until they no longer get faster. Returns the times and the result of tuning.
pub(crate) async fn warm_up(
    trainer: &mut (impl Trainer + AsMut<[BurnTrainer]>),
    job: &TrainingJob,
    first_use: FirstUse,
    clock: &dyn Clock,
) -> Result<TrainerFacts> {
    let mut facts = TrainerFacts::default();
    if first_use == FirstUse::Ordinary {
        return Ok(facts);
    }
    let start: Vec<_> = trainer.as_mut().iter().map(|replica| replica.state.clone()).collect();
    let begin = clock.now_seconds();
    trainer.train_steps(1).await?;
    trainer.evaluate(EvaluationSet::Test, job.data.test.samples().min(job.test_batch())).await?;
    if first_use == FirstUse::CompilesAndTunes {
        use_other_sizes(trainer, job).await?;
        let (settled, steps) = settle(trainer, clock).await?;
        let not = if settled { "" } else { "not " };
        facts.variants.push(format!("burn tuning: {not}settled after {steps} steps"));
        facts.unsettled_after_steps = (!settled).then_some(steps);
        // Burn times kernels as it compiles them, mostly in the first step.
        facts.tuning_seconds = Some(clock.now_seconds() - begin);
    } else {
        facts.compiling_seconds = Some(clock.now_seconds() - begin);
    }
    for (replica, start) in trainer.as_mut().iter_mut().zip(start) {
        replica.state = start;
        replica.gradients.fill(None);
        (replica.step, replica.logits) = (0, None);
    }
    Ok(facts)
}

/// Runs the short last batches of an epoch and a test, which may need other kernels.
async fn use_other_sizes(trainer: &mut (impl Trainer + AsMut<[BurnTrainer]>), job: &TrainingJob) -> Result<()> {
    let last = job.batches.steps_of_epochs(1).saturating_sub(1);
    if job.batches.step(last).count != job.batches.batch_size {
        trainer.as_mut().iter_mut().for_each(|replica| replica.step = last);
        trainer.train_steps(1).await?;
    }
    let (samples, batch) = (job.data.test.samples(), job.test_batch());
    if samples > batch && !samples.is_multiple_of(batch) {
        trainer.evaluate(EvaluationSet::Test, batch + samples % batch).await?;
    }
    trainer.as_mut().iter_mut().for_each(|replica| replica.step = 0);
    Ok(())
}

/// Trains until the step time settles, up to a limit. Returns true if it settled, and the number of steps.
async fn settle(trainer: &mut impl Trainer, clock: &dyn Clock) -> Result<(bool, u32)> {
    let start = clock.now_seconds();
    let mut seconds = Vec::new();
    loop {
        let begin = clock.now_seconds();
        trainer.train_steps(1).await?;
        let end = clock.now_seconds();
        seconds.push(end - begin);
        let settled = has_settled(&seconds);
        if settled || seconds.len() == MAX_STEPS || end - start >= MAX_SECONDS {
            return Ok((settled, u32::try_from(seconds.len()).unwrap_or(u32::MAX)));
        }
    }
}

/// Returns true if the last steps took about as long as the fastest step.
fn has_settled(seconds: &[f64]) -> bool {
    let fastest = seconds.iter().copied().fold(f64::INFINITY, f64::min);
    let last = seconds.last_chunk::<AGREEING_STEPS>();
    last.is_some_and(|last| last.iter().all(|&step| step <= MAX_STEP_RATIO * fastest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tuning_settles_when_steps_agree_with_the_fastest() {
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
