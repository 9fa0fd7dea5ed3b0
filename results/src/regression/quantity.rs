//! What is compared beside the throughput.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Run, speed};
use crate::comparison::cold_start;
use crate::estimate::Estimate;
use crate::{Better, metric};

/// What a quantity is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantityUnit {
    Seconds,
    Bytes,
}

/// A figure of a run that is compared, where both sides have it in all their runs.
pub struct Quantity {
    /// As it is written in documents; that of the metric, where it is one.
    pub id: &'static str,
    /// A word or two.
    pub title: &'static str,
    pub unit: QuantityUnit,
    pub better: Better,
    value: fn(&Run<'_>) -> Option<f64>,
}

/// All of them, in the order in which tables show them.
pub const QUANTITIES: &[Quantity] = &[
    seconds("step_seconds_p50", "step", |run| metric_of(run, "step_seconds_p50")),
    seconds("seconds_to_target", "to target", |run| metric_of(run, "seconds_to_target")),
    seconds("testing_seconds", "testing", |run| metric_of(run, "testing_seconds")),
    seconds("cold_start_seconds", "start", |run| cold_start(run.workload)),
    bytes("device_memory_bytes", "device memory", |run| {
        Some(run.workload.settings.device_memory_bytes as f64).filter(|bytes| *bytes > 0.0)
    }),
    bytes("host_memory_bytes", "host memory", |run| {
        run.workload.resources.resident_memory_maximum_bytes.map(|bytes| bytes as f64)
    }),
];

const fn seconds(id: &'static str, title: &'static str, value: fn(&Run<'_>) -> Option<f64>) -> Quantity {
    Quantity { id, title, unit: QuantityUnit::Seconds, better: Better::Lower, value }
}

const fn bytes(id: &'static str, title: &'static str, value: fn(&Run<'_>) -> Option<f64>) -> Quantity {
    Quantity { id, title, unit: QuantityUnit::Bytes, better: Better::Lower, value }
}

fn metric_of(run: &Run<'_>, id: &str) -> Option<f64> {
    metric(id).and_then(|metric| (metric.value)(&run.summary))
}

/// One quantity of both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Of [`QUANTITIES`].
    pub id: String,
    /// The geometric mean over the runs; absent unless all of them have it.
    pub baseline: Option<f64>,
    pub candidate: Option<f64>,
    /// The candidate's over the baseline's. With a single run on each side it has no interval.
    pub ratio: Option<Estimate>,
}

impl Change {
    /// Whether several runs say that this is worse, or better, and not only different by chance.
    pub fn is_certain(&self) -> bool {
        self.ratio.and_then(|ratio| ratio.interval).is_some_and(|interval| interval.low > 1.0 || interval.high < 1.0)
    }
}

/// Every quantity of the completed runs of both sides.
pub(super) fn changes(baseline: &[&Run<'_>], candidate: &[&Run<'_>]) -> Vec<Change> {
    let change = |quantity: &Quantity| {
        let of = |runs: &[&Run<'_>]| -> Option<Vec<Estimate>> {
            let bare = |run: &&Run<'_>| Some(Estimate { value: (quantity.value)(run)?, interval: None });
            runs.iter().map(bare).collect()
        };
        let (baseline, candidate) = (of(baseline), of(candidate));
        Change {
            id: quantity.id.to_owned(),
            baseline: baseline.as_deref().and_then(speed::figure),
            candidate: candidate.as_deref().and_then(speed::figure),
            ratio: baseline.zip(candidate).and_then(|(baseline, candidate)| speed::ratio(&baseline, &candidate)),
        }
    };
    QUANTITIES.iter().map(change).collect()
}
