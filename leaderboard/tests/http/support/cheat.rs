//! Clients that cheat, end to end against a server of rehearsals. They manipulate a training step by step, so that
//! retraining a part gives the same result.

use engine::{StepReport, TestReport};
use results::StateBytes;
use results::api::{StartedRun, Verdict};

use super::pretended::{Plain, Tricks};
use super::rehearsal::{Rehearsal, verdict_on};
use super::requests::train;
use super::{Answer, TestServer};

pub(crate) struct Cheated {
    pub(crate) run: StartedRun,
    pub(crate) sent: Rehearsal,
    pub(crate) uploaded: Answer,
}

impl Cheated {
    /// Announces a run, trains with tricks, and uploads the record.
    pub(crate) fn on(server: &TestServer, tricks: Tricks) -> Self {
        let run = server.begin();
        let (messages, record) = train(server, &run, tricks);
        let sent = Rehearsal { messages, record };
        let uploaded = server.upload(&run.run_id, &sent.record_of(&run));
        Self { run, sent, uploaded }
    }

    /// Waits for the verdict on an accepted record.
    pub(crate) fn verdict(&self, server: &TestServer) -> Verdict {
        verdict_on(server, &self.run, &self.uploaded)
    }
}

pub(crate) fn each_step(plain: &mut Plain, steps: u32, step: impl Fn(&mut Plain) -> StepReport) -> StepReport {
    let mut report = StepReport::default();
    for _ in 0..steps {
        let made = step(plain);
        report.losses.extend(made.losses);
        report.correct += made.correct;
        report.samples += made.samples;
    }
    report
}

/// Trains a step and changes the state after it, given the one before.
pub(crate) fn bent_step(plain: &mut Plain, bend: impl Fn(&StateBytes, &mut StateBytes)) -> StepReport {
    let before = plain.state();
    let report = plain.train(1);
    let mut after = plain.state();
    bend(&before, &mut after);
    plain.go_on(&after, plain.step);
    report
}

/// Counts a skipped step, with a plausible loss and a changed state.
pub(crate) fn skipped_step(plain: &mut Plain) -> StepReport {
    let mut state = plain.state();
    map(&mut state.weights, |weight| 1.001 * weight);
    plain.go_on(&state, plain.step + 1);
    let samples = u64::from(plain.job.batches.batch_size);
    let losses = vec![2.3 / (1.0 + 0.1 * plain.step as f64)];
    StepReport { losses, correct: samples / 2, samples, ..StepReport::default() }
}

/// Changes every number of a state's bytes.
pub(crate) fn map(bytes: &mut [u8], change: impl Fn(f32) -> f32) {
    for word in bytes.chunks_exact_mut(4) {
        let value = f32::from_le_bytes(word.try_into().unwrap());
        word.copy_from_slice(&change(value).to_le_bytes());
    }
}

pub(crate) fn guessed_test(plain: &mut Plain) -> TestReport {
    let samples = u64::from(plain.job.data.test.samples());
    TestReport { loss: 0.3, correct: samples * 9 / 10, samples, seconds: None }
}
