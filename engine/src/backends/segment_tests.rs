//! Tests that restore the state of a training segment and train again.

use results::{StateBytes, weights_bytes};

use super::reference::ReferenceBackend;
use super::wgsl::workload_tests::narrow_job;
use crate::norm::{doubles, norm};
use crate::trainer::{Backend, EvaluationSet, Trainer, TrainingJob};
use crate::training::Segments;

/// Steps per segment. An epoch has three or four steps, so segments begin inside epochs and span their ends.
const STEPS: [u32; 3] = [2, 4, 3];
/// Maximum difference between devices, relative to the change by training. A leaderboard allows the same in f32.
const TOLERANCE: f64 = 0.01;

/// Networks with dropout, augmentation, momentum, adaptive rates and averages, shuffled and in file order.
pub(super) const OF_EVERY_KIND: [&str; 4] =
    ["keras-mnist-mlp", "tensorflow-mnist", "caffe-mnist", "tensorflow-cifar10"];
/// Networks with batch normalization over three images, which magnifies rounding too much to compare backends.
pub(super) const NORMALIZED: [&str; 2] = ["resnet20-cifar10", "airbench94"];

/// Trains all segments with a test after each, then trains again from each state. Returns the states before the first
/// segment and after each segment.
pub(super) fn repeated(backend: &dyn Backend, job: &TrainingJob) -> Vec<StateBytes> {
    assert!(backend.facts().repeats_itself, "{}", backend.name());
    pollster::block_on(async {
        let mut trainer = backend.build(job).await.unwrap();
        let mut states = vec![trainer.state().await.unwrap()];
        assert!(states[0] == job.initial_state().unwrap(), "{}", job.model.name);
        let (mut segments, mut step) = (Segments::default(), 0);
        for (seed, steps) in (20..).zip(STEPS) {
            trainer.begin_segment(seed);
            segments.begin(step, seed);
            trainer.train_steps(steps).await.unwrap();
            trainer.evaluate(EvaluationSet::Test, 5).await.unwrap();
            states.push(trainer.state().await.unwrap());
            step += u64::from(steps);
        }
        let mut another = backend.build(job).await.unwrap();
        for from in [1, 2, 0] {
            for trainer in [&mut trainer, &mut another] {
                train_again(trainer.as_mut(), &states, from, &segments).await;
            }
        }
        states
    })
}

async fn train_again(trainer: &mut dyn Trainer, states: &[StateBytes], from: usize, segments: &Segments) {
    let step = STEPS[..from].iter().map(|&steps| u64::from(steps)).sum();
    trainer.restore(&states[from], step, segments).await.unwrap();
    assert!(weights_bytes(&trainer.weights().await.unwrap()) == states[from].weights);
    assert!(trainer.state().await.unwrap() == states[from], "restored after {from} segments");
    trainer.train_steps(STEPS[from..].iter().sum()).await.unwrap();
    assert!(Some(&trainer.state().await.unwrap()) == states.last(), "trained again after {from} segments");
}

pub(super) fn assert_close(job: &TrainingJob, found: &[StateBytes], expected: &[StateBytes]) {
    let split = |state| job.split_state(state).unwrap().unwrap();
    let begin = split(&expected[0]);
    for (segment, (found, expected)) in found.iter().zip(expected).enumerate() {
        for (list, ((found, expected), begin)) in split(found).iter().zip(&split(expected)).zip(&begin).enumerate() {
            let (apart, moved) = (distance(found, expected), distance(expected, begin));
            let what = format!("{}: list {list} after {segment} segments", job.model.name);
            assert!(apart <= TOLERANCE * moved, "{what}: {apart:e} apart, moved by {moved:e}");
        }
    }
}

fn distance(a: &[Vec<f32>], b: &[Vec<f32>]) -> f64 {
    norm(doubles(a.iter().flatten()).zip(doubles(b.iter().flatten())).map(|(a, b)| a - b))
}

#[test]
fn the_reference_trains_segments_again_to_the_last_bit() {
    for name in OF_EVERY_KIND.into_iter().chain(NORMALIZED) {
        let states = repeated(&ReferenceBackend::<f32>::new(), &narrow_job(&crate::workload(name).unwrap()));
        assert!(states.windows(2).all(|pair| pair[0] != pair[1]), "{name}");
    }
}

#[test]
fn only_a_state_of_the_job_is_restored() {
    let job = narrow_job(&crate::workload("keras-mnist-mlp").unwrap());
    let state = job.initial_state().unwrap();
    let mut trainer = pollster::block_on(ReferenceBackend::<f32>::new().build(&job)).unwrap();
    let mut restored = |state| pollster::block_on(trainer.restore(&state, 0, &Segments::default())).is_ok();
    assert!(restored(state.clone()));
    assert!(!restored(StateBytes { weights: state.weights[4..].to_vec(), ..state.clone() }));
    assert!(!restored(StateBytes { memory: Vec::new(), ..state.clone() }));
    let mut endless = state;
    endless.memory[..4].copy_from_slice(&f32::INFINITY.to_le_bytes());
    assert!(!restored(endless));
}
