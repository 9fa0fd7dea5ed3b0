//! The training loop with a trainer and a clock that only pretend.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use async_trait::async_trait;
use results::{Outcome, RunRecord, Target, Warning, WorkloadRecord};

use super::check::faulty::{Fault, Faulty};
use super::learning::Learning;
use super::progress::Progress;
use super::settings::Limits;
use super::{Edges, Event, Limit, NoMeter, RunRequest, Stopped, empty_record};
use crate::backends::reference::ReferenceBackend;
use crate::clock::Clock;
use crate::data::{DataError, DataSet, DataSetDefinition, DataSource, Split, data_set};
use crate::error::EngineError;
use crate::measure::{Observer, Peaks};
use crate::trainer::{Backend, EvaluationSet, Preparation, StepReport, TestReport, Trainer, TrainingJob};
use crate::training::{BatchPlan, Batching, SampleOrder};
use crate::workload::Training;

/// A network that takes exactly as long as it is told and learns what it is told.
struct FakeTrainer {
    now: Rc<Cell<f64>>,
    step_seconds: f64,
    latency_seconds: f64,
    evaluation_seconds: f64,
    /// A step, and what its loss is.
    odd_loss: Option<(u64, f64)>,
    constant_loss: Option<f64>,
    accuracies: Vec<f64>,
    step: u64,
}

#[async_trait(?Send)]
impl Trainer for FakeTrainer {
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport, EngineError> {
        self.now.set(self.now.get() + f64::from(steps) * self.step_seconds);
        let losses = (self.step..self.step + u64::from(steps))
            .map(|step| match self.odd_loss {
                Some((odd, loss)) if odd == step => loss,
                _ => self.constant_loss.unwrap_or(1.0 / (step + 1) as f64),
            })
            .collect();
        self.step += u64::from(steps);
        Ok(StepReport { losses, correct: u64::from(steps), samples: 10 * u64::from(steps), seconds: None })
    }

    async fn evaluate(&mut self, _: EvaluationSet, samples: u32) -> Result<TestReport, EngineError> {
        self.now.set(self.now.get() + self.evaluation_seconds);
        let accuracy = if self.accuracies.is_empty() { 0.5 } else { self.accuracies.remove(0) };
        let samples = u64::from(samples);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a small number")]
        let correct = (accuracy * samples as f64) as u64;
        Ok(TestReport { loss: 1.0, correct, samples, seconds: None })
    }

    async fn weights(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        Ok(Vec::new())
    }

    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        Ok(Vec::new())
    }

    async fn logits(&mut self, _rows: u32) -> Result<Vec<Vec<f64>>, EngineError> {
        Ok(Vec::new())
    }

    fn latency_seconds(&self) -> f64 {
        self.latency_seconds
    }

    fn device_memory_bytes(&self) -> u64 {
        0
    }
}

struct FakeClock(Rc<Cell<f64>>);

impl Clock for FakeClock {
    fn now_seconds(&self) -> f64 {
        self.0.get()
    }
}

/// Keeps events, and cancels after so many windows.
#[derive(Default)]
struct Recorder {
    fractions: Vec<f64>,
    cancel_after: Option<usize>,
}

impl Observer<Event> for Recorder {
    fn event(&mut self, event: &Event) {
        if let Event::Progress { run_fraction, .. } = event {
            self.fractions.push(*run_fraction);
        }
    }

    fn cancelled(&self) -> bool {
        self.cancel_after.is_some_and(|windows| self.fractions.len() >= windows)
    }
}

struct NoData;

#[async_trait(?Send)]
impl DataSource for NoData {
    async fn load(&mut self, definition: &'static DataSetDefinition) -> Result<Arc<DataSet>, DataError> {
        Err(DataError::Missing { file: definition.name.clone(), place: "a test".to_owned() })
    }
}

/// A set of 1,000 samples in batches of 10: 100 steps an epoch.
struct TrainingTest {
    step_seconds: f64,
    latency_seconds: f64,
    limits: Limits,
    measure: bool,
    /// A step, and what its loss is.
    odd_loss: Option<(u64, f64)>,
    constant_loss: Option<f64>,
    accuracies: Vec<f64>,
    cancel_after: Option<usize>,
}

impl TrainingTest {
    fn new(step_seconds: f64) -> Self {
        Self {
            step_seconds,
            latency_seconds: 0.0,
            limits: Limits { steps: 200, seconds: f64::INFINITY, seconds_are_budget: false },
            measure: false,
            odd_loss: None,
            constant_loss: None,
            accuracies: Vec::new(),
            cancel_after: None,
        }
    }

    fn run(self) -> (WorkloadRecord, Recorder) {
        let (record, observer) = self.try_run();
        (record.unwrap(), observer)
    }

    fn try_run(self) -> (Result<WorkloadRecord, EngineError>, Recorder) {
        let workload = crate::workload("keras-mnist-mlp").unwrap();
        let split = |samples| Split { images: Vec::new(), labels: vec![0; samples] };
        let job = workload.job(Training {
            data: Arc::new(DataSet::new(data_set("mnist").unwrap(), split(1000), split(100), false)),
            batches: BatchPlan {
                first: 0,
                samples: 1000,
                batch_size: 10,
                order: SampleOrder::File,
                batching: Batching::ShortLast,
                seed: 1,
            },
            planned_steps: 100,
            seed: 1,
            dropout: true,
        });
        let now = Rc::new(Cell::new(0.0));
        let mut trainer = FakeTrainer {
            now: Rc::clone(&now),
            step_seconds: self.step_seconds,
            latency_seconds: self.latency_seconds,
            evaluation_seconds: 100.0,
            odd_loss: self.odd_loss,
            constant_loss: self.constant_loss,
            accuracies: self.accuracies,
            step: 0,
        };
        let mut record = empty_record(workload.name, &job).unwrap();
        record.target = Some(Target { accuracy: 0.9, reached_seconds: None, reached_step: None });
        let mut observer = Recorder { cancel_after: self.cancel_after, ..Recorder::default() };
        let mut edges = Edges {
            data: &mut NoData,
            observer: &mut observer,
            clock: &FakeClock(now),
            meter: &mut NoMeter,
            witness: None,
        };
        let trained = pollster::block_on(async {
            let mut progress = Progress::new(workload.name, 0, 1);
            let mut learning = Learning::new(&mut record, &job, &mut trainer, &mut progress);
            learning.train(&self.limits, 2, &mut edges).await?;
            if self.measure {
                learning.measure(&mut Peaks::new(&ReferenceBackend::<f64>::new()), &mut edges).await
            } else {
                Ok(())
            }
        });
        record.summary = results::summary::summarise(&record);
        (trained.map(|()| record), observer)
    }
}

#[test]
fn the_test_set_is_looked_at_twice_an_epoch_outside_every_window() {
    let (record, _) = TrainingTest::new(0.1).run();
    assert_eq!(record.evaluations.iter().map(|e| e.step).collect::<Vec<_>>(), [50, 100, 150, 200]);
    assert!(record.evaluations.iter().all(|e| (e.seconds - 100.0).abs() < 1e-9));
    assert!((record.summary.training_seconds - 20.0).abs() < 1e-9, "{}", record.summary.training_seconds);
}

#[test]
fn epochs_are_timed_without_their_evaluations() {
    let (record, _) = TrainingTest::new(0.1).run();
    assert_eq!(record.epochs.iter().map(|e| e.epoch).collect::<Vec<_>>(), [1, 2]);
    assert!(record.epochs.iter().all(|e| (e.seconds - 10.0).abs() < 1e-9), "{:?}", record.epochs);
}

#[test]
fn windows_take_a_little_over_a_second_after_a_first_step_and_a_careful_second_window() {
    let (record, _) = TrainingTest::new(0.1).run();
    let steps: Vec<u32> = record.windows.iter().map(|window| window.steps).collect();
    // The test set is looked at after 50 steps.
    assert_eq!(steps[..6], [1, 8, 11, 11, 11, 8]);
    assert!(record.summary.stable, "{:?}", record.summary);
}

#[test]
fn a_window_is_twenty_times_as_long_as_it_takes_to_hear_of_its_end() {
    let (record, _) = TrainingTest { latency_seconds: 0.1, ..TrainingTest::new(0.1) }.run();
    let steps: Vec<u32> = record.windows.iter().map(|window| window.steps).collect();
    assert_eq!(steps[..5], [1, 8, 20, 20, 1]);
}

#[test]
fn a_fast_device_trains_on_until_five_windows_are_filled() {
    let test = TrainingTest { measure: true, ..TrainingTest::new(0.000_1) };
    let (record, _) = test.run();
    assert_eq!(record.evaluations.last().unwrap().step, 200);
    assert_eq!(record.summary.measured_windows, 5);
    assert!((record.summary.samples_per_second.unwrap() - 100_000.0).abs() < 1.0);
}

#[test]
fn the_losses_of_the_first_steps_are_kept_one_by_one() {
    let (record, _) = TrainingTest::new(0.1).run();
    let expected: Vec<f32> = (1..=20u8).map(|step| 1.0 / f32::from(step)).collect();
    assert_eq!(record.first_losses, expected);
}

#[test]
fn a_loss_that_is_no_number_or_a_thousand_times_the_first_one_ends_the_run_with_its_step() {
    let run = |loss| TrainingTest { odd_loss: Some((7, loss)), measure: true, ..TrainingTest::new(0.1) }.run().0;
    for loss in [f64::NAN, f64::INFINITY, 1001.0] {
        let record = run(loss);
        assert_eq!(record.outcome, Outcome::Diverged { step: 7 }, "{loss}");
        assert_eq!(record.first_losses.len(), 7);
        assert!(record.evaluations.is_empty());
    }
    assert_eq!(run(999.0).outcome, Outcome::Completed, "the first one is 1");
}

#[test]
fn a_loss_that_repeats_is_none_unless_it_is_zero() {
    let run = |constant_loss| TrainingTest { constant_loss, ..TrainingTest::new(0.1) }.try_run().0;
    let error = run(Some(2.3)).unwrap_err().to_string();
    assert!(error.contains("every one of 50 steps in a row has the loss 2.3"), "{error}");
    assert!(run(Some(0.0)).is_ok(), "the network knows its samples by heart");
}

#[test]
fn the_target_is_reached_when_it_is_first_seen() {
    let test = TrainingTest { accuracies: vec![0.5, 0.91, 0.8, 0.95], ..TrainingTest::new(0.1) };
    let target = test.run().0.target.unwrap();
    assert_eq!(target.reached_step, Some(100));
    assert!((target.reached_seconds.unwrap() - 10.0).abs() < 1e-9);
}

#[test]
fn a_budget_of_seconds_ends_training_with_a_last_look_at_the_test_set() {
    let limits = Limits { steps: 200, seconds: 4.0, seconds_are_budget: true };
    let (record, _) = TrainingTest { limits, ..TrainingTest::new(0.1) }.run();
    let last = record.evaluations.last().unwrap();
    assert!((4.0..4.2).contains(&last.training_seconds), "{last:?}");
    assert_eq!(last.step, record.summary.steps);
}

#[test]
fn cancelling_ends_the_run_after_the_window_and_keeps_what_was_measured() {
    let test = TrainingTest { cancel_after: Some(3), measure: true, ..TrainingTest::new(0.1) };
    let (record, _) = test.run();
    assert_eq!(record.outcome, Outcome::Cancelled);
    assert_eq!(record.windows.len(), 3);
}

#[test]
fn progress_never_falls_and_stays_within_the_run() {
    let test = TrainingTest { measure: true, ..TrainingTest::new(0.001) };
    let (_, observer) = test.run();
    assert!(observer.fractions.len() > 5);
    assert!(observer.fractions.is_sorted(), "{:?}", observer.fractions);
    assert!(observer.fractions.iter().all(|f| (0.0..=1.0).contains(f)));
}

/// Trains with plain loops, and fails with one workload.
pub(crate) struct BreaksDown {
    reference: ReferenceBackend<f32>,
    /// The workload.
    name: &'static str,
    error: fn() -> EngineError,
    /// Whether anything can be trained afterwards.
    recovers: bool,
}

impl BreaksDown {
    pub(crate) fn with(name: &'static str, error: fn() -> EngineError) -> Self {
        Self { reference: ReferenceBackend::new(), name, error, recovers: true }
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
    fn name(&self) -> &'static str {
        "breaks-down"
    }

    fn adapter(&self) -> &results::Adapter {
        self.reference.adapter()
    }

    fn precision(&self) -> results::Precision {
        self.reference.precision()
    }

    fn warnings(&self) -> Vec<Warning> {
        vec![Warning::Untuned { backend: self.name().to_owned() }]
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

/// Serves sets small enough for plain loops.
pub(crate) struct SmallData;

#[async_trait(?Send)]
impl DataSource for SmallData {
    async fn load(&mut self, definition: &'static DataSetDefinition) -> Result<Arc<DataSet>, DataError> {
        let split = |samples: u32| Split {
            images: (0..=250u8).cycle().take((samples * definition.train.features()) as usize).collect(),
            labels: (0..10u8).cycle().take(samples as usize).collect(),
        };
        // The header promises as many samples as the real set has.
        Ok(Arc::new(DataSet::new(definition, split(definition.train.samples), split(100), false)))
    }
}

pub(crate) fn request(workloads: &[&str]) -> RunRequest {
    RunRequest {
        suite: crate::suite("quick").unwrap(),
        workloads: workloads.iter().map(|name| crate::workload(name).unwrap()).collect(),
        seed: 1,
        batch_size: Some(2),
        learning_rate: None,
        limit: Some(Limit::Steps(2)),
        target_accuracy: None,
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
        requested_adapter: "any".to_owned(),
        requested_backend: "breaks-down".to_owned(),
        claimed_name: None,
    }
}

pub(crate) fn run(request: &RunRequest, backend: &dyn Backend) -> Result<RunRecord, Stopped> {
    run_with(&mut SmallData, request, backend)
}

pub(crate) fn run_with(
    data: &mut dyn DataSource,
    request: &RunRequest,
    backend: &dyn Backend,
) -> Result<RunRecord, Stopped> {
    let mut edges = Edges {
        data,
        observer: &mut Recorder::default(),
        clock: &FakeClock(Rc::new(Cell::new(0.0))),
        meter: &mut NoMeter,
        witness: None,
    };
    pollster::block_on(super::run(request, backend, &mut edges))
}

#[test]
fn what_a_trainer_tells_apart_is_not_counted_as_building_too() {
    let told = Preparation { compiling_seconds: Some(3.0), tuning_seconds: Some(1.5), ..Preparation::default() };
    let cold = super::cold_start(0.25, 5.0, told);
    assert_eq!((cold.data_seconds, cold.build_seconds), (Some(0.25), Some(0.5)));
    assert_eq!((cold.compiling_seconds, cold.tuning_seconds), (Some(3.0), Some(1.5)));
    let cold = super::cold_start(0.25, 5.0, Preparation::default());
    assert_eq!((cold.build_seconds, cold.compiling_seconds, cold.tuning_seconds), (Some(5.0), None, None));
}

#[test]
fn a_network_that_learned_nothing_is_warned_of() {
    // Two steps of two samples teach nothing about ten classes.
    let record = run(&request(&["keras-mnist-mlp"]), &BreaksDown::with("", device_lost));
    let warnings = record.unwrap().warnings;
    let found = warnings.iter().find(|warning| matches!(warning, Warning::NotLearned { .. }));
    let Some(Warning::NotLearned { workload, accuracy, chance }) = found else { panic!("{warnings:?}") };
    assert_eq!((workload.as_str(), *chance), ("keras-mnist-mlp", 0.1));
    assert!(*accuracy <= 0.19, "{accuracy}");
}

#[test]
fn what_was_finished_before_a_device_is_lost_comes_with_the_error() {
    let request = request(&["keras-mnist-mlp", "caffe-mnist"]);
    let order = super::in_random_order(&request);
    let (first, last) = (order[0].name, order[1].name);
    let run = |name| run(&request, &BreaksDown::with(name, device_lost)).unwrap_err();
    let stopped = run(last);
    assert!(matches!(stopped.error, EngineError::DeviceLost { .. }), "{stopped}");
    let so_far = stopped.so_far.expect("one workload was finished");
    assert_eq!(so_far.workloads.iter().map(|w| w.workload.as_str()).collect::<Vec<_>>(), [first]);
    assert_eq!(so_far.workloads[0].outcome, Outcome::Completed);
    let untuned = so_far.warnings.iter().filter(|warning| matches!(warning, Warning::Untuned { .. }));
    assert_eq!(untuned.count(), 1, "what a back end warns of is in the record once");
    assert!(run(first).so_far.is_none());
}

#[test]
fn a_back_end_that_computes_wrongly_gets_no_figure_and_only_the_disagreement() {
    let record = run(&request(&["keras-mnist-mlp"]), &Faulty::new(Fault::LossTooLarge, 0)).unwrap();
    let workload = &record.workloads[0];
    assert_eq!(workload.outcome, Outcome::Incorrect);
    let found = workload.correctness.as_ref().expect("both sides' losses");
    assert!(!found.passed && (0.009..0.011).contains(&found.largest_difference), "{found:?}");
    assert!(workload.windows.is_empty() && workload.curve.is_empty() && workload.evaluations.is_empty());
    assert_eq!(workload.summary.samples_per_second, None);
}
