//! Several adapters that share each batch.

use std::num::NonZero;

use results::Adapter;

use super::AdapterChoice;
use crate::error::EngineError;

impl AdapterChoice {
    /// Whether it is about several adapters.
    pub fn is_of_several(&self) -> bool {
        matches!(self, Self::All | Self::Indices(_))
    }

    /// Indices of the adapters that share each batch: those that are named, or so many `devices` of the kind that fits. They
    /// have the same name, driver and interface, because devices that round differently would not keep the same weights. A
    /// software adapter is taken as often as it is wanted.
    ///
    /// # Errors
    /// Those of [`AdapterChoice::choose`], fewer adapters of that kind, adapters that are not alike, and another number of
    /// `devices` than are named.
    pub fn choose_several(
        &self,
        adapters: &[Adapter],
        devices: Option<NonZero<u32>>,
    ) -> Result<Vec<usize>, EngineError> {
        let named = match self {
            Self::All => all(adapters)?,
            Self::Indices(indices) => listed(self, indices, adapters)?,
            _ => return self.choose_alike(adapters, devices.map_or(1, NonZero::get) as usize),
        };
        if let Some(devices) = devices.filter(|devices| devices.get() as usize != named.len()) {
            return Err(EngineError::InvalidSetting {
                what: "the number of devices",
                allowed: format!("left out, or {}, which are the adapters of `{self}`", named.len()),
                value: devices.to_string(),
            });
        }
        let first = &adapters[named[0]];
        if let Some(other) = named.iter().map(|&index| &adapters[index]).find(|other| *other != first) {
            return Err(EngineError::UnlikeDevices {
                one: one_line(first),
                other: one_line(other),
                instead: "--adapter 0,1",
            });
        }
        Ok(named)
    }

    fn choose_alike(&self, adapters: &[Adapter], devices: usize) -> Result<Vec<usize>, EngineError> {
        let first = self.choose(adapters)?;
        if adapters[first].software {
            return Ok(vec![first; devices]);
        }
        let alike = (0..adapters.len()).filter(|&other| other != first && adapters[other] == adapters[first]);
        let chosen: Vec<usize> = std::iter::once(first).chain(alike).collect();
        if chosen.len() < devices {
            let name = adapters[first].name.clone();
            return Err(EngineError::TooFewDevices { asked: devices, found: chosen.len(), name });
        }
        Ok(chosen.into_iter().take(devices).collect())
    }
}

/// Every adapter that is not software, through the interface of the best one: a device may be reached through several.
fn all(adapters: &[Adapter]) -> Result<Vec<usize>, EngineError> {
    let best = AdapterChoice::Any.choose(adapters).map_err(|_| AdapterChoice::All.not_found(adapters))?;
    let is_wanted = |index: &usize| !adapters[*index].software && adapters[*index].api == adapters[best].api;
    Ok((0..adapters.len()).filter(is_wanted).collect())
}

/// Those with these indices; only a software adapter may be named twice.
fn listed(choice: &AdapterChoice, indices: &[usize], adapters: &[Adapter]) -> Result<Vec<usize>, EngineError> {
    if indices.is_empty() || indices.iter().any(|&index| index >= adapters.len()) {
        return Err(choice.not_found(adapters));
    }
    let again = indices.iter().enumerate().find(|&(place, index)| indices[..place].contains(index));
    match again.filter(|&(_, &index)| !adapters[index].software) {
        None => Ok(indices.to_vec()),
        Some((_, index)) => Err(EngineError::InvalidSetting {
            what: "the adapters",
            allowed: "different ones; only a software adapter is several devices".to_owned(),
            value: format!("{choice}, with {index} twice"),
        }),
    }
}

fn one_line(adapter: &Adapter) -> String {
    format!("{} ({}, {})", adapter.name, adapter.api, adapter.driver)
}

#[cfg(test)]
mod tests {
    use results::DeviceKind;

    use super::*;

    fn adapter(name: &str, software: bool) -> Adapter {
        Adapter {
            name: name.to_owned(),
            vendor: String::new(),
            architecture: String::new(),
            kind: if software { DeviceKind::Cpu } else { DeviceKind::Discrete },
            api: "Vulkan".to_owned(),
            driver: "1".to_owned(),
            software,
        }
    }

    fn choose(asked: &str, adapters: &[Adapter], devices: u32) -> Result<Vec<usize>, String> {
        let choice: AdapterChoice = asked.parse().unwrap();
        choice.choose_several(adapters, NonZero::new(devices)).map_err(|error| error.to_string())
    }

    #[test]
    fn so_many_of_one_kind_are_taken_and_software_as_often_as_it_is_wanted() {
        let all = [adapter("A", false), adapter("llvmpipe", true), adapter("B", false), adapter("B", false)];
        assert_eq!(choose("b", &all, 2).unwrap(), [2, 3]);
        assert_eq!(choose("b", &all, 1).unwrap(), [2]);
        assert_eq!(choose("cpu", &all, 3).unwrap(), [1, 1, 1]);
        let expected = "2 devices were asked for, and this machine has 1 like A; `native-runner adapters` lists them";
        assert_eq!(choose("any", &all, 2).unwrap_err(), expected);
    }

    #[test]
    fn all_is_every_adapter_of_the_best_interface_and_they_must_be_alike() {
        let other_interface = Adapter { api: "DX12".to_owned(), ..adapter("B", false) };
        let alike = [adapter("B", false), other_interface, adapter("llvmpipe", true), adapter("B", false)];
        assert_eq!(choose("all", &alike, 0).unwrap(), [0, 3]);
        assert_eq!(choose("ALL", &alike, 2).unwrap(), [0, 3]);
        let error = choose("all", &alike, 3).unwrap_err();
        assert!(error.contains("left out, or 2") && error.ends_with("but is 3"), "{error}");
        let unlike = [adapter("A", false), adapter("B", false)];
        let error = choose("all", &unlike, 0).unwrap_err();
        assert!(error.contains("A (Vulkan, 1)") && error.contains("B (Vulkan, 1)"), "{error}");
        assert!(choose("all", &[adapter("llvmpipe", true)], 0).unwrap_err().contains("no adapter fits `all`"));
    }

    #[test]
    fn a_list_names_adapters_by_their_indices_and_no_hardware_twice() {
        let all = [adapter("B", false), adapter("llvmpipe", true), adapter("B", false), adapter("A", false)];
        assert_eq!(choose("2, 0", &all, 0).unwrap(), [2, 0]);
        assert_eq!(choose("1,1", &all, 0).unwrap(), [1, 1]);
        assert!(choose("0,0", &all, 0).unwrap_err().contains("0 twice"));
        assert!(choose("0,7", &all, 0).unwrap_err().contains("no adapter fits `0,7`"));
        assert!(choose("0,3", &all, 0).unwrap_err().contains("are not alike"));
        // A name may have a comma.
        assert_eq!(
            "llvmpipe (LLVM 15, 256 bits)".parse(),
            Ok(AdapterChoice::Name("llvmpipe (llvm 15, 256 bits)".to_owned()))
        );
    }

    #[test]
    fn what_trains_on_one_device_says_so_of_several() {
        for asked in ["all", "0,1"] {
            let choice: AdapterChoice = asked.parse().unwrap();
            let error = choice.choose(&[adapter("A", false), adapter("A", false)]).unwrap_err().to_string();
            assert!(error.contains("the adapter must be a single one") && error.contains(asked), "{error}");
        }
    }
}
