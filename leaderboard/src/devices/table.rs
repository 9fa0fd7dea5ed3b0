//! The known GPUs, read from `reference/devices.json`.
//!
//! The file is an object: `about` explains it to whoever edits it, and `series` is a list of [`Series`], each with its
//! `devices`. What is listed there is a fact that the vendor published, or a word that drivers use; a peak that is not
//! certain is left out, because a wrong one would accuse honest people.

use std::sync::LazyLock;

use results::DeviceKind;
use serde::Deserialize;

use super::Vendor;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "about")]
    _about: Vec<String>,
    series: Vec<Series>,
}

/// Devices that share a vendor and what WebGPU calls their architecture.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Series {
    /// For whoever reads the file; nothing depends on it.
    #[serde(rename = "series")]
    _name: String,
    vendor: Vendor,
    kind: DeviceKind,
    architectures: Vec<String>,
    #[serde(default)]
    clocks_above_published: f64,
    devices: Vec<Entry>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    flops_per_second: Option<f64>,
    #[serde(default)]
    aliases: Vec<String>,
}

/// A GPU of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownDevice {
    /// The canonical name, with the vendor: `NVIDIA GeForce RTX 4090`.
    pub name: String,
    pub vendor: Vendor,
    pub kind: DeviceKind,
    /// Every word that WebGPU's `GPUAdapterInfo.architecture` has had for it, such as `lovelace`; empty where it has
    /// none. The words are those of Dawn's `gpu_info.json`, which goes by ranges of PCI numbers.
    pub architectures: Vec<String>,
    /// The vendor's published single-precision peak, in floating-point operations per second, a fused multiply-add
    /// counted as two. Of variants that share the name, the highest.
    pub flops_per_second: Option<f64>,
    /// How far the device's clock rises above the published one by itself, as a share. GeForce cards do so by up to a
    /// quarter (NVIDIA's GPU Boost takes the boost clock for what a card reaches at least, on average).
    pub clocks_above_published: f64,
    /// Other names that do not follow from the canonical one.
    pub aliases: Vec<String>,
}

impl KnownDevice {
    /// What no device of this name does by itself, in floating-point operations per second in single precision.
    pub fn ceiling_flops_per_second(&self) -> Option<f64> {
        self.flops_per_second.map(|peak| peak * (1.0 + self.clocks_above_published))
    }
}

static TABLE: LazyLock<Vec<KnownDevice>> = LazyLock::new(|| {
    let file: File =
        serde_json::from_str(include_str!("../../../reference/devices.json")).expect("the file is checked in");
    file.series.into_iter().flat_map(devices_of).collect()
});

fn devices_of(series: Series) -> impl Iterator<Item = KnownDevice> {
    let Series { vendor, kind, architectures, clocks_above_published, devices, .. } = series;
    devices.into_iter().map(move |Entry { name, flops_per_second, aliases }| KnownDevice {
        name,
        vendor,
        kind,
        architectures: architectures.clone(),
        flops_per_second,
        clocks_above_published,
        aliases,
    })
}

/// Every GPU of the table.
pub fn known_devices() -> &'static [KnownDevice] {
    &TABLE
}

/// Whether WebGPU calls any known device of `vendor` by this word. A word that is new says nothing about a device.
pub fn is_known_architecture(vendor: Vendor, architecture: &str) -> bool {
    known_devices()
        .iter()
        .any(|device| device.vendor == vendor && device.architectures.iter().any(|a| a == architecture))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_are_those_of_devices_and_not_slips_of_the_pen() {
        for device in known_devices() {
            let plausible = device.flops_per_second.is_none_or(|peak| (0.5e12..=2e14).contains(&peak));
            assert!(plausible, "{}: {:?}", device.name, device.flops_per_second);
            assert!((0.0..=0.3).contains(&device.clocks_above_published), "{}", device.name);
        }
    }

    #[test]
    fn names_begin_with_who_makes_or_sells_the_device() {
        for device in known_devices() {
            let words = [device.vendor.name(), "PowerVR"];
            assert!(words.iter().any(|word| device.name.starts_with(word)), "{}", device.name);
        }
    }

    #[test]
    fn architectures_are_written_as_webgpu_wants_them() {
        // The specification's normalised identifier strings: lower-case letters and digits, joined by hyphens.
        for device in known_devices() {
            for word in &device.architectures {
                let parts = word
                    .split('-')
                    .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()));
                assert!(parts, "{}: {word}", device.name);
            }
        }
    }
}
