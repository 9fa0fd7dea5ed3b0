//! How fast the networks converge: an honest run can be neither much faster nor much slower.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// What the example `convergence` measured.
static CURVES: LazyLock<BTreeMap<String, CurveOfNetwork>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../reference/convergence.json")).expect("the file is checked in")
});

/// The course of a network's training, of a few seeds together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurveOfNetwork {
    /// That it was trained with; back ends differ by rounding only.
    pub backend: String,
    pub seeds: u32,
    /// In order of their steps.
    pub points: Vec<PointOfCurve>,
}

/// What was seen after so many steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointOfCurve {
    pub step: u64,
    /// Mean loss of the first [`CurveOfNetwork::SAMPLES`] samples of the training file, classified as a test set is.
    pub lowest_loss: f64,
    pub highest_loss: f64,
    /// [`crate::Examiner::lineage`].
    pub lowest_lineage: f64,
}

impl PointOfCurve {
    /// Takes another seed's point into account.
    pub fn widen(&mut self, other: &Self) {
        self.lowest_loss = self.lowest_loss.min(other.lowest_loss);
        self.highest_loss = self.highest_loss.max(other.highest_loss);
        self.lowest_lineage = self.lowest_lineage.min(other.lowest_lineage);
    }

    /// Between this point and a later one, where losses are straight lines on logarithmic scales.
    fn towards(&self, later: &Self, step: u64) -> Self {
        let log = |step: u64| (step.max(1) as f64).ln();
        let share = (log(step) - log(self.step)) / (log(later.step) - log(self.step));
        let loss =
            |a: f64, b: f64| (a.max(SMALLEST_LOSS).ln() * (1.0 - share) + b.max(SMALLEST_LOSS).ln() * share).exp();
        Self {
            step,
            lowest_loss: loss(self.lowest_loss, later.lowest_loss),
            highest_loss: loss(self.highest_loss, later.highest_loss),
            lowest_lineage: self.lowest_lineage.min(later.lowest_lineage),
        }
    }
}

/// Smaller ones have no meaning.
const SMALLEST_LOSS: f64 = 1e-6;

impl CurveOfNetwork {
    pub const SAMPLES: u32 = 512;

    /// That of the network of this name, where one was measured.
    pub fn of(workload: &str) -> Option<&'static Self> {
        CURVES.get(workload)
    }

    /// What is to be expected after `step` steps; `None` before the first point, and beyond the last one.
    pub fn at(&self, step: u64) -> Option<PointOfCurve> {
        let pairs = self.points.iter().zip(self.points.iter().skip(1));
        pairs.into_iter().find(|(a, b)| (a.step..=b.step).contains(&step)).map(|(a, b)| a.towards(b, step))
    }

    /// The last point that was measured.
    pub fn last(&self) -> Option<&PointOfCurve> {
        self.points.last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(step: u64, lowest_loss: f64, highest_loss: f64, lowest_lineage: f64) -> PointOfCurve {
        PointOfCurve { step, lowest_loss, highest_loss, lowest_lineage }
    }

    #[test]
    fn between_two_points_losses_fall_evenly_on_logarithmic_scales() {
        let points = vec![point(10, 1.0, 2.0, 0.9), point(1000, 0.01, 0.02, 0.5)];
        let curve = CurveOfNetwork { backend: "wgsl".to_owned(), seeds: 1, points };
        let middle = curve.at(100).unwrap();
        assert!((middle.lowest_loss - 0.1).abs() < 1e-9 && (middle.highest_loss - 0.2).abs() < 1e-9, "{middle:?}");
        assert_eq!(middle.lowest_lineage, 0.5);
        assert_eq!((curve.at(9), curve.at(1001)), (None, None));
        assert_eq!(curve.last().unwrap().step, 1000);
    }

    #[test]
    fn every_curve_is_of_a_network_and_in_order() {
        for (name, curve) in CURVES.iter() {
            assert!(crate::workload(name).is_some(), "{name}");
            assert!(curve.points.windows(2).all(|pair| pair[0].step < pair[1].step), "{name}");
        }
    }
}
