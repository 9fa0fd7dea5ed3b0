//! Parts of a run to recompute, and tolerances of their differences.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use engine::{EngineError, Examiner, MAX_TEST_FLOPS, ProofObstacle, Segments, Standard, TestedState, segment_seed};
use results::api::PartHashes;
use results::statistics::{student_bound, variance};
use results::{Evaluation, Goal, Outcome, Precision, Settings, StateBytes, WorkloadRecord};

use super::Tools;
use crate::proof::{SeenWorkload, draws};
use crate::storage::{MeasuredResult, StorageError, Verification};

/// Largest number of operations for the first steps of a network. The loss of the first step is always computed.
const MAX_FIRST_STEPS_FLOPS: u64 = 40_000_000_000;
/// Largest number of steps from the seed. Rounding grows with each step; these suffice to distinguish seeds.
const MAX_FIRST_STEPS: u64 = 5;
/// Smallest number of random samples that are tested if the whole test set takes more than [`MAX_TEST_FLOPS`].
const MIN_TEST_SAMPLES: u64 = 16;
/// Smallest denominator of a loss's relative difference.
const MIN_LOSS: f64 = 0.05;
/// Number of tolerances above which a state's difference flags the run. From one to this number nothing is proven.
const MAX_TOLERANCES: f64 = 3.0;
/// Largest relative difference of a state that is shown; larger ones are shown as this number.
const MAX_SHOWN_DIFFERENCE: f64 = 10.0;

pub(super) struct Examination<'a> {
    pub(super) tools: &'a Tools,
    pub(super) run: &'a Verification,
    /// History of the run's training; absent if only the first losses can be recomputed.
    pub(super) seen: Option<&'a [SeenWorkload]>,
    /// Returns true if the server is stopping.
    pub(super) stops: &'a dyn Fn() -> bool,
}

pub(super) enum Examined {
    /// The run is proven, with the results of the tested workloads.
    Proof(Vec<MeasuredResult>),
    Doubt(String),
    /// The run is neither proven nor flagged, with the reason as a sentence.
    Nothing(String),
    /// Verifications of the run crashed too often.
    GivenUp,
}

/// Reason why the examination of a workload ends early, as a part of a sentence.
enum EarlyEnd {
    Doubt(String),
    Unproven(String),
    /// It lacks something that is needed for a recomputation.
    Missing(String),
    Interrupted,
    Storage(StorageError),
}

impl From<EngineError> for EarlyEnd {
    fn from(cause: EngineError) -> Self {
        Self::Missing(cause.to_string())
    }
}

impl From<StorageError> for EarlyEnd {
    fn from(cause: StorageError) -> Self {
        Self::Storage(cause)
    }
}

fn unseen() -> EarlyEnd {
    EarlyEnd::Missing("it received no segments of its training".to_owned())
}

/// Tolerances for differences between a run and the plain loops.
#[derive(Clone, Copy)]
struct Tolerance {
    /// Relative tolerance of the first loss. Each step multiplies it …
    of_first_loss: f64,
    /// … by this factor.
    growth: f64,
    /// Relative tolerance of a loss in a part.
    of_loss: f64,
    /// Tolerance of a state, relative to its change during the part.
    of_part: f64,
    /// Tolerance of the accuracy on the whole test set. A sample near a tie may be classified differently …
    of_accuracy: f64,
    /// … and the smaller tolerance of the target, because such differences mostly cancel out.
    of_target: f64,
    /// Relative tolerance of the loss on the test set …
    of_test_loss: f64,
    /// … and the smaller one of a target loss.
    of_target_loss: f64,
}

impl Tolerance {
    fn of(precision: Precision) -> Self {
        match precision {
            Precision::F32 | Precision::F64 => Self {
                of_first_loss: 1e-3,
                growth: 1.5,
                of_loss: 1e-4,
                of_part: 0.003,
                of_accuracy: 0.002,
                of_target: 0.0005,
                of_test_loss: 1e-3,
                of_target_loss: 1e-4,
            },
            Precision::F16 | Precision::F16Matrix => Self {
                of_first_loss: 0.01,
                growth: 1.5,
                of_loss: 0.02,
                of_part: 0.25,
                of_accuracy: 0.005,
                of_target: 0.002,
                of_test_loss: 0.01,
                of_target_loss: 1e-3,
            },
        }
    }
}

impl Examination<'_> {
    /// Returns `None` if the server is stopping.
    pub(super) fn perform(&self) -> Result<Option<Examined>, StorageError> {
        let Some(suite) = engine::suite(&self.run.record.suite.name) else {
            return Ok(Some(Examined::Nothing("This leaderboard no longer has the suite.".to_owned())));
        };
        let is_completed = |of: &&WorkloadRecord| of.outcome == Outcome::Completed;
        let mut workloads: Vec<&WorkloadRecord> = self.run.record.workloads.iter().filter(is_completed).collect();
        // Cheapest workload first, and none after the first doubt, so that a fake is refused quickly.
        let flops_of_step = |of: &Settings| of.training_flops_per_sample.saturating_mul(of.batch_size.into());
        workloads.sort_by_key(|of| flops_of_step(&of.settings));
        let mut measured = Vec::new();
        for of in workloads {
            let Some(known) = Standard::of_record(suite, of) else { continue };
            // A single batch of such a network would need gigabytes.
            if known.workload.proof_obstacle() == Some(ProofObstacle::LargeStates) {
                continue;
            }
            let name = &of.workload;
            let end = match self.subject(of, &known).and_then(|subject| subject.examine()) {
                Ok(tested) => {
                    measured.extend(tested.map(|Tested { accuracy, loss, .. }| MeasuredResult {
                        workload: name.clone(),
                        accuracy,
                        loss,
                    }));
                    continue;
                }
                Err(EarlyEnd::Doubt(doubt)) => Examined::Doubt(format!("{name}: {doubt}.")),
                Err(EarlyEnd::Unproven(reason)) => Examined::Nothing(format!("{name}: {reason}.")),
                Err(EarlyEnd::Missing(reason)) => {
                    Examined::Nothing(format!("This leaderboard cannot recompute {name}: {reason}."))
                }
                Err(EarlyEnd::Interrupted) => return Ok(None),
                Err(EarlyEnd::Storage(cause)) => return Err(cause),
            };
            return Ok(Some(end));
        }
        Ok(Some(Examined::Proof(measured)))
    }

    fn subject<'a>(&'a self, record: &'a WorkloadRecord, known: &Standard) -> Result<Subject<'a>, EarlyEnd> {
        let seed = self.run.record.requested.seed;
        let samples = self.tools.samples.of(known.workload.data_set).map_err(EarlyEnd::Missing)?;
        let of_workload = |seen: &&SeenWorkload| seen.workload == record.workload;
        let seen = self.seen.filter(|_| known.workload.is_provable());
        let seen = seen.map(|all| all.iter().find(of_workload).ok_or_else(unseen)).transpose()?;
        let mut segments = Segments::default();
        let mut first_step = 0;
        for (segment, window) in record.segments.iter().zip(&record.windows) {
            segments.begin(first_step, segment_seed(segment.beacon, seed));
            first_step += u64::from(window.steps);
        }
        let examiner = Examiner::new(known, samples, seed).with_segments(segments);
        Ok(Subject { of: self, record, seen, examiner, tolerance: Tolerance::of(record.settings.precision) })
    }
}

struct Subject<'a> {
    of: &'a Examination<'a>,
    record: &'a WorkloadRecord,
    seen: Option<&'a SeenWorkload>,
    examiner: Examiner,
    tolerance: Tolerance,
}

impl Subject<'_> {
    /// Returns the result of the last tested state, or `None` if only the first losses can be recomputed.
    fn examine(&self) -> Result<Option<Tested>, EarlyEnd> {
        let Some(seen) = self.seen else {
            self.examine_first_steps()?;
            return Ok(None);
        };
        self.examine_laps(seen)?;
        self.examine_first_steps()?;
        for part in draws::parts(seen).ok_or_else(unseen)? {
            self.go_on()?;
            self.examine_part(seen, part)?;
        }
        // An honest run continues training after its last test, to measure the throughput.
        let last = seen.proof.as_ref().ok_or_else(unseen)?.tested_step;
        let tested = self.examine_test(seen, last)?;
        let target = self.record.target.and_then(|target| Some((target.goal, target.reached_step?)));
        if let Some((goal, step)) = target {
            let tested = if step == last { tested } else { self.examine_test(seen, step)? };
            self.examine_target(goal, step, &tested)?;
        }
        Ok(Some(tested))
    }

    /// Checks that each lap begins with the seed's state or the final state of the previous one.
    fn examine_laps(&self, seen: &SeenWorkload) -> Result<(), EarlyEnd> {
        if seen.hash_at(0) != Some(&self.examiner.initial_state_sha256()?) {
            return Err(EarlyEnd::Doubt("training did not start from the weights of this seed".to_owned()));
        }
        for lap in &seen.laps {
            let before = (lap.first_segment as usize).checked_sub(1).and_then(|before| seen.segments.get(before));
            if let Some(before) = before.filter(|before| before.state_sha256 != lap.state_sha256) {
                let reason = format!("training continued after step {} from another state", before.step);
                return Err(EarlyEnd::Doubt(reason));
            }
        }
        Ok(())
    }

    fn examine_first_steps(&self) -> Result<(), EarlyEnd> {
        self.go_on()?;
        let further = MAX_FIRST_STEPS_FLOPS.saturating_sub(self.examiner.flops_of_loss()?);
        let affordable = 1 + further / self.examiner.flops_of_step()?.max(1);
        let steps = affordable.min(MAX_FIRST_STEPS).min(self.record.first_losses.len() as u64);
        let found = self.examiner.first_losses(u32::try_from(steps).unwrap_or_default())?;
        let mut tolerance = self.tolerance.of_first_loss;
        for (number, (found, &told)) in (1..).zip(found.iter().zip(&self.record.first_losses)) {
            if !is_close(told, *found, tolerance) {
                return Err(EarlyEnd::Doubt(format!(
                    "recomputed from its seed, step {number} has a loss of {found:.5}, but the record has {told:.5}"
                )));
            }
            tolerance *= self.tolerance.growth;
        }
        Ok(())
    }

    fn examine_part(&self, seen: &SeenWorkload, [begin, end]: [u64; 2]) -> Result<(), EarlyEnd> {
        let (before, told) = (self.load(seen, begin)?, self.load(seen, end)?);
        let found = self.examiner.train_part(&before, [begin, end])?.ok_or_else(|| unreadable(begin))?;
        let of_segment = |of: &&PartHashes| !of.losses.is_empty() && (of.steps[0]..of.steps[1]).contains(&begin);
        let segment = seen.hashes.iter().find(of_segment).ok_or_else(unseen)?;
        let first = usize::try_from(begin - segment.steps[0]).unwrap_or(usize::MAX);
        let told_losses = segment.losses.get(first..).ok_or_else(unseen)?;
        for (step, (found, &told)) in (begin..).zip(found.losses.iter().zip(told_losses)) {
            if !is_close(told, *found, self.tolerance.of_loss) {
                return Err(EarlyEnd::Doubt(format!(
                    "recomputed from step {begin}, step {} has a loss of {found:.5}, but the commitment has {told:.5}",
                    step + 1
                )));
            }
        }
        let difference = self.examiner.difference(&before, &found.state, &told)?.ok_or_else(|| unreadable(end))?;
        let allowed = self.tolerance.of_part;
        if difference <= allowed {
            return Ok(());
        }
        let reason = format!(
            "recomputed from step {begin} to {end}, the state differs by {:.1} % of its change (allowed: {:.1} %)",
            100.0 * difference.min(MAX_SHOWN_DIFFERENCE),
            100.0 * allowed
        );
        Err(if difference > MAX_TOLERANCES * allowed { EarlyEnd::Doubt(reason) } else { EarlyEnd::Unproven(reason) })
    }

    /// Tests the state after a step and compares accuracy and loss with the record's.
    fn examine_test(&self, seen: &SeenWorkload, step: u64) -> Result<Tested, EarlyEnd> {
        self.go_on()?;
        let evaluations = &self.record.evaluations;
        let claimed = evaluations
            .iter()
            .find(|evaluation| evaluation.step == step)
            .ok_or_else(|| EarlyEnd::Doubt(format!("the record has no accuracy after step {step}")))?;
        let affordable = MAX_TEST_FLOPS / self.examiner.flops_of_test()?.max(1);
        let all = self.record.settings.test_samples;
        let is_whole = affordable >= u64::from(all);
        let count = if is_whole { u64::from(all) } else { affordable.max(MIN_TEST_SAMPLES) };
        let samples: Vec<u32> =
            if is_whole { (0..all).collect() } else { (0..count).map(|i| self.random_sample(i)).collect() };
        let state = self.load(seen, step)?;
        let found = self.examiner.test(&state, step, &samples)?.ok_or_else(|| unreadable(step))?;
        let tested = Tested::new(&found, is_whole);
        let of_loss = matches!(self.record.target.map(|target| target.goal), Some(Goal::Loss(_)));
        match tested.doubt(claimed, &self.tolerance, of_loss) {
            Some(doubt) => Err(EarlyEnd::Doubt(format!("the weights of step {step} {doubt}"))),
            None => Ok(tested),
        }
    }

    /// Checks that the state after a step reaches the target, with room for the error of random samples.
    fn examine_target(&self, goal: Goal, step: u64, tested: &Tested) -> Result<(), EarlyEnd> {
        let Some(miss) = tested.miss(goal, &self.tolerance) else { return Ok(()) };
        let reason = format!("the weights of step {step} {miss}");
        Err(if tested.is_whole { EarlyEnd::Doubt(reason) } else { EarlyEnd::Unproven(reason) })
    }

    /// Draws a test sample that a client cannot predict.
    fn random_sample(&self, i: u64) -> u32 {
        let names = [&self.of.run.run_id, &self.record.workload].map(|name| name.as_bytes());
        let parts = [b"sample".as_slice(), names[0], names[1], &i.to_le_bytes()];
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to below the count")]
        let sample = (self.of.tools.key.draw(&parts) * f64::from(self.record.settings.test_samples)) as u32;
        sample
    }

    /// Loads a received state. Its memory may be only a hash.
    fn load(&self, seen: &SeenWorkload, step: u64) -> Result<StateBytes, EarlyEnd> {
        let gone = || EarlyEnd::Missing(format!("the state after step {step} is gone"));
        let Examination { tools, run, .. } = self.of;
        let state = tools.runtime.block_on(tools.storage.state(&run.run_id, &self.record.workload, step))?;
        let (weights_only, text) = state.ok_or_else(gone)?;
        let mut weights = STANDARD.decode(text).unwrap_or_default();
        let memory = weights.split_off(self.examiner.bytes_of_weights()?.min(weights.len()));
        let state = StateBytes { weights, memory };
        let sha256 = match weights_only {
            true => StateBytes::joined_sha256(&state.weights, &state.memory),
            false => state.sha256(),
        };
        if seen.hash_at(step) != Some(&sha256) {
            return Err(unreadable(step));
        }
        Ok(state)
    }

    fn go_on(&self) -> Result<(), EarlyEnd> {
        if (self.of.stops)() { Err(EarlyEnd::Interrupted) } else { Ok(()) }
    }
}

/// Result of a state on the test set.
#[derive(Clone, Copy)]
struct Tested {
    accuracy: f64,
    loss: f64,
    /// Standard error of the loss. The whole test set has none.
    loss_error: f64,
    /// Number of tested samples. The characters of a text's window are one sample, because they depend on each other.
    count: u64,
    is_whole: bool,
}

impl Tested {
    fn new(found: &TestedState, is_whole: bool) -> Self {
        let TestedState { report, losses } = found;
        let error = (variance(losses).unwrap_or_default() / losses.len() as f64).sqrt();
        Self {
            accuracy: report.accuracy(),
            loss: report.loss,
            loss_error: if is_whole { 0.0 } else { error },
            count: losses.len() as u64,
            is_whole,
        }
    }

    /// Returns the difference from an evaluation of the record that no honest run has, as a part of a sentence. Losses
    /// on random samples are compared only if the target is a loss (`of_loss`): in other networks, few samples have
    /// most of the loss, so that its standard error is unknown.
    fn doubt(&self, claimed: &Evaluation, tolerance: &Tolerance, of_loss: bool) -> Option<String> {
        let Self { accuracy, loss, count, is_whole, .. } = *self;
        let is_other_accuracy = match is_whole {
            true => (accuracy - claimed.accuracy).abs() > tolerance.of_accuracy,
            false => surprise(accuracy, claimed.accuracy, count) > MAX_SURPRISE,
        };
        let allowed = tolerance.of_test_loss * loss.max(MIN_LOSS) + self.loss_deviation(LOSS_LEVEL);
        let is_other_loss = (is_whole || of_loss) && (loss.is_nan() || (loss - claimed.loss).abs() > allowed);
        let other = match () {
            () if is_other_accuracy => Goal::Accuracy(claimed.accuracy),
            () if is_other_loss => Goal::Loss(claimed.loss),
            () => return None,
        };
        let [found, claimed] = self.in_words(other);
        Some(format!("have {found}, but the record has {claimed}"))
    }

    /// Returns the difference from a goal that rounding and the error of random samples do not explain, as a part of a
    /// sentence.
    fn miss(&self, goal: Goal, tolerance: &Tolerance) -> Option<String> {
        let is_missed = match goal {
            Goal::Accuracy(target) if self.is_whole => target - self.accuracy > tolerance.of_target,
            Goal::Accuracy(target) => is_far_below(self.accuracy, target, self.count),
            Goal::Loss(target) => {
                let allowed = tolerance.of_target_loss * target + self.loss_deviation(TARGET_LEVEL);
                self.loss.is_nan() || self.loss - target > allowed
            }
        };
        let [found, target] = self.in_words(goal);
        is_missed.then(|| format!("have {found}, but the target is {target}"))
    }

    /// Formats the result of the same kind as `other`, and `other`.
    fn in_words(&self, other: Goal) -> [String; 2] {
        let Self { accuracy, loss, count, .. } = self;
        match other {
            Goal::Accuracy(other) => [
                format!("an accuracy of {:.2} % on {count} test samples", 100.0 * accuracy),
                format!("{:.2} %", 100.0 * other),
            ],
            Goal::Loss(other) => [format!("a loss of {loss:.5} on {count} test samples"), format!("{other:.5}")],
        }
    }

    /// Returns the largest deviation of the loss that random samples explain with this probability.
    fn loss_deviation(&self, level: f64) -> f64 {
        let degrees_of_freedom = u32::try_from(self.count).unwrap_or(u32::MAX).saturating_sub(1);
        if self.is_whole { 0.0 } else { student_bound(level, degrees_of_freedom) * self.loss_error }
    }
}

/// Probability that the loss of an honest run on random samples is within its tolerance. As with [`MAX_SURPRISE`], four
/// of a million exceed it on each side.
const LOSS_LEVEL: f64 = 1.0 - 8e-6;
/// Probability of three standard deviations, as with [`MAX_DEVIATIONS_BELOW`].
const TARGET_LEVEL: f64 = 0.9973;

fn is_close(told: f32, found: f64, share: f64) -> bool {
    (f64::from(told) - found).abs() <= share * found.abs().max(MIN_LOSS)
}

fn unreadable(step: u64) -> EarlyEnd {
    EarlyEnd::Doubt(format!("the data sent for step {step} is not a state of this network"))
}

/// Largest accepted [`surprise`]: 5²/2, five standard deviations. Four of a million honest runs exceed it on each side.
pub(super) const MAX_SURPRISE: f64 = 12.5;

/// Returns `count` · KL(`found` ‖ `claimed`). With the accuracy `claimed`, a result of `found` or farther off has at
/// most the probability e^-surprise (Hoeffding, 1963, theorem 1). Every claim leaves room for one wrong and one correct
/// sample, because samples near a tie may be classified differently.
pub(super) fn surprise(found: f64, claimed: f64, count: u64) -> f64 {
    let count = count as f64;
    let claimed = claimed.clamp(1.0 / count, 1.0 - 1.0 / count);
    let part = |found: f64, claimed: f64| if found > 0.0 { found * (found / claimed).ln() } else { 0.0 };
    count * (part(found, claimed) + part(1.0 - found, 1.0 - claimed))
}

/// Number of standard deviations by which the accuracy on random samples may be below the target.
const MAX_DEVIATIONS_BELOW: f64 = 3.0;

/// Returns true if the accuracy `found` on `count` random samples is far below `target`.
pub(super) fn is_far_below(found: f64, target: f64, count: u64) -> bool {
    target - found > MAX_DEVIATIONS_BELOW * (target * (1.0 - target) / count as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_deviations_below_the_target_are_far() {
        let deviation = (0.9 * 0.1 / 512_f64).sqrt();
        for (deviations, expected) in [(-5.0, false), (0.0, false), (2.9, false), (3.1, true)] {
            assert_eq!(is_far_below(0.9 - deviations * deviation, 0.9, 512), expected, "{deviations}");
        }
    }

    #[test]
    fn half_of_many_samples_may_be_five_deviations_off() {
        let deviation = 0.5 / 512_f64.sqrt();
        for side in [-1.0, 1.0] {
            let surprise_at = |deviations: f64| surprise(0.5 + side * deviations * deviation, 0.5, 512);
            assert!((surprise_at(5.0) - MAX_SURPRISE).abs() < 0.01 * MAX_SURPRISE, "{}", surprise_at(5.0));
            assert_eq!(surprise_at(0.0), 0.0);
        }
    }

    /// Returns the probability that exactly `right` of `count` samples are correct, each with probability `accuracy`.
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
                    if surprise(found, accuracy, count.into()) > MAX_SURPRISE {
                        *(if found < accuracy { &mut below } else { &mut above }) += probability;
                    }
                }
                assert!((all - 1.0_f64).abs() < 1e-9, "{all}");
                assert!(below < 4e-6 && above < 4e-6, "{accuracy} of {count}: {below} and {above}");
            }
        }
    }

    /// Returns the result of samples with these losses, half of whose answers are right.
    fn tested(losses: Vec<f64>, is_whole: bool) -> Tested {
        let loss = results::statistics::mean(&losses).unwrap();
        let report = engine::TestReport { loss, correct: 1, answers: 2, ..engine::TestReport::default() };
        Tested::new(&TestedState { report, losses }, is_whole)
    }

    fn claimed(loss: f64) -> Evaluation {
        Evaluation { step: 1, training_seconds: 1.0, seconds: 1.0, loss, accuracy: 0.5 }
    }

    #[test]
    fn loss_of_whole_test_set_may_differ_by_rounding() {
        let tested = tested(vec![1.8, 2.0], true);
        let doubts = |precision, loss| tested.doubt(&claimed(loss), &Tolerance::of(precision), true).is_some();
        for (share, of_f32, of_f16) in
            [(0.0, false, false), (0.0009, false, false), (0.002, true, false), (0.02, true, true)]
        {
            for loss in [1.9 * (1.0 + share), 1.9 * (1.0 - share)] {
                assert_eq!(doubts(Precision::F32, loss), of_f32, "{loss}");
                assert_eq!(doubts(Precision::F16, loss), of_f16, "{loss}");
            }
        }
        let misses = |target| tested.miss(Goal::Loss(target), &Tolerance::of(Precision::F32)).is_some();
        assert!(!misses(1.9) && !misses(1.8999) && misses(1.8995));
        let none = Tested { loss: f64::NAN, ..tested };
        assert!(none.miss(Goal::Loss(2.0), &Tolerance::of(Precision::F32)).is_some());
    }

    #[test]
    fn loss_of_random_samples_may_differ_by_their_error() {
        // 101 samples with a standard error of 0.02.
        let losses = (0..101).map(|i| 1.9 + 0.2 * f64::from(i % 2 * 2 - 1)).collect();
        let tested = tested(losses, false);
        let tolerance = Tolerance::of(Precision::F32);
        let doubts = |loss, of_loss| tested.doubt(&claimed(loss), &tolerance, of_loss).is_some();
        assert!(!doubts(1.9 + 0.08, true) && !doubts(1.9 - 0.08, true));
        assert!(doubts(1.9 + 0.12, true) && doubts(1.9 - 0.12, true));
        assert!(!doubts(1.7, false), "the target is an accuracy");
        let misses = |target| tested.miss(Goal::Loss(target), &tolerance).is_some();
        assert!(!misses(1.85) && misses(1.82));
    }

    #[test]
    fn claims_that_are_much_better_or_worse_are_doubted() {
        for (found, claimed) in [(0.90, 0.98), (0.98, 0.90), (0.98, 1.0), (0.0, 1.0), (1.0, 0.0)] {
            assert!(surprise(found, claimed, 512) > MAX_SURPRISE, "{found} and {claimed}");
        }
        for (found, claimed) in [(1.0, 1.0), (0.0, 0.0), (511.0 / 512.0, 1.0), (0.97, 0.98)] {
            assert!(surprise(found, claimed, 512) < MAX_SURPRISE, "{found} and {claimed}");
        }
    }
}
