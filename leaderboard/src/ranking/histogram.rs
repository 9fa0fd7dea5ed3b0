//! Histograms of rates in bins of one percent, so that a run's rank needs no scan of all runs.

use std::collections::BTreeMap;

use results::api::RateBin;
use serde::{Deserialize, Serialize};

/// Ratio of the end of a bin to its beginning.
const STEP: f64 = 1.01;

/// Runs by rate, in bins of equal width on a logarithmic scale. Histograms of devices can be added.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(i32, u64)>", into = "Vec<(i32, u64)>")]
pub(crate) struct Histogram(BTreeMap<i32, u64>);

impl Histogram {
    pub(crate) fn of(rates: impl IntoIterator<Item = f64>) -> Self {
        let mut histogram = Self::default();
        for rate in rates {
            *histogram.0.entry(bin_of(rate)).or_default() += 1;
        }
        histogram
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (bin, runs) in &other.0 {
            *self.0.entry(*bin).or_default() += runs;
        }
    }

    pub(crate) fn runs(&self) -> u64 {
        self.0.values().sum()
    }

    /// Returns the share of runs below a rate plus half of those in its bin (the mid-rank), or `None` without runs.
    pub(crate) fn mid_rank(&self, rate: f64) -> Option<f64> {
        let runs = self.runs();
        let own = bin_of(rate);
        let below: u64 = self.0.range(..own).map(|(_, runs)| runs).sum();
        let equal = self.0.get(&own).copied().unwrap_or(0);
        (runs > 0).then(|| (below as f64 + equal as f64 / 2.0) / runs as f64)
    }

    /// Returns the non-empty bins, slowest first. Each combines `width` stored bins.
    pub(crate) fn bins(&self, width: i32) -> Vec<RateBin> {
        let mut wide: BTreeMap<i32, u64> = BTreeMap::new();
        for (bin, runs) in &self.0 {
            *wide.entry(bin.div_euclid(width)).or_default() += runs;
        }
        let rate = |bin: i32| STEP.powi(bin * width);
        wide.into_iter().map(|(bin, runs)| RateBin { from: rate(bin), to: rate(bin + 1), runs }).collect()
    }
}

impl From<Vec<(i32, u64)>> for Histogram {
    fn from(bins: Vec<(i32, u64)>) -> Self {
        Self(bins.into_iter().collect())
    }
}

impl From<Histogram> for Vec<(i32, u64)> {
    fn from(histogram: Histogram) -> Self {
        histogram.0.into_iter().collect()
    }
}

/// Returns the exponent of `STEP` for a rate. Rates are bounded before bin numbers are.
fn bin_of(rate: f64) -> i32 {
    let bin = (rate.ln() / STEP.ln()).floor();
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates, and the bins of all rates fit")]
    let bin = bin as i32;
    bin
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn mid_ranks_count_slower_runs_and_half_of_the_equal_ones() {
        let histogram = Histogram::of([10.0, 20.0, 30.0, 40.0, 50.0]);
        let ranks = [1.0, 10.0, 30.0, 50.0, 1000.0].map(|rate| histogram.mid_rank(rate));
        assert_eq!(ranks, [0.0, 0.1, 0.5, 0.9, 1.0].map(Some));
        assert_eq!(Histogram::of([5.0; 4]).mid_rank(5.0), Some(0.5));
        assert_eq!(Histogram::default().mid_rank(5.0), None);
    }

    #[test]
    fn wide_bins_hold_the_runs_of_narrow_ones() {
        let bins = Histogram::of([100.0, 101.5, 300.0]).bins(70);
        assert_eq!(bins.iter().map(|bin| bin.runs).collect::<Vec<_>>(), [2, 1]);
        assert!(bins.iter().all(|bin| (bin.to / bin.from - STEP.powi(70)).abs() < 1e-9));
    }

    proptest! {
        #[test]
        fn every_rate_lies_in_its_bin(rate in 1e-6_f64..1e12) {
            let bin = Histogram::of([rate]).bins(1)[0];
            prop_assert!(bin.from <= rate * (1.0 + 1e-9) && rate < bin.to * (1.0 + 1e-9), "{:?}", bin);
        }

        #[test]
        fn histograms_add_up_and_come_back_as_they_were_written(
            a in prop::collection::vec(0.1_f64..1e9, 0..30), b in prop::collection::vec(0.1_f64..1e9, 0..30)
        ) {
            let mut sum = Histogram::of(a.clone());
            sum.add(&Histogram::of(b.clone()));
            prop_assert_eq!(sum.runs(), (a.len() + b.len()) as u64);
            prop_assert_eq!(&sum, &Histogram::of(a.into_iter().chain(b)));
            let read: Histogram = serde_json::from_str(&serde_json::to_string(&sum).unwrap()).unwrap();
            prop_assert_eq!(read, sum);
        }

        #[test]
        fn mid_ranks_average_one_half(rates in prop::collection::vec(1_u8..20, 1..50)) {
            let rates: Vec<f64> = rates.into_iter().map(f64::from).collect();
            let histogram = Histogram::of(rates.iter().copied());
            let sum: f64 = rates.iter().filter_map(|rate| histogram.mid_rank(*rate)).sum();
            prop_assert!((sum / rates.len() as f64 - 0.5).abs() < 1e-9);
        }
    }
}
