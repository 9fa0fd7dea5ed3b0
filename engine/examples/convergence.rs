//! Finds out how fast the networks converge, which no honest run does much faster or slower, and writes it down.
//!
//! `cargo run --release -p engine --features burn-flex --example convergence -- burn-flex keras-mnist-mlp 3752 1,2,3`
//! trains 3,752 steps from each of three seeds and puts what it found into `reference/convergence.json`. `GRADMARK_DATA`
//! names the folder of the data sets, if it is another than `data`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use engine::{
    AdapterChoice, Clock, CurveOfNetwork, DataSet, Examiner, PointOfCurve, SUITES, Standard, backends, data_set,
    workload,
};
use results::weights_bytes;

/// Marks are so many times as far from the beginning as those before them.
const GROWTH: f64 = 1.6;
const FIRST_MARK: u64 = 4;

struct Stopwatch(Instant);

impl Clock for Stopwatch {
    fn now_seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [backend, network, steps, seeds] = arguments.as_slice() else {
        return Err("usage: convergence BACKEND NETWORK STEPS SEED[,SEED …]".into());
    };
    let end: u64 = steps.parse()?;
    let samples = CurveOfNetwork::samples_for(&workload(network).ok_or("there is no such network")?)?;
    let mut points: Vec<PointOfCurve> = Vec::new();
    for seed in seeds.split(',') {
        let seed: u32 = seed.parse()?;
        let found = pollster::block_on(curve(backend, network, (end, samples), seed))?;
        for (place, point) in found.into_iter().enumerate() {
            match points.get_mut(place) {
                Some(so_far) => so_far.widen(&point),
                None => points.push(point),
            }
        }
    }
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../reference/convergence.json");
    let text = std::fs::read_to_string(&file).unwrap_or_else(|_| "{}".to_owned());
    let mut curves: BTreeMap<String, CurveOfNetwork> = serde_json::from_str(&text)?;
    let seeds = u32::try_from(seeds.split(',').count())?;
    curves.insert(network.clone(), CurveOfNetwork { backend: backend.clone(), seeds, samples, points });
    std::fs::write(&file, serde_json::to_string_pretty(&curves)? + "\n")?;
    Ok(())
}

/// The losses of `samples` training samples at ever further marks of one training that ends after step `end`.
async fn curve(
    backend: &str,
    network: &str,
    (end, samples): (u64, u32),
    seed: u32,
) -> Result<Vec<PointOfCurve>, Box<dyn std::error::Error>> {
    let standard = Standard::of(&SUITES[1], network, seed).ok_or("there is no such network")?;
    let data = data(standard.workload.data_set)?;
    let clock: Rc<dyn Clock> = Rc::new(Stopwatch(Instant::now()));
    let backend = backends::open(backend, &AdapterChoice::Any, Rc::clone(&clock)).await?;
    let examiner = Examiner::new(&standard, Arc::clone(&data), seed);
    let mut trainer = backend.build(&standard.job(data, seed)).await?;
    let (mut step, mut mark) = (0, FIRST_MARK);
    let mut points = Vec::new();
    while step < end {
        let steps = mark.min(end) - step;
        trainer.train_steps(u32::try_from(steps)?).await?;
        step += steps;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "far below 2^53")]
        let next = (mark as f64 * GROWTH) as u64;
        mark = next;
        let weights = weights_bytes(&trainer.weights().await?);
        let weights = examiner.read(&weights)?.ok_or("the training diverged")?;
        let loss = examiner.training_loss(&weights, samples)?;
        let lineage = examiner.lineage(&weights)?;
        println!("{network} seed {seed} step {step} loss {loss:.5} lineage {lineage:.4} {:.1} s", clock.now_seconds());
        points.push(PointOfCurve {
            step,
            lowest_loss: loss,
            highest_loss: loss,
            lowest_lineage: lineage,
            highest_lineage: lineage,
        });
    }
    Ok(points)
}

fn data(name: &str) -> Result<Arc<DataSet>, Box<dyn std::error::Error>> {
    let definition = data_set(name).ok_or("there is no such data set")?;
    if let Some(generated) = DataSet::generated(definition) {
        return Ok(Arc::new(generated));
    }
    let files = definition.file_names().ok_or("no files hold it")?;
    let folder = std::env::var_os("GRADMARK_DATA")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../data"), PathBuf::from);
    let [train, test] = files.map(|file| std::fs::read(folder.join(file)));
    Ok(Arc::new(DataSet::from_files(definition, train?, test?)?))
}
