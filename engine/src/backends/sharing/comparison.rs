use crate::norm::norm;
use crate::trainer::{Backend, EvaluationSet, StepReport, TestReport, TrainingJob};

pub(crate) struct Trained {
    pub(crate) losses: Vec<f64>,
    pub(crate) correct: u64,
    samples: u64,
    pub(crate) gradients: Vec<Vec<f32>>,
    pub(crate) logits: Vec<Vec<f64>>,
    pub(crate) weights: Vec<Vec<f32>>,
    pub(crate) test: TestReport,
}

/// Trains eight steps in two epochs, in batches of three samples, and of one at the end of an epoch.
pub(crate) fn train(backend: &dyn Backend, job: &TrainingJob) -> Trained {
    train_steps(backend, job, 1, 7)
}

/// Trains `first` steps, reads gradients and logits, and trains `later` steps.
pub(crate) fn train_steps(backend: &dyn Backend, job: &TrainingJob, first: u32, later: u32) -> Trained {
    pollster::block_on(async {
        let mut trainer = backend.build(job).await.unwrap();
        let mut report = trainer.train_steps(first).await.unwrap();
        let (gradients, logits) = (trainer.gradients().await.unwrap(), trainer.logits(3).await.unwrap());
        let more = trainer.train_steps(later).await.unwrap();
        report.losses.extend(more.losses);
        report.correct += more.correct;
        report.samples += more.samples;
        let test = trainer.evaluate(EvaluationSet::Test, 5).await.unwrap();
        let StepReport { losses, correct, samples, .. } = report;
        Trained { losses, correct, samples, gradients, logits, weights: trainer.weights().await.unwrap(), test }
    })
}

/// Returns the norm of the difference relative to the norm of the expected values.
fn distance<T: Copy + Into<f64>>(found: &[Vec<T>], expected: &[Vec<T>]) -> f64 {
    let pairs = found.iter().flatten().zip(expected.iter().flatten());
    norm(pairs.map(|(&a, &b)| a.into() - b.into())) / norm(expected.iter().flatten().map(|&b| b.into()))
}

/// Tolerance for another order of additions. A sum of n numbers in float32 has a relative error of about 2⁻²⁴·√n:
/// 3e-6 for the 2,352 pixels of three digits that a gradient sums over, and twice that for a difference of two. Steps
/// at a twentieth of the rate add as much again and do not magnify it.
pub(crate) const ORDER_OF_ADDITIONS: f64 = 1e-5;
/// Tolerance with batch normalization over three images in twenty layers, which magnifies rounding: twice the error of
/// correct backends at a twentieth of the rate.
pub(crate) const THROUGH_NORMALIZATIONS: f64 = 4e-4;

/// Networks with dropout, momentum, schedules and adaptive rates.
pub(crate) const OF_EVERY_RULE: [&str; 4] = ["keras-mnist-mlp", "caffe-mnist", "tensorflow-mnist", "keras-mnist-cnn"];
/// Networks with image augmentation, recurrence and attention.
pub(crate) const OF_OTHER_KINDS: [&str; 5] =
    ["keras-cifar10-cnn", "tensorflow-cifar10", "keras-mnist-hrnn", "keras-babi-memnn", "memn2n-babi"];

pub(crate) fn trains_as_one_does(several: &dyn Backend, one: &dyn Backend, job: &TrainingJob, tolerance: f64) {
    let (name, devices) = (job.model.name, several.devices());
    let (mut expected, mut found) = (train(one, job), train(several, job));
    for trained in [&mut expected, &mut found] {
        trained.losses.push(trained.test.loss);
    }
    assert_eq!((found.losses.len(), found.samples), (expected.losses.len(), expected.samples), "{name}");
    assert!(found.correct.abs_diff(expected.correct) <= 1, "{name}: {} of {}", found.correct, expected.correct);
    assert_eq!(found.logits.len(), 3, "{name}");
    let distances = [
        ("losses", distance(&[found.losses], &[expected.losses])),
        ("gradients", distance(&found.gradients, &expected.gradients)),
        ("logits", distance(&found.logits, &expected.logits)),
        ("weights", distance(&found.weights, &expected.weights)),
    ];
    eprintln!("{name} on {devices} devices is off by {distances:?}");
    for (what, distance) in distances {
        assert!(distance <= tolerance, "{name}: {what} are off by {distance}, tolerance {tolerance}");
    }
}
