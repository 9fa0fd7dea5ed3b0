//! A record's device as *reported* by the platform, *claimed* by the person and *inferred* by the server.

use results::api::DeviceSource;
use results::software::program_of_architecture;
use results::{HIDDEN_SOFTWARE, IN_COMPATIBILITY_MODE, RunRecord, hidden_device};

use super::contradiction::misfit;
use super::reported::{Named, Reported, claim, measured_peak};
use super::{KnownDevice, Vendor, contradiction, known_devices};

/// The device of a record. Records with the same key count as one device.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceIdentity {
    pub reported: Reported,
    pub claimed: Option<Named>,
    /// Names of the devices that it may be by its measured peak, a guess for readers.
    pub inferred: Option<String>,
    /// Key of letters, digits and hyphens, from the canonical name of a known device. Keys of other devices begin with
    /// the source of their name, with `masked`, or with `unknown` if they do not fit their name.
    pub key: String,
    pub label: String,
    /// Source of the name by which the device is grouped.
    pub source: DeviceSource,
    /// Reason, as a sentence, why the key differs from the one that the device's name suggests.
    pub misfit: Option<String>,
    /// Reason why the statements cannot all be true, as a sentence.
    pub contradiction: Option<String>,
}

impl DeviceIdentity {
    pub fn of(record: &RunRecord) -> Self {
        let adapter = &record.device.adapter;
        let reported = Reported::of(adapter);
        let claimed = claim(&record.device);
        let contradiction = contradiction(record);
        // The platform's name has priority over the person's, unless something contradicts it. An inferred name is a
        // guess and never forms a group.
        let named = match (&reported.name, &claimed) {
            (Some(name), _) => Some((DeviceSource::Reported, name)),
            (None, Some(name)) if contradiction.is_none() => Some((DeviceSource::Claimed, name)),
            (None, _) => None,
        };
        let misfit = named.and_then(|(_, name)| misfit(record, name.device?));
        let (source, (mut key, mut label)) = match named {
            Some(_) if misfit.is_some() => (DeviceSource::Masked, unknown_group(&reported)),
            Some((source, name)) => (source, named_group(source, name)),
            None => (DeviceSource::Masked, masked_group(&reported, adapter.software)),
        };
        // The same devices are slower in WebGPU's compatibility mode.
        if adapter.compatibility {
            key += "-compatibility";
            label += IN_COMPATIBILITY_MODE;
        }
        let candidates = infer(record, &reported);
        let names = candidates.map(|devices| devices.iter().map(|device| device.name.as_str()).collect::<Vec<_>>());
        let inferred = names.map(|names| names.join(" or "));
        Self { reported, claimed, inferred, key, label, source, misfit, contradiction }
    }
}

/// Returns the key and the label of a device with this name, as the next functions do of others.
fn named_group(source: DeviceSource, name: &Named) -> (String, String) {
    match name.device {
        Some(device) => (slug(&device.name), device.name.clone()),
        None => (slug(&format!("{} {}", source.name(), name.text)), name.text.clone()),
    }
}

fn unknown_group(reported: &Reported) -> (String, String) {
    match reported.vendor.map(Vendor::name) {
        Some(vendor) => (slug(&format!("unknown {vendor}")), format!("unknown device ({vendor})")),
        None => ("unknown".to_owned(), "unknown device".to_owned()),
    }
}

fn masked_group(reported: &Reported, software: bool) -> (String, String) {
    let vendor = reported.vendor.map(Vendor::name);
    let architecture = Some(reported.architecture.as_str()).filter(|word| !word.is_empty());
    let words: Vec<&str> = vendor.into_iter().chain(architecture).collect();
    if software && words.is_empty() {
        return ("masked-software".to_owned(), HIDDEN_SOFTWARE.to_owned());
    }
    let label = match program_of_architecture(&reported.architecture) {
        Some(program) => program.to_owned(),
        None => hidden_device(&words.join(", ")),
    };
    (slug(&format!("masked {}", words.join(" "))), label)
}

/// Returns lower-case letters and digits, with a hyphen for everything else between them.
fn slug(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

const MAX_CANDIDATES: usize = 3;
/// Smallest measured share of the published peak. Kernels of multiply-adds come close, and clocks drop.
const MIN_SHARE_OF_PUBLISHED: f64 = 0.8;

/// Infers one to three devices from vendor, architecture and measured peak. If the platform names the device, nothing
/// is inferred.
fn infer(record: &RunRecord, reported: &Reported) -> Option<Vec<&'static KnownDevice>> {
    let (vendor, None) = (reported.vendor?, &reported.name) else { return None };
    let measured = measured_peak(record)?;
    let fits = |device: &&KnownDevice| {
        let of_architecture = device.architectures.contains(&reported.architecture);
        let bounds = device.flops_per_second.zip(device.ceiling_flops_per_second());
        let of_speed = bounds
            .is_some_and(|(published, ceiling)| (published * MIN_SHARE_OF_PUBLISHED..=ceiling).contains(&measured));
        device.vendor == vendor && of_architecture && of_speed
    };
    let candidates: Vec<&KnownDevice> = known_devices().iter().filter(fits).collect();
    (1..=MAX_CANDIDATES).contains(&candidates.len()).then_some(candidates)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::known_devices;
    use super::super::testing::{claimed, in_browser, native, with_peak};
    use super::*;

    #[test]
    fn records_are_grouped_by_the_most_reliable_name() {
        let fast = |record| with_peak(record, 7e13);
        let slow = |record| with_peak(record, 1e11);
        for (record, expected) in [
            (fast(native("NVIDIA GeForce RTX 4090", "NVIDIA")), "nvidia-geforce-rtx-4090"),
            (fast(native("NVIDIA GeForce RTX 4090/PCIe/SSE2", "NVIDIA")), "nvidia-geforce-rtx-4090"),
            (fast(native("GeForce RTX 4090", "NVIDIA")), "nvidia-geforce-rtx-4090"),
            (claimed(fast(in_browser("nvidia", "lovelace")), "rtx 4090"), "nvidia-geforce-rtx-4090"),
            // The platform's name has priority, and impossible claims are ignored.
            (claimed(native("Example GPU 9000", "example"), "RTX 4090"), "reported-example-gpu-9000"),
            (claimed(in_browser("amd", "rdna-3"), "RTX 4090"), "masked-amd-rdna-3"),
            // Devices that are too slow for their name are unknown.
            (slow(native("NVIDIA GeForce RTX 4090", "NVIDIA")), "unknown-nvidia"),
            (claimed(slow(in_browser("", "")), "RTX 4090"), "unknown"),
            (with_peak(native("Example GPU 9000", "example"), 1e9), "reported-example-gpu-9000"),
            (claimed(slow(in_browser("", "")), "my old card"), "claimed-my-old-card"),
            (in_browser("nvidia", "ampere"), "masked-nvidia-ampere"),
            (in_browser("apple", ""), "masked-apple"),
            (in_browser("", ""), "masked"),
        ] {
            assert_eq!(DeviceIdentity::of(&record).key, expected, "{:?}", record.device);
        }
        assert_eq!(DeviceIdentity::of(&slow(native("RTX 4090", "NVIDIA"))).source, DeviceSource::Masked);
        let mut software = in_browser("", "");
        software.device.adapter.software = true;
        assert_eq!(DeviceIdentity::of(&software).key, "masked-software", "not with GPUs that their browser hides");
    }

    #[test]
    fn compatibility_mode_is_a_separate_device() {
        let mut record = in_browser("qualcomm", "adreno-5xx");
        record.device.adapter.compatibility = true;
        let DeviceIdentity { key, label, .. } = DeviceIdentity::of(&record);
        assert_eq!(key, "masked-qualcomm-adreno-5xx-compatibility");
        assert_eq!(label, "Qualcomm, adreno-5xx (the browser hides which), compatibility mode");
    }

    #[test]
    fn known_devices_have_distinct_and_recognizable_keys() {
        let keys: BTreeSet<String> = known_devices().iter().map(|device| slug(&device.name)).collect();
        assert_eq!(keys.len(), known_devices().len());
        let reserved = ["reported-", "claimed-", "masked", "unknown"];
        assert!(keys.iter().all(|key| reserved.iter().all(|word| !key.starts_with(word))));
        assert!(keys.iter().all(|key| !key.ends_with("-compatibility")));
    }

    #[test]
    fn infers_devices_from_peaks_that_few_have() {
        let inferred = |record: &RunRecord| infer(record, &Reported::of(&record.device.adapter));
        let devices = inferred(&with_peak(in_browser("nvidia", "blackwell"), 1.1e14)).unwrap();
        assert!(devices.iter().any(|device| device.name == "NVIDIA GeForce RTX 5090"), "{devices:?}");
        for unclear in [
            with_peak(in_browser("nvidia", "ampere"), 3.0e13),
            with_peak(in_browser("nvidia", "ampere"), 1e10),
            with_peak(in_browser("", ""), 1.1e14),
            in_browser("nvidia", "blackwell"),
            with_peak(native("NVIDIA Something New", "NVIDIA"), 1.1e14),
            with_peak(native("NVIDIA GeForce RTX 5090", "NVIDIA"), 1.1e14),
        ] {
            assert_eq!(inferred(&unclear), None);
        }
    }
}
