use std::fmt::Debug;
use std::num::NonZero;
use std::sync::Arc;

use results::{Feature, InputMode, Layout, Precision};

use super::{AdapterChoice, BURN_FLEX, BURN_REMOTE, list};
use crate::error::{EngineError, Result};

pub(super) const REMOTES: &str = "the remote devices";
pub(super) const DIFFERENT: &str = "distinct: each trains on its own share of every batch";

#[derive(Clone, Debug, Default)]
pub struct Opening {
    pub precision: Precision,
    pub adapter: AdapterChoice,
    /// Threads of [`BURN_FLEX`]. Default: one per core.
    pub threads: Option<NonZero<usize>>,
    /// Number of [`WGSL`](super::list::WGSL) devices that share each batch. Default: the devices named by `adapter`.
    pub devices: Option<NonZero<u32>>,
    /// True to exchange gradients during the backward pass. Default: true except for software adapters.
    pub overlap: Option<bool>,
    /// Input mode of [`WGSL`](super::list::WGSL). Default: the data set is resident.
    pub input: Option<InputMode>,
    /// Image layout of an external program. Default: chosen by the program.
    pub layout: Option<Layout>,
    /// Addresses of [`BURN_REMOTE`] devices; several share each batch.
    pub remote: Vec<String>,
    /// Device features disabled in [`WGSL`](super::list::WGSL), to measure their effect.
    pub without: Vec<Feature>,
    /// Processor name in the record of [`BURN_FLEX`].
    pub processor: Option<String>,
    /// Storage for tuning results.
    pub keeper: Option<Arc<dyn Keeper>>,
}

impl Opening {
    pub fn new(precision: Precision, adapter: &AdapterChoice) -> Self {
        Self { precision, adapter: adapter.clone(), ..Self::default() }
    }

    pub fn asks_for_several(&self) -> bool {
        self.adapter.is_of_several() || self.devices.is_some_and(|devices| devices.get() > 1) || self.remote.len() > 1
    }

    /// Checks that the backend supports these options, and that it would ignore none.
    pub fn check_for(&self, name: &str) -> Result<()> {
        self.check(&[name])?;
        if name == BURN_REMOTE {
            self.check_remotes()?;
        } else if let Some(reason) = list::only_one_device(name).filter(|_| self.asks_for_several()) {
            return Err(EngineError::OneDevice { backend: name.to_owned(), reason });
        }
        self.check_overlap()?;
        let unsupported = |what, reason| EngineError::Unsupported { backend: name.to_owned(), what, reason };
        if let Some(mode) = self.input {
            let streamed_to_several = mode != InputMode::Resident && self.asks_for_several();
            let of_several = "several devices share each batch, and each has the data set";
            if let Some(reason) = list::own_input(name).or(streamed_to_several.then_some(of_several)) {
                return Err(unsupported(format!("input mode `{}`", mode.name()), reason));
            }
        }
        match (self.layout, list::only_layout(name)) {
            (Some(layout), Some(reason)) => Err(unsupported(format!("layout `{}`", layout.name()), reason)),
            _ => Ok(()),
        }
    }

    /// Checks the options of served devices, which must have distinct addresses.
    fn check_remotes(&self) -> Result<()> {
        if self.adapter.is_of_several() {
            let allowed = "a single one: several served devices are selected by their addresses, as in --remote \
                           HOST:4400,HOST:4401";
            return Err(EngineError::invalid("the adapter", allowed, &self.adapter));
        }
        let served = self.remote.len();
        if let Some(devices) = self.devices.filter(|devices| served > 0 && devices.get() as usize != served) {
            let allowed = format!("omitted, or {served}, the number of addresses of --remote");
            return Err(EngineError::invalid("the number of devices", allowed, devices));
        }
        let again = self.remote.iter().enumerate().find(|&(place, address)| self.remote[..place].contains(address));
        if let Some((_, address)) = again {
            let value = format!("{}, with {address} twice", self.remote.join(","));
            return Err(EngineError::invalid(REMOTES, DIFFERENT, value));
        }
        match self.overlap {
            Some(on) if served > 1 => {
                Err(invalid_overlap(on, "omitted: served devices exchange gradients after the backward pass"))
            }
            _ => Ok(()),
        }
    }

    /// Rejects an overlap setting for a single device, which exchanges nothing.
    pub fn check_overlap(&self) -> Result<()> {
        match self.overlap {
            Some(on) if !self.asks_for_several() => {
                Err(invalid_overlap(on, "omitted for a single device, which exchanges nothing (see --devices)"))
            }
            _ => Ok(()),
        }
    }

    /// Checks that each requested option that only one backend supports has this backend among `names`.
    pub fn check(&self, names: &[&str]) -> Result<()> {
        let particulars = [
            (self.threads.is_some(), "a number of threads", BURN_FLEX),
            (!self.remote.is_empty(), "a remote device", BURN_REMOTE),
            (!self.without.is_empty(), "a disabled feature", list::WGSL),
        ];
        let unsuited = particulars.into_iter().find(|(asked, _, suited)| *asked && !names.contains(suited));
        unsuited.map_or(Ok(()), |(_, setting, suited)| {
            let given = names.iter().map(|&name| name.to_owned()).collect();
            Err(EngineError::Unsuited { setting, suited, given })
        })
    }

    /// Returns these options without those that the backend `name` does not support.
    pub fn suited_to(&self, name: &str) -> Self {
        let mut suited = self.clone();
        suited.threads = suited.threads.filter(|_| name == BURN_FLEX);
        suited.remote.retain(|_| name == BURN_REMOTE);
        suited.without.retain(|_| name == list::WGSL);
        suited
    }
}

fn invalid_overlap(on: bool, allowed: &str) -> EngineError {
    EngineError::invalid("the overlap of exchanges", allowed, if on { "on" } else { "off" })
}

/// Persistent storage for tuning results, such as a file or a browser's storage. Losing it only costs time.
pub trait Keeper: Debug + Send + Sync {
    /// Returns the text last stored under `key`.
    fn recall(&self, key: &str) -> Option<String>;
    fn keep(&self, key: &str, text: &str);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends::{REFERENCE, open_with};
    use crate::testing::Standstill;

    fn asking_for_both() -> Opening {
        Opening { threads: NonZero::new(2), remote: vec!["gpu:1".to_owned()], ..Opening::default() }
    }

    #[test]
    fn an_ignored_option_is_refused_with_its_backend() {
        let opened = pollster::block_on(open_with(REFERENCE, &asking_for_both(), std::rc::Rc::new(Standstill)));
        let error = opened.err().unwrap().to_string();
        assert_eq!(error, "a number of threads works only with the backend `burn-flex`, not with reference");
        let error = asking_for_both().check(&[BURN_FLEX, REFERENCE]).unwrap_err().to_string();
        assert_eq!(error, "a remote device works only with the backend `burn-remote`, not with burn-flex, reference");
    }

    #[test]
    fn served_devices_are_named_by_different_addresses_only() {
        let asking = |adapter: &str, addresses: &[&str]| {
            let remote = addresses.iter().map(|&address| address.to_owned()).collect();
            Opening { remote, adapter: adapter.parse().unwrap(), ..Opening::default() }
        };
        let two = asking("any", &["a:1", "a:2"]);
        assert!(two.asks_for_several() && two.check_for(BURN_REMOTE).is_ok());
        assert!(!asking("any", &["a:1"]).asks_for_several());
        let counted = |devices| Opening { devices: NonZero::new(devices), ..two.clone() };
        assert!(counted(2).check_for(BURN_REMOTE).is_ok());
        let cases = [
            (counted(3), "the number of devices must be omitted, or 2, the number of addresses of --remote, but is 3"),
            (asking("all", &["a:1"]), "several served devices are selected by their addresses"),
            (asking("any", &["a:1", "b:1", "a:1"]), "but is a:1,b:1,a:1, with a:1 twice"),
            (Opening { overlap: Some(true), ..two.clone() }, "served devices exchange gradients after the backward"),
        ];
        for (opening, part) in cases {
            let error = opening.check_for(BURN_REMOTE).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn only_wgsl_has_input_modes() {
        let asking = |mode, adapter: &str| {
            let adapter = adapter.parse().unwrap();
            Opening { input: Some(mode), adapter, ..Opening::default() }
        };
        for mode in InputMode::ALL {
            for name in [BURN_FLEX, BURN_REMOTE, "burn-cuda", REFERENCE] {
                let error = asking(mode, "any").check_for(name).unwrap_err().to_string();
                let begin = format!("the backend `{name}` does not support the input mode `{}`: it ", mode.name());
                assert!(error.starts_with(&begin), "{error}");
            }
            assert!(asking(mode, "any").check_for(list::WGSL).is_ok());
            let of_several = asking(mode, "0,1").check_for(list::WGSL);
            assert_eq!(of_several.is_ok(), mode == InputMode::Resident, "{of_several:?}");
        }
    }

    #[test]
    fn our_backends_have_one_layout_each() {
        let asking = Opening { layout: Some(Layout::Nchw), ..Opening::default() };
        let cases = [
            (list::WGSL, "its kernels store channels last, in groups of four"),
            (BURN_FLEX, "Burn's convolutions take channels first"),
            (REFERENCE, "as the reference, it computes with channels last"),
        ];
        for (name, reason) in cases {
            let error = asking.check_for(name).unwrap_err().to_string();
            let begin = format!("the backend `{name}` does not support the layout `nchw`: {reason}");
            assert!(error.starts_with(&begin), "{error}");
            assert!(Opening::default().check_for(name).is_ok());
        }
        assert!(asking.check_for("a-program").is_ok());
    }

    #[test]
    fn beside_each_other_every_back_end_gets_its_own() {
        assert!(asking_for_both().check(&[BURN_REMOTE, BURN_FLEX]).is_ok());
        for name in [BURN_FLEX, BURN_REMOTE, REFERENCE] {
            let suited = asking_for_both().suited_to(name);
            assert!(suited.check(&[name]).is_ok());
            assert_eq!((suited.threads.is_some(), !suited.remote.is_empty()), (name == BURN_FLEX, name == BURN_REMOTE));
        }
    }
}
