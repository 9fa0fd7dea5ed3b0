//! What of a run is computed again, and how far it may be off.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use engine::{CurveOfNetwork, EngineError, ExaminedWeights, Examiner, PointOfCurve, Standard};
use results::{Checkpoint, Evaluation, Outcome, Precision, RunRecord, Settings, WorkloadRecord};

use super::Tools;
use crate::storage::StorageError;

/// So many operations may be spent on the first steps of a network, and at least the loss of the first one is computed …
const FLOPS_OF_FIRST_STEPS: u64 = 40_000_000_000;
/// … of which there are so many at most: rounding grows from step to step, and the first ones tell seeds apart.
const FIRST_STEPS: u64 = 5;
/// Test samples that are classified again, where that takes no more than these operations.
const TEST_SAMPLES: u64 = 512;
const FLOPS_OF_TEST: u64 = 20_000_000_000;
/// Largest [`surprise`] at the accuracy on them: 5²/2, which is five standard deviations of a normal distribution. At
/// most e^-12.5 of honest runs, four in a million, exceed it on each side.
const MOST_SURPRISE: f64 = 12.5;

/// How many times lower or higher a loss may be than those of the runs that were measured.
const LOSS_SPREAD: f64 = 3.0;
/// Losses below this say little.
const SMALLEST_LOSS: f64 = 1e-3;
/// Share that must be left of the least lineage of the runs that were measured.
const LINEAGE_SHARE: f64 = 0.7;
/// Of weights that began at random elsewhere it is far below this.
const LEAST_LINEAGE: f64 = 0.05;

/// The weights that were shown of a workload, in base64, and their step.
type Shown = Option<(u64, String)>;

/// One run that is computed again in parts.
pub(super) struct Examination<'a> {
    pub(super) tools: &'a Tools,
    pub(super) run_id: &'a str,
    pub(super) record: &'a RunRecord,
    pub(super) shown: &'a dyn Fn(&str) -> Result<Shown, StorageError>,
    /// Whether the server stops.
    pub(super) stops: &'a dyn Fn() -> bool,
}

/// What was found.
pub(super) enum Found {
    Proof,
    /// Sentences.
    Doubts(Vec<String>),
    /// The run could not be computed again here, with the reason as a sentence.
    Nothing(String),
    Interrupted,
}

/// What a workload's checks have in common.
struct Subject<'a> {
    record: &'a WorkloadRecord,
    examiner: Examiner,
    tolerance: Tolerance,
    doubts: Vec<String>,
}

/// How far losses may be from those of the plain loops, relative to them.
#[derive(Clone, Copy)]
struct Tolerance {
    /// Of a loss that is computed from the same weights.
    of_loss: f64,
    /// Of the first losses of a training: each step multiplies what is off.
    of_first: f64,
    growth: f64,
    /// Share that the way of weights from their start must be of what was measured, and the other way round.
    of_drift: f64,
}

impl Tolerance {
    fn of(precision: Precision) -> Self {
        match precision {
            Precision::F32 | Precision::F64 => Self { of_loss: 1e-3, of_first: 1e-3, growth: 1.5, of_drift: 0.85 },
            Precision::F16 | Precision::F16Matrix => Self { of_loss: 0.02, of_first: 0.01, growth: 1.5, of_drift: 0.7 },
        }
    }
}

impl Examination<'_> {
    pub(super) fn perform(&self) -> Result<Found, StorageError> {
        let Some(suite) = engine::suite(&self.record.suite.name) else {
            return Ok(Found::Nothing("This leaderboard no longer knows the suite.".to_owned()));
        };
        let is_completed = |of: &&WorkloadRecord| of.outcome == Outcome::Completed;
        let mut workloads: Vec<&WorkloadRecord> = self.record.workloads.iter().filter(is_completed).collect();
        // The cheapest first, and none after one that is doubted: to refuse a fake takes little time.
        let flops_of_step = |of: &Settings| of.training_flops_per_sample.saturating_mul(of.batch_size.into());
        workloads.sort_by_key(|of| flops_of_step(&of.settings));
        for of in workloads {
            if (self.stops)() {
                return Ok(Found::Interrupted);
            }
            let Some(known) = Standard::of(suite, &of.workload, self.record.seed) else { continue };
            let samples = match self.tools.samples.of(known.workload.data_set) {
                Ok(samples) => samples,
                Err(reason) => {
                    let sentence = format!("This leaderboard cannot compute {} again: {reason}.", of.workload);
                    return Ok(Found::Nothing(sentence));
                }
            };
            let mut subject = Subject {
                record: of,
                examiner: Examiner::new(&known, samples, self.record.seed),
                tolerance: Tolerance::of(of.settings.precision),
                doubts: Vec::new(),
            };
            let shown = (self.shown)(&of.workload)?;
            if let Err(error) = subject.examine(self, shown.as_ref()) {
                let sentence = format!("This leaderboard cannot compute {} again: {error}.", of.workload);
                return Ok(Found::Nothing(sentence));
            }
            if !subject.doubts.is_empty() {
                let doubts = subject.doubts.iter().map(|doubt| format!("{}: {doubt}.", of.workload));
                return Ok(Found::Doubts(doubts.collect()));
            }
        }
        Ok(Found::Proof)
    }
}

impl Subject<'_> {
    fn examine(&mut self, of: &Examination<'_>, shown: Option<&(u64, String)>) -> Result<(), EngineError> {
        self.examine_first_steps()?;
        let Some((step, weights)) = shown else { return Ok(()) };
        let bytes = STANDARD.decode(weights).unwrap_or_default();
        let Some(weights) = self.examiner.read(&bytes)? else {
            self.doubts.push(format!("what was shown of step {step} are no weights of this network"));
            return Ok(());
        };
        self.examine_lineage(*step, &weights)?;
        self.examine_next_loss(*step, &weights)?;
        self.examine_convergence(*step, &weights)?;
        self.examine_accuracy(of, *step, &weights)
    }

    /// The first steps, from the seed.
    fn examine_first_steps(&mut self) -> Result<(), EngineError> {
        let further = FLOPS_OF_FIRST_STEPS.saturating_sub(self.examiner.flops_of_loss()?);
        let affordable = 1 + further / self.examiner.flops_of_step()?.max(1);
        let steps = affordable.min(FIRST_STEPS).min(self.record.first_losses.len() as u64);
        let found = self.examiner.first_losses(u32::try_from(steps).unwrap_or_default())?;
        let mut tolerance = self.tolerance.of_first;
        for (number, (found, &told)) in (1..).zip(found.iter().zip(&self.record.first_losses)) {
            if !is_close(f64::from(told), *found, tolerance) {
                self.doubts.push(format!(
                    "from its seed, step {number} has a loss of {found:.5}, and the record says {told:.5}"
                ));
                break;
            }
            tolerance *= self.tolerance.growth;
        }
        Ok(())
    }

    /// Weights keep much of what they began with, and are as far from it as so many steps take them.
    fn examine_lineage(&mut self, step: u64, weights: &ExaminedWeights) -> Result<(), EngineError> {
        let found = self.examiner.lineage(weights)?;
        let curve = CurveOfNetwork::of(&self.record.workload);
        let expected = curve.map_or(Expected::TooEarly, |curve| Expected::of(curve, step));
        let least = match &expected {
            // Beyond what was measured it goes on falling.
            Expected::Measured(point) => (LINEAGE_SHARE * point.lowest_lineage).max(LEAST_LINEAGE),
            Expected::Beyond(_) | Expected::TooEarly => LEAST_LINEAGE,
        };
        if found < least {
            self.doubts.push(format!(
                "the weights of step {step} did not grow out of this seed's: {:.1} % are left of them",
                100.0 * found.max(0.0)
            ));
            return Ok(());
        }
        let drifts =
            |point| curve.map_or((0.0, 1.0), |curve| curve.drifts(point, self.tolerance.of_drift).into_inner());
        let (least, most) = match &expected {
            Expected::Measured(point) => drifts(point),
            Expected::Beyond(point) => (drifts(point).0, 1.0),
            Expected::TooEarly => return Ok(()),
        };
        let drift = 1.0 - found;
        if !(least..=most).contains(&drift) {
            self.doubts.push(format!(
                "the weights of step {step} are not those of so many steps: they are {:.3} % away from where they began, and \
                 {:.3} to {:.3} % is how far such networks come",
                100.0 * drift,
                100.0 * least,
                100.0 * most.min(1.0)
            ));
        }
        Ok(())
    }

    /// The loss of the batch that followed.
    fn examine_next_loss(&mut self, step: u64, weights: &ExaminedWeights) -> Result<(), EngineError> {
        let Some(told) = self.checkpoint(step).and_then(|checkpoint| checkpoint.next_loss) else {
            self.doubts.push(format!("the record does not say the loss of the batch after step {step}"));
            return Ok(());
        };
        let found = self.examiner.next_loss(weights, step)?;
        if !is_close(told, found, self.tolerance.of_loss) {
            self.doubts.push(format!(
                "with the weights of step {step} the next batch has a loss of {found:.5}, and the record says {told:.5}"
            ));
        }
        Ok(())
    }

    /// The network has learned as much as one learns in so many steps, neither much less nor much more.
    fn examine_convergence(&mut self, step: u64, weights: &ExaminedWeights) -> Result<(), EngineError> {
        let Some(curve) = CurveOfNetwork::of(&self.record.workload) else { return Ok(()) };
        let (point, lowest) = match Expected::of(curve, step) {
            Expected::Measured(point) => (point, point.lowest_loss / LOSS_SPREAD - SMALLEST_LOSS),
            // Losses go on falling.
            Expected::Beyond(point) => (point, 0.0),
            Expected::TooEarly => return Ok(()),
        };
        if !curve.is_settled(point.step) {
            return Ok(());
        }
        let highest = point.highest_loss.max(SMALLEST_LOSS) * LOSS_SPREAD;
        let loss = self.examiner.training_loss(weights, curve.samples)?;
        let (how, bound) = if loss > highest {
            ("slowly", highest)
        } else if loss < lowest {
            ("fast", lowest)
        } else {
            return Ok(());
        };
        self.doubts.push(format!(
            "no network of this kind learns so {how}: training samples have a loss of {loss:.4} after {step} steps, and \
             {bound:.4} is the limit"
        ));
        Ok(())
    }

    /// Test samples that nobody can know beforehand.
    fn examine_accuracy(
        &mut self,
        of: &Examination<'_>,
        step: u64,
        weights: &ExaminedWeights,
    ) -> Result<(), EngineError> {
        let Some(claimed) = self.evaluation(step) else { return Ok(()) };
        let affordable = FLOPS_OF_TEST / self.examiner.flops_of_test()?.max(1);
        let count = affordable.clamp(16, TEST_SAMPLES);
        if !self.examiner.tests_trained_weights() {
            return Ok(());
        }
        let (test_samples, accuracy) = (self.record.settings.test_samples, claimed.accuracy);
        let pick = |i: u64| {
            let parts = [b"sample".as_slice(), of.run_id.as_bytes(), self.record.workload.as_bytes(), &i.to_le_bytes()];
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to below the count")]
            let sample = (of.tools.key.draw(&parts) * f64::from(test_samples)) as u32;
            sample
        };
        let samples: Vec<u32> = (0..count).map(pick).collect();
        let found = self.examiner.test(weights, &samples)?.accuracy();
        if surprise(found, accuracy, count) > MOST_SURPRISE {
            self.doubts.push(format!(
                "of {count} test samples the weights of step {step} classify {:.1} % rightly, and the record says {:.1} %",
                100.0 * found,
                100.0 * accuracy
            ));
        }
        Ok(())
    }

    fn checkpoint(&self, step: u64) -> Option<&Checkpoint> {
        self.record.checkpoints.iter().rev().find(|checkpoint| checkpoint.step == step)
    }

    fn evaluation(&self, step: u64) -> Option<&Evaluation> {
        self.record.evaluations.iter().find(|evaluation| evaluation.step == step)
    }
}

/// What is known of a network after so many steps.
enum Expected {
    Measured(PointOfCurve),
    /// More steps than were measured, and the last of these.
    Beyond(PointOfCurve),
    TooEarly,
}

impl Expected {
    fn of(curve: &CurveOfNetwork, step: u64) -> Self {
        let beyond = || curve.last().filter(|last| last.step < step).map(|&last| Self::Beyond(last));
        curve.at(step).map(Self::Measured).or_else(beyond).unwrap_or(Self::TooEarly)
    }
}

/// Whether `told` is no farther from `found` than a share of it; of losses near zero that share is of [`SMALLEST_LOSS`]
/// times fifty.
fn is_close(told: f64, found: f64, share: f64) -> bool {
    (told - found).abs() <= share * found.abs().max(50.0 * SMALLEST_LOSS)
}

/// Returns `count` · KL(`found` ‖ `claimed`). If each of `count` samples is correct with probability `claimed`, an accuracy
/// of `found` or farther off on the same side has at most the probability e^-surprise (Hoeffding, "Probability inequalities
/// for sums of bounded random variables", 1963, theorem 1).
///
/// A claim always leaves room for one wrong and one correct sample: arithmetic in another order may classify a sample near a
/// tie differently.
fn surprise(found: f64, claimed: f64, count: u64) -> f64 {
    let count = count as f64;
    let claimed = claimed.clamp(1.0 / count, 1.0 - 1.0 / count);
    let part = |found: f64, claimed: f64| if found > 0.0 { found * (found / claimed).ln() } else { 0.0 };
    count * (part(found, claimed) + part(1.0 - found, 1.0 - claimed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_many_samples_may_be_five_deviations_off() {
        let deviation = 0.5 / 512_f64.sqrt();
        for side in [-1.0, 1.0] {
            let surprise_at = |deviations: f64| surprise(0.5 + side * deviations * deviation, 0.5, 512);
            assert!((surprise_at(5.0) - MOST_SURPRISE).abs() < 0.01 * MOST_SURPRISE, "{}", surprise_at(5.0));
            assert_eq!(surprise_at(0.0), 0.0);
        }
    }

    /// Probability that `right` of `count` samples are right, each with the probability `accuracy`.
    fn probability(right: u32, count: u32, accuracy: f64) -> f64 {
        let ways: f64 = (1..=right).map(|i| (f64::from(count - right + i) / f64::from(i)).ln()).sum();
        (ways + f64::from(right) * accuracy.ln() + f64::from(count - right) * (1.0 - accuracy).ln()).exp()
    }

    #[test]
    fn four_of_a_million_honest_runs_are_doubted_at_most() {
        for accuracy in [0.5, 0.9, 0.97, 0.99, 0.999] {
            for count in [16, 128, 512] {
                let (mut below, mut above, mut all) = (0.0, 0.0, 0.0);
                for right in 0..=count {
                    let found = f64::from(right) / f64::from(count);
                    let probability = probability(right, count, accuracy);
                    all += probability;
                    if surprise(found, accuracy, count.into()) > MOST_SURPRISE {
                        *(if found < accuracy { &mut below } else { &mut above }) += probability;
                    }
                }
                assert!((all - 1.0_f64).abs() < 1e-9, "{all}");
                assert!(below < 4e-6 && above < 4e-6, "{accuracy} of {count}: {below} and {above}");
            }
        }
    }

    #[test]
    fn claims_that_are_much_better_or_worse_are_doubted() {
        for (found, claimed) in [(0.90, 0.98), (0.98, 0.90), (0.98, 1.0), (0.0, 1.0), (1.0, 0.0)] {
            assert!(surprise(found, claimed, 512) > MOST_SURPRISE, "{found} and {claimed}");
        }
        for (found, claimed) in [(1.0, 1.0), (0.0, 0.0), (511.0 / 512.0, 1.0), (0.97, 0.98)] {
            assert!(surprise(found, claimed, 512) < MOST_SURPRISE, "{found} and {claimed}");
        }
    }
}
