//! A realistic board after some years: four in five runs of the quick suite, the others of the complete one; known
//! GPUs, a few of them very common; rates with a realistic spread.

use std::time::Instant;

use engine::SUITES;
use leaderboard::devices::known_devices;
use leaderboard::load::{Board, PastRun};
use results::api::Tier;
use results::{ClientKind, Precision, RunRecord};

use crate::LoadReport;
use crate::support::database::TestDatabase;
use crate::support::record;
use crate::support::server::{BEGINNING, DAY};

const PORTION: usize = 500;
/// Ratio of all runs to runs with rare properties.
const ONE_RARE_IN: usize = 5000;

/// Some visible runs, for requests to the server.
pub(crate) struct Runs {
    pub(crate) quick: Vec<String>,
    pub(crate) complete: Vec<String>,
    /// Keys of devices, sorted by descending number of runs.
    pub(crate) devices: Vec<String>,
}

impl Runs {
    pub(crate) fn on(database: &TestDatabase) -> Self {
        let [quick, complete] = ["quick", "complete"].map(|suite| {
            let visible = format!("suite_name = '{suite}' AND tier <> 'hidden'");
            let query = format!("SELECT run_id FROM runs WHERE {visible} ORDER BY submitted_unix_seconds LIMIT 1000");
            database.words(&query)
        });
        let devices = "SELECT device_key FROM runs WHERE tier <> 'hidden' AND device_key IS NOT NULL \
                       GROUP BY device_key ORDER BY COUNT(*) DESC, device_key LIMIT 200";
        Self { quick, complete, devices: database.words(devices) }
    }
}

/// A deterministic sequence of pseudorandom numbers: `SplitMix64` (Steele, Lea and Flood, *Fast Splittable Pseudorandom
/// Number Generators*, 2014).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, length: usize) -> usize {
        usize::try_from(self.next() % length as u64).expect("it is below a length")
    }

    /// Returns an index that is mostly near the beginning: the first of 400 in one case of seven.
    #[expect(clippy::cast_possible_truncation, reason = "it is below a length")]
    pub(crate) fn early(&mut self, length: usize) -> usize {
        (self.share().powi(3) * length as f64) as usize
    }

    pub(crate) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

pub(crate) async fn fill(board: &Board, results: u64, report: &mut LoadReport) {
    let [quick, complete] = [&SUITES[0], &SUITES[1]].map(|suite| record::of_suite(suite, 1));
    let mut random = Random(1);
    let (mut stored, mut number) = (0, 0_u64);
    let begin = Instant::now();
    while stored < results {
        let mut portion = Vec::with_capacity(PORTION);
        while portion.len() < PORTION && stored < results {
            number += 1;
            let template = if number.is_multiple_of(5) { &complete } else { &quick };
            stored += template.workloads.len() as u64;
            portion.push(past_run(template, number, &mut random));
        }
        board.store(portion).await.expect("runs are stored");
        eprint!("\r  {stored} results");
    }
    eprintln!();
    report.add("stored in bulk", stored as f64 / begin.elapsed().as_secs_f64(), "results/s", None);
    let begin = Instant::now();
    board.settle().await.expect("metrics are computed");
    report.add("all metrics computed, and tables analyzed", begin.elapsed().as_secs_f64() * 1e3, "ms", None);
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "shares of small numbers")]
fn past_run(template: &RunRecord, number: u64, random: &mut Random) -> PastRun {
    let mut record = template.clone();
    record.requested.seed = u32::try_from(number % (1 << 32)).expect("it is below");
    let rank = random.early(400);
    let device = &known_devices()[rank * 7 % known_devices().len()];
    record.device.adapter.name = device.name.clone();
    record.device.adapter.vendor = String::new();
    let in_browser = random.share() < 0.6;
    if in_browser {
        record.provenance.client.kind = ClientKind::Browser;
        let few = random.below(ONE_RARE_IN) == 0;
        record.provenance.client.name =
            if few { "Opera" } else { ["Chrome", "Firefox", "Edge", "Safari"][random.below(4)] }.to_owned();
    }
    record.provenance.client.operating_system = ["Linux", "Windows", "Windows", "macOS"][random.below(4)].to_owned();
    let few = random.below(ONE_RARE_IN) == 0;
    let backend = if few { "burn-cuda" } else { ["wgsl", "wgsl", "wgsl", "burn-wgpu"][random.below(4)] };
    record.device.backend = backend.to_owned();
    record.requested.backend = backend.to_owned();
    let precision = if random.share() < 0.1 { Precision::F16 } else { Precision::F32 };
    // A sum of twelve is close to normal. The deviation of runs of one device is a tenth.
    let normal = (0..12).map(|_| random.share()).sum::<f64>() - 6.0;
    let speed =
        1e4 * 1.5_f64.powf(20.0 - rank as f64 / 20.0) * (0.1 * normal).exp() * if in_browser { 0.9 } else { 1.0 };
    for (i, workload) in record.workloads.iter_mut().enumerate() {
        workload.settings.precision = precision;
        workload.summary.samples_per_second = Some(speed / (i + 1) as f64);
        for peak in &mut workload.peaks {
            peak.flops_per_second = device.flops_per_second.unwrap_or(peak.flops_per_second);
        }
    }
    let tier = match random.below(100) {
        0..60 => Tier::Proven,
        60..85 => Tier::Checked,
        85..95 => Tier::Unverified,
        95..98 => Tier::Flagged,
        _ => Tier::Hidden,
    };
    let age = random.share();
    record.provenance.engine_version = format!("0.{}.0", random.below(3) + (20.0 * (1.0 - age)) as usize);
    record.device.adapter.driver = format!("example {}", 500 + random.below(3) + (30.0 * (1.0 - age)) as usize);
    let submitted_unix_seconds = BEGINNING - 3.0 * 365.0 * DAY * age;
    PastRun { record, tier, submitted_unix_seconds, submitter: format!("{:016x}", number / 4 * 3) }
}

/// # Panics
/// Panics if a query reads a whole table that grows with the board.
pub(crate) async fn check_plans(board: &Board) {
    let is_bad = |step: &String| step.contains("Seq Scan on r") || step == "SCAN results" || step == "SCAN runs";
    let plans = board.plans().await.expect("plans");
    let bad: Vec<_> = plans.iter().filter(|(_, steps)| steps.iter().any(is_bad)).collect();
    assert!(bad.is_empty(), "{} queries read a whole table:\n{:#?}", bad.len(), &bad[..bad.len().min(3)]);
}
