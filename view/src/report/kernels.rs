//! Kernel measurements by device, and DeepBench's published results for the same sizes.

use std::sync::LazyLock;

use results::Adapter;
use results::kernels::{Entry, KernelOutcome, KernelRecord, KernelSuite, Pass, Peak, PeakUnit};
use serde::Deserialize;

use crate::report::group::group_by_key;
use crate::text;

#[derive(Clone, Debug)]
pub(crate) struct OnDevice<'a> {
    /// Name that distinguishes the device from others.
    pub(crate) name: String,
    pub(crate) adapter: &'a Adapter,
    pub(crate) records: Vec<&'a KernelRecord>,
}

impl<'a> OnDevice<'a> {
    /// Groups measurements by device, in order of first appearance.
    pub(crate) fn of_all(kernels: &'a [KernelRecord]) -> Vec<Self> {
        let by_adapter = group_by_key(kernels.iter().map(|record| (&record.report.adapter, record)));
        let name = |adapter: &Adapter| {
            if by_adapter.iter().filter(|(other, _)| other.name == adapter.name).count() == 1 {
                return adapter.name.clone();
            }
            let interface = format!("{} {}", adapter.api, adapter.driver);
            format!("{} ({})", adapter.name, interface.trim())
        };
        let names: Vec<String> = by_adapter.iter().map(|(adapter, _)| name(adapter)).collect();
        let devices = names.into_iter().zip(by_adapter);
        devices.map(|(name, (adapter, records))| Self { name, adapter, records }).collect()
    }

    pub(crate) fn entries(&self, suite: KernelSuite) -> Vec<&'a Entry> {
        let all = self.records.iter().flat_map(|record| &record.report.entries);
        all.filter(|entry| entry.suite == suite).collect()
    }

    /// Returns each kind of peak once, with the best result of several suites.
    pub(crate) fn peaks(&self) -> Vec<&'a Peak> {
        let all = self.records.iter().flat_map(|record| record.report.peaks.iter());
        let by_title = group_by_key(all.map(|peak| (&peak.title, peak)));
        by_title.into_iter().filter_map(|(_, peaks)| peaks.into_iter().reduce(best)).collect()
    }

    pub(crate) fn suites(&self) -> impl Iterator<Item = KernelSuite> {
        KernelSuite::ALL.into_iter().filter(|suite| !self.entries(*suite).is_empty())
    }
}

/// Returns the better peak: the shorter time or the higher rate.
fn best<'a>(one: &'a Peak, other: &'a Peak) -> &'a Peak {
    let is_better = if one.unit == PeakUnit::Seconds { other.value < one.value } else { other.value > one.value };
    if is_better { other } else { one }
}

/// Returns the suites with entries on any of these devices.
pub(crate) fn suites(devices: &[OnDevice<'_>]) -> Vec<KernelSuite> {
    KernelSuite::ALL
        .into_iter()
        .filter(|suite| devices.iter().any(|device| device.suites().any(|of| of == *suite)))
        .collect()
}

pub(crate) fn share(entry: &Entry) -> Option<f64> {
    entry.outcome.measured()?.peak_share
}

pub(crate) fn rate(entry: &Entry) -> Option<f64> {
    Some(entry.outcome.measured()?.flops_per_second)
}

pub(crate) fn title(entry: &Entry) -> String {
    format!("{}, {}", entry.size, entry.pass.title())
}

/// Pairs the entries of two lists that both have metrics.
pub(crate) fn pairs<'a>(
    one: &[&'a Entry],
    other: &[&'a Entry],
    is_pair: impl Fn(&Entry, &Entry) -> bool,
) -> Vec<(&'a Entry, &'a Entry)> {
    let measured = |entry: &&&Entry| entry.outcome.measured().is_some();
    let beside =
        |of: &&'a Entry| other.iter().filter(measured).find(|other| is_pair(of, other)).map(|other| (*of, *other));
    one.iter().filter(measured).filter_map(beside).collect()
}

pub(crate) fn filter_pass<'a>(entries: &[&'a Entry], pass: Pass) -> Vec<&'a Entry> {
    entries.iter().copied().filter(|entry| entry.pass == pass).collect()
}

pub(crate) fn reason(entry: &Entry) -> Option<String> {
    let mebibytes = |bytes: u64| text::mebibytes(bytes as f64);
    Some(match &entry.outcome {
        KernelOutcome::Measured(_) => return None,
        KernelOutcome::DoesNotFit { what, needed_bytes, allowed_bytes } => {
            format!("{what} needs {}, but {} are allowed", mebibytes(*needed_bytes), mebibytes(*allowed_bytes))
        }
        KernelOutcome::TooSlow { predicted_seconds, allowed_seconds } => format!(
            "one repetition takes about {}, but its budget is {}",
            text::seconds(*predicted_seconds),
            text::seconds(*allowed_seconds)
        ),
        KernelOutcome::Skipped { reason } => reason.clone(),
        KernelOutcome::Failed { message } => format!("failed: {message}"),
        KernelOutcome::Wrong(difference) => format!("wrong: {difference}"),
        KernelOutcome::Cancelled => "cancelled before its first window".to_owned(),
    })
}

/// Row of DeepBench's tables of training results, from `reference/published-kernels.json`.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PublishedKernel {
    /// Publisher, table and year.
    pub(crate) citation: String,
    suite: KernelSuite,
    /// Operation as worded in the table.
    pub(crate) operation: String,
    /// Size in this crate's notation; absent if it is not measured here.
    size: Option<String>,
    pass: Pass,
    pub(crate) hardware: String,
    teraflops: f64,
    pub(crate) time_ms: f64,
    pub(crate) note: Option<String>,
}

static PUBLISHED: LazyLock<Vec<PublishedKernel>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../reference/published-kernels.json")).expect("the file is checked in")
});

pub(crate) fn published(entry: &Entry) -> Option<&'static PublishedKernel> {
    PUBLISHED
        .iter()
        .find(|row| (row.suite, row.size.as_deref(), row.pass) == (entry.suite, Some(entry.size.as_str()), entry.pass))
}

/// Returns the sizes with a published rate, with their suite.
pub fn published_kernel_sizes() -> impl Iterator<Item = (KernelSuite, &'static str)> {
    PUBLISHED.iter().filter_map(|row| Some((row.suite, row.size.as_deref()?)))
}

impl PublishedKernel {
    pub(crate) fn flops_per_second(&self) -> f64 {
        self.teraflops * 1e12
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::testing::kernels;

    #[test]
    fn processes_on_one_device_are_joined() {
        let mut other = kernels("A", &[("8 × 8 × 8", Pass::Forward, Some(0.5))]);
        other.report.peaks.arithmetic.as_mut().unwrap().value *= 2.0;
        let best = other.report.peaks.arithmetic.clone().unwrap().value;
        let all = [kernels("A", &[("4 × 4 × 4", Pass::Forward, Some(0.2))]), other, kernels("B", &[])];
        let devices = OnDevice::of_all(&all);
        let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
        assert_eq!(names, ["A", "B"]);
        assert_eq!((devices[0].entries(KernelSuite::Gemm).len(), devices[0].peaks()[0].value), (2, best));
        assert_eq!(suites(&devices), [KernelSuite::Gemm]);
    }

    #[test]
    fn devices_of_one_name_get_their_drivers() {
        let mut all = [kernels("A", &[]), kernels("A", &[])];
        all[1].report.adapter.driver = "Mesa 25".to_owned();
        let names: Vec<String> = OnDevice::of_all(&all).into_iter().map(|device| device.name).collect();
        assert_eq!(names, ["A (CPU)", "A (CPU Mesa 25)"]);
    }

    #[test]
    fn published_rates_follow_from_sizes_and_times() {
        let products: Vec<&PublishedKernel> = PUBLISHED.iter().filter(|row| row.suite == KernelSuite::Gemm).collect();
        assert_eq!((PUBLISHED.len(), products.len(), published_kernel_sizes().count()), (14, 5, 9));
        for row in products {
            let numbers = row.operation.split(", ").map(|part| part.split('=').nth(1).unwrap().parse::<f64>().unwrap());
            let flops = 2.0 * numbers.product::<f64>();
            // Times are rounded to a hundredth of a millisecond.
            let rate = |milliseconds: f64| flops / (milliseconds / 1e3);
            let (low, high) = (rate(row.time_ms + 0.0051), rate(row.time_ms - 0.0051));
            let published = row.flops_per_second();
            assert!(published > 0.98 * low && published < 1.02 * high, "{row:?}: {low:e} to {high:e}");
        }
        assert_eq!(PUBLISHED[0].citation, "DeepBench, GEMM Results, 2017");
    }
}
