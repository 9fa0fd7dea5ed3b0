//! Measures the differences between a backend and the plain loops when they train a part of its training again, as a
//! leaderboard does with the parts that it draws.
//!
//! `cargo run --release -p engine --example replay -- --backend wgsl --adapter cpu --precision f16 keras-mnist-mlp`
//! trains segments of a few steps. For a part of each, it prints the largest difference of any layer relative to its
//! change, the largest difference of any loss, and whether the backend reproduces its own bits. At the end, both test
//! the same weights. `GRADMARK_DATA` names the folder of the data sets, `data` by default.

#[path = "../src/testing/real_data.rs"]
mod real_data;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use engine::backends::{self, Opening};
use engine::{
    AdapterChoice, Backend, Clock, DataSet, EvaluationSet, Examiner, SUITES, Segments, Standard, data_set, segment_seed,
};
use real_data::real_data;
use results::{Beacon, Precision};

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

const SEED: u32 = 1;
/// Largest number of test samples.
const TESTED: u32 = 500;

struct Stopwatch(Instant);

impl Clock for Stopwatch {
    fn now_seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

fn main() -> Fallible<()> {
    let (mut backend, mut adapter, mut precision) = ("wgsl".to_owned(), AdapterChoice::Any, Precision::F32);
    let (mut segments, mut steps, mut networks) = (20, 25, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--backend" => backend = value()?,
            "--adapter" => adapter = value()?.parse()?,
            "--precision" => precision = Precision::named(&value()?).ok_or("there is no such precision")?,
            "--segments" => segments = value()?.parse()?,
            "--steps" => steps = value()?.parse()?,
            _ => networks.push(argument),
        }
    }
    if networks.is_empty() {
        networks = SUITES[0].workloads.iter().map(|&name| name.to_owned()).collect();
    }
    pollster::block_on(async {
        let clock = Rc::new(Stopwatch(Instant::now()));
        let backend = backends::open_with(&backend, &Opening::new(precision, &adapter), clock).await?;
        for network in networks {
            replay(backend.as_ref(), &network, segments, steps).await?;
        }
        Ok(())
    })
}

/// Trains `count` segments of `steps` steps, and the first step of each again.
async fn replay(backend: &dyn Backend, network: &str, count: u8, steps: u32) -> Fallible<()> {
    let standard = Standard::of(&SUITES[1], network).ok_or("there is no such network")?;
    let data = real_data(standard.workload.data_set);
    let job = standard.job(Arc::clone(&data), SEED);
    let (mut trainer, mut other) = (backend.build(&job).await?, backend.build(&job).await?);
    let examiner = || Examiner::new(&standard, Arc::clone(&data), SEED);
    let (mut segments, mut step, mut largest) = (Segments::default(), 0, [0.0_f64; 2]);
    for number in 0..count {
        let seed = segment_seed(Beacon([number; 16]), SEED);
        trainer.begin_segment(seed);
        segments.begin(step, seed);
        let begin = trainer.state().await?;
        let losses = trainer.train_steps(1).await?.losses;
        let told = trainer.state().await?;
        if steps > 1 {
            trainer.train_steps(steps - 1).await?;
        }

        other.restore(&begin, step, &segments).await?;
        other.train_steps(1).await?;
        let again = if other.state().await? == told { "the same bits" } else { "OTHER bits" };
        let end = step + 1;
        let examiner = examiner().with_segments(segments.clone());
        let found = examiner.train_part(&begin, [step, end])?.ok_or("the training diverged")?;
        let difference = examiner.difference(&begin, &found.state, &told)?.ok_or("the training diverged")?;
        let losses = losses.iter().zip(&found.losses).map(|(told, found)| (told - found).abs() / found.abs().max(0.05));
        let apart = [difference, losses.fold(0.0, f64::max)];
        println!("{network} step {end}: {}, {again} again", shown(apart));
        largest = [largest[0].max(apart[0]), largest[1].max(apart[1])];
        step += u64::from(steps);
    }
    println!("{network} {} {}: at most {}", backend.name(), backend.precision().name(), shown(largest));
    let samples = TESTED.min(standard.test_samples);
    let told = trainer.evaluate(EvaluationSet::Test, samples).await?;
    let numbers: Vec<u32> = (0..samples).collect();
    let found = examiner().test(&trainer.state().await?, step, &numbers)?.ok_or("the training diverged")?.report;
    let apart = 100.0 * (told.loss - found.loss).abs() / found.loss;
    let accuracies = [told, found].map(|report| 100.0 * report.accuracy());
    println!(
        "{network} tested after step {step}: loss {:.6}, {apart:.6} % apart, accuracies {accuracies:?}",
        found.loss
    );
    Ok(())
}

fn shown([state, loss]: [f64; 2]) -> String {
    format!("state {:.4} %, loss {:.5} % apart", 100.0 * state, 100.0 * loss)
}
