//! Step measurements of fake backends with a fake clock.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use async_trait::async_trait;
use results::{Compared, DeviceKind};

use super::*;
use crate::testing::adapter;
use crate::train::check::faulty::{Fault, Faulty};
use crate::train::tests::SmallData;
use crate::trainer::{BackendFacts, EvaluationSet, StepReport, TestReport, Trainer, TrainerFacts};

#[derive(Default)]
struct World {
    now: Cell<f64>,
    log: RefCell<Vec<(&'static str, u32)>>,
}

impl Clock for World {
    fn now_seconds(&self) -> f64 {
        self.now.get()
    }
}

/// Fake backend that takes a fixed time per step and per sample.
#[derive(Clone)]
struct Fake {
    facts: BackendFacts,
    world: Rc<World>,
    step_seconds: f64,
    sample_seconds: f64,
    bytes_per_sample: u64,
    predicts: bool,
    batch_size: u32,
    /// Time and batch size above which steps take twice as long.
    slower_from: f64,
    steep_from: u32,
}

impl Fake {
    fn new(name: &'static str, world: &Rc<World>, step_seconds: f64) -> Self {
        let world = Rc::clone(world);
        Self {
            facts: BackendFacts::new(name, adapter(name, DeviceKind::Discrete, "Vulkan"), Precision::F32),
            world,
            step_seconds,
            sample_seconds: 0.0,
            bytes_per_sample: 1,
            predicts: true,
            batch_size: 0,
            slower_from: f64::INFINITY,
            steep_from: u32::MAX,
        }
    }

    fn entrant(self) -> Entrant {
        Entrant { backend: Box::new(self), on_gauged_device: true, most_steps: None }
    }
}

#[async_trait(?Send)]
impl Backend for Fake {
    fn facts(&self) -> &BackendFacts {
        &self.facts
    }

    fn predicted_bytes(&self, job: &TrainingJob) -> Result<Option<u64>> {
        Ok(self.predicts.then_some(self.bytes_per_sample * u64::from(job.batches.batch_size)))
    }

    async fn build(&self, job: &TrainingJob) -> Result<Box<dyn Trainer>> {
        Ok(Box::new(Self { batch_size: job.batches.batch_size, ..self.clone() }))
    }
}

#[async_trait(?Send)]
impl Trainer for Fake {
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport> {
        let slow = self.world.now.get() >= self.slower_from;
        let steep = self.batch_size >= self.steep_from;
        let factor = f64::from((1 + u32::from(slow)) * (1 + u32::from(steep)));
        let seconds = factor * (self.step_seconds + self.sample_seconds * f64::from(self.batch_size));
        self.world.now.set(self.world.now.get() + f64::from(steps) * seconds);
        self.world.log.borrow_mut().push((self.facts.name, steps));
        let samples = u64::from(steps) * u64::from(self.batch_size);
        Ok(StepReport { losses: vec![1.0; steps as usize], correct: 0, samples, ..StepReport::default() })
    }

    async fn evaluate(&mut self, _set: EvaluationSet, _samples: u32) -> Result<TestReport> {
        panic!("steps are timed without tests");
    }

    async fn weights(&mut self) -> Result<Vec<Vec<f32>>> {
        Ok(Vec::new())
    }

    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>> {
        Ok(Vec::new())
    }

    async fn logits(&mut self, _rows: u32) -> Result<Vec<Vec<f64>>> {
        Ok(Vec::new())
    }

    fn facts(&self) -> TrainerFacts {
        TrainerFacts {
            compiling_seconds: Some(0.5),
            variants: vec!["compiler: none".to_owned()],
            device_memory_bytes: self.bytes_per_sample * u64::from(self.batch_size),
            ..TrainerFacts::default()
        }
    }
}

/// Gauge whose peak rises before each measurement.
struct TestGauge {
    peak: f64,
    rise: f64,
}

#[async_trait(?Send)]
impl Gauge for TestGauge {
    async fn peak_flops_per_second(&mut self) -> Result<f64> {
        self.peak += self.rise;
        Ok(self.peak)
    }
}

struct Watch {
    windows_left: u32,
}

impl Observer<Event> for Watch {
    fn event(&mut self, event: &Event) {
        if let Event::Window { .. } = event {
            self.windows_left = self.windows_left.saturating_sub(1);
        }
    }

    fn cancelled(&self) -> bool {
        self.windows_left == 0
    }
}

fn request(batch_sizes: &[u32]) -> Request {
    Request {
        workloads: vec![crate::workload("keras-mnist-mlp").unwrap()],
        batch_sizes: batch_sizes.to_vec(),
        budget_seconds: 12.0,
        budget_bytes: None,
        checked: false,
        seed: 1,
    }
}

fn measured(world: &Rc<World>, request: &Request, entrants: &[Entrant]) -> WorkloadSteps {
    run(TestGauge { peak: 1e12, rise: 0.0 }, world, request, entrants, u32::MAX)
}

fn run(gauge: TestGauge, world: &Rc<World>, request: &Request, entrants: &[Entrant], windows: u32) -> WorkloadSteps {
    let (gauge, mut observer) = (Some(Box::new(gauge) as Box<dyn Gauge>), Watch { windows_left: windows });
    let mut report = pollster::block_on(measure(request, entrants, gauge, &mut SmallData, &**world, &mut observer));
    assert_eq!((report.schema_version, report.cancelled), (1, observer.windows_left == 0));
    assert!(report.contenders.iter().map(|of| of.backend).eq(entrants.iter().map(Entrant::name)));
    report.workloads.remove(0)
}

fn metrics(entry: &EntrantSteps) -> &Measured {
    entry.outcome.measured().unwrap_or_else(|| panic!("no metrics: {:?}", entry.outcome))
}

#[test]
fn windows_alternate_and_last_equally_long() {
    let world = Rc::default();
    let entrants = [Fake::new("slow", &world, 0.5).entrant(), Fake::new("fast", &world, 0.1).entrant()];
    let steps = measured(&world, &request(&[]), &entrants);
    let entries = &steps.sizes[0].entries;
    assert_eq!(steps.sizes[0].batch_size, 128);
    // Twelve seconds are six per entrant: one for warm-up, and up to five windows.
    let log = world.log.borrow();
    let first = log.iter().position(|entry| *entry == ("fast", 10)).unwrap() - 1;
    let rounds: Vec<_> = log[first..].chunks(2).collect();
    assert!(rounds.len() >= 4 && rounds.iter().all(|round| **round == [("slow", 2), ("fast", 10)]), "{log:?}");
    assert!(world.now.get() <= 12.0, "{} s", world.now.get());
    let [slow, fast] = [metrics(&entries[0]), metrics(&entries[1])];
    assert_eq!(slow.windows.len(), rounds.len());
    assert!((slow.steps_per_second - 2.0).abs() < 1e-9 && (fast.samples_per_second - 1280.0).abs() < 1e-6);
    assert!((slow.ratio_to_fastest - 0.2).abs() < 1e-9 && fast.ratio_to_fastest == 1.0);
    let flops = 128.0 * 2.0 * steps.training_flops_per_sample.unwrap() as f64;
    assert!((slow.flops_per_second / flops - 1.0).abs() < 1e-9);
    assert!((slow.peak_share.unwrap() * 1e12 / flops - 1.0).abs() < 1e-9);
    assert!(slow.windows.iter().all(|window| window.peak_flops_per_second == Some(1e12)), "{slow:?}");
    assert!(slow.relative_spread.abs() < 1e-9);
    assert_eq!((slow.compiling_seconds, slow.tuning_seconds), (Some(0.5), None));
    assert_eq!(slow.variants, ["compiler: none"]);
}

#[test]
fn each_window_keeps_the_peak_of_its_round_and_a_step_limit_stops_only_one() {
    let world = Rc::default();
    let elsewhere = Entrant { on_gauged_device: false, ..Fake::new("elsewhere", &world, 0.1).entrant() };
    let few = Entrant { most_steps: Some(2), ..Fake::new("few", &world, 0.1).entrant() };
    let entrants = [few, elsewhere, Fake::new("many", &world, 0.1).entrant()];
    let rising = TestGauge { peak: 0.0, rise: 1.0 };
    let steps = run(rising, &world, &request(&[]), &entrants, u32::MAX);
    let [few, elsewhere, many] = [0, 1, 2].map(|index| metrics(&steps.sizes[0].entries[index]));
    let peaks = |of: &Measured| of.windows.iter().map(|window| window.peak_flops_per_second).collect::<Vec<_>>();
    assert_eq!(peaks(few), [Some(1.0), Some(2.0)]);
    assert_eq!(world.log.borrow().iter().filter(|entry| entry.0 == "few").count(), 2, "it is not warmed up");
    assert_eq!((few.peak_flops_per_second, elsewhere.peak_flops_per_second), (Some(1.5), None));
    assert!(peaks(many).starts_with(&[Some(1.0), Some(2.0), Some(3.0)]), "{many:?}");
    assert!(elsewhere.peak_share.is_none() && peaks(elsewhere).iter().all(Option::is_none), "{elsewhere:?}");
}

#[test]
fn step_beyond_the_budget_is_timed_once() {
    let world = Rc::default();
    let entrants = [Fake::new("very slow", &world, 100.0).entrant()];
    let steps = measured(&world, &request(&[]), &entrants);
    assert_eq!(*world.log.borrow(), [("very slow", 1); 2]);
    assert_eq!(metrics(&steps.sizes[0].entries[0]).windows.len(), 1);
}

#[test]
fn batches_beyond_the_memory_limit_report_needed_and_allowed_bytes() {
    let world = Rc::default();
    let fake = |name, predicts| Fake { bytes_per_sample: 1000, predicts, ..Fake::new(name, &world, 0.1) }.entrant();
    let entrants = [fake("large", true), fake("late", false), Fake::new("small", &world, 0.1).entrant()];
    let request = Request { budget_bytes: Some(100_000), ..request(&[64, 128, 61_000]) };
    let steps = measured(&world, &request, &entrants);
    let outcome = |size: usize, entry: usize| &steps.sizes[size].entries[entry].outcome;
    assert!((0..3).all(|entry| outcome(0, entry).measured().is_some()));
    assert_eq!(metrics(&steps.sizes[0].entries[1]).predicted_bytes, None);
    for (entry, what) in [(0, "the workload as a whole"), (1, "the built workload")] {
        let what = what.to_owned();
        let expected = StepsOutcome::DoesNotFit { what, needed_bytes: 128_000, allowed_bytes: 100_000 };
        assert_eq!(*outcome(1, entry), expected);
    }
    assert_eq!(metrics(&steps.sizes[1].entries[2]).device_memory_bytes, 128);
    let StepsOutcome::Skipped { reason } = outcome(2, 0) else { panic!("{:?}", outcome(2, 0)) };
    assert!(reason.contains("from 1 to 60000") && reason.contains("61000"), "{reason}");
    let trained = |name| world.log.borrow().iter().filter(|entry| entry.0 == name).count();
    assert!(trained("late") < trained("small"), "{:?}", world.log);
}

#[test]
fn cliff_is_a_rise_of_over_a_tenth() {
    let world = Rc::default();
    // One entrant takes a millisecond per sample at every batch size. The other gets faster with size.
    let level = Fake { sample_seconds: 0.001, ..Fake::new("level", &world, 0.0) };
    let falling = Fake { sample_seconds: 0.001, ..Fake::new("falling", &world, 0.01) };
    let mut steps = measured(&world, &request(&[64, 128, 256]), &[level.entrant(), falling.entrant()]);
    assert_eq!(steps.cliffs, []);
    let StepsOutcome::Measured(measured) = &mut steps.sizes[1].entries[0].outcome else { panic!("not measured") };
    measured.samples_per_second /= 1.25;
    let found = find_cliffs(&steps.sizes);
    let [cliff] = &found[..] else { panic!("{found:?}") };
    assert_eq!((cliff.backend, cliff.from_batch_size, cliff.to_batch_size), ("level", 64, 128));
    assert!((cliff.rise - 0.25).abs() < 1e-6 && cliff.is_real(), "{cliff:?}");
}

#[test]
fn machine_slowdown_is_not_a_cliff() {
    let world = Rc::default();
    let level = Fake { sample_seconds: 0.001, slower_from: 20.0, ..Fake::new("level", &world, 0.0) };
    let steps = measured(&world, &request(&[64, 128, 256]), &[level.entrant()]);
    let [cliff] = &steps.cliffs[..] else { panic!("{:?}", steps.cliffs) };
    assert!(cliff.rise > 0.9 && !cliff.is_real(), "{cliff:?}");
    assert!(cliff.rise_in_turns.unwrap().abs() < 1e-6, "{cliff:?}");
}

#[test]
fn real_cliff_is_confirmed_by_alternating_windows() {
    let world = Rc::default();
    let steep = Fake { sample_seconds: 0.001, steep_from: 128, ..Fake::new("steep", &world, 0.0) };
    let steps = measured(&world, &request(&[64, 128]), &[steep.clone().entrant()]);
    let [cliff] = &steps.cliffs[..] else { panic!("{:?}", steps.cliffs) };
    assert!(cliff.is_real() && (cliff.rise_in_turns.unwrap() - 1.0).abs() < 1e-6, "{cliff:?}");
    // If both sizes do not fit together, only the first measurement counts.
    let request = Request { budget_bytes: Some(150), ..request(&[64, 128]) };
    let steps = measured(&world, &request, &[steep.entrant()]);
    assert!(steps.cliffs[0].is_real() && steps.cliffs[0].rise_in_turns.is_none(), "{:?}", steps.cliffs);
}

#[test]
fn cancelled_run_keeps_finished_windows() {
    let world = Rc::default();
    let entrants = [Fake::new("first", &world, 4.0).entrant(), Fake::new("second", &world, 4.0).entrant()];
    // Warm-up windows are not counted.
    let gauge = TestGauge { peak: 1e12, rise: 0.0 };
    let steps = run(gauge, &world, &request(&[32, 64]), &entrants, 1);
    assert_eq!(steps.sizes.len(), 1);
    assert_eq!(metrics(&steps.sizes[0].entries[0]).windows.len(), 1);
    assert_eq!(steps.sizes[0].entries[1].outcome, StepsOutcome::Cancelled);
}

#[test]
fn wrong_contender_has_no_metrics() {
    let world: Rc<World> = Rc::default();
    let entrant =
        |fault| Entrant { backend: Box::new(Faulty::new(fault, 0)), on_gauged_device: false, most_steps: Some(1) };
    let entrants = [entrant(Fault::LossTooLarge), entrant(Fault::None)];
    let request = Request { checked: true, ..request(&[2]) };
    let steps = measured(&world, &request, &entrants);
    let entries = &steps.sizes[0].entries;
    let StepsOutcome::Wrong(found) = &entries[0].outcome else { panic!("{:?}", entries[0].outcome) };
    assert_eq!((found.compared, found.tolerance), (Compared::Losses, 1e-3));
    assert!((0.009..0.011).contains(&found.largest_difference), "{found:?}");
    assert!(!metrics(&entries[1]).windows.is_empty());
}
