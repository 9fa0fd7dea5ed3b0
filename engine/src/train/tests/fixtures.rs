//! Fake trainer and clock, and small runs on plain loops.

use std::cell::Cell;
use std::future::Future;
use std::num::NonZero;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use async_trait::async_trait;
use results::{Length, RunRecord, RunSpec, StateBytes, Warning, WorkloadRecord};

use crate::backends::reference::{Classifier, ReferenceBackend};
use crate::clock::Clock;
use crate::data::{DataError, DataSet, DataSetDefinition, DataSource};
use crate::error::EngineError;
use crate::measure::{Observer, Peaks};
use crate::testing::{file_batches, narrow, remainder_byte, samples};
use crate::train::learning::Learning;
use crate::train::progress::Progress;
use crate::train::proof::Proof;
use crate::train::settings::Limits;
use crate::train::{Edges, Event, NoMeter, RunRequest, Stopped, Witness, empty_record};
use crate::trainer::{Backend, BackendFacts, EvaluationSet, StepReport, TestReport, Trainer, TrainingJob};
use crate::training::Segments;

struct FakeTrainer {
    test: Rc<TrainingTest>,
    now: Rc<Cell<f64>>,
    weights: Vec<Vec<f32>>,
    step: u64,
    evaluations: usize,
    segments: Segments,
    /// State that changes with every step and with the seed of its segment.
    state: u64,
}

impl FakeTrainer {
    fn wait(&self, seconds: f64) {
        self.now.set(self.now.get() + seconds);
    }
}

#[async_trait(?Send)]
impl Trainer for FakeTrainer {
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport, EngineError> {
        let seconds = f64::from(steps) * self.test.step_seconds;
        self.wait(seconds);
        for step in self.step..self.step + u64::from(steps) {
            let seed = self.segments.seed_at(step).map_or(0, u64::from);
            self.state = self.state.wrapping_mul(31).wrapping_add(seed + step);
        }
        let losses = (self.step..self.step + u64::from(steps))
            .map(|step| match self.test.odd_loss {
                Some((odd, loss)) if odd == step => loss,
                _ => self.test.constant_loss.unwrap_or(1.0 / (step + 1) as f64),
            })
            .collect();
        self.step += u64::from(steps);
        let (correct, samples) = (u64::from(steps), 10 * u64::from(steps));
        let seconds = self.test.reported_share.map(|share| share * seconds);
        Ok(StepReport { losses, correct, samples, seconds, ..StepReport::default() })
    }

    async fn evaluate(&mut self, _: EvaluationSet, samples: u32) -> Result<TestReport, EngineError> {
        self.wait(100.0);
        let accuracy = self.test.accuracies.get(self.evaluations).copied().unwrap_or(0.5);
        self.evaluations += 1;
        let samples = u64::from(samples);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a small number")]
        let correct = (accuracy * samples as f64) as u64;
        Ok(TestReport { loss: 1.0, correct, samples, seconds: None })
    }

    async fn weights(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        self.wait(self.test.looked_on.unwrap_or(0.0));
        Ok(self.weights.clone())
    }

    fn begin_segment(&mut self, seed: u32) {
        self.segments.begin(self.step, seed);
    }

    async fn state(&mut self) -> Result<StateBytes, EngineError> {
        self.wait(self.test.looked_on.unwrap_or(0.0));
        Ok(StateBytes { weights: self.state.to_le_bytes().to_vec(), memory: Vec::new() })
    }

    async fn restore(&mut self, state: &StateBytes, step: u64, segments: &Segments) -> Result<(), EngineError> {
        self.state =
            u64::from_le_bytes(state.weights.as_slice().try_into().unwrap()) + u64::from(self.test.is_unsteady);
        self.step = step;
        self.segments = segments.clone();
        Ok(())
    }

    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        Ok(Vec::new())
    }

    async fn logits(&mut self, _rows: u32) -> Result<Vec<Vec<f64>>, EngineError> {
        Ok(Vec::new())
    }

    fn latency_seconds(&self) -> f64 {
        self.test.latency_seconds
    }
}

pub(crate) struct FakeClock(pub(crate) Rc<Cell<f64>>);

impl Clock for FakeClock {
    fn now_seconds(&self) -> f64 {
        self.0.get()
    }
}

/// Records events, and cancels or waits after a number of windows.
#[derive(Default)]
pub(crate) struct Recorder {
    pub(super) fractions: Vec<f64>,
    pub(super) cancel_after: Option<usize>,
    pub(super) pause: Option<Pause>,
    pub(super) wants_examples: bool,
    pub(super) labels: Vec<u16>,
    pub(super) answers: Vec<Vec<u16>>,
    /// Workloads whose trained networks were received.
    pub(super) trained: Vec<String>,
    pub(super) now: Rc<Cell<f64>>,
    pub(super) waited: Rc<Cell<bool>>,
}

#[derive(Clone, Copy)]
pub(super) struct Pause {
    pub(super) after: usize,
    pub(super) seconds: f64,
    pub(super) cancels: bool,
}

impl Observer<Event> for Recorder {
    fn event(&mut self, event: &Event) {
        match event {
            Event::Progress { run_fraction, .. } => self.fractions.push(*run_fraction),
            Event::Examples { labels, .. } => self.labels.clone_from(labels),
            Event::Answered { answers, .. } => self.answers.push(answers.clone()),
            _ => {}
        }
    }

    fn cancelled(&self) -> bool {
        let in_pause = self.waited.get() && self.pause.is_some_and(|pause| pause.cancels);
        in_pause || self.cancel_after.is_some_and(|windows| self.fractions.len() >= windows)
    }

    fn wants_examples(&self) -> bool {
        self.wants_examples
    }

    fn trained(&mut self, workload: &str, _network: Classifier<f32>) {
        self.trained.push(workload.to_owned());
    }

    fn pause(&self) -> Option<Pin<Box<dyn Future<Output = ()>>>> {
        let pause = self.pause.filter(|pause| pause.after == self.fractions.len() && !self.waited.get())?;
        let (now, waited) = (Rc::clone(&self.now), Rc::clone(&self.waited));
        Some(Box::pin(async move {
            now.set(now.get() + pause.seconds);
            waited.set(true);
        }))
    }
}

/// Training on 1,000 samples in batches of 10: 100 steps per epoch.
pub(super) struct TrainingTest {
    pub(super) step_seconds: f64,
    /// Share of the elapsed time that the trainer reports, if any.
    pub(super) reported_share: Option<f64>,
    pub(super) latency_seconds: f64,
    pub(super) limits: Limits,
    pub(super) measure: bool,
    /// Step with an unusual loss, and the loss.
    pub(super) odd_loss: Option<(u64, f64)>,
    pub(super) constant_loss: Option<f64>,
    pub(super) accuracies: Vec<f64>,
    pub(super) cancel_after: Option<usize>,
    pub(super) pause: Option<Pause>,
    /// Time to read the weights, if an observer shows answers.
    pub(super) looked_on: Option<f64>,
    /// True if training again gives a different state.
    pub(super) is_unsteady: bool,
}

impl TrainingTest {
    pub(super) fn new(step_seconds: f64) -> Self {
        Self {
            step_seconds,
            reported_share: None,
            latency_seconds: 0.0,
            limits: Limits { steps: 200, seconds: f64::INFINITY, seconds_are_budget: false },
            measure: false,
            odd_loss: None,
            constant_loss: None,
            accuracies: Vec::new(),
            cancel_after: None,
            pause: None,
            looked_on: None,
            is_unsteady: false,
        }
    }

    pub(super) fn run(self) -> (WorkloadRecord, Recorder) {
        let (record, observer) = self.try_run();
        (record.unwrap(), observer)
    }

    pub(super) fn try_run(self) -> (Result<WorkloadRecord, EngineError>, Recorder) {
        let (record, observer, _) = self.run_before(None);
        (record, observer)
    }

    /// Runs with a leaderboard that follows the training. Also returns the warnings.
    pub(super) fn run_before(
        self,
        witness: Option<&mut dyn Witness>,
    ) -> (Result<WorkloadRecord, EngineError>, Recorder, Vec<Warning>) {
        let workload = crate::workload("keras-mnist-mlp").unwrap();
        let job = workload.job(samples("mnist", [1000, 100], |_| 0), file_batches(1000, 10), 1);
        let (test, now) = (Rc::new(self), Rc::new(Cell::new(0.0)));
        let mut trainer = FakeTrainer {
            now: Rc::clone(&now),
            test: Rc::clone(&test),
            weights: job.initial_weights().unwrap(),
            step: 0,
            evaluations: 0,
            segments: Segments::default(),
            state: 0,
        };
        let backend = ReferenceBackend::<f64>::new();
        let mut record = empty_record(&workload, &backend, &job.batches, &job.optimizer, 0.9).unwrap();
        record.settings.test_samples = job.data.test.samples();
        record.settings.chance_accuracy = Some(job.data.test.chance_accuracy());
        let mut observer = Recorder {
            cancel_after: test.cancel_after,
            pause: test.pause,
            wants_examples: test.looked_on.is_some(),
            now: Rc::clone(&now),
            ..Recorder::default()
        };
        let mut edges = Edges {
            data: &mut SmallData,
            observer: &mut observer,
            clock: &FakeClock(now),
            meter: &mut NoMeter,
            witness: witness.map(|witness| witness as &mut dyn Witness),
        };
        let mut progress = Progress::new(workload.name, 0, 1);
        let trained = pollster::block_on(async {
            let proof = edges.witness.is_some().then(Proof::new);
            let mut learning = Learning::new(&mut record, &job, &mut trainer, &mut progress, &mut edges);
            learning.proof = proof;
            learning.train(&test.limits, 2).await?;
            if test.measure {
                learning.measure(&mut Peaks::new(&backend)).await?;
            }
            learning.end_lap().await?;
            learning.prove().await?;
            Ok(std::mem::take(&mut learning.warnings))
        });
        record.timeline = progress.timeline(&edges);
        record.summary = results::summary::summarise(&record);
        let (warnings, trained) = match trained {
            Ok(warnings) => (warnings, Ok(record)),
            Err(error) => (Vec::new(), Err(error)),
        };
        (trained, observer, warnings)
    }
}

pub(crate) struct BreaksDown {
    reference: ReferenceBackend<f32>,
    facts: BackendFacts,
    name: &'static str,
    error: fn() -> EngineError,
    recovers: bool,
}

impl BreaksDown {
    pub(crate) fn with(name: &'static str, error: fn() -> EngineError) -> Self {
        let reference = ReferenceBackend::new();
        let warnings = vec![Warning::Untuned { backend: "breaks-down".to_owned() }];
        let facts = BackendFacts { name: "breaks-down", warnings, repeats_itself: false, ..reference.facts().clone() };
        Self { reference, facts, name, error, recovers: true }
    }

    pub(crate) fn for_good(self) -> Self {
        Self { recovers: false, ..self }
    }
}

pub(crate) fn device_lost() -> EngineError {
    EngineError::DeviceLost { message: "a test pulled the plug".to_owned() }
}

#[async_trait(?Send)]
impl Backend for BreaksDown {
    fn facts(&self) -> &BackendFacts {
        &self.facts
    }

    async fn build(&self, job: &TrainingJob) -> Result<Box<dyn Trainer>, EngineError> {
        if job.model.name == self.name {
            return Err((self.error)());
        }
        self.reference.build(job).await
    }

    async fn recover(&self) -> Result<(), EngineError> {
        if self.recovers { Ok(()) } else { Err(device_lost()) }
    }
}

pub(crate) struct SmallData;

#[async_trait(?Send)]
impl DataSource for SmallData {
    async fn load(&mut self, definition: &'static DataSetDefinition) -> Result<Arc<DataSet>, DataError> {
        // The header declares the number of samples of the real set.
        Ok(samples(&definition.name, [definition.train.samples, 100], remainder_byte))
    }
}

pub(crate) fn request(workloads: &[&str]) -> RunRequest {
    RunRequest {
        spec: RunSpec {
            suite: "quick".to_owned(),
            backend: "breaks-down".to_owned(),
            adapter: "any".to_owned(),
            seed: 1,
            batch_size: Some(2),
            length: steps(2),
            ..RunSpec::default()
        },
        suite: crate::suite("quick").unwrap(),
        workloads: workloads.iter().map(|name| crate::workload(name).unwrap()).collect(),
        registration: None,
        provenance: results::Provenance {
            engine_version: "0".to_owned(),
            commit: "unknown".to_owned(),
            started_unix_seconds: 0.0,
            wall_seconds: 0.0,
            client: results::Client {
                kind: results::ClientKind::Native,
                name: "a test".to_owned(),
                version: "0".to_owned(),
                operating_system: "unknown".to_owned(),
                logical_processors: None,
            },
        },
        claimed_name: None,
    }
}

pub(crate) fn steps(count: u64) -> Option<Length> {
    NonZero::new(count).map(Length::Steps)
}

pub(crate) fn narrow_request(workloads: &[&str]) -> RunRequest {
    let mut request = request(workloads);
    for workload in &mut request.workloads {
        workload.model = narrow(workload.model.clone());
    }
    request
}

pub(crate) fn run(request: &RunRequest, backend: &dyn Backend) -> Result<RunRecord, Stopped> {
    run_before(&mut Recorder::default(), &mut SmallData, request, backend)
}

pub(crate) fn run_before(
    observer: &mut Recorder,
    data: &mut dyn DataSource,
    request: &RunRequest,
    backend: &dyn Backend,
) -> Result<RunRecord, Stopped> {
    let mut edges =
        Edges { data, observer, clock: &FakeClock(Rc::new(Cell::new(0.0))), meter: &mut NoMeter, witness: None };
    pollster::block_on(crate::train::run(request, backend, &mut edges))
}
