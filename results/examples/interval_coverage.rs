//! Simulated coverage of the 95 % throughput interval: the share of runs whose interval contains the true median.
//!
//! Window rates are log-normal around a median of 1, and consecutive windows are correlated (first-order
//! autoregression). A run takes twenty windows or stops by the rule in `engine/src/train/learning.rs`, which depends on
//! the interval. `cargo run --release -p results --example interval_coverage` prints the same table on every machine.

#[path = "../src/normal.rs"]
mod normal;

use normal::Normal;
use results::statistics::{median, median_interval};
use results::summary::{MINIMUM_WINDOWS, STABLE_HALF_WIDTH};

const RUNS: u32 = 4000;
/// Maximum number of windows, as in `engine/src/train/learning.rs`.
const MAXIMUM_WINDOWS: usize = 4 * MINIMUM_WINDOWS;

fn main() {
    println!("correlation  deviation  windows end           mean windows  interval holds the median");
    for correlation in [0.0, 0.5, 0.9] {
        for deviation in [0.01, 0.05] {
            for (rule, is_stopped) in [("after twenty", false), ("when they agree", true)] {
                let mut normal = Normal(1);
                let (mut windows, mut covered) = (0, 0);
                for _ in 0..RUNS {
                    let rates = simulate_run(correlation, deviation, is_stopped, &mut normal);
                    let (low, high) = median_interval(&rates, 0.95).expect("a run has windows");
                    windows += rates.len();
                    covered += u32::from(low <= 1.0 && 1.0 <= high);
                }
                println!(
                    "{correlation:>11}  {:>7} %  {rule:<20}  {:>12.1}  {:>23.1} %",
                    100.0 * deviation,
                    windows as f64 / f64::from(RUNS),
                    100.0 * f64::from(covered) / f64::from(RUNS)
                );
            }
        }
    }
}

/// Simulates the rates of a run's counted windows.
fn simulate_run(correlation: f64, deviation: f64, is_stopped: bool, normal: &mut Normal) -> Vec<f64> {
    let mut deviate = normal.next();
    let mut rates = Vec::new();
    while rates.len() < MAXIMUM_WINDOWS && !(is_stopped && is_stable(&rates)) {
        rates.push((deviation * deviate).exp());
        deviate = correlation * deviate + (1.0 - correlation * correlation).sqrt() * normal.next();
    }
    rates
}

/// Returns true if the rates are stable by the rule of `results::summary::summarise`.
fn is_stable(rates: &[f64]) -> bool {
    let interval = median_interval(rates, 0.95).zip(median(rates));
    rates.len() >= MINIMUM_WINDOWS
        && interval.is_some_and(|((low, high), median)| (high - low) / 2.0 / median <= STABLE_HALF_WIDTH)
}
