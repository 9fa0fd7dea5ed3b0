//! Lookup of a name in the table of GPUs.

use std::collections::HashMap;
use std::sync::LazyLock;

use results::DeviceKind;
use results::api::DeviceForm;
use serde::Deserialize;

use super::name::{comparable, look};

/// Entries of the table by normalized name and by appearance.
struct NameIndex {
    comparable: HashMap<String, &'static KnownDevice>,
    looks: HashMap<String, &'static KnownDevice>,
}

static INDEX: LazyLock<NameIndex> = LazyLock::new(|| {
    let named = || known_devices().iter().flat_map(|device| names(device).map(move |name| (name, device)));
    NameIndex {
        comparable: named().map(|(name, device)| (comparable(name), device)).collect(),
        looks: named().map(|(name, device)| (look(name), device)).collect(),
    }
});

fn names(device: &KnownDevice) -> impl Iterator<Item = &str> {
    std::iter::once(device.name.as_str()).chain(device.aliases.iter().map(String::as_str))
}

/// Returns the GPU of a name as written by drivers or people, and true if the name has look-alike letters, such as O for
/// zero. It counts as the device that readers see. Firefox's `…, or similar` hides the GPU.
pub fn look_up(name: &str) -> Option<(&'static KnownDevice, bool)> {
    if name.to_lowercase().contains("or similar") {
        return None;
    }
    let exact = INDEX.comparable.get(&comparable(name)).map(|device| (*device, false));
    exact.or_else(|| INDEX.looks.get(&look(name)).map(|device| (*device, true)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "about")]
    _about: Vec<String>,
    series: Vec<DeviceSeries>,
}

/// Devices that share a vendor and WebGPU's name of their architecture.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DeviceSeries {
    #[serde(rename = "series")]
    _name: String,
    vendor: Vendor,
    #[serde(rename = "kind")]
    _kind: DeviceKind,
    form: Option<DeviceForm>,
    architectures: Vec<String>,
    #[serde(default)]
    clocks_above_published: f64,
    devices: Vec<SeriesDevice>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SeriesDevice {
    name: String,
    flops_per_second: Option<f64>,
    #[serde(default)]
    aliases: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct KnownDevice {
    /// The canonical name, with the vendor: `NVIDIA GeForce RTX 4090`.
    pub name: String,
    pub vendor: Vendor,
    /// Form of all machines with it, if the name does not tell.
    pub form: Option<DeviceForm>,
    /// Values of WebGPU's `GPUAdapterInfo.architecture` for it, such as `lovelace`, as in Dawn's `gpu_info.json`.
    pub architectures: Vec<String>,
    /// Published single-precision peak, with a fused multiply-add as two operations, of the fastest variant.
    pub flops_per_second: Option<f64>,
    /// Share by which the clock may exceed the published one: up to a quarter with NVIDIA's GPU Boost.
    pub clocks_above_published: f64,
    /// Other names that do not follow from the canonical one.
    pub aliases: Vec<String>,
}

impl KnownDevice {
    pub fn ceiling_flops_per_second(&self) -> Option<f64> {
        self.flops_per_second.map(|peak| peak * (1.0 + self.clocks_above_published))
    }
}

static TABLE: LazyLock<Vec<KnownDevice>> = LazyLock::new(|| {
    let text = include_str!("../../../reference/devices.json");
    let file: File = serde_json::from_str(text).expect("the file is checked in");
    let devices_of = |series: DeviceSeries| {
        let DeviceSeries { vendor, form, architectures, clocks_above_published, devices, .. } = series;
        devices.into_iter().map(move |SeriesDevice { name, flops_per_second, aliases }| KnownDevice {
            name,
            vendor,
            form,
            architectures: architectures.clone(),
            flops_per_second,
            clocks_above_published,
            aliases,
        })
    };
    file.series.into_iter().flat_map(devices_of).collect()
});

pub fn known_devices() -> &'static [KnownDevice] {
    &TABLE
}

/// Returns true if a known device of `vendor` has this architecture. Unknown ones allow no conclusion.
pub fn is_known_architecture(vendor: Vendor, architecture: &str) -> bool {
    known_devices()
        .iter()
        .any(|device| device.vendor == vendor && device.architectures.iter().any(|a| a == architecture))
}

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

/// The vendors in order, with their names and the other words of WebGPU, the engine and PCI for them.
const VENDORS: [(Vendor, &str, &[&str]); 8] = [
    (Vendor::Nvidia, "NVIDIA", &["nvidia corporation", "0x10de"]),
    (Vendor::Amd, "AMD", &["ati", "advanced micro devices, inc.", "0x1002"]),
    (Vendor::Intel, "Intel", &["intel corporation", "0x8086"]),
    (Vendor::Apple, "Apple", &["apple inc.", "0x106b"]),
    (Vendor::Qualcomm, "Qualcomm", &["0x5143", "0x4d4f4351"]),
    (Vendor::Arm, "Arm", &["0x13b5"]),
    (Vendor::Samsung, "Samsung", &["0x144d"]),
    (Vendor::Imagination, "Imagination", &["img-tec", "imagination technologies", "0x1010"]),
];

impl Vendor {
    pub fn name(self) -> &'static str {
        VENDORS[self as usize].1
    }

    pub fn named(word: &str) -> Option<Self> {
        let word = word.trim().to_ascii_lowercase();
        let fits = |(_, name, others): &&(Self, &str, &[&str])| {
            name.eq_ignore_ascii_case(&word) || others.contains(&word.as_str())
        };
        VENDORS.iter().find(fits).map(|(vendor, ..)| *vendor)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(name: &str) -> Option<(&'static str, bool)> {
        look_up(name).map(|(device, look_alike)| (device.name.as_str(), look_alike))
    }

    #[test]
    fn names_of_drivers_and_people_find_their_device() {
        const RTX_4090: &str = "NVIDIA GeForce RTX 4090";
        for (name, device) in [
            ("NVIDIA GeForce RTX 4090", RTX_4090),
            ("NVIDIA GeForce RTX 4090/PCIe/SSE2", RTX_4090),
            ("ANGLE (NVIDIA, NVIDIA GeForce RTX 4090 Direct3D11 vs_5_0 ps_5_0, D3D11)", RTX_4090),
            ("ANGLE (Apple, ANGLE Metal Renderer: Apple M1 Pro, Unspecified Version)", "Apple M1 Pro"),
            ("ANGLE (Intel, Mesa Intel(R) UHD Graphics 620 (KBL GT2), OpenGL 4.6)", "Intel UHD Graphics 620"),
            ("ANGLE (AMD, AMD Radeon RX 6700 XT (radeonsi, navi22, LLVM 15.0.7), OpenGL 4.6)", "AMD Radeon RX 6700 XT"),
            (
                "ANGLE (NVIDIA, Vulkan 1.3.277 (NVIDIA GeForce RTX 3060 (0x00002503)), NVIDIA)",
                "NVIDIA GeForce RTX 3060",
            ),
            ("ANGLE (Samsung Xclipse 920) on Vulkan 1.1.179", "Samsung Xclipse 920"),
            ("GeForce RTX 4090 (unclosed", RTX_4090),
            ("Adreno (TM) 650", "Qualcomm Adreno 650"),
            ("GeForce® RTX™ 4090", RTX_4090),
            // Hidden characters and wide digits are the same letters.
            ("\u{200b}Ge\u{200b}Force RTX\u{200d} 40\u{2060}90\u{200b}", RTX_4090),
            ("\u{202e}GeForce RTX 4090\u{202c}", RTX_4090),
            ("RTX ４０９０", RTX_4090),
            ("RTX\u{a0}4090", RTX_4090),
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
            assert_eq!(found(name), Some((device, false)), "{name:?}");
        }
        for name in ["G\u{435}Force RTX 4090", "RTX 4O90", "R\u{422}X 4090"] {
            assert_eq!(found(name), Some((RTX_4090, true)), "{name} only looks like it");
        }
        for name in ["", "GPU", "NVIDIA", "AMD Radeon(TM) Graphics", "GeForce GTX 980, or similar", "Example GPU 9000"]
        {
            assert_eq!(found(name), None, "{name}");
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
                    let is_first = before.is_none_or(|before| before == device.name);
                    assert!(is_first, "{before:?} and {}: {name}", device.name);
                }
            }
            assert!(!seen.contains_key(""));
        }
    }

    proptest! {
        #[test]
        fn any_text_has_an_answer(name in any::<String>()) {
            let _ = look_up(&name);
        }
    }

    #[test]
    fn entries_of_the_table_are_plausible_and_minimal() {
        for device in known_devices() {
            let KnownDevice { name, vendor, flops_per_second, clocks_above_published, .. } = device;
            assert!(name.starts_with(vendor.name()) || name.starts_with("PowerVR"), "{name}");
            let plausible = flops_per_second.is_none_or(|peak| (0.5e12..=2e14).contains(&peak));
            assert!(plausible && (0.0..=0.3).contains(clocks_above_published), "{name}: {flops_per_second:?}");
            for alias in &device.aliases {
                assert_ne!(comparable(alias), comparable(name), "{name}: {alias} follows from the name");
            }
            // WebGPU's normalized identifiers: lower-case letters and digits, joined by hyphens.
            for part in device.architectures.iter().flat_map(|word| word.split('-')) {
                let fits = part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
                assert!(fits && !part.is_empty(), "{name}: {part}");
            }
        }
    }

    #[test]
    fn vendors_have_many_names_and_one_to_show() {
        for (vendor, name, _) in VENDORS {
            assert_eq!((vendor.name(), Vendor::named(name)), (name, Some(vendor)));
        }
        let mut names = VENDORS.map(|(_, name, _)| name);
        names.sort_unstable();
        assert_eq!(names, results::VENDORS);
        let vendors = [Some(Vendor::Nvidia), Some(Vendor::Imagination), Some(Vendor::Samsung), None, None];
        assert_eq!(["nvidia", "img-tec", "0x144d", "", "example"].map(Vendor::named), vendors);
    }
}
