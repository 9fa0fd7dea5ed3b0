//! The engine's plain loops under the name of another backend, with a simulated clock.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use async_trait::async_trait;
use engine::backends::{Opening, REFERENCE, open_with};
use engine::{
    Backend, BackendFacts, Clock, DataError, DataSet, DataSetDefinition, DataSource, Edges, EngineError, EvaluationSet,
    Event, Examiner, NoMeter, Observer, PendingAnswer, RunRequest, Segments, Standard, StepReport, SuiteDefinition,
    TestReport, Trainer, TrainerFacts, TrainingJob, Witness, Workload,
};
use results::api::{CommitSegment, OpenLap, OpenedLap, ProofWanted, ProvePart, StartedRun};
use results::{Precision, RunRecord, StateBytes};

use super::real_data::real_data;
use super::requests::{RunCall, TimedCall};
use super::{HttpAnswer, TestServer, record};

/// Simulated latency, as a share of a step. A window lasts twenty times as long: two steps.
const LATENCY: f64 = 0.093;

#[derive(Default)]
struct PretendedClock(Cell<f64>);

impl Clock for PretendedClock {
    fn now_seconds(&self) -> f64 {
        self.0.get()
    }
}

/// The plain loops as a device, with tricks.
struct Pretended {
    clock: Rc<PretendedClock>,
    facts: BackendFacts,
    tricks: Tricks,
    /// Networks with a trainer. Further trainers of a network only check it, and are honest.
    begun: RefCell<Vec<&'static str>>,
}

#[async_trait(?Send)]
impl Backend for Pretended {
    fn facts(&self) -> &BackendFacts {
        &self.facts
    }

    async fn build(&self, job: &TrainingJob) -> Result<Box<dyn Trainer>, EngineError> {
        let name = job.model.name;
        if self.tricks.lacks == Some(name) {
            return Err(EngineError::OutOfMemory { message: "a test took all of it".to_owned() });
        }
        let is_trained = !self.begun.borrow().contains(&name);
        self.begun.borrow_mut().push(name);
        let tricks = if is_trained { self.tricks } else { Tricks::default() };
        let mut job = job.clone();
        (tricks.job)(&mut job);
        // Opening the backend by name uses the loops compiled in the engine, which are optimized more.
        let clock = Rc::new(PretendedClock::default());
        let reference = open_with(REFERENCE, &Opening::default(), clock).await?;
        let trainer = reference.build(&job).await?;
        let standard = self.tricks.standard(name);
        let (begins, segments) = (Vec::new(), Segments::default());
        let plain = PlainTraining { trainer, standard, job, step: 0, begins, segments };
        Ok(Box::new(PretendedTrainer { clock: Rc::clone(&self.clock), plain, seeds: Vec::new(), tricks }))
    }
}

/// A synchronous trainer of plain loops.
pub(crate) struct PlainTraining {
    trainer: Box<dyn Trainer>,
    standard: Standard,
    pub(crate) job: TrainingJob,
    pub(crate) step: u64,
    /// First steps of the segments so far.
    begins: Vec<u64>,
    segments: Segments,
}

impl PlainTraining {
    pub(crate) fn train(&mut self, steps: u32) -> StepReport {
        self.step += u64::from(steps);
        pollster::block_on(self.trainer.train_steps(steps)).unwrap()
    }

    pub(crate) fn state(&mut self) -> StateBytes {
        pollster::block_on(self.trainer.state()).unwrap()
    }

    pub(crate) fn go_on(&mut self, state: &StateBytes, step: u64) {
        self.step = step;
        pollster::block_on(self.trainer.restore(state, step, &self.segments)).unwrap();
    }

    /// Returns the number of the next step's segment and the segment's first step, or zeros without segments.
    pub(crate) fn segment(&self) -> (usize, u64) {
        let number = self.begins.partition_point(|begin| *begin <= self.step).saturating_sub(1);
        (number, self.begins.get(number).copied().unwrap_or_default())
    }

    pub(crate) fn test(&mut self) -> TestReport {
        let examiner = Examiner::new(&self.standard, Arc::clone(&self.job.data), self.job.seed);
        let (state, step) = (self.state(), self.step);
        let samples: Vec<u32> = (0..self.standard.test_samples).collect();
        let parts: Vec<TestReport> = std::thread::scope(|scope| {
            let test = |samples| examiner.test(&state, step, samples).unwrap().unwrap().report;
            let parts = samples.chunks(samples.len().div_ceil(4));
            let threads: Vec<_> = parts.map(|samples| scope.spawn(move || test(samples))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let sum = |of: fn(&TestReport) -> u64| parts.iter().map(of).sum::<u64>();
        let (correct, answers) = (sum(|part| part.correct), sum(|part| part.answers));
        let share = |part: &TestReport| part.answers as f64 / answers as f64;
        let loss = parts.iter().map(|part| share(part) * part.loss).sum();
        TestReport { loss, correct, answers, seconds: None }
    }
}

struct PretendedTrainer {
    clock: Rc<PretendedClock>,
    plain: PlainTraining,
    /// Seeds of the segments as the engine gives them.
    seeds: Vec<u32>,
    tricks: Tricks,
}

#[async_trait(?Send)]
impl Trainer for PretendedTrainer {
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport, EngineError> {
        self.clock.0.update(|now| now + f64::from(steps) * self.tricks.step_seconds);
        let Some(step) = self.tricks.step else { return Ok(self.plain.train(steps)) };
        let mut report = StepReport::default();
        for _ in 0..steps {
            let is_tricked = self.plain.segment().0 >= self.tricks.first_segment;
            let made = if is_tricked { step(&mut self.plain) } else { self.plain.train(1) };
            report.losses.extend(made.losses);
            report.correct += made.correct;
            report.samples += made.samples;
        }
        Ok(report)
    }

    async fn evaluate(&mut self, set: EvaluationSet, samples: u32) -> Result<TestReport, EngineError> {
        self.clock.0.update(|now| now + 0.5);
        if samples < self.plain.job.test_samples() {
            return self.plain.trainer.evaluate(set, samples).await;
        }
        Ok((self.tricks.test)(&mut self.plain))
    }

    async fn weights(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        self.plain.trainer.weights().await
    }

    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        self.plain.trainer.gradients().await
    }

    async fn logits(&mut self, rows: u32) -> Result<Vec<Vec<f64>>, EngineError> {
        self.plain.trainer.logits(rows).await
    }

    fn begin_segment(&mut self, seed: u32) {
        self.seeds.push(seed);
        let seed = (self.tricks.seed)(&self.seeds);
        self.plain.begins.push(self.plain.step);
        self.plain.segments.begin(self.plain.step, seed);
        self.plain.trainer.begin_segment(seed);
    }

    async fn state(&mut self) -> Result<StateBytes, EngineError> {
        self.clock.0.update(|now| now + 0.01);
        self.plain.trainer.state().await
    }

    async fn restore(&mut self, state: &StateBytes, step: u64, _segments: &Segments) -> Result<(), EngineError> {
        // Uses the same seeds as the training.
        self.plain.go_on(state, step);
        Ok(())
    }

    fn latency_seconds(&self) -> f64 {
        LATENCY * self.tricks.step_seconds
    }

    fn facts(&self) -> TrainerFacts {
        self.plain.trainer.facts()
    }
}

pub(crate) fn data_folder() -> PathBuf {
    std::env::var_os("GRADMARK_DATA")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../data"), PathBuf::from)
}

struct SuiteFiles;

#[async_trait(?Send)]
impl DataSource for SuiteFiles {
    async fn load(&mut self, definition: &'static DataSetDefinition) -> Result<Arc<DataSet>, DataError> {
        Ok(real_data(&definition.name))
    }
}

impl Observer<Event> for SuiteFiles {
    fn event(&mut self, _event: &Event) {}
}

#[derive(Clone, Copy)]
pub(crate) struct Tricks {
    pub(crate) suite: &'static SuiteDefinition,
    /// Network of the open class, which has none of its own.
    pub(crate) network: Option<fn() -> Workload>,
    /// Simulated duration of a step.
    pub(crate) step_seconds: f64,
    /// Network that supposedly does not fit on the device.
    pub(crate) lacks: Option<&'static str>,
    pub(crate) job: fn(&mut TrainingJob),
    /// Returns the seed with which a segment is trained, from the given seeds of this and all earlier segments.
    pub(crate) seed: fn(&[u32]) -> u32,
    /// Trains a step, or pretends to. All steps are then single, so that retraining a part gives the same result.
    pub(crate) step: Option<fn(&mut PlainTraining) -> StepReport>,
    /// Number of the first segment with such steps.
    pub(crate) first_segment: usize,
    pub(crate) test: fn(&mut PlainTraining) -> TestReport,
    pub(crate) request: fn(&mut RunCall),
    /// Returns the seconds before a request that pass only on the leaderboard's clock, from the seconds since the
    /// previous request that pass on both clocks.
    pub(crate) hidden_seconds: fn(&RunCall, f64) -> f64,
    pub(crate) record: fn(&mut RunRecord),
}

impl Default for Tricks {
    fn default() -> Self {
        Self {
            suite: &engine::SUITES[0],
            network: None,
            step_seconds: 1.4,
            lacks: None,
            job: |_| {},
            seed: |given| given[given.len() - 1],
            step: None,
            first_segment: 0,
            test: PlainTraining::test,
            request: |_| {},
            hidden_seconds: |_, _| 0.0,
            record: |_| {},
        }
    }
}

impl Tricks {
    fn workloads(&self) -> Vec<Workload> {
        match self.network {
            Some(make) => vec![make()],
            None => self.suite.workloads.iter().map(|name| engine::workload(name).unwrap()).collect(),
        }
    }

    fn standard(&self, name: &str) -> Standard {
        match self.network {
            Some(make) => Standard::of_network(&make().described().unwrap()).unwrap(),
            None => Standard::of(self.suite, name).unwrap(),
        }
    }
}

/// Trains the suite for an announced run of `server`, with all requests during and after training. Returns the
/// requests and the record, which is not uploaded.
pub(crate) fn train(server: &TestServer, run: &StartedRun, tricks: Tricks) -> (Vec<TimedCall>, RunRecord) {
    let model = record::of_suite(tricks.suite, run.seed);
    let clock = Rc::new(PretendedClock::default());
    let adapter = model.device.adapter.clone();
    let facts = BackendFacts { repeats_itself: true, ..BackendFacts::new("wgsl", adapter, Precision::F32) };
    let backend = Pretended { clock: Rc::clone(&clock), facts, tricks, begun: RefCell::default() };
    let (suite, workloads) = (tricks.suite, tricks.workloads());
    let (spec, provenance) = (model.requested, model.provenance);
    let request = RunRequest { spec, suite, workloads, registration: None, provenance, claimed_name: None };
    let mut witness = LiveWitness { server, run, tricks, clock: &clock, before: 0.0, at: 0.0, messages: Vec::new() };
    let mut edges = Edges {
        data: &mut SuiteFiles,
        observer: &mut SuiteFiles,
        clock: clock.as_ref(),
        meter: &mut NoMeter,
        witness: Some(&mut witness),
    };
    let mut record = pollster::block_on(engine::run(&request, &backend, &mut edges)).unwrap();
    (tricks.record)(&mut record);
    record::summarise(&mut record);
    server.pass((record.provenance.wall_seconds - witness.at).max(0.0));
    (witness.messages, record)
}

/// Sends requests to a server whose clock follows the client's.
struct LiveWitness<'a> {
    server: &'a TestServer,
    run: &'a StartedRun,
    tricks: Tricks,
    clock: &'a PretendedClock,
    /// Time of the latest request on the client's clock …
    before: f64,
    /// … and on the server's, since the run was announced.
    at: f64,
    messages: Vec<TimedCall>,
}

impl LiveWitness<'_> {
    fn send(&mut self, mut call: RunCall) -> Result<HttpAnswer, String> {
        (self.tricks.request)(&mut call);
        let now = self.clock.now_seconds();
        let passed = now - self.before;
        let passed = passed + (self.tricks.hidden_seconds)(&call, passed);
        self.server.pass(passed);
        self.before = now;
        self.at += passed;
        let answer = call.send(self.server, self.run);
        self.messages.push(TimedCall { at: self.at, call });
        if answer.status.is_success() { Ok(answer) } else { Err(answer.text()) }
    }
}

#[async_trait(?Send)]
impl Witness for LiveWitness<'_> {
    async fn open_lap(&mut self, lap: OpenLap) -> Result<OpenedLap, String> {
        Ok(self.send(RunCall::OpenLap(lap))?.parse())
    }

    fn commit(&mut self, commitment: CommitSegment) -> PendingAnswer {
        Box::pin(std::future::ready(self.send(RunCall::Commit(commitment)).map(|answer| answer.parse())))
    }

    async fn prove(&mut self, part: ProvePart) -> Result<ProofWanted, String> {
        Ok(self.send(RunCall::Prove(part))?.parse())
    }

    async fn show(&mut self, workload: &str, step: u64, state: Vec<u8>) -> Result<(), String> {
        self.send(RunCall::Show { workload: workload.to_owned(), step, state: Arc::new(state) }).map(drop)
    }
}
