//! Several back ends that train the same network in turns, or one that trains it at several batch sizes.

use async_trait::async_trait;

use super::report::{Entry, Facts, Measured, Outcome, Size};
use super::{Contender, Request};
use crate::clock::Clock;
use crate::error::EngineError;
use crate::measure::{
    self, Event, Gauge, Observer, Participant, Phase, Repeatable, Rules, Window, refused, timed_steps,
};
use crate::trainer::{Trainer, TrainingJob};

/// The budget is enough for so many windows of each back end; its warm-up takes the time of one more.
const WINDOWS: u32 = 5;
/// A larger budget means more windows instead of longer ones: whoever wants to stop waits for the end of one.
const LONGEST_WINDOW_SECONDS: f64 = 2.0;

/// Jobs that are trained in turns.
pub(super) struct Contest<'a> {
    request: &'a Request,
    contest: measure::Contest<'a, Steps<'a>>,
    /// Of each participant, what is known apart from its windows, or why it cannot take part.
    known: Vec<Result<Facts, Outcome>>,
}

/// The steps of a trainer.
struct Steps<'a> {
    trainer: Box<dyn Trainer>,
    clock: &'a dyn Clock,
    losses_are_finite: bool,
}

#[async_trait(?Send)]
impl Repeatable for Steps<'_> {
    async fn window(&mut self, repetitions: u32) -> Result<Window, EngineError> {
        let (report, window) = timed_steps(self.trainer.as_mut(), repetitions, self.clock).await?;
        self.losses_are_finite &= report.losses.iter().all(|loss| loss.is_finite());
        Ok(window)
    }
}

impl<'a> Contest<'a> {
    pub(super) fn new(
        request: &'a Request,
        gauge: &'a mut Option<Box<dyn Gauge>>,
        clock: &'a dyn Clock,
        observer: &'a mut dyn Observer<Event>,
    ) -> Self {
        let contest = measure::Contest { participants: Vec::new(), gauge, clock, observer };
        Self { request, contest, known: Vec::new() }
    }

    /// Builds the contender's trainer of this job, unless it is barred or does not fit.
    pub(super) async fn admit(&mut self, contender: &Contender, job: &TrainingJob, barred: Option<&Outcome>) {
        let name = contender.name();
        let built = match barred {
            Some(outcome) => Err(outcome.clone()),
            None if self.contest.observer.cancelled() => Err(Outcome::Cancelled),
            None => {
                self.contest.observer.event(&Event::Phase { who: name, phase: Phase::Building });
                self.build(contender, job).await.map_err(|error| refused(&error))
            }
        };
        let (subject, known) = match built {
            Ok((steps, facts)) => (Some(steps), Ok(facts)),
            Err(outcome) => (None, Err(outcome)),
        };
        let mut participant = Participant::new(name, subject);
        participant.on_gauged_device = contender.on_gauged_device;
        participant.repetitions_left = contender.most_steps;
        self.contest.participants.push(participant);
        self.known.push(known);
    }

    async fn build(&self, contender: &Contender, job: &TrainingJob) -> Result<(Steps<'a>, Facts), EngineError> {
        let clock = self.contest.clock;
        let predicted_bytes = contender.backend.predicted_bytes(job)?;
        self.hold_to_budget("the workload as a whole", predicted_bytes)?;
        let start = clock.now_seconds();
        let trainer = contender.backend.build(job).await?;
        let build_seconds = clock.now_seconds() - start;
        let device_memory_bytes = trainer.device_memory_bytes();
        // Not every back end can tell before.
        self.hold_to_budget("the workload as it was built", Some(device_memory_bytes))?;
        let facts = Facts {
            flops_per_sample: job.model.operations().map_or(0, |operations| operations.training_flops()),
            device_memory_bytes,
            predicted_bytes,
            build_seconds,
            preparation: trainer.preparation(),
            variants: trainer.variants(),
        };
        Ok((Steps { trainer, clock, losses_are_finite: true }, facts))
    }

    /// # Errors
    /// More bytes than the request allows, with both numbers.
    fn hold_to_budget(&self, what: &str, needed_bytes: Option<u64>) -> Result<(), EngineError> {
        match (needed_bytes, self.request.budget_bytes) {
            (Some(needed_bytes), Some(allowed_bytes)) if needed_bytes > allowed_bytes => {
                Err(EngineError::DoesNotFit { what: what.to_owned(), needed_bytes, allowed_bytes })
            }
            _ => Ok(()),
        }
    }

    /// Warms all up, then lets them take turns until the budget is spent.
    pub(super) async fn run(&mut self) {
        let running = self.known.iter().filter(|known| known.is_ok()).count().max(1);
        let window_seconds = self.request.budget_seconds / running as f64 / f64::from(WINDOWS + 1);
        let rules = Rules {
            window_seconds: window_seconds.min(LONGEST_WINDOW_SECONDS),
            budget_seconds: self.request.budget_seconds,
            fewest_rounds: 1,
            most_rounds: usize::MAX,
        };
        self.contest.run(rules).await;
    }

    /// What became of everybody, with the ratios to the fastest.
    pub(super) fn finish(self, batch_size: u32) -> Size {
        let participants = self.contest.participants.into_iter();
        let entries = participants
            .zip(self.known)
            .map(|(participant, known)| Entry { backend: participant.name, outcome: outcome(participant, known) });
        let mut size = Size { batch_size, entries: entries.collect() };
        size.compare();
        size
    }
}

fn outcome(participant: Participant<Steps<'_>>, known: Result<Facts, Outcome>) -> Outcome {
    let facts = match known {
        Ok(facts) => facts,
        Err(outcome) => return outcome,
    };
    match (participant.ended, participant.subject) {
        (Some(error), _) => refused(&error),
        (None, Some(steps)) => Measured::of(facts, steps.losses_are_finite, participant.windows)
            .map_or(Outcome::Cancelled, Outcome::Measured),
        (None, None) => Outcome::Cancelled,
    }
}
