use std::sync::Arc;

use async_trait::async_trait;
use results::{FailureCause, Outcome, Summary, WorkloadRecord};

use super::super::tests::{BreaksDown, SmallData, device_lost, narrow_request, request, run, run_with};
use super::super::{Limit, in_random_order};
use crate::data::{DataError, DataSet, DataSetDefinition, DataSource};
use crate::error::EngineError;
use crate::model::ModelError;

const WORKLOADS: [&str; 2] = ["keras-mnist-mlp", "caffe-mnist"];

fn out_of_memory() -> EngineError {
    EngineError::OutOfMemory { message: "a test took\nall of it".to_owned() }
}

#[track_caller]
fn of<'a>(workloads: &'a [WorkloadRecord], name: &str) -> &'a WorkloadRecord {
    workloads.iter().find(|workload| workload.workload == name).expect("every workload is in the record")
}

#[test]
fn a_workload_that_fails_by_itself_is_an_outcome_and_the_others_are_trained() {
    type Error = fn() -> EngineError;
    let errors: [(Error, FailureCause, &str); 4] = [
        (out_of_memory, FailureCause::OutOfMemory, "ran out of memory: a test took all of it; try"),
        (
            || EngineError::DoesNotFit { what: "it".to_owned(), needed_bytes: 2, allowed_bytes: 1 },
            FailureCause::DoesNotFit,
            "it needs 2 bytes, and this device allows 1",
        ),
        (
            || EngineError::DeviceRefused { message: "kernel dense".to_owned() },
            FailureCause::DeviceRefused,
            "refused the work: kernel dense",
        ),
        (
            || ModelError::Unsupported { model: "a", layer: 1, reason: "no LSTM".to_owned() }.into(),
            FailureCause::Unsupported,
            "layer 1 is not supported by this back end: no LSTM",
        ),
    ];
    for (error, expected, text) in errors {
        for failing in WORKLOADS {
            let record = run(&narrow_request(&WORKLOADS), &BreaksDown::with(failing, error)).unwrap();
            assert_eq!(record.workloads.len(), 2);
            let failed = of(&record.workloads, failing);
            let Outcome::Failed { cause, reason } = &failed.outcome else { panic!("{:?}", failed.outcome) };
            assert_eq!(*cause, expected);
            assert!(reason.contains(text), "{reason}");
            let other = record.workloads.iter().find(|workload| workload.workload != failing).unwrap();
            assert_eq!(other.outcome, Outcome::Completed);
            assert!(!other.windows.is_empty() && !record.is_standard(), "{:?}", record.non_standard);
        }
    }
}

#[test]
fn a_workload_that_failed_has_settings_and_a_timeline_and_no_figures() {
    let record = run(&request(&WORKLOADS), &BreaksDown::with("caffe-mnist", out_of_memory)).unwrap();
    let failed = of(&record.workloads, "caffe-mnist");
    let settings = &failed.settings;
    assert_eq!((settings.batch_size, settings.training_samples, settings.test_samples), (2, 60_000, 10_000));
    assert_eq!((settings.parameters, settings.training_flops_per_sample), (431_080, 13_182_000));
    assert_eq!(failed.target.map(|target| target.reached_step), Some(None));
    assert!(!failed.timeline.is_empty());
    assert_eq!(failed.summary, Summary::default());
    assert!(failed.windows.is_empty() && failed.evaluations.is_empty() && failed.weight_samples.is_empty());
}

#[test]
fn a_device_that_does_not_answer_after_it_ran_out_of_memory_ends_the_run_with_the_reason() {
    let request = request(&WORKLOADS);
    let order = in_random_order(&request);
    let broken = |name| run(&request, &BreaksDown::with(name, out_of_memory).for_good()).unwrap_err();
    let stopped = broken(order[1].name);
    assert!(matches!(stopped.error, EngineError::OutOfMemory { .. }), "{stopped}");
    let so_far = stopped.so_far.expect("one workload was finished");
    assert_eq!(so_far.workloads.iter().map(|of| of.workload.as_str()).collect::<Vec<_>>(), [order[0].name]);
    assert!(broken(order[0].name).so_far.is_none());
}

#[test]
fn what_is_wrong_with_the_device_or_with_the_request_is_no_affair_of_one_workload() {
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

/// Has all sets but one.
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
fn a_missing_data_set_costs_its_own_workloads_only_and_names_no_folder() {
    let request = request(&["keras-mnist-mlp", "theano-cifar10"]);
    let record = run_with(&mut Lacking("cifar10"), &request, &BreaksDown::with("", device_lost)).unwrap();
    assert_eq!(of(&record.workloads, "keras-mnist-mlp").outcome, Outcome::Completed);
    let Outcome::Failed { cause, reason } = &of(&record.workloads, "theano-cifar10").outcome else {
        panic!("{:?}", record.workloads)
    };
    assert_eq!(*cause, FailureCause::Data);
    assert!(reason.starts_with("cifar10.bin is missing") && !reason.contains("alice"), "{reason}");
}

#[test]
fn a_batch_that_is_too_large_for_one_workload_is_found_before_any_is_trained() {
    let mut request = request(&["keras-mnist-mlp", "theano-cifar10"]);
    request.batch_size = Some(55_000);
    request.limit = Some(Limit::Steps(1));
    let stopped = run(&request, &BreaksDown::with("", device_lost)).unwrap_err();
    assert!(matches!(stopped.error, EngineError::InvalidSetting { .. }), "{stopped}");
    assert!(stopped.so_far.is_none());
}
