//! Contradictions between a claim and the platform's report, or between a device and its speed. They only cause a
//! manual check and refuse nothing, so unknown names and devices never contradict.

use results::{Precision, RunRecord};

use super::identity::{Reported, claim, measured_peak};
use super::lookup::{KnownDevice, is_known_architecture};
use super::{DeviceClass, class_of};

/// Share by which a device may exceed its ceiling, because vendors and owners raise clocks.
const TOLERANCE: f64 = 0.15;

/// Returns the first reason why the statements about the device of `record` cannot all be true, as a sentence.
pub fn contradiction(record: &RunRecord) -> Option<String> {
    let reported = Reported::of(&record.device.adapter);
    let claimed = claim(&record.device).and_then(|name| name.device);
    forged_name(&reported)
        .or_else(|| wrong_vendor(&reported))
        .or_else(|| claimed.and_then(|device| false_claim(&reported, device)))
        .or_else(|| too_fast(record, reported.device().or(claimed)?))
}

/// Returns a sentence if a reported name has look-alike letters. Drivers never write them; other keyboards do.
fn forged_name(reported: &Reported) -> Option<String> {
    let name = reported.name.as_ref().filter(|name| name.look_alike)?;
    let (text, device) = (&name.text, &name.device?.name);
    Some(format!("The reported name `{text}` only looks like {device}, but contains other letters."))
}

fn wrong_vendor(reported: &Reported) -> Option<String> {
    let device = reported.device()?;
    let vendor = reported.vendor.filter(|vendor| *vendor != device.vendor)?;
    Some(format!("The platform reports {}, but also {} as its vendor.", device.name, vendor.name()))
}

fn false_claim(reported: &Reported, claimed: &KnownDevice) -> Option<String> {
    let claim = &claimed.name;
    if let Some(device) = reported.device() {
        let device = &device.name;
        return (device != claim)
            .then(|| format!("The device is claimed to be {claim}, but the platform reports {device}."));
    }
    let vendor = reported.vendor?;
    if vendor != claimed.vendor {
        let vendor = vendor.name();
        return Some(format!("The device is claimed to be {claim}, but the platform reports a GPU of {vendor}."));
    }
    let architecture = &reported.architecture;
    let differs = !claimed.architectures.is_empty() && !claimed.architectures.contains(architecture);
    (differs && is_known_architecture(vendor, architecture)).then(|| {
        let expected = claimed.architectures.join(" or ");
        format!("The device is claimed to be {claim}, which is {expected}, but the platform reports {architecture}.")
    })
}

fn too_fast(record: &RunRecord, device: &KnownDevice) -> Option<String> {
    let published = device.flops_per_second?;
    let most = device.ceiling_flops_per_second()? * (1.0 + TOLERANCE);
    let sentence = |what: &str, flops: f64| {
        let (flops, published) = (flops / 1e12, published / 1e12);
        format!("{what} {flops:.1} TFLOP/s, which exceeds the published {published:.1} TFLOP/s of {}.", device.name)
    };
    if let Some(peak) = measured_peak(record).filter(|peak| *peak > most) {
        return Some(sentence("The measured peak is", peak));
    }
    // Backends without a measured peak may use matrix units, which the published peak does not count; so does f16-matrix.
    let comparable =
        record.workloads.iter().filter(|of| !of.peaks.is_empty() && of.settings.precision != Precision::F16Matrix);
    let trained = comparable.filter_map(|of| of.summary.flops_per_second).max_by(f64::total_cmp);
    trained.filter(|flops| *flops > most).map(|flops| sentence("The training reached", flops))
}

/// Smallest share of the published peak that a device must reach. Power is shared, and clocks drop with heat.
const MIN_SHARE_OF_PUBLISHED: f64 = 0.25;

/// Returns the reason why a run on a GPU is not ranked as `device`, or `None` without a published peak.
pub(super) fn misfit(record: &RunRecord, device: &KnownDevice) -> Option<String> {
    // Some processors have the same name as the GPU on their chip.
    let published = device.flops_per_second.filter(|_| class_of(record) != DeviceClass::Processor)?;
    let name = &device.name;
    let Some(measured) = measured_peak(record) else {
        return Some(format!("The run is not ranked as {name}, because its peak was not measured."));
    };
    (measured < published * MIN_SHARE_OF_PUBLISHED).then(|| {
        let (measured, published) = (measured / 1e12, published / 1e12);
        format!(
            "The run is not ranked as {name}: its measured peak is {measured:.2} TFLOP/s, but the device reaches \
             {published:.1} TFLOP/s according to its maker."
        )
    })
}

#[cfg(test)]
mod tests {
    use results::DeviceKind;

    use super::super::known_devices;
    use super::super::testing::{achieving, claimed, in_browser, native, with_peak};
    use super::*;
    use crate::devices::look_up;
    use crate::devices::testing::trained_by;

    #[test]
    fn statements_that_cannot_all_be_true_contradict() {
        let rtx_4060 = || native("NVIDIA GeForce RTX 4060", "NVIDIA");
        for (record, expected) in [
            (claimed(in_browser("amd", "rdna-3"), "RTX 4090"), "reports a GPU of AMD"),
            (claimed(in_browser("nvidia", "turing"), "RTX 4090"), "which is lovelace, but the platform reports turing"),
            (claimed(native("NVIDIA GeForce RTX 4080", "NVIDIA"), "RTX 4090"), "reports NVIDIA GeForce RTX 4080"),
            (native("G\u{435}Force RTX 4090", "NVIDIA"), "only looks like NVIDIA GeForce RTX 4090"),
            (native("GeForce RTX 4O90", "NVIDIA"), "only looks like"),
            (native("GeForce RTX 4090", "AMD"), "AMD as its vendor"),
            (with_peak(rtx_4060(), 8e13), "measured peak is 80.0 TFLOP/s"),
            (with_peak(claimed(in_browser("nvidia", "lovelace"), "RTX 4060"), 8e13), "measured peak"),
            (achieving(with_peak(rtx_4060(), 1.5e13), 8e13, Precision::F32), "training reached 80.0 TFLOP/s"),
        ] {
            let found = contradiction(&record);
            assert!(found.as_deref().is_some_and(|found| found.contains(expected)), "{found:?}, not “{expected}”");
        }
    }

    #[test]
    fn claims_that_fit_or_cannot_be_judged_agree() {
        let rtx_2080_ti = || native("NVIDIA GeForce RTX 2080 Ti", "NVIDIA");
        for record in [
            claimed(in_browser("nvidia", "lovelace"), "GeForce RTX 4090"),
            claimed(in_browser("", ""), "GeForce RTX 4090"),
            claimed(in_browser("nvidia", ""), "GeForce RTX 4090"),
            claimed(in_browser("nvidia", "rubin"), "GeForce RTX 4090"),
            claimed(in_browser("amd", "rdna-3"), "my old card"),
            claimed(native("Apple M1 Pro", "Apple"), "m1 pro"),
            claimed(native("Example GPU 9000", "0xabcd"), "RTX 4090"),
            // A person's keyboard may be Cyrillic.
            claimed(in_browser("apple", "metal-3"), "\u{41c}1"),
            // 13.45 TFLOP/s at 1545 MHz; its own boost reaches about 1900 MHz, and an owner's overclocking a little
            // more.
            with_peak(rtx_2080_ti(), 13.45e12 * 1900.0 / 1545.0),
            with_peak(rtx_2080_ti(), 13.45e12 * 2100.0 / 1545.0),
            achieving(with_peak(rtx_2080_ti(), 1.4e13), 6e13, Precision::F16Matrix),
            // Without a measured peak the backend may use matrix units for f32.
            achieving(rtx_2080_ti(), 6e13, Precision::F32),
        ] {
            agrees(&record);
        }
    }

    fn agrees(record: &RunRecord) {
        assert_eq!(contradiction(record), None, "{:?}", record.device);
    }

    #[test]
    fn known_devices_agree_with_their_vendor() {
        for device in known_devices() {
            agrees(&native(&device.name, device.vendor.name()));
            for architecture in &device.architectures {
                agrees(&claimed(in_browser(device.vendor.name(), architecture), &device.name));
            }
        }
    }

    #[test]
    fn device_fits_its_name_from_a_quarter_of_the_published_peak() {
        let said = |record: &RunRecord, name| misfit(record, look_up(name).unwrap().0);
        // The published peak is 82.6 TFLOP/s.
        let rtx_4090 = || native("NVIDIA GeForce RTX 4090", "NVIDIA");
        let slow = said(&with_peak(rtx_4090(), 2.0e13), "RTX 4090").unwrap();
        assert!(slow.contains("its measured peak is 20.00 TFLOP/s"), "{slow}");
        assert_eq!(said(&with_peak(rtx_4090(), 2.1e13), "RTX 4090"), None);
        assert!(said(&rtx_4090(), "RTX 4090").unwrap().contains("was not measured"));
        let unpublished = KnownDevice { flops_per_second: None, ..look_up("RTX 4090").unwrap().0.clone() };
        assert_eq!(misfit(&rtx_4090(), &unpublished), None);
        let processor = trained_by(native("Apple M1 Pro", "Apple"), "burn-flex", DeviceKind::Cpu, "CPU");
        assert_eq!(said(&processor, "Apple M1 Pro"), None, "it has the name of its GPU");
    }
}
