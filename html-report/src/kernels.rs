//! Kernels that were measured by themselves, by the device that computed them.

use results::Adapter;
use results::kernels::{Entry, KernelRecord, Outcome, Pass, Peak, Suite};

use crate::input::Kernels;
use crate::text;

/// Everything that was measured on one device.
#[derive(Clone, Debug)]
pub(crate) struct OnDevice<'a> {
    /// What tells it from the others.
    pub(crate) name: String,
    pub(crate) adapter: &'a Adapter,
    pub(crate) records: Vec<&'a KernelRecord>,
}

impl<'a> OnDevice<'a> {
    /// In the order in which the devices first appear.
    pub(crate) fn of_all(kernels: &'a [Kernels]) -> Vec<Self> {
        let mut devices: Vec<Self> = Vec::new();
        for Kernels { record, .. } in kernels {
            let adapter = &record.report.adapter;
            match devices.iter_mut().find(|device| device.adapter == adapter) {
                Some(device) => device.records.push(record),
                None => devices.push(Self { name: adapter.name.clone(), adapter, records: vec![record] }),
            }
        }
        let names: Vec<String> = devices.iter().map(|device| device.name.clone()).collect();
        for device in &mut devices {
            if names.iter().filter(|name| **name == device.name).count() > 1 {
                let interface = format!("{} {}", device.adapter.api, device.adapter.driver);
                device.name = format!("{} ({})", device.name, interface.trim());
            }
        }
        devices
    }

    pub(crate) fn entries(&self, suite: Suite) -> Vec<&'a Entry> {
        let all = self.records.iter().flat_map(|record| &record.report.entries);
        all.filter(|entry| entry.suite == suite).collect()
    }

    /// Each kind of peak once: the best, where several suites measured it.
    pub(crate) fn peaks(&self) -> Vec<&'a Peak> {
        let mut peaks: Vec<&Peak> = Vec::new();
        for peak in self.records.iter().flat_map(|record| record.report.peaks.iter()) {
            match peaks.iter_mut().find(|other| other.title == peak.title) {
                Some(other) if is_better(peak, other) => *other = peak,
                Some(_) => {}
                None => peaks.push(peak),
            }
        }
        peaks
    }

    /// The suites that have entries here.
    pub(crate) fn suites(&self) -> impl Iterator<Item = Suite> {
        Suite::ALL.into_iter().filter(|suite| !self.entries(*suite).is_empty())
    }
}

fn is_better(peak: &Peak, other: &Peak) -> bool {
    let is_time = peak.unit == results::kernels::Unit::Seconds;
    if is_time { peak.value < other.value } else { peak.value > other.value }
}

/// The suites that have entries on any of these devices.
pub(crate) fn suites(devices: &[OnDevice<'_>]) -> Vec<Suite> {
    Suite::ALL.into_iter().filter(|suite| devices.iter().any(|device| device.suites().any(|of| of == *suite))).collect()
}

/// The share of the peak that an entry reached.
pub(crate) fn share(entry: &Entry) -> Option<f64> {
    entry.outcome.measured()?.peak_share
}

pub(crate) fn rate(entry: &Entry) -> Option<f64> {
    Some(entry.outcome.measured()?.flops_per_second)
}

/// An entry in words.
pub(crate) fn title(entry: &Entry) -> String {
    format!("{}, {}", entry.size, entry.pass.title())
}

/// Entries of two lists that are of one size and pass, and have figures on both sides.
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

/// Those of one pass.
pub(crate) fn of_pass<'a>(entries: &[&'a Entry], pass: Pass) -> Vec<&'a Entry> {
    entries.iter().copied().filter(|entry| entry.pass == pass).collect()
}

/// Why an entry has no figures; nothing where it has.
pub(crate) fn reason(entry: &Entry) -> Option<String> {
    let mebibytes = |bytes: u64| text::mebibytes(bytes as f64);
    Some(match &entry.outcome {
        Outcome::Measured(_) => return None,
        Outcome::DoesNotFit { what, needed_bytes, allowed_bytes } => {
            format!("{what} would take {}, and {} are allowed", mebibytes(*needed_bytes), mebibytes(*allowed_bytes))
        }
        Outcome::TooSlow { predicted_seconds, allowed_seconds } => format!(
            "once would take about {}, and its budget allows {}",
            text::seconds(*predicted_seconds),
            text::seconds(*allowed_seconds)
        ),
        Outcome::Skipped { reason } => reason.clone(),
        Outcome::Failed { message } => format!("failed: {message}"),
        Outcome::Wrong(difference) => format!("wrong: {difference}"),
        Outcome::Cancelled => "stopped before its first window".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::kernels;

    #[test]
    fn what_one_device_measured_in_several_processes_stands_together() {
        let mut other = kernels("A", &[("8 × 8 × 8", Pass::Forward, Some(0.5))]);
        other.record.report.peaks.arithmetic.as_mut().unwrap().value *= 2.0;
        let best = other.record.report.peaks.arithmetic.clone().unwrap().value;
        let all = [kernels("A", &[("4 × 4 × 4", Pass::Forward, Some(0.2))]), other, kernels("B", &[])];
        let devices = OnDevice::of_all(&all);
        let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
        assert_eq!(names, ["A", "B"]);
        assert_eq!((devices[0].entries(Suite::Gemm).len(), devices[0].peaks()[0].value), (2, best));
        assert_eq!(suites(&devices), [Suite::Gemm]);
    }

    #[test]
    fn devices_of_one_name_are_told_apart_by_their_drivers() {
        let mut all = [kernels("A", &[]), kernels("A", &[])];
        all[1].record.report.adapter.driver = "Mesa 25".to_owned();
        let names: Vec<String> = OnDevice::of_all(&all).into_iter().map(|device| device.name).collect();
        assert_eq!(names, ["A (CPU)", "A (CPU Mesa 25)"]);
    }
}
