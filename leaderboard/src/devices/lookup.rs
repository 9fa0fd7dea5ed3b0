//! From a name to the GPU of the table.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::name::{comparable, look};
use super::table::{KnownDevice, known_devices};

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
    fn no_two_devices_have_a_name_in_common_or_one_that_looks_the_same() {
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
}
