//! From a name to the GPU of the table.

use std::collections::HashMap;
use std::sync::LazyLock;

use results::DeviceKind;
use serde::Deserialize;

use super::name::{comparable, look};

/// What the table has under a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    pub device: &'static KnownDevice,
    /// Whether the name only looks like that of the device, and is written with other letters: with Cyrillic ones, or
    /// with the letter O for a nought. It then counts as what it looks like, because that is what a reader takes it for.
    pub look_alike: bool,
}

/// Places in the table, by what names have in common and by what they look like.
struct Index {
    comparable: HashMap<String, &'static KnownDevice>,
    looks: HashMap<String, &'static KnownDevice>,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let named = || known_devices().iter().flat_map(|device| names(device).map(move |name| (name, device)));
    Index {
        comparable: named().map(|(name, device)| (comparable(name), device)).collect(),
        looks: named().map(|(name, device)| (look(name), device)).collect(),
    }
});

fn names(device: &KnownDevice) -> impl Iterator<Item = &str> {
    std::iter::once(device.name.as_str()).chain(device.aliases.iter().map(String::as_str))
}

/// The GPU that `name` means: as a driver reports it, or as a person writes it. Firefox's `…, or similar` means none,
/// because that is how it hides which GPU of many it is.
pub fn look_up(name: &str) -> Option<Found> {
    if name.to_lowercase().contains("or similar") {
        return None;
    }
    let exact = INDEX.comparable.get(&comparable(name)).map(|device| Found { device, look_alike: false });
    exact.or_else(|| INDEX.looks.get(&look(name)).map(|device| Found { device, look_alike: true }))
}

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

/// Returns whether WebGPU calls any known device of `vendor` by this word. A word that is new says nothing about a
/// device.
pub fn is_known_architecture(vendor: Vendor, architecture: &str) -> bool {
    known_devices()
        .iter()
        .any(|device| device.vendor == vendor && device.architectures.iter().any(|a| a == architecture))
}

/// A maker of GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Vendor {
    Nvidia,
    Amd,
    Intel,
    Apple,
    Qualcomm,
    Arm,
    Samsung,
    Imagination,
}

impl Vendor {
    pub const ALL: [Self; 8] = [
        Self::Nvidia,
        Self::Amd,
        Self::Intel,
        Self::Apple,
        Self::Qualcomm,
        Self::Arm,
        Self::Samsung,
        Self::Imagination,
    ];

    /// As it is shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nvidia => "NVIDIA",
            Self::Amd => "AMD",
            Self::Intel => "Intel",
            Self::Apple => "Apple",
            Self::Qualcomm => "Qualcomm",
            Self::Arm => "Arm",
            Self::Samsung => "Samsung",
            Self::Imagination => "Imagination",
        }
    }

    /// The vendor that a platform means: by WebGPU's word, by the engine's, or by the PCI number, such as `0x1010`,
    /// with which the engine stands in for vendors that it has no name for.
    pub fn named(word: &str) -> Option<Self> {
        Some(match word.trim().to_ascii_lowercase().as_str() {
            "nvidia" | "nvidia corporation" | "0x10de" => Self::Nvidia,
            "amd" | "ati" | "advanced micro devices, inc." | "0x1002" => Self::Amd,
            "intel" | "intel corporation" | "0x8086" => Self::Intel,
            "apple" | "apple inc." | "0x106b" => Self::Apple,
            "qualcomm" | "0x5143" | "0x4d4f4351" => Self::Qualcomm,
            "arm" | "0x13b5" => Self::Arm,
            "samsung" | "0x144d" => Self::Samsung,
            "img-tec" | "imagination" | "imagination technologies" | "0x1010" => Self::Imagination,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(name: &str) -> Option<(&'static str, bool)> {
        look_up(name).map(|found| (found.device.name.as_str(), found.look_alike))
    }

    #[test]
    fn drivers_and_people_mean_the_same_device() {
        for (name, device) in [
            ("NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 4090"),
            ("NVIDIA GeForce RTX 4090/PCIe/SSE2", "NVIDIA GeForce RTX 4090"),
            ("ANGLE (NVIDIA, NVIDIA GeForce RTX 4090 Direct3D11 vs_5_0 ps_5_0, D3D11)", "NVIDIA GeForce RTX 4090"),
            ("GeForce® RTX™ 4090", "NVIDIA GeForce RTX 4090"),
            ("rtx4070ti super", "NVIDIA GeForce RTX 4070 Ti SUPER"),
            ("NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA GeForce RTX 4090 Laptop GPU"),
            ("RTX 4090 laptop", "NVIDIA GeForce RTX 4090 Laptop GPU"),
            ("NVIDIA H100 80GB HBM3", "NVIDIA H100 SXM"),
            ("NVIDIA H200", "NVIDIA H200"),
            ("AMD Radeon RX 7900 XTX (RADV NAVI31)", "AMD Radeon RX 7900 XTX"),
            ("AMD Radeon(TM) 780M", "AMD Radeon 780M"),
            ("Intel(R) Arc(TM) A770 Graphics (DG2)", "Intel Arc A770"),
            ("Intel(R) Arc(TM) 140V GPU (16GB)", "Intel Arc 140V GPU"),
            ("Intel(R) Iris(R) Xe Graphics", "Intel Iris Xe Graphics"),
            ("Apple M1 Pro", "Apple M1 Pro"),
            ("Turnip Adreno (TM) 650", "Qualcomm Adreno 650"),
            ("Qualcomm(R) Adreno(TM) X1-85 GPU", "Qualcomm Adreno X1-85"),
            ("Mali-G78", "Arm Mali-G78"),
            ("Mali-G715-Immortalis MC11", "Arm Immortalis-G715"),
            ("Samsung Xclipse 940", "Samsung Xclipse 940"),
        ] {
            assert_eq!(found(name), Some((device, false)), "{name}");
        }
    }

    #[test]
    fn names_that_mean_many_devices_mean_none() {
        for name in ["", "GPU", "NVIDIA", "AMD Radeon(TM) Graphics", "GeForce GTX 980, or similar", "Example GPU 9000"]
        {
            assert_eq!(found(name), None, "{name}");
        }
    }

    #[test]
    fn hidden_characters_and_wide_digits_are_the_same_letters() {
        for name in [
            "GeForce\u{200b} RTX\u{200d} 40\u{2060}90",
            "\u{202e}GeForce RTX 4090\u{202c}",
            "RTX ４０９０",
            "RTX\u{a0}4090",
        ] {
            assert_eq!(found(name), Some(("NVIDIA GeForce RTX 4090", false)), "{name:?}");
        }
    }

    #[test]
    fn letters_that_only_look_alike_are_found_out() {
        for name in ["G\u{435}Force RTX 4090", "RTX 4O90", "R\u{422}X 4090"] {
            assert_eq!(found(name), Some(("NVIDIA GeForce RTX 4090", true)), "{name}");
        }
    }

    /// Otherwise one of two devices could never be found, or a name would depend on the order of the table.
    #[test]
    fn device_names_are_distinct_and_do_not_look_alike() {
        for way in [comparable, look] {
            let mut seen: HashMap<String, &str> = HashMap::new();
            for device in known_devices() {
                for name in names(device) {
                    let before = seen.insert(way(name), &device.name);
                    assert!(
                        before.is_none_or(|before| before == device.name),
                        "{before:?} and {}: {name}",
                        device.name
                    );
                }
            }
            assert!(!seen.contains_key(""));
        }
    }

    #[test]
    fn every_alias_is_needed() {
        for device in known_devices() {
            for alias in &device.aliases {
                assert_ne!(
                    comparable(alias),
                    comparable(&device.name),
                    "{}: {alias} follows from the name",
                    device.name
                );
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_has_an_answer(name in any::<String>()) {
            let _ = look_up(&name);
        }

        /// What cannot be seen changes nothing, wherever it stands.
        #[test]
        fn a_zero_width_space_anywhere_changes_nothing(place in 0_usize..=15) {
            let mut name = "GeForce RTX4090".to_owned();
            name.insert(place, '\u{200b}');
            prop_assert_eq!(found(&name), Some(("NVIDIA GeForce RTX 4090", false)));
        }
    }

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

    #[test]
    fn every_vendor_is_known_by_the_name_under_which_it_is_shown() {
        for vendor in Vendor::ALL {
            assert_eq!(Vendor::named(vendor.name()), Some(vendor));
        }
    }

    #[test]
    fn everybody_knows_the_same_vendors() {
        let mut names = Vendor::ALL.map(Vendor::name);
        names.sort_unstable();
        assert_eq!(names, results::VENDORS);
    }

    #[test]
    fn browsers_drivers_and_pci_numbers_mean_the_same_vendor() {
        for (word, vendor) in
            [("nvidia", Vendor::Nvidia), ("img-tec", Vendor::Imagination), ("0x144d", Vendor::Samsung)]
        {
            assert_eq!(Vendor::named(word), Some(vendor), "{word}");
        }
        assert_eq!(Vendor::named(""), None);
        assert_eq!(Vendor::named("example"), None);
    }
}
