//! How fast the networks converge: an honest run can be neither much faster nor much slower.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::Workload;
use crate::model::ModelError;

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
    /// The first samples of the training file, whose loss it is.
    pub samples: u32,
    /// In order of their steps.
    pub points: Vec<PointOfCurve>,
}

/// What was seen after so many steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointOfCurve {
    pub step: u64,
    /// Mean loss of the first [`CurveOfNetwork::samples`] samples of the training file, classified as a test set is.
    pub lowest_loss: f64,
    pub highest_loss: f64,
    /// [`crate::Examiner::lineage`].
    pub lowest_lineage: f64,
    pub highest_lineage: f64,
}

impl PointOfCurve {
    /// Takes another seed's point into account.
    pub fn widen(&mut self, other: &Self) {
        self.lowest_loss = self.lowest_loss.min(other.lowest_loss);
        self.highest_loss = self.highest_loss.max(other.highest_loss);
        self.lowest_lineage = self.lowest_lineage.min(other.lowest_lineage);
        self.highest_lineage = self.highest_lineage.max(other.highest_lineage);
    }

    /// Between this point and a later one, where losses and drifts are straight lines on logarithmic scales.
    fn towards(&self, later: &Self, step: u64) -> Self {
        let log = |step: u64| (step.max(1) as f64).ln();
        let share = (log(step) - log(self.step)) / (log(later.step) - log(self.step));
        let between = |a: f64, b: f64| (a.max(SMALLEST).ln() * (1.0 - share) + b.max(SMALLEST).ln() * share).exp();
        let lineage = |a: f64, b: f64| 1.0 - between(1.0 - a, 1.0 - b);
        Self {
            step,
            lowest_loss: between(self.lowest_loss, later.lowest_loss),
            highest_loss: between(self.highest_loss, later.highest_loss),
            lowest_lineage: lineage(self.lowest_lineage, later.lowest_lineage),
            highest_lineage: lineage(self.highest_lineage, later.highest_lineage),
        }
    }

    /// How far the weights are from where they began (1 less the lineage), of the seed that is nearest and of the farthest.
    fn drift(&self) -> (f64, f64) {
        ((1.0 - self.highest_lineage).max(SMALLEST), (1.0 - self.lowest_lineage).max(SMALLEST))
    }

    fn is_settled(&self) -> bool {
        self.highest_loss.is_finite() && self.highest_loss <= MOST_SPREAD * self.lowest_loss.max(SMALLEST)
    }
}

/// Losses and drifts that are smaller have no meaning.
const SMALLEST: f64 = 1e-6;
const MOST_SAMPLES: u32 = 512;
/// The mean of fewer would be one of chance.
const FEWEST_SAMPLES: u32 = 32;
const MOST_FLOPS: u64 = 25_000_000_000;
/// Losses of different seeds that are farther apart tell nothing.
const MOST_SPREAD: f64 = 2.0;
/// A few seeds may agree by chance: how far they are apart is that at up to so many times fewer or more steps.
const NEIGHBOURHOOD: u64 = 4;

impl CurveOfNetwork {
    /// How many samples the loss of a network is taken of: as many as the plain loops classify in some ten seconds.
    ///
    /// # Errors
    /// A model that cannot be built.
    pub fn samples_for(workload: &Workload) -> Result<u32, ModelError> {
        let views = workload.input.test_views.len() as u64;
        let affordable = MOST_FLOPS / (workload.model.operations()?.forward_flops * views).max(1);
        Ok(u32::try_from(affordable).unwrap_or(u32::MAX).clamp(FEWEST_SAMPLES, MOST_SAMPLES))
    }

    /// That of the network of this name, where one was measured.
    pub fn of(workload: &str) -> Option<&'static Self> {
        CURVES.get(workload)
    }

    /// What is to be expected after `step` steps; `None` before the first point, and beyond the last one.
    pub fn at(&self, step: u64) -> Option<PointOfCurve> {
        let pairs = self.points.iter().zip(self.points.iter().skip(1));
        pairs.into_iter().find(|(a, b)| (a.step..=b.step).contains(&step)).map(|(a, b)| a.towards(b, step))
    }

    /// Whether seeds agree on the loss after about so many steps. They do not where a network jumps from loss to loss, as those
    /// with batch normalisation do while their running averages are young: there nothing follows from a loss.
    pub fn is_settled(&self, step: u64) -> bool {
        self.near(step).all(PointOfCurve::is_settled)
    }

    /// How far the weights may be from where they began at this point of the curve (1 less the lineage): what was measured,
    /// widened by the square of how far seeds are apart after about so many steps, and so that it is still `share` of that.
    pub fn drifts(&self, point: &PointOfCurve, share: f64) -> RangeInclusive<f64> {
        let apart = |point: &PointOfCurve| point.drift().1 / point.drift().0;
        let margin = self.near(point.step).map(apart).fold(apart(point), f64::max).powi(2) / share;
        let (least, most) = point.drift();
        least / margin..=most * margin
    }

    fn near(&self, step: u64) -> impl Iterator<Item = &PointOfCurve> {
        let is_near = move |of: u64| of * NEIGHBOURHOOD >= step && of <= step * NEIGHBOURHOOD;
        self.points.iter().filter(move |point| is_near(point.step))
    }

    /// The last point that was measured.
    pub fn last(&self) -> Option<&PointOfCurve> {
        self.points.last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::WORKLOADS;

    fn point(step: u64, lowest_loss: f64, highest_loss: f64, lineage: f64) -> PointOfCurve {
        PointOfCurve { step, lowest_loss, highest_loss, lowest_lineage: lineage, highest_lineage: lineage }
    }

    #[test]
    fn between_two_points_losses_fall_evenly_on_logarithmic_scales() {
        let points = vec![point(10, 1.0, 2.0, 0.96), point(1000, 0.01, 0.02, 0.36)];
        let curve = CurveOfNetwork { backend: "wgsl".to_owned(), seeds: 1, samples: 512, points };
        let middle = curve.at(100).unwrap();
        assert!((middle.lowest_loss - 0.1).abs() < 1e-9 && (middle.highest_loss - 0.2).abs() < 1e-9, "{middle:?}");
        assert!(
            (middle.lowest_lineage - 0.84).abs() < 1e-9 && (middle.highest_lineage - 0.84).abs() < 1e-9,
            "{middle:?}"
        );
        assert_eq!((curve.at(9), curve.at(1001)), (None, None));
        assert_eq!(curve.last().unwrap().step, 1000);
    }

    #[test]
    fn the_way_from_the_start_is_known_as_well_as_seeds_agree_on_it() {
        let between = |drifts: RangeInclusive<f64>, least: f64, most: f64| {
            assert!((drifts.start() - least).abs() < 1e-9 && (drifts.end() - most).abs() < 1e-9, "{drifts:?}");
        };
        let agreed = point(100, 0.1, 0.1, 0.8);
        let apart = PointOfCurve { lowest_lineage: 0.6, ..agreed };
        let curve = |other: PointOfCurve| CurveOfNetwork {
            backend: "wgsl".to_owned(),
            seeds: 3,
            samples: 512,
            points: vec![agreed, other],
        };
        between(curve(agreed).drifts(&agreed, 0.5), 0.1, 0.4);
        between(curve(agreed).drifts(&apart, 1.0), 0.05, 1.6);
        between(curve(PointOfCurve { step: 400, ..apart }).drifts(&agreed, 1.0), 0.05, 0.8);
        between(curve(PointOfCurve { step: 401, ..apart }).drifts(&agreed, 1.0), 0.2, 0.2);
    }

    #[test]
    fn losses_that_differ_from_seed_to_seed_tell_nothing() {
        let points = vec![point(10, 1.0, 2.0, 0.9), point(100, 1.0, 2.1, 0.8), point(1000, 1.0, f64::INFINITY, 0.7)];
        let curve = CurveOfNetwork { backend: "wgsl".to_owned(), seeds: 2, samples: 512, points };
        assert!(curve.is_settled(10) && curve.is_settled(24));
        assert!(!curve.is_settled(25) && !curve.is_settled(100) && !curve.is_settled(1000));
    }

    /// Their images are generated, so that no server proves a run of them, and nobody concludes from how they converge.
    const NOT_MEASURED: [&str; 2] = ["resnet50-synthetic", "inception-v3-synthetic"];

    #[test]
    fn every_network_has_a_curve_in_order_but_those_that_are_named() {
        for name in WORKLOADS.iter().map(|make| make().name).filter(|name| !NOT_MEASURED.contains(name)) {
            let curve = CurveOfNetwork::of(name).expect(name);
            let samples = CurveOfNetwork::samples_for(&crate::workload(name).unwrap()).unwrap();
            assert_eq!(curve.samples, samples, "{name}");
            assert!(!curve.points.is_empty(), "{name}");
            assert!(curve.points.windows(2).all(|pair| pair[0].step < pair[1].step), "{name}");
            assert!(curve.points.iter().all(|point| point.lowest_lineage <= point.highest_lineage), "{name}");
        }
        assert_eq!(CURVES.len(), WORKLOADS.len() - NOT_MEASURED.len(), "a curve of a network that is no more");
    }
}
