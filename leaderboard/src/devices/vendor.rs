//! Who made a GPU, in all the words that platforms have for it.

use serde::Deserialize;

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
    use super::*;

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
