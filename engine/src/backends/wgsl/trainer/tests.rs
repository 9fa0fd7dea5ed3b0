//! What a trainer asks of the driver, counted.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use results::{FailureCause, InputMode, Outcome};

use super::super::WgslBackend;
use super::super::device::Counts;
use super::super::kernel_tests::with_device;
use super::super::plan::STEP_ROWS;
use super::super::workload_tests::narrow_job;
use super::*;
use crate::backends::reference::ReferenceBackend;
use crate::backends::segment_tests::{OF_EVERY_KIND, assert_close, repeated};
use crate::data::{DataSet, Split, data_set};
use crate::testing::{has_everything, narrow, shallow, skipped};
use crate::train::Limit;
use crate::train::tests::{narrow_request, run};
use crate::trainer::Backend;
use crate::training::BatchPlan;
use crate::workload::Training;

/// Samples of the data set, if it has as many; at this batch size an epoch is longer than any window here.
const SAMPLES: u32 = 600;
/// Those that are trained on; the others are held out for early stopping.
const TRAINED: u32 = 500;
const BATCH: u32 = 4;

pub(super) struct NoTime;

impl Clock for NoTime {
    fn now_seconds(&self) -> f64 {
        0.0
    }
}

/// A job of a [`narrow`] network.
fn job(workload: &str, batch_size: u32) -> TrainingJob {
    let job = wide_job(workload, batch_size);
    TrainingJob { model: narrow(job.model.clone()), ..job }
}

fn wide_job(workload: &str, batch_size: u32) -> TrainingJob {
    let workload = crate::workload(workload).unwrap().reduced();
    let definition = data_set(workload.data_set).unwrap();
    let features = definition.train.features() as usize;
    // Different pixels, so that whitening and statistics have something to work with, and every word is a word.
    let split = |samples: usize| Split {
        images: (0..samples * features).map(|i| u8::try_from(i * 7919 % 19).unwrap()).collect(),
        labels: (0..samples).map(|i| u16::try_from(i % 10).unwrap()).collect(),
    };
    let in_file = SAMPLES.min(definition.train.samples);
    let data = Arc::new(DataSet::new(definition, split(in_file as usize), split(8), false));
    let (order, batching) = (workload.order, workload.batching);
    let batches = BatchPlan { first: 0, samples: TRAINED.min(in_file), batch_size, order, batching, seed: 1 };
    workload.job(Training { data, batches, planned_steps: 1000, seed: 1, dropout: true })
}

fn build(device: &Rc<Device>, job: &TrainingJob) -> WgslTrainer {
    pollster::block_on(WgslTrainer::new(Rc::clone(device), Rc::new(NoTime), &mut untuned(device), job)).unwrap()
}

/// Kernels by the rule alone.
pub(super) fn untuned(device: &Device) -> Choices {
    Choices::new(device.abilities())
}

/// Kernels as this device chooses them for `job`, on a real GPU by timing. Nothing stays on the device.
pub(super) fn tuned(device: &Rc<Device>, job: &TrainingJob, setup: Setup) -> Choices {
    let mut choices = untuned(device);
    drop(pollster::block_on(WgslTrainer::with(Rc::clone(device), Rc::new(NoTime), &mut choices, job, setup)).unwrap());
    device.data().let_go();
    choices
}

#[test]
fn the_bytes_that_are_allocated_are_those_that_were_predicted() {
    with_device(|device| {
        for name in crate::WORKLOADS.iter().map(|make| make().name) {
            let job = wide_job(name, BATCH);
            let mut choices = tuned(device, &job, Setup::STANDARD);
            let before = device.counts();
            let predicted = WgslTrainer::predicted_bytes(device, &choices, &job, Setup::STANDARD).unwrap();
            assert_eq!(device.counts(), before, "{name}: a prediction asks nothing of the driver");
            let trainer =
                pollster::block_on(WgslTrainer::new(Rc::clone(device), Rc::new(NoTime), &mut choices, &job)).unwrap();
            let allocated = device.counts().buffer_bytes - before.buffer_bytes;
            assert_eq!(allocated, predicted, "{name}");
            assert_eq!(trainer.device_memory_bytes(), predicted, "{name}");
        }
    });
}

#[test]
fn the_driver_reserves_what_was_predicted_apart_from_its_own_rounding() {
    with_device(|device| {
        let Some(before) = device.reserved_bytes() else {
            return skipped(has_everything(device.adapter()), "this driver does not tell what it reserves");
        };
        let job = wide_job("keras-mnist-cnn", BATCH);
        let mut choices = untuned(device);
        let mut trainer =
            pollster::block_on(WgslTrainer::new(Rc::clone(device), Rc::new(NoTime), &mut choices, &job)).unwrap();
        let predicted = WgslTrainer::predicted_bytes(device, &choices, &job, Setup::STANDARD).unwrap();
        // What only carried the first contents over is given back after the next submission.
        pollster::block_on(trainer.train_steps(1)).unwrap();
        let reserved = device.reserved_bytes().unwrap() - before;
        let rounding = 64 * 1024;
        assert!((predicted..predicted + rounding).contains(&reserved), "{reserved} of {predicted}");
    });
}

#[test]
fn a_batch_that_does_not_fit_is_refused_with_both_numbers_before_anything_is_allocated() {
    with_device(|device| {
        let allowed = device.largest_binding_bytes();
        let mut job = wide_job("keras-mnist-cnn", BATCH);
        // An activation of 26 × 26 × 32 values for each sample; llvmpipe and most GPUs bind 2 GiB at most.
        job.batches.batch_size =
            u32::try_from(allowed / (device.stored().bytes() * 26 * 26 * 32) + 1).unwrap_or(u32::MAX).min(4_000_000);
        let before = device.counts();
        let predicted = WgslTrainer::predicted_bytes(device, &untuned(device), &job, Setup::STANDARD);
        let built =
            pollster::block_on(WgslTrainer::new(Rc::clone(device), Rc::new(NoTime), &mut untuned(device), &job));
        for refused in [predicted.err(), built.err()] {
            let Some(EngineError::DoesNotFit { needed_bytes, allowed_bytes, .. }) = &refused else {
                panic!("{refused:?}")
            };
            assert!(*needed_bytes > allowed && *allowed_bytes == allowed, "{refused:?}");
            let text = refused.unwrap().to_string();
            assert!(text.contains(&allowed.to_string()), "{text}");
        }
        // Empty submissions tell how late the device answers.
        assert_eq!(Counts { submissions: before.submissions, ..device.counts() }, before);
    });
}

#[test]
fn a_timed_window_reads_back_once_at_its_end_and_creates_nothing() {
    with_device(|device| {
        for name in ["keras-mnist-mlp", "keras-mnist-cnn", "keras-mnist-hrnn"] {
            // Two batches are an epoch, so that the next one begins in the window.
            let mut job = job(name, BATCH);
            job.batches.samples = 2 * BATCH;
            let mut trainer = build(device, &job);
            pollster::block_on(trainer.train_steps(1)).unwrap();
            let before = device.counts();
            let report = pollster::block_on(trainer.train_steps(3)).unwrap();
            let after = device.counts();
            assert_eq!(report.losses.len(), 3);
            assert_eq!(after.read_backs, before.read_backs + 1, "{name}");
            let created = |counts: &super::super::device::Counts| {
                (counts.buffers, counts.buffer_bytes, counts.bind_groups, counts.pipelines)
            };
            assert_eq!(created(&after), created(&before), "{name}");
            let submissions = after.submissions - before.submissions;
            assert!((1..=3).contains(&submissions), "{name}: {submissions} submissions");
        }
    });
}

/// Each reading is a second later than the one before.
#[derive(Default)]
pub(super) struct SlowTime(Cell<f64>);

impl Clock for SlowTime {
    fn now_seconds(&self) -> f64 {
        self.0.set(self.0.get() + 1.0);
        self.0.get()
    }
}

#[test]
fn on_a_slow_device_few_launches_share_a_submission_and_the_losses_are_the_same() {
    with_device(|device| {
        let job = job("keras-mnist-cnn", BATCH);
        let new = |clock: Rc<dyn Clock>| {
            pollster::block_on(WgslTrainer::new(Rc::clone(device), clock, &mut untuned(device), &job)).unwrap()
        };
        let mut slow = new(Rc::new(SlowTime::default()));
        let mut losses = pollster::block_on(slow.train_steps(2)).unwrap().losses;
        let before = device.counts().submissions;
        losses.extend(pollster::block_on(slow.train_steps(1)).unwrap().losses);
        let (submissions, launches) = (device.counts().submissions - before, slow.training.launches() as u64);
        assert!((launches / 2..=launches).contains(&submissions), "{submissions} submissions of {launches} launches");
        let mut fast = new(Rc::new(NoTime));
        assert_eq!(pollster::block_on(fast.train_steps(3)).unwrap().losses, losses);
        let slow_test = pollster::block_on(slow.evaluate(EvaluationSet::Test, 8)).unwrap();
        assert_eq!(pollster::block_on(fast.evaluate(EvaluationSet::Test, 8)).unwrap(), slow_test);
    });
}

#[test]
fn many_epochs_in_one_go_are_those_of_the_reference() {
    with_device(|device| {
        let mut job = job("keras-mnist-mlp", 2);
        (job.batches.samples, job.optimizer.learning_rate) = (5, 1e-5);
        let losses = |trainer: &mut dyn Trainer| pollster::block_on(trainer.train_steps(10)).unwrap().losses;
        let found = losses(&mut build(device, &job));
        let expected = losses(pollster::block_on(ReferenceBackend::<f64>::new().build(&job)).unwrap().as_mut());
        let tolerance = if device.stored() == Stored::F16 { 1e-2 } else { 1e-5 };
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() < tolerance * expected, "{found} instead of {expected}");
        }
    });
}

#[test]
fn more_steps_than_the_step_table_holds_go_round_in_it() {
    with_device(|device| {
        if device.stored() == Stored::F16 {
            // The table is the same.
            return;
        }
        let mut job = job("keras-mnist-mlp", 1);
        job.model = shallow(&job.model);
        (job.batches.samples, job.optimizer.learning_rate) = (3, 0.0);
        job.dropout = false;
        let losses = pollster::block_on(build(device, &job).train_steps(STEP_ROWS + 8)).unwrap().losses;
        // Without a rate, and without dropout, each epoch has the same three losses, in its own order.
        let mut first = losses[..3].to_vec();
        first.sort_by(f64::total_cmp);
        for epoch in losses.chunks_exact(3) {
            let mut epoch = epoch.to_vec();
            epoch.sort_by(f64::total_cmp);
            assert_eq!(epoch, first);
        }
    });
}

#[test]
fn reading_more_than_the_staging_buffer_holds_takes_one_more_of_just_that_size() {
    with_device(|device| {
        let mut trainer = build(device, &wide_job("keras-mnist-mlp", BATCH));
        let arena = 4 * u64::from(arena_elements(&trainer.tensors));
        let before = device.counts();
        pollster::block_on(trainer.gradients()).unwrap();
        let after = device.counts();
        assert_eq!((after.buffers, after.read_backs), (before.buffers + 1, before.read_backs + 1));
        assert_eq!(after.buffer_bytes - before.buffer_bytes, arena);
    });
}

/// Our kernels on this device, with nothing known of it.
pub(super) fn backend_on(device: &Rc<Device>) -> WgslBackend {
    WgslBackend {
        device: Rc::clone(device),
        clock: Rc::new(NoTime),
        choices: RefCell::new(untuned(device)),
        keeper: None,
        without: Vec::new(),
        input: InputMode::Resident,
    }
}

#[test]
fn a_batch_that_does_not_fit_costs_its_own_workload_and_the_next_one_is_trained_on_the_same_device() {
    with_device(|device| {
        // A convolutional network and one without convolutions, of the same data set, which takes 47 MB.
        let (large, small) = ("keras-mnist-cnn", "keras-mnist-mlp");
        device.allow(device.largest_binding_bytes().min(50 << 20));
        let mut request = narrow_request(&[small]);
        request.workloads.push(crate::workload(large).unwrap());
        // An activation of 26 × 26 × 32 values for each sample.
        request.batch_size = Some(1300);
        request.limit = Some(Limit::Steps(1));
        let record = run(&request, &backend_on(device)).unwrap();
        let outcome = |name: &str| &record.workloads.iter().find(|of| of.workload == name).unwrap().outcome;
        let Outcome::Failed { cause: FailureCause::DoesNotFit, reason } = outcome(large) else {
            panic!("{:?}", outcome(large))
        };
        assert!(reason.contains("a smaller batch size needs less"), "{reason}");
        assert_eq!(*outcome(small), Outcome::Completed);
    });
}

#[test]
fn what_a_device_remembered_for_a_workload_is_given_back_when_it_recovers() {
    with_device(|device| {
        let job = job("keras-mnist-mlp", BATCH);
        let buffers = || {
            let before = device.counts().buffers;
            drop(build(device, &job));
            device.counts().buffers - before
        };
        let (first, again) = (buffers(), buffers());
        assert!(again < first, "{again} of {first}: the data set is remembered");
        pollster::block_on(backend_on(device).recover()).unwrap();
        assert_eq!(buffers(), first, "the data set is uploaded again");
    });
}

#[test]
fn segments_train_again_to_the_last_bit_and_as_the_reference() {
    with_device(|device| {
        // In f16, only the rounding of restored weights differs.
        let tried = if device.stored() == Stored::F16 { &OF_EVERY_KIND[..1] } else { &OF_EVERY_KIND };
        for name in tried {
            let job = narrow_job(&crate::workload(name).unwrap());
            let found = repeated(&backend_on(device), &job);
            if device.stored() == Stored::F32 {
                assert_close(&job, &found, &repeated(&ReferenceBackend::<f32>::new(), &job));
            }
        }
    });
}
