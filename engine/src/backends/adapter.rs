use std::convert::Infallible;
use std::fmt;
use std::num::NonZero;
use std::str::FromStr;

use results::{Adapter, DeviceKind};

use crate::error::{EngineError, Result};

/// Adapter request as typed by a user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AdapterChoice {
    #[default]
    Any,
    Discrete,
    Integrated,
    Cpu,
    Index(usize),
    /// All hardware adapters, sharing each batch.
    All,
    /// Indices of adapters that share each batch.
    Indices(Vec<usize>),
    Name(String),
    /// Complete name of exactly one adapter.
    Exactly(String),
    Browser,
}

const WORDS: [(&str, AdapterChoice); 6] = [
    ("any", AdapterChoice::Any),
    ("discrete", AdapterChoice::Discrete),
    ("integrated", AdapterChoice::Integrated),
    ("cpu", AdapterChoice::Cpu),
    ("browser", AdapterChoice::Browser),
    ("all", AdapterChoice::All),
];

impl FromStr for AdapterChoice {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let text = text.to_lowercase();
        if let Some((_, choice)) = WORDS.into_iter().find(|(word, _)| *word == text) {
            return Ok(choice);
        }
        let indices: Result<Vec<usize>, _> = text.split(',').map(|index| index.trim().parse()).collect();
        Ok(match indices {
            Ok(indices) if indices.len() == 1 => Self::Index(indices[0]),
            Ok(indices) => Self::Indices(indices),
            Err(_) => Self::Name(text),
        })
    }
}

impl fmt::Display for AdapterChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => write!(f, "{index}"),
            Self::Indices(indices) => f.write_str(&indices.iter().map(usize::to_string).collect::<Vec<_>>().join(",")),
            Self::Name(name) => f.write_str(name),
            Self::Exactly(name) => write!(f, "the only {name}"),
            _ => WORDS.iter().filter(|(_, choice)| choice == self).try_for_each(|(word, _)| f.write_str(word)),
        }
    }
}

impl AdapterChoice {
    /// Returns the index of the adapter that matches. Fails with the list of adapters if none does.
    pub fn choose(&self, adapters: &[Adapter]) -> Result<usize> {
        let of_kind = |kind| adapters.iter().position(|a| !a.software && a.kind == kind);
        let found = match self {
            Self::Any => of_kind(DeviceKind::Discrete)
                .or_else(|| of_kind(DeviceKind::Integrated))
                .or_else(|| adapters.iter().position(|a| !a.software)),
            Self::Discrete => of_kind(DeviceKind::Discrete),
            Self::Integrated => of_kind(DeviceKind::Integrated),
            Self::Cpu => adapters.iter().position(|a| a.software),
            Self::Index(index) => (*index < adapters.len()).then_some(*index),
            // Every name contains the empty string.
            Self::Name(name) if name.trim().is_empty() => None,
            Self::Name(name) => adapters.iter().position(|a| a.name.to_lowercase().contains(&name.to_lowercase())),
            Self::Exactly(name) => {
                let mut of_name = (0..adapters.len()).filter(|&index| adapters[index].name == *name);
                of_name.next().filter(|_| of_name.next().is_none())
            }
            Self::Browser => (!adapters.is_empty()).then_some(0),
            Self::All | Self::Indices(_) => {
                let allowed = "a single one here; only runs with `--backend wgsl` support several";
                return Err(EngineError::invalid("the adapter", allowed, self));
            }
        };
        found.ok_or_else(|| self.not_found(adapters))
    }

    /// Returns the same choice for a backend that numbers its own devices: an index into `adapters` becomes a name.
    /// Fails if the index does not exist or if several adapters have the name.
    pub fn beyond(&self, adapters: &[Adapter], backend: &'static str) -> Result<Self> {
        let Self::Index(index) = *self else { return Ok(self.clone()) };
        let Adapter { name, api, .. } = &adapters[self.choose(adapters)?];
        // A device may be available through several interfaces.
        if adapters.iter().filter(|other| other.name == *name && other.api == *api).count() > 1 {
            let reason = format!("several adapters are named {name}");
            return Err(EngineError::IndexOfOthers { backend, index, reason });
        }
        Ok(Self::Exactly(name.clone()))
    }

    /// Accepts `any` and `cpu` for a backend on the processor.
    pub(super) fn choose_processor(&self, processor: &Adapter) -> Result<()> {
        match self {
            Self::Any | Self::Cpu | Self::Browser => Ok(()),
            _ => Err(self.not_found(std::slice::from_ref(processor))),
        }
    }

    fn not_found(&self, adapters: &[Adapter]) -> EngineError {
        let line = |(index, a): (usize, &Adapter)| {
            let software = if a.software { ", software: ask for `cpu`" } else { "" };
            format!("{index}: {} ({}, {}{software})", a.name, a.kind.name(), a.api)
        };
        let found = adapters.iter().enumerate().map(line).collect();
        EngineError::NoAdapter { asked: self.to_string(), found }
    }

    pub fn is_of_several(&self) -> bool {
        matches!(self, Self::All | Self::Indices(_))
    }

    /// Returns the indices of the adapters that share each batch: the named adapters, or `devices` adapters like the
    /// first match. They must have the same name, driver and interface, because devices with different rounding would
    /// not keep the same weights. A software adapter can be used more than once.
    pub fn choose_several(&self, adapters: &[Adapter], devices: Option<NonZero<u32>>) -> Result<Vec<usize>> {
        let named = match self {
            Self::All => {
                let best = Self::Any.choose(adapters).map_err(|_| self.not_found(adapters))?;
                // Other interfaces may list the same devices.
                let is_wanted =
                    |index: &usize| !adapters[*index].software && adapters[*index].api == adapters[best].api;
                (0..adapters.len()).filter(is_wanted).collect()
            }
            Self::Indices(indices) => {
                if indices.is_empty() || indices.iter().any(|&index| index >= adapters.len()) {
                    return Err(self.not_found(adapters));
                }
                let again = indices.iter().enumerate().find(|&(place, index)| indices[..place].contains(index));
                if let Some((_, index)) = again.filter(|&(_, &index)| !adapters[index].software) {
                    let allowed = "distinct; only a software adapter can be several devices";
                    return Err(EngineError::invalid("the adapters", allowed, format!("{self}, with {index} twice")));
                }
                indices.clone()
            }
            _ => {
                let (first, devices) = (self.choose(adapters)?, devices.map_or(1, NonZero::get) as usize);
                if adapters[first].software {
                    return Ok(vec![first; devices]);
                }
                let alike = (0..adapters.len()).filter(|&other| other != first && adapters[other] == adapters[first]);
                let chosen: Vec<usize> = std::iter::once(first).chain(alike).collect();
                if chosen.len() < devices {
                    let name = adapters[first].name.clone();
                    return Err(EngineError::TooFewDevices { asked: devices, found: chosen.len(), name });
                }
                return Ok(chosen[..devices].to_vec());
            }
        };
        if let Some(devices) = devices.filter(|devices| devices.get() as usize != named.len()) {
            let allowed = format!("omitted, or {}, the number of adapters of `{self}`", named.len());
            return Err(EngineError::invalid("the number of devices", allowed, devices));
        }
        let first = &adapters[named[0]];
        if let Some(other) = named.iter().map(|&index| &adapters[index]).find(|other| *other != first) {
            let [one, other] = [first, other].map(|of| format!("{} ({}, {})", of.name, of.api, of.driver));
            return Err(EngineError::UnlikeDevices { one, other, instead: "--adapter 0,1" });
        }
        Ok(named)
    }
}

#[cfg(test)]
mod tests {
    use DeviceKind::{Cpu, Discrete, Integrated};

    use super::*;
    use crate::testing::adapter;

    fn parse(asked: &str) -> AdapterChoice {
        asked.parse().unwrap()
    }

    #[test]
    fn software_is_chosen_only_on_request() {
        let all = [
            adapter("llvmpipe", Cpu, "Vulkan"),
            adapter("Intel UHD", Integrated, "Vulkan"),
            adapter("NVIDIA H200", Discrete, "Vulkan"),
        ];
        let cases = [
            ("any", Some(2)),
            ("integrated", Some(1)),
            ("cpu", Some(0)),
            ("h200", Some(2)),
            ("1", Some(1)),
            ("3", None),
            ("radeon", None),
            ("", None),
        ];
        for (asked, expected) in cases {
            assert_eq!(parse(asked).choose(&all).ok(), expected, "{asked}");
        }
        for (asked, expected) in [("any", None), ("discrete", None), ("cpu", Some(0))] {
            assert_eq!(parse(asked).choose(&all[..1]).ok(), expected, "{asked}");
        }
        // A name may have a comma.
        assert_eq!(
            parse("llvmpipe (LLVM 15, 256 bits)"),
            AdapterChoice::Name("llvmpipe (llvm 15, 256 bits)".to_owned())
        );
        let error = AdapterChoice::Discrete.choose(&all[..1]).unwrap_err().to_string();
        assert!(error.contains("discrete") && error.contains("0: llvmpipe (cpu, Vulkan, software"), "{error}");
    }

    #[test]
    fn an_index_becomes_the_name_of_its_only_device() {
        let one = |name: &str, api: &str| adapter(name, Discrete, api);
        let listed = [one("A", "Vulkan"), one("B", "Vulkan"), one("B", "DX12"), one("C", "Vulkan"), one("C", "Vulkan")];
        let beyond = |index| AdapterChoice::Index(index).beyond(&listed, "burn-cuda");
        let same = beyond(1).unwrap();
        assert_eq!(same, AdapterChoice::Exactly("B".to_owned()));
        assert_eq!(same.choose(&[one("B2", "CUDA"), one("B", "CUDA")]).unwrap(), 1);
        assert!(same.choose(&[one("B2", "CUDA")]).is_err(), "a part of the name is another device");
        let error = same.choose(&[one("B", "CUDA"), one("B", "CUDA")]).unwrap_err().to_string();
        assert!(error.contains("`the only B`") && error.contains("1: B"), "{error}");
        let error = beyond(3).unwrap_err().to_string();
        assert!(error.contains("several adapters are named C") && error.contains("`burn-cuda`"), "{error}");
        assert!(beyond(5).is_err());
        let name = AdapterChoice::Name("b".to_owned());
        assert_eq!(name.beyond(&listed, "burn-cuda").unwrap(), name);
    }

    #[test]
    fn several_devices_are_alike_and_no_hardware_repeats() {
        let [a, b, software] =
            [("A", Discrete), ("B", Discrete), ("llvmpipe", Cpu)].map(|(name, kind)| adapter(name, kind, "Vulkan"));
        let mixed = [&a, &software, &b, &b, &adapter("B", Discrete, "DX12")].map(Adapter::clone);
        let without_a = &mixed[1..];
        let choose = |asked: &str, adapters: &[Adapter], devices| {
            parse(asked).choose_several(adapters, NonZero::new(devices)).map_err(|error| error.to_string())
        };
        let chosen: [(_, _, _, &[usize]); 7] = [
            ("b", &mixed[..], 2, &[2, 3]),
            ("b", &mixed, 1, &[2]),
            ("cpu", &mixed, 3, &[1, 1, 1]),
            ("all", without_a, 0, &[1, 2]),
            ("ALL", without_a, 2, &[1, 2]),
            ("3, 2", &mixed, 0, &[3, 2]),
            ("1,1", &mixed, 0, &[1, 1]),
        ];
        for (asked, adapters, devices, expected) in chosen {
            assert_eq!(choose(asked, adapters, devices).unwrap(), expected, "{asked}");
        }
        let refused: [(_, _, _, &[&str]); 7] = [
            ("any", &mixed[..], 2, &["2 devices", "this machine has 1 like A; `native-runner adapters`"]),
            ("all", without_a, 3, &["omitted, or 2", "but is 3"]),
            ("all", &mixed, 0, &["A (Vulkan, 1)", "B (Vulkan, 1)"]),
            ("all", &mixed[1..2], 0, &["no adapter fits `all`"]),
            ("0,0", &mixed, 0, &["0 twice"]),
            ("0,7", &mixed, 0, &["no adapter fits `0,7`"]),
            ("0,3", &mixed, 0, &["these differ"]),
        ];
        for (asked, adapters, devices, parts) in refused {
            let error = choose(asked, adapters, devices).unwrap_err();
            assert!(parts.iter().all(|part| error.contains(part)), "{asked}: {error}");
        }
        for asked in ["all", "0,1"] {
            let error = parse(asked).choose(&mixed).unwrap_err().to_string();
            assert!(error.contains("the adapter must be a single one") && error.contains(asked), "{error}");
        }
    }
}
