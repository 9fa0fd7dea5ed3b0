//! How devices are called that nobody names. Readers of other languages tell such words from a name, and say them anew.

use std::fmt;

/// In place of the name of an adapter that has none: many browsers keep it to themselves.
pub const UNNAMED_ADAPTER: &str = "unnamed adapter";

const HIDDEN: &str = "A GPU that its browser hides";
const HIDES_WHICH: &str = " (the browser hides which)";

/// A device whose name its browser hides, as a leaderboard calls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HiddenDevice {
    /// What the browser tells all the same, such as `NVIDIA, ampere`; empty where that is nothing.
    pub told: String,
}

impl fmt::Display for HiddenDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.told.is_empty() { f.write_str(HIDDEN) } else { write!(f, "{}{HIDES_WHICH}", self.told) }
    }
}

impl HiddenDevice {
    /// The one that is called so; nothing where `name` is a name.
    pub fn called(name: &str) -> Option<Self> {
        let told = if name == HIDDEN { "" } else { name.strip_suffix(HIDES_WHICH)? };
        Some(Self { told: told.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_hidden_device_is_called_tells_it_from_a_name() {
        for told in ["", "NVIDIA, ampere", "Apple"] {
            let device = HiddenDevice { told: told.to_owned() };
            assert_eq!(HiddenDevice::called(&device.to_string()), Some(device));
        }
        assert_eq!(HiddenDevice::called("NVIDIA GeForce RTX 4090"), None);
    }
}
