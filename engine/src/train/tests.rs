//! Tests of the training loop with a fake trainer and clock, and of whole runs on plain loops.

mod fixtures;
mod followed;

use std::rc::Rc;
use std::sync::Arc;

use async_trait::async_trait;
use results::{FailureCause, Outcome, Phase, Summary, Warning, WorkloadRecord};

use super::check::faulty::{Fault, Faulty, device_lost};
use super::settings::TrainingLimits;
use super::shuffle_workloads;
use crate::data::{DataError, DataSet, DataSetDefinition, DataSource};
use crate::error::EngineError;
use crate::measure::WantedTexts;
use crate::model::ModelError;
use crate::trainer::TrainerFacts;

pub(crate) use fixtures::{FakeClock, Recorder, SmallData, narrow_request, request, run, run_before, steps};
use fixtures::{Pause, TrainingTest};

#[test]
fn windows_evaluations_and_epochs_are_timed_apart() {
    let (record, _) = TrainingTest::new(0.1).run();
    assert_eq!(record.evaluations.iter().map(|e| e.step).collect::<Vec<_>>(), [50, 100, 150, 200]);
    assert!(record.evaluations.iter().all(|e| (e.seconds - 100.0).abs() < 1e-9));
    assert!((record.summary.training_seconds - 20.0).abs() < 1e-9, "{}", record.summary.training_seconds);
    assert_eq!(record.epochs.iter().map(|e| e.epoch).collect::<Vec<_>>(), [1, 2]);
    assert!(record.epochs.iter().all(|e| (e.seconds - 10.0).abs() < 1e-9), "{:?}", record.epochs);
    // Windows grow to a little over a second. Evaluations happen every 50 steps.
    let steps: Vec<u32> = record.windows.iter().map(|window| window.steps).collect();
    assert_eq!(steps[..6], [1, 8, 11, 11, 11, 8]);
    assert!(record.summary.stable, "{:?}", record.summary);
    let expected: Vec<f32> = (1..=20u8).map(|step| 1.0 / f32::from(step)).collect();
    assert_eq!(record.first_losses, expected);
}

#[test]
fn a_window_is_twenty_times_the_latency() {
    let (record, _) = TrainingTest { latency_seconds: 0.1, ..TrainingTest::new(0.1) }.run();
    let steps: Vec<u32> = record.windows.iter().map(|window| window.steps).collect();
    assert_eq!(steps[..5], [1, 8, 20, 20, 1]);
}

#[test]
fn a_fast_device_trains_on_until_five_windows_are_filled() {
    let test = TrainingTest { measure: true, ..TrainingTest::new(0.000_1) };
    let (record, observer) = test.run();
    assert_eq!(record.evaluations.last().unwrap().step, 200);
    assert_eq!(record.summary.measured_windows, 5);
    assert!((record.summary.samples_per_second.unwrap() - 100_000.0).abs() < 1.0);
    let fractions = observer.fractions;
    assert!(fractions.len() > 5 && fractions.is_sorted(), "{fractions:?}");
    assert!(fractions.iter().all(|fraction| (0.0..=1.0).contains(fraction)));
}

#[test]
fn divergence_ends_the_run_with_its_step() {
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
    let run = |constant_loss| TrainingTest { constant_loss, ..TrainingTest::new(0.1) }.run_before(None).0;
    let error = run(Some(2.3)).unwrap_err().to_string();
    assert!(error.contains("50 consecutive steps have the loss 2.3"), "{error}");
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
fn a_time_budget_ends_training_with_an_evaluation() {
    let limits = Some(TrainingLimits { steps: 200, seconds: 4.0, seconds_are_budget: true });
    let (record, _) = TrainingTest { limits, ..TrainingTest::new(0.1) }.run();
    let last = record.evaluations.last().unwrap();
    assert!((4.0..4.2).contains(&last.training_seconds), "{last:?}");
    assert_eq!(last.step, record.summary.steps);
}

#[test]
fn seconds_end_training_by_the_clock() {
    let limits = Some(TrainingLimits { steps: 10_000, seconds: 20.0, seconds_are_budget: false });
    let (record, _) = TrainingTest { limits, reported_share: Some(0.25), ..TrainingTest::new(0.1) }.run();
    let last = record.evaluations.last().unwrap();
    assert!((199..=202).contains(&last.step), "{last:?}");
    assert!((last.training_seconds - 0.025 * last.step as f64).abs() < 1e-9, "{last:?}");
}

#[test]
fn cancelling_ends_the_run_after_the_window_or_while_it_waits() {
    let canceled = || TrainingTest { measure: true, ..TrainingTest::new(0.1) };
    let pause = Some(Pause { after: 3, cancels: true });
    for test in [TrainingTest { cancel_after: Some(3), ..canceled() }, TrainingTest { pause, ..canceled() }] {
        let (record, _) = test.run();
        assert_eq!((record.outcome, record.windows.len()), (Outcome::Cancelled, 3));
    }
}

#[test]
fn no_clock_runs_while_a_run_waits() {
    // Covers training and further measurement, each with a separate time limit.
    let limits = || Some(TrainingLimits { steps: 200, seconds: 4.0, seconds_are_budget: true });
    let training = || TrainingTest { limits: limits(), ..TrainingTest::new(0.1) };
    let measuring = || TrainingTest { measure: true, ..TrainingTest::new(0.000_1) };
    let windows_of_training = measuring().run().0.windows.len() - 5;
    let tests: [(&dyn Fn() -> TrainingTest, usize); 2] = [(&training, 2), (&measuring, windows_of_training + 2)];
    for (test, after) in tests {
        let (expected, _) = test().run();
        let pause = Some(Pause { after, cancels: false });
        let (record, _) = TrainingTest { pause, ..test() }.run();
        let waits = |of: &WorkloadRecord| -> Vec<f64> {
            of.timeline.iter().filter(|of| of.phase == Phase::Paused).map(|of| of.seconds).collect()
        };
        assert_eq!((waits(&expected), waits(&record)), (vec![], vec![600.0]));
        // The phase that was interrupted continues.
        let phases: Vec<_> = record.timeline.iter().map(|of| of.phase).collect();
        assert!(phases.windows(3).any(|of| of[1] == Phase::Paused && of[0] == of[2]), "{phases:?}");
        assert_eq!(record.windows.len(), expected.windows.len());
        let pairs = record.windows.iter().zip(&expected.windows);
        assert!(pairs.into_iter().all(|(with, without)| (with.seconds - without.seconds).abs() < 1e-9), "{record:?}");
        let (with, without) = (record.summary.training_seconds, expected.summary.training_seconds);
        assert!((with - without).abs() < 1e-9, "{with} instead of {without}");
        let looks = |of: &WorkloadRecord| of.evaluations.iter().map(|e| e.step).collect::<Vec<_>>();
        assert_eq!(looks(&record), looks(&expected));
    }
}

#[test]
fn separately_reported_times_do_not_count_as_building() {
    let facts = TrainerFacts { compiling_seconds: Some(3.0), tuning_seconds: Some(1.5), ..TrainerFacts::default() };
    let cold = super::cold_start(0.25, 5.0, &facts);
    assert_eq!((cold.data_seconds, cold.build_seconds), (Some(0.25), Some(0.5)));
    assert_eq!((cold.compiling_seconds, cold.tuning_seconds), (Some(3.0), Some(1.5)));
    let cold = super::cold_start(0.25, 5.0, &TrainerFacts::default());
    assert_eq!((cold.build_seconds, cold.compiling_seconds, cold.tuning_seconds), (Some(5.0), None, None));
}

/// Returns an observer that shows answers.
fn watching() -> Recorder {
    Recorder { test: Rc::new(TrainingTest { looked_on: Some(0.0), ..TrainingTest::default() }), ..Recorder::default() }
}

#[test]
fn showing_answers_does_not_change_the_record() {
    let request = request(&["keras-mnist-mlp"]);
    let run = |wants_examples| {
        let mut observer = if wants_examples { watching() } else { Recorder::default() };
        let record = run_before(&mut observer, &mut SmallData, &request, &Faulty::faultless()).unwrap();
        (record.workloads.into_iter().next().unwrap(), observer)
    };
    let (seen, observer) = run(true);
    assert_eq!(observer.labels, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]);
    assert_eq!(observer.answers.len(), 1 + seen.evaluations.len(), "before the first step, and at each test");
    assert!(observer.answers.iter().all(|answers| answers.len() == 12 && answers.iter().all(|&class| class < 10)));
    assert_eq!(observer.trained, ["keras-mnist-mlp"]);
    let (unseen, nobody) = run(false);
    assert!(nobody.labels.is_empty() && nobody.answers.is_empty() && nobody.trained.is_empty());
    assert_eq!((&seen.windows, &seen.curve), (&unseen.windows, &unseen.curve));
    assert_eq!((&seen.evaluations, &seen.weight_samples), (&unseen.evaluations, &unseen.weight_samples));
}

/// 200 steps take 20 s here, with four evaluations.
#[test]
fn slow_answers_are_shown_less_often() {
    let run = |looked_on| TrainingTest { looked_on, ..TrainingTest::new(0.1) }.run();
    let (seen, observer) = run(Some(0.01));
    assert_eq!(observer.answers.len(), 1 + 4 + 2 * 4, "two in each five seconds that lie between two looks");
    let (_, slow) = run(Some(1.0));
    assert_eq!(slow.answers.len(), 1 + 4, "30 s would have to pass before the next");
    let (unseen, _) = run(None);
    let steps = |record: &WorkloadRecord| record.windows.iter().map(|window| window.steps).collect::<Vec<_>>();
    assert_eq!(steps(&seen), steps(&unseen));
    let named: f64 = seen.timeline.iter().filter(|of| of.phase == Phase::Training).map(|of| of.seconds).sum();
    assert!((named - 20.0).abs() < 1e-9, "they are no part of training: {named}");
}

/// 200 steps take 20 s here, with an evaluation of 100 s after each ten.
#[test]
fn texts_are_written_at_evaluations_or_intervals() {
    let run = |texts, looked_on| TrainingTest { texts, looked_on: Some(looked_on), ..TrainingTest::new(0.1) }.run();
    let (seen, observer) = run(WantedTexts::AtIntervals, 0.01);
    assert_eq!(observer.texts.len(), 1 + 10, "before the first step, and after every second window");
    let lengths: Vec<usize> = observer.texts.iter().map(|text| text.chars().count()).collect();
    assert_eq!((lengths[0], lengths[1]), (40, 200), "before the first step, a line must do");
    let seconds = |record: &WorkloadRecord, phase| {
        record.timeline.iter().filter(|of| of.phase == phase).map(|of| of.seconds).sum::<f64>()
    };
    assert!((seconds(&seen, Phase::Writing) - 0.11).abs() < 1e-9);
    assert!((seconds(&seen, Phase::Training) - 20.0).abs() < 1e-9);
    let (_, slow) = run(WantedTexts::AtIntervals, 1.0);
    assert_eq!(slow.texts.len(), 1 + 2, "30 s have to pass before the next one");
    let (record, printed) = run(WantedTexts::AtEvaluations, 0.01);
    assert_eq!(printed.texts.len(), record.evaluations.len());
    let windows = |record: &WorkloadRecord| record.windows.iter().map(|window| window.steps).collect::<Vec<_>>();
    assert_eq!(windows(&seen), windows(&record), "texts change no window");
}

#[test]
fn costly_answers_and_those_about_noise_are_not_shown() {
    for (workload, expected) in [("caffe-mnist", 2), ("keras-mnist-hrnn", 0)] {
        let mut observer = watching();
        run_before(&mut observer, &mut SmallData, &request(&[workload]), &Faulty::faultless()).unwrap();
        assert_eq!(observer.answers.len(), expected, "{workload}");
        assert_eq!(observer.trained.len(), expected.min(1), "{workload}");
    }
}

#[test]
fn a_network_that_learned_nothing_is_warned_of() {
    let warnings = run(&request(&["keras-mnist-mlp"]), &Faulty::faultless()).unwrap().warnings;
    let found = warnings.iter().find(|warning| matches!(warning, Warning::NotLearned { .. }));
    let Some(Warning::NotLearned { workload, accuracy, chance }) = found else { panic!("{warnings:?}") };
    assert_eq!((workload.as_str(), *chance), ("keras-mnist-mlp", 0.1));
    assert!(*accuracy <= 0.19, "{accuracy}");
}

#[test]
fn a_lost_or_unrecoverable_device_returns_the_finished_workloads() {
    let request = request(&WORKLOADS);
    let order = shuffle_workloads(&request);
    for (error, recovers) in [(device_lost as fn() -> EngineError, true), (out_of_memory, false)] {
        let breaks_down = |name| run(&request, &Faulty::breaking_at(name, error, recovers)).unwrap_err();
        let stopped = breaks_down(order[1].name);
        assert_eq!(stopped.error.to_string(), error().to_string());
        let so_far = stopped.so_far.expect("one workload was finished");
        assert_eq!(so_far.workloads.iter().map(|of| of.workload.as_str()).collect::<Vec<_>>(), [order[0].name]);
        assert_eq!(so_far.workloads[0].outcome, Outcome::Completed);
        let untuned = so_far.warnings.iter().filter(|warning| matches!(warning, Warning::Untuned { .. }));
        assert_eq!(untuned.count(), 1, "what a backend warns of is in the record once");
        assert!(breaks_down(order[0].name).so_far.is_none());
    }
}

#[test]
fn a_wrong_backend_gets_only_its_disagreement() {
    let record = run(&request(&["keras-mnist-mlp"]), &Faulty::new(Fault::LossTooLarge, 0)).unwrap();
    let workload = &record.workloads[0];
    assert_eq!(workload.outcome, Outcome::Incorrect);
    let found = workload.correctness.as_ref().expect("both sides' losses");
    assert!(!found.passed && (0.009..0.011).contains(&found.largest_difference), "{found:?}");
    assert!(workload.windows.is_empty() && workload.curve.is_empty() && workload.evaluations.is_empty());
    assert_eq!(workload.summary.samples_per_second, None);
}

const WORKLOADS: [&str; 2] = ["keras-mnist-mlp", "caffe-mnist"];

fn out_of_memory() -> EngineError {
    EngineError::OutOfMemory { message: "a test took\nall of it".to_owned() }
}

#[track_caller]
fn find_workload<'a>(workloads: &'a [WorkloadRecord], name: &str) -> &'a WorkloadRecord {
    workloads.iter().find(|workload| workload.workload == name).expect("every workload is in the record")
}

#[test]
fn a_failed_workload_is_an_outcome_and_others_continue() {
    type MakeError = fn() -> EngineError;
    let errors: [(MakeError, FailureCause, &str); 4] = [
        (out_of_memory, FailureCause::OutOfMemory, "ran out of memory: a test took all of it; try"),
        (
            || EngineError::DoesNotFit { what: "it".to_owned(), needed_bytes: 2, allowed_bytes: 1 },
            FailureCause::DoesNotFit,
            "it needs 2 bytes, but this device allows 1",
        ),
        (|| EngineError::refused("kernel dense"), FailureCause::DeviceRefused, "refused the work: kernel dense"),
        (
            || ModelError::Unsupported { model: "a", layer: 1, reason: "no LSTM".to_owned() }.into(),
            FailureCause::Unsupported,
            "layer 1 is not supported by this backend: no LSTM",
        ),
    ];
    for (error, expected, text) in errors {
        for failing in WORKLOADS {
            let request = narrow_request(&WORKLOADS);
            let record = run(&request, &Faulty::breaking_at(failing, error, true)).unwrap();
            assert_eq!(record.workloads.len(), 2);
            let failed = find_workload(&record.workloads, failing);
            let Outcome::Failed { cause, reason } = &failed.outcome else { panic!("{:?}", failed.outcome) };
            assert_eq!(*cause, expected);
            assert!(reason.contains(text), "{reason}");
            // It has settings and a timeline, but no results.
            let (settings, asked) = (&failed.settings, request.workloads.iter().find(|of| of.name == failing).unwrap());
            assert_eq!((settings.batch_size, settings.training_samples, settings.test_samples), (2, 60_000, 10_000));
            assert_eq!(settings.parameters, asked.model.parameters().unwrap());
            assert_eq!(settings.training_flops_per_sample, asked.model.operations().unwrap().training_flops());
            assert_eq!(failed.target.map(|target| target.reached_step), Some(None));
            assert!(!failed.timeline.is_empty() && failed.summary == Summary::default());
            assert!(failed.windows.is_empty() && failed.evaluations.is_empty() && failed.weight_samples.is_empty());
            let other = record.workloads.iter().find(|workload| workload.workload != failing).unwrap();
            assert_eq!(other.outcome, Outcome::Completed);
            assert!(!other.windows.is_empty() && !record.is_standard(), "{:?}", record.departures);
        }
    }
}

#[test]
fn errors_of_device_or_request_end_the_run() {
    let errors = [
        device_lost(),
        EngineError::NoAnswer { when: "it was given work", seconds: 120 },
        EngineError::WorkDropped { missing: "a loss".to_owned() },
        EngineError::LinkLost,
        EngineError::Panicked { message: "a fault".to_owned() },
        EngineError::NoHost { backend: "burn-remote" },
    ];
    for error in errors {
        assert_eq!(error.failure_of_workload(), None, "{error}");
    }
}

struct Lacking(&'static str);

#[async_trait(?Send)]
impl DataSource for Lacking {
    async fn load(&mut self, definition: &'static DataSetDefinition) -> Result<Arc<DataSet>, DataError> {
        if definition.name == self.0 {
            let file = format!("/home/alice/{}.bin", self.0);
            return Err(DataError::Missing { file, place: "/home/alice".to_owned() });
        }
        SmallData.load(definition).await
    }
}

#[test]
fn a_missing_data_set_fails_only_its_workloads() {
    let request = request(&["keras-mnist-mlp", "theano-cifar10"]);
    let (observer, data) = (&mut Recorder::default(), &mut Lacking("cifar10"));
    let record = run_before(observer, data, &request, &Faulty::faultless()).unwrap();
    assert_eq!(find_workload(&record.workloads, "keras-mnist-mlp").outcome, Outcome::Completed);
    let Outcome::Failed { cause, reason } = &find_workload(&record.workloads, "theano-cifar10").outcome else {
        panic!("{:?}", record.workloads)
    };
    assert_eq!(*cause, FailureCause::Data);
    assert!(reason.starts_with("cifar10.bin is missing") && !reason.contains("alice"), "{reason}");
}

#[test]
fn too_large_batches_are_found_before_training() {
    let mut request = request(&["keras-mnist-mlp", "theano-cifar10"]);
    request.spec.batch_size = Some(55_000);
    request.spec.length = steps(1);
    let stopped = run(&request, &Faulty::faultless()).unwrap_err();
    assert!(matches!(stopped.error, EngineError::InvalidSetting { .. }), "{stopped}");
    assert!(stopped.so_far.is_none());
}

#[test]
fn the_seed_decides_which_weights_are_kept() {
    let weights = vec![(0..1000u16).map(f32::from).collect::<Vec<_>>(), vec![1.0, 2.0]];
    let first = super::choose_weights(&weights, 1);
    assert_eq!(first.len(), 6);
    assert_eq!(first, super::choose_weights(&weights, 1));
    assert_ne!(first, super::choose_weights(&weights, 2));
    assert!(first.iter().all(|s| weights[s.tensor as usize][s.index as usize] == s.value));
}
