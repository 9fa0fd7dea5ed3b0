//! Fake trainer and clock, and small runs on plain loops.

use std::cell::Cell;
use std::num::NonZero;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use async_trait::async_trait;
use results::{Goal, Length, RunRecord, RunSpec, StateBytes, Warning, WorkloadRecord};

use crate::backends::reference::{Classifier, ReferenceBackend, Writer};
use crate::clock::Clock;
use crate::data::{DataError, DataSet, DataSetDefinition, DataSource};
use crate::error::Result;
use crate::measure::{Observer, PeakMeter, WantedTexts};
use crate::testing::{file_batches, narrow, remainder_byte, samples};
use crate::train::learning::Learning;
use crate::train::progress::Progress;
use crate::train::proof::Proof;
use crate::train::settings::{JobSettings, TrainingLimits};
use crate::train::{Edges, Event, NoMeter, RunRequest, Stopped, Witness, empty_record, learn};
use crate::trainer::{Backend, EvaluationSet, StepReport, TestReport, Trainer};
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
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport> {
        let seconds = f64::from(steps) * self.test.step_seconds;
        self.wait(seconds);
        let mut losses = Vec::new();
        for step in self.step..self.step + u64::from(steps) {
            let seed = self.segments.seed_at(step).map_or(0, u64::from);
            self.state = self.state.wrapping_mul(31).wrapping_add(seed + step);
            losses.push(match self.test.odd_loss {
                Some((odd, loss)) if odd == step => loss,
                _ => self.test.constant_loss.unwrap_or(1.0 / (step + 1) as f64),
            });
        }
        self.step += u64::from(steps);
        let (correct, samples) = (u64::from(steps), 10 * u64::from(steps));
        let seconds = self.test.reported_share.map(|share| share * seconds);
        Ok(StepReport { losses, correct, samples, seconds, ..StepReport::default() })
    }

    async fn evaluate(&mut self, _: EvaluationSet, samples: u32) -> Result<TestReport> {
        self.wait(100.0);
        let accuracy = self.test.accuracies.get(self.evaluations).copied().unwrap_or(0.5);
        self.evaluations += 1;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a small number")]
        let correct = (accuracy * f64::from(samples)) as u64;
        Ok(TestReport { loss: 1.0, correct, answers: u64::from(samples), seconds: None })
    }

    async fn weights(&mut self) -> Result<Vec<Vec<f32>>> {
        self.wait(self.test.looked_on.unwrap_or(0.0));
        Ok(self.weights.clone())
    }

    fn begin_segment(&mut self, seed: u32) {
        self.segments.begin(self.step, seed);
    }

    async fn state(&mut self) -> Result<StateBytes> {
        self.wait(self.test.looked_on.unwrap_or(0.0));
        Ok(StateBytes { weights: self.state.to_le_bytes().to_vec(), memory: Vec::new() })
    }

    async fn restore(&mut self, state: &StateBytes, step: u64, segments: &Segments) -> Result<()> {
        let state = u64::from_le_bytes(state.weights.as_slice().try_into().unwrap());
        self.state = state + u64::from(self.test.is_unsteady);
        (self.step, self.segments) = (step, segments.clone());
        Ok(())
    }

    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>> {
        Ok(Vec::new())
    }

    async fn logits(&mut self, _rows: u32) -> Result<Vec<Vec<f64>>> {
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

/// Records events, and cancels, waits or shows answers as its test says.
#[derive(Default)]
pub(crate) struct Recorder {
    pub(super) test: Rc<TrainingTest>,
    pub(super) fractions: Vec<f64>,
    pub(super) labels: Vec<u16>,
    pub(super) answers: Vec<Vec<u16>>,
    /// Workloads whose trained networks were received.
    pub(super) trained: Vec<String>,
    pub(super) texts: Vec<String>,
    pub(super) now: Rc<Cell<f64>>,
    pub(super) waited: Rc<Cell<bool>>,
}

impl Observer<Event> for Recorder {
    fn event(&mut self, event: &Event) {
        match event {
            Event::Progress { run_fraction, .. } => self.fractions.push(*run_fraction),
            Event::Examples { labels, .. } => self.labels.clone_from(labels),
            Event::Answered { answers, .. } => self.answers.push(answers.clone()),
            Event::Wrote { text, .. } => self.texts.push(text.clone()),
            _ => {}
        }
    }

    fn cancelled(&self) -> bool {
        let in_pause = self.waited.get() && self.test.pause.is_some_and(|pause| pause.cancels);
        in_pause || self.test.cancel_after.is_some_and(|windows| self.fractions.len() >= windows)
    }

    fn wants_examples(&self) -> bool {
        self.test.looked_on.is_some()
    }

    fn trained(&mut self, workload: &str, _network: Classifier<f32>) {
        self.trained.push(workload.to_owned());
    }

    fn wants_texts(&self) -> WantedTexts {
        self.test.texts
    }

    fn trained_writer(&mut self, workload: &str, _writer: Writer) {
        self.trained.push(workload.to_owned());
    }

    fn pause(&self) -> Option<Pin<Box<dyn Future<Output = ()>>>> {
        self.test.pause.filter(|pause| pause.after == self.fractions.len() && !self.waited.get())?;
        let (now, waited) = (Rc::clone(&self.now), Rc::clone(&self.waited));
        Some(Box::pin(async move {
            now.set(now.get() + 600.0);
            waited.set(true);
        }))
    }
}

/// Pause of ten minutes after a number of windows.
#[derive(Clone, Copy)]
pub(super) struct Pause {
    pub(super) after: usize,
    pub(super) cancels: bool,
}

/// Training on 1,000 samples in batches of 10: 100 steps per epoch.
#[derive(Default)]
pub(super) struct TrainingTest {
    pub(super) step_seconds: f64,
    /// Share of the elapsed time that the trainer reports, if any.
    pub(super) reported_share: Option<f64>,
    pub(super) latency_seconds: f64,
    /// Limits of training; 200 steps by default.
    pub(super) limits: Option<TrainingLimits>,
    pub(super) measure: bool,
    /// Step with an unusual loss, and the loss.
    pub(super) odd_loss: Option<(u64, f64)>,
    pub(super) constant_loss: Option<f64>,
    pub(super) accuracies: Vec<f64>,
    /// Number of windows before a cancellation.
    pub(super) cancel_after: Option<usize>,
    pub(super) pause: Option<Pause>,
    /// Time to read the weights, if an observer shows answers or texts.
    pub(super) looked_on: Option<f64>,
    /// Texts of a language model that the observer shows.
    pub(super) texts: WantedTexts,
    /// True if training again gives a different state.
    pub(super) is_unsteady: bool,
}

impl TrainingTest {
    pub(super) fn new(step_seconds: f64) -> Self {
        Self { step_seconds, ..Self::default() }
    }

    pub(super) fn run(self) -> (WorkloadRecord, Recorder) {
        let (record, observer, _) = self.run_before(None);
        (record.unwrap(), observer)
    }

    /// Runs with a leaderboard that follows the training. Also returns the warnings.
    pub(super) fn run_before(
        mut self,
        witness: Option<&mut dyn Witness>,
    ) -> (Result<WorkloadRecord>, Recorder, Vec<Warning>) {
        let writes = self.texts != WantedTexts::None;
        let workload = crate::workload(if writes { "gpt-nano" } else { "keras-mnist-mlp" }).unwrap().reduced();
        let job = workload.job(samples(workload.data_set, [1000, 100], |_| 0), file_batches(1000, 10), 1);
        let usual = TrainingLimits { steps: 200, seconds: f64::INFINITY, seconds_are_budget: false };
        let settings = JobSettings {
            optimizer: job.optimizer.clone(),
            batches: job.batches,
            planned_steps: job.planned_steps,
            target: Goal::Accuracy(0.9),
            limits: self.limits.take().unwrap_or(usual),
            measure_further: self.measure,
        };
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
        let mut record = empty_record(&workload, &backend, &settings).unwrap();
        record.settings.test_samples = job.data.test.samples();
        record.settings.chance_accuracy = Some(job.data.test.chance_accuracy());
        let mut observer = Recorder { test, now: Rc::clone(&now), ..Recorder::default() };
        let mut edges = Edges {
            data: &mut SmallData,
            observer: &mut observer,
            clock: &FakeClock(now),
            meter: &mut NoMeter,
            witness: witness.map(|witness| witness as &mut dyn Witness),
        };
        let mut progress = Progress::new(workload.name, 0, 1);
        let warnings = pollster::block_on(async {
            let proof = edges.witness.is_some().then(Proof::new);
            let mut learning = Learning::new(&mut record, &job, &mut trainer, &mut progress, &mut edges);
            learning.proof = proof;
            learn(&mut learning, &workload, &settings, &mut PeakMeter::new(&backend)).await?;
            Ok(std::mem::take(&mut learning.warnings))
        });
        record.timeline = progress.timeline(&edges);
        record.summary = results::summary::summarise(&record);
        match warnings {
            Ok(warnings) => (Ok(record), observer, warnings),
            Err(error) => (Err(error), observer, Vec::new()),
        }
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
            backend: "faulty".to_owned(),
            adapter: "any".to_owned(),
            seed: 1,
            batch_size: Some(2),
            length: steps(2),
            ..RunSpec::default()
        },
        suite: crate::suite("quick").unwrap(),
        workloads: workloads.iter().map(|name| crate::workload(name).unwrap()).collect(),
        registration: None,
        provenance: results::Provenance::default(),
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
    let mut edges = Edges { data, observer, clock: &FakeClock(Rc::default()), meter: &mut NoMeter, witness: None };
    pollster::block_on(crate::train::run(request, backend, &mut edges))
}
