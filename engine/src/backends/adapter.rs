mod several;

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use results::{Adapter, DeviceKind};

use crate::error::EngineError;

/// Which adapter to use, as a person says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AdapterChoice {
    /// The best adapter that is not a program: discrete, then integrated, then any other.
    Any,
    Discrete,
    Integrated,
    /// A software adapter, such as llvmpipe.
    Cpu,
    /// Place in the list of adapters, from 0.
    Index(usize),
    /// Every adapter that is not software: they share each batch.
    All,
    /// Places in the list of adapters, which share each batch.
    Indices(Vec<usize>),
    /// Part of the name, in any case.
    Name(String),
    /// Exactly this name, which only one may have: an adapter that was chosen already, among other back ends' devices.
    Exactly(String),
    /// Whatever the browser gives.
    Browser,
}

impl FromStr for AdapterChoice {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text.to_lowercase().as_str() {
            "any" => Self::Any,
            "discrete" => Self::Discrete,
            "integrated" => Self::Integrated,
            "cpu" => Self::Cpu,
            "browser" => Self::Browser,
            "all" => Self::All,
            word => match word.split(',').map(|index| index.trim().parse()).collect::<Result<Vec<usize>, _>>() {
                Ok(indices) => {
                    if let [index] = indices[..] {
                        Self::Index(index)
                    } else {
                        Self::Indices(indices)
                    }
                }
                Err(_) => Self::Name(word.to_owned()),
            },
        })
    }
}

impl fmt::Display for AdapterChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => write!(f, "any"),
            Self::Discrete => write!(f, "discrete"),
            Self::Integrated => write!(f, "integrated"),
            Self::Cpu => write!(f, "cpu"),
            Self::Index(index) => write!(f, "{index}"),
            Self::Name(name) => write!(f, "{name}"),
            Self::Exactly(name) => write!(f, "the only {name}"),
            Self::Browser => write!(f, "browser"),
            Self::All => write!(f, "all"),
            Self::Indices(indices) => {
                write!(f, "{}", indices.iter().map(usize::to_string).collect::<Vec<_>>().join(","))
            }
        }
    }
}

impl AdapterChoice {
    /// Index of the adapter that fits.
    ///
    /// # Errors
    /// None fits; the error lists those there are. Nothing else is taken instead.
    pub fn choose(&self, adapters: &[Adapter]) -> Result<usize, EngineError> {
        let of_kind = |kind| adapters.iter().position(|a| !a.software && a.kind == kind);
        let found = match self {
            Self::Any => of_kind(DeviceKind::Discrete)
                .or_else(|| of_kind(DeviceKind::Integrated))
                .or_else(|| adapters.iter().position(|a| !a.software)),
            Self::Discrete => of_kind(DeviceKind::Discrete),
            Self::Integrated => of_kind(DeviceKind::Integrated),
            Self::Cpu => adapters.iter().position(|a| a.software),
            Self::Index(index) => (*index < adapters.len()).then_some(*index),
            // Every name contains the empty one.
            Self::Name(name) if name.trim().is_empty() => None,
            Self::Name(name) => adapters.iter().position(|a| a.name.to_lowercase().contains(&name.to_lowercase())),
            Self::Exactly(name) => {
                let mut of_name = (0..adapters.len()).filter(|&index| adapters[index].name == *name);
                of_name.next().filter(|_| of_name.next().is_none())
            }
            Self::Browser => (!adapters.is_empty()).then_some(0),
            Self::All | Self::Indices(_) => {
                return Err(EngineError::InvalidSetting {
                    what: "the adapter",
                    allowed: "a single one here; a run with `--backend wgsl` takes several".to_owned(),
                    value: self.to_string(),
                });
            }
        };
        found.ok_or_else(|| self.not_found(adapters))
    }

    /// The same device for a back end that counts devices of its own: an index among `adapters` becomes a name, and all
    /// other choices mean the same everywhere.
    ///
    /// # Errors
    /// An index that is not there, and one of several adapters of the same name, which cannot be told apart elsewhere.
    pub fn beyond(&self, adapters: &[Adapter], backend: &'static str) -> Result<Self, EngineError> {
        let Self::Index(index) = *self else { return Ok(self.clone()) };
        let Adapter { name, api, .. } = &adapters[self.choose(adapters)?];
        // One device may be reached through several interfaces.
        if adapters.iter().filter(|other| other.name == *name && other.api == *api).count() > 1 {
            let reason = format!("several adapters are named {name}");
            return Err(EngineError::IndexOfOthers { backend, index, reason });
        }
        Ok(Self::Exactly(name.clone()))
    }

    /// Whether a back end without adapters may be used: `any` and `cpu` fit the processor.
    pub(super) fn choose_processor(&self, processor: &Adapter) -> Result<(), EngineError> {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapter(name: &str, kind: DeviceKind, software: bool) -> Adapter {
        Adapter {
            name: name.to_owned(),
            vendor: String::new(),
            architecture: String::new(),
            kind,
            api: "Vulkan".to_owned(),
            driver: String::new(),
            software,
        }
    }

    fn check(asked: &str, adapters: &[Adapter], expected: Option<usize>) {
        let choice: AdapterChoice = asked.parse().unwrap();
        assert_eq!(choice.choose(adapters).ok(), expected, "{asked}");
    }

    #[test]
    fn the_best_adapter_that_is_not_software_comes_first() {
        let all = [
            adapter("llvmpipe", DeviceKind::Cpu, true),
            adapter("Intel UHD", DeviceKind::Integrated, false),
            adapter("NVIDIA H200", DeviceKind::Discrete, false),
        ];
        check("any", &all, Some(2));
        check("integrated", &all, Some(1));
        check("cpu", &all, Some(0));
        check("h200", &all, Some(2));
        check("1", &all, Some(1));
        check("3", &all, None);
        check("radeon", &all, None);
        check("", &all, None);
    }

    #[test]
    fn an_index_becomes_the_name_of_the_only_device_that_has_it() {
        let one = |name: &str, api: &str| Adapter { api: api.to_owned(), ..adapter(name, DeviceKind::Discrete, false) };
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
    fn a_software_adapter_is_never_taken_unasked() {
        let only_software = [adapter("llvmpipe", DeviceKind::Cpu, true)];
        check("any", &only_software, None);
        check("discrete", &only_software, None);
        check("cpu", &only_software, Some(0));
        let error = AdapterChoice::Discrete.choose(&only_software).unwrap_err().to_string();
        assert!(error.contains("discrete") && error.contains("0: llvmpipe (cpu, Vulkan, software"), "{error}");
    }
}
