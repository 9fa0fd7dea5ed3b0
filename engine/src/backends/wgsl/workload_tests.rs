//! Every workload, with its own start, augmentation and dropout, on the kernels and on the plain loops.

use std::rc::Rc;

use super::NAME;
use crate::backends::reference::ReferenceBackend;
use crate::backends::{AdapterChoice, open};
use crate::clock::Clock;
use crate::data::{DataSet, Split, data_set};
use crate::random::Generator;
use crate::trainer::{Backend, EvaluationSet, TrainingJob};
use crate::training::BatchPlan;
use crate::workload::{Training, Workload};

struct Standstill;

impl Clock for Standstill {
    fn now_seconds(&self) -> f64 {
        0.0
    }
}

/// Samples of a set: random bytes, or random words where words are wanted.
fn random_split(workload: &Workload, samples: u32, stream: u32) -> Split {
    let definition = data_set(workload.data_set).unwrap();
    let bound = if workload.data_set.starts_with("babi") { 36 } else { 256 };
    let generator = Generator { stream, step: 0, seed: 3 };
    let byte = |i| u8::try_from(generator.below(i, bound)).unwrap();
    Split {
        images: (0..samples * definition.train.features()).map(byte).collect(),
        labels: (0..samples).map(|i| u8::try_from(i % definition.train.classes).unwrap()).collect(),
    }
}

fn job(workload: &Workload) -> TrainingJob {
    const SAMPLES: u32 = 10;
    workload.job(Training {
        data: Rc::new(DataSet {
            definition: data_set(workload.data_set).unwrap(),
            // Two are held out.
            train: random_split(workload, SAMPLES + 2, 1),
            test: random_split(workload, 5, 2),
            generated: true,
        }),
        batches: BatchPlan {
            first: 1,
            samples: SAMPLES,
            batch_size: 3,
            order: workload.order,
            batching: workload.batching,
            seed: 7,
        },
        planned_steps: 4,
        seed: 7,
        dropout: true,
    })
}

/// Losses of two steps, then losses and right answers of tests.
async fn figures(backend: &dyn Backend, job: &TrainingJob) -> Vec<f64> {
    let mut trainer = backend.build(job).await.unwrap();
    let mut figures = trainer.train_steps(2).await.unwrap().losses;
    let mut sets = vec![(EvaluationSet::Test, 5)];
    sets.extend(job.early_stopping.map(|_| (EvaluationSet::HeldOut, 2)));
    for (set, samples) in sets {
        let report = trainer.evaluate(set, samples).await.unwrap();
        assert_eq!(report.samples, u64::from(samples));
        figures.push(report.loss);
    }
    figures
}

#[test]
fn every_workload_trains_and_tests_as_the_reference_does() {
    let gpu = [AdapterChoice::Any, AdapterChoice::Cpu]
        .into_iter()
        .find_map(|choice| pollster::block_on(open(NAME, &choice, Rc::new(Standstill))).ok());
    let Some(gpu) = gpu else {
        assert!(std::env::var("REQUIRE_GPU").as_deref() != Ok("1"), "REQUIRE_GPU=1, but there is no adapter");
        eprintln!("skipped: there is no adapter");
        return;
    };
    for workload in crate::WORKLOADS.iter().map(|make| make()) {
        let mut job = job(&workload);
        // Random images at the full rate are chaos, which magnifies rounding.
        job.optimizer.learning_rate *= 0.05;
        let found = pollster::block_on(figures(gpu.as_ref(), &job));
        let expected = pollster::block_on(figures(&ReferenceBackend::<f64>::new(), &job));
        for (found, expected) in found.iter().zip(&expected) {
            let allowed = workload.loss_tolerance * expected.abs();
            assert!((found - expected).abs() <= allowed, "{}: {found} instead of {expected}", workload.name);
        }
    }
}
