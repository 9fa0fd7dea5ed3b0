//! Gradmark, the score of a suite.

use results::estimate::{Estimate, Interval, mean_of_independent};
use results::{Outcome, RunRecord, Suite};

use crate::workload::{Workload, suite, workload};

/// Returns the score of a run in GFLOP/s, or `None` unless every scored network completed with counted windows.
pub fn score(record: &RunRecord) -> Option<Estimate> {
    score_of(&record.suite, |name| {
        let completed = |of: &&results::WorkloadRecord| of.workload == name && of.outcome == Outcome::Completed;
        record.workloads.iter().find(completed)?.summary.throughput()
    })
}

/// Returns the score of a suite in GFLOP/s, from the throughput of each network in samples per second.
///
/// The score is the geometric mean of training operations per second, counted from shapes, over the suite's networks
/// that a leaderboard can prove. Ratios of geometric means do not depend on the unit of each network: Fleming and
/// Wallace, "How not to lie with statistics" (1986).
pub fn score_of(of: &Suite, throughput: impl Fn(&str) -> Option<Estimate>) -> Option<Estimate> {
    let known = suite(&of.name).filter(|known| known.version == of.version)?;
    let networks = known.workloads.iter().filter_map(|name| workload(name)).filter(Workload::is_provable);
    let rates = networks.map(|network| arithmetic(&network, throughput(network.name)?)).collect::<Option<Vec<_>>>()?;
    (!rates.is_empty()).then(|| mean_of_independent(&rates))
}

/// Returns the geometric mean of the networks' arithmetic per second in GFLOP/s, from their samples per second: the
/// score of an unfinished run. Unknown networks and those that a leaderboard cannot prove do not count.
pub fn mean_arithmetic<'a>(rates: impl Iterator<Item = (&'a str, f64)>) -> Option<f64> {
    let known = rates.filter_map(|(name, value)| {
        arithmetic(&workload(name).filter(Workload::is_provable)?, Estimate { value, interval: None })
    });
    let known: Vec<Estimate> = known.collect();
    (!known.is_empty()).then(|| mean_of_independent(&known).value)
}

/// Returns the arithmetic per second that training at this throughput needs, in GFLOP/s.
fn arithmetic(network: &Workload, throughput: Estimate) -> Option<Estimate> {
    let flops = network.model.operations().ok()?.training_flops() as f64;
    let of = |rate: f64| rate * flops / 1e9;
    let interval = throughput.interval.map(|Interval { low, high }| Interval { low: of(low), high: of(high) });
    let value = Some(throughput.value).filter(|rate| rate.is_finite() && *rate > 0.0).map(of)?;
    Some(Estimate { value, interval })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quick() -> Suite {
        Suite { name: "quick".to_owned(), version: 1 }
    }

    fn estimate(value: f64, ratio: f64) -> Estimate {
        Estimate { value, interval: Some(Interval { low: value * ratio, high: value / ratio }) }
    }

    fn flops(name: &str) -> f64 {
        workload(name).unwrap().model.operations().unwrap().training_flops() as f64
    }

    #[test]
    fn score_is_a_geometric_mean_of_arithmetic_with_half_widths_in_quadrature() {
        let of = |name: &str| if name == "caffe-mnist" { estimate(50.0, 0.9) } else { estimate(200.0, 0.8) };
        let score = score_of(&quick(), |name| Some(of(name))).unwrap();
        let expected = (50.0 * flops("caffe-mnist") * 200.0 * flops("keras-mnist-mlp")).sqrt() / 1e9;
        assert!((score.value / expected - 1.0).abs() < 1e-12);
        let half_width = ((0.9_f64.ln()).powi(2) + (0.8_f64.ln()).powi(2)).sqrt() / 2.0;
        let Interval { low, high } = score.interval.unwrap();
        assert!(((score.value / low).ln() - half_width).abs() < 1e-12);
        assert!(((high / score.value).ln() - half_width).abs() < 1e-12);
        let one_bare =
            |name: &str| Some(if name == "caffe-mnist" { of(name) } else { Estimate { interval: None, ..of(name) } });
        assert_eq!(score_of(&quick(), one_bare).unwrap().interval, None);
    }

    #[test]
    fn score_needs_every_network() {
        let but = |missing: &'static str| move |name: &str| (name != missing).then(|| estimate(100.0, 1.0));
        assert!(score_of(&quick(), but("keras-cifar10-cnn")).is_some());
        assert_eq!(score_of(&quick(), but("caffe-mnist")), None);
        assert_eq!(score_of(&quick(), |_| Some(estimate(0.0, 1.0))), None);
        assert_eq!(score_of(&Suite { version: 2, ..quick() }, |_| Some(estimate(100.0, 1.0))), None);
        let complete = Suite { name: "complete".to_owned(), version: 1 };
        assert!(score_of(&complete, but("airbench94")).is_some(), "no leaderboard can prove this network");
    }
}
