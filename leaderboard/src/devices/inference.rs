//! Which device it may be, where the platform does not say: a guess for readers, which decides nothing.

use results::RunRecord;

use super::identity::Reported;
use super::table::{KnownDevice, known_devices};

/// With more candidates than these, naming them helps nobody.
const MOST_CANDIDATES: usize = 3;
/// A device's measured peak is at least this share of the published one: what our kernel of multiply-adds reaches is
/// close to all, and clocks sink with heat.
const LEAST_SHARE_OF_PUBLISHED: f64 = 0.8;

/// What the server makes of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Inferred {
    /// The platform names a device of the table.
    Reported(&'static KnownDevice),
    /// Of the devices whose peak is published, those of the reported vendor and architecture that could have the
    /// measured peak: one to three. A laptop's GPU or one that is not in the table may have it, too.
    Candidates(Vec<&'static KnownDevice>),
}

/// What follows from the reported name, or else from vendor, architecture and measured peak together.
pub fn infer(record: &RunRecord, reported: &Reported) -> Option<Inferred> {
    if let Some(device) = reported.device() {
        return Some(Inferred::Reported(device));
    }
    // A platform that names a device which the table lacks has answered the question.
    let (vendor, None) = (reported.vendor?, &reported.name) else { return None };
    let measured = measured_peak(record)?;
    let fits = |device: &&KnownDevice| {
        let of_architecture = device.architectures.contains(&reported.architecture);
        let bounds = device.flops_per_second.zip(device.ceiling_flops_per_second());
        let of_speed = bounds
            .is_some_and(|(published, ceiling)| (published * LEAST_SHARE_OF_PUBLISHED..=ceiling).contains(&measured));
        device.vendor == vendor && of_architecture && of_speed
    };
    let candidates: Vec<&KnownDevice> = known_devices().iter().filter(fits).collect();
    (1..=MOST_CANDIDATES).contains(&candidates.len()).then_some(Inferred::Candidates(candidates))
}

/// The highest peak of the record, in single-precision operations per second.
pub(super) fn measured_peak(record: &RunRecord) -> Option<f64> {
    let peaks = record.workloads.iter().flat_map(|workload| &workload.peaks);
    peaks.map(|peak| peak.flops_per_second).max_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{in_browser, native, with_peak};
    use super::*;

    fn candidates(record: &RunRecord) -> Vec<&'static str> {
        match infer(record, &Reported::of(&record.device.adapter)) {
            Some(Inferred::Candidates(devices)) => devices.iter().map(|device| device.name.as_str()).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn a_reported_device_is_what_it_is() {
        let record = native("NVIDIA GeForce RTX 4090", "NVIDIA");
        let inferred = infer(&record, &Reported::of(&record.device.adapter));
        assert!(matches!(inferred, Some(Inferred::Reported(device)) if device.name == "NVIDIA GeForce RTX 4090"));
    }

    #[test]
    fn a_peak_that_few_devices_have_names_them() {
        let fast = candidates(&with_peak(in_browser("nvidia", "blackwell"), 1.1e14));
        assert!(fast.contains(&"NVIDIA GeForce RTX 5090"), "{fast:?}");
        assert!(fast.len() <= MOST_CANDIDATES);
    }

    #[test]
    fn a_peak_that_many_devices_have_or_none_names_nothing() {
        assert!(candidates(&with_peak(in_browser("nvidia", "ampere"), 3.0e13)).is_empty());
        assert!(candidates(&with_peak(in_browser("nvidia", "ampere"), 1e10)).is_empty());
        assert!(candidates(&with_peak(in_browser("", ""), 1.1e14)).is_empty());
        assert!(candidates(&in_browser("nvidia", "blackwell")).is_empty());
        assert!(candidates(&with_peak(native("NVIDIA Something New", "NVIDIA"), 1.1e14)).is_empty());
    }
}
