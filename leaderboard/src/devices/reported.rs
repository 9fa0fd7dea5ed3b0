//! Statements of a record about its device.

use results::{Adapter, Device, RunRecord};

use super::name::displayed;
use super::{KnownDevice, Vendor, look_up};

#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// The displayed name: see [`displayed`].
    pub text: String,
    pub device: Option<&'static KnownDevice>,
    /// True if the name only looks like the device's.
    pub look_alike: bool,
}

impl Named {
    fn new(name: &str) -> Option<Self> {
        let (text, found) = (displayed(name), look_up(name));
        let (device, look_alike) = (found.map(|(device, _)| device), found.is_some_and(|(_, look_alike)| look_alike));
        (!text.is_empty()).then_some(Self { text, device, look_alike })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Reported {
    /// `None` if the platform masks the name.
    pub name: Option<Named>,
    pub vendor: Option<Vendor>,
    /// The platform's architecture, which may be empty. The table contains only WebGPU's names.
    pub architecture: String,
}

impl Reported {
    pub fn of(adapter: &Adapter) -> Self {
        let name = (!is_masked(adapter)).then(|| Named::new(&adapter.name)).flatten();
        Self { name, vendor: Vendor::named(&adapter.vendor), architecture: adapter.architecture.clone() }
    }

    pub fn device(&self) -> Option<&'static KnownDevice> {
        self.name.as_ref().and_then(|name| name.device)
    }

    pub(crate) fn vendor_name(&self) -> Option<&'static str> {
        self.vendor.or_else(|| self.device().map(|device| device.vendor)).map(Vendor::name)
    }
}

/// Returns the name that a person gave the device, unless it is empty or a software adapter.
pub(super) fn claim(device: &Device) -> Option<Named> {
    device.claimed().and_then(Named::new)
}

/// Returns true if the adapter's name is only its vendor and architecture, or stands for many GPUs.
fn is_masked(adapter: &Adapter) -> bool {
    let words = format!("{} {}", adapter.vendor, adapter.architecture);
    let name = adapter.name.trim();
    name.is_empty()
        || name.starts_with("unnamed ")
        || name.eq_ignore_ascii_case(words.trim())
        || name.eq_ignore_ascii_case(adapter.vendor.trim())
        || name.to_lowercase().contains("or similar")
}

pub(super) fn measured_peak(record: &RunRecord) -> Option<f64> {
    let peaks = record.workloads.iter().flat_map(|workload| &workload.peaks);
    peaks.map(|peak| peak.flops_per_second).max_by(f64::total_cmp)
}
