//! Which GPU of the system the one is that trains.

use results::Adapter;

/// How the system knows a GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Gpu {
    pub(super) vendor: u32,
    pub(super) device: u32,
    /// Such as `0000:01:00.0`, where the driver tells.
    pub(super) pci_bus_id: Option<String>,
}

impl Gpu {
    /// The GPU of this adapter, where only one can be it.
    #[cfg(feature = "wgsl")]
    pub(super) fn of(adapter: &Adapter) -> Option<Self> {
        if adapter.software || adapter.api == "CPU" {
            return None;
        }
        let listed = pollster::block_on(engine::backends::wgsl::details());
        let of_name = listed.into_iter().filter(|of| of.adapter.name == adapter.name && !of.adapter.software);
        only(of_name.map(|of| {
            let identity = of.identity;
            Self { vendor: identity.vendor, device: identity.device, pci_bus_id: identity.pci_bus_id }
        }))
    }

    #[cfg(not(feature = "wgsl"))]
    pub(super) fn of(_: &Adapter) -> Option<Self> {
        None
    }

    /// Whether this place of the bus is its own. Forms of it differ in letters and in zeros of the domain.
    pub(super) fn is_at(&self, place: &str) -> bool {
        self.pci_bus_id.as_deref().is_some_and(|own| short(own) == short(place))
    }
}

/// A GPU that is listed through several interfaces is one; two of the same model cannot be told apart by their names.
fn only(listed: impl Iterator<Item = Gpu>) -> Option<Gpu> {
    let mut found: Vec<Gpu> = Vec::new();
    for gpu in listed {
        match found.iter_mut().find(|other| is_same(other, &gpu)) {
            Some(other) => other.pci_bus_id = other.pci_bus_id.take().or(gpu.pci_bus_id),
            None => found.push(gpu),
        }
    }
    let gpu = found.pop()?;
    found.is_empty().then_some(gpu)
}

/// One interface may tell the place, and another not.
fn is_same(one: &Gpu, other: &Gpu) -> bool {
    let places = one.pci_bus_id.as_deref().zip(other.pci_bus_id.as_deref());
    (one.vendor, one.device) == (other.vendor, other.device) && places.is_none_or(|(a, b)| short(a) == short(b))
}

fn short(place: &str) -> String {
    place.trim_start_matches('0').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gpu(device: u32, place: Option<&str>) -> Gpu {
        Gpu { vendor: 0x10de, device, pci_bus_id: place.map(str::to_owned) }
    }

    #[test]
    fn a_gpu_is_certain_where_only_one_has_its_name() {
        let place = Some("0000:01:00.0");
        assert_eq!(only([gpu(1, place)].into_iter()), Some(gpu(1, place)));
        assert_eq!(only([gpu(1, None), gpu(1, place)].into_iter()), Some(gpu(1, place)));
        assert_eq!(only([gpu(1, place), gpu(1, Some("0000:02:00.0"))].into_iter()), None);
        assert_eq!(only([gpu(1, place), gpu(2, None)].into_iter()), None);
        assert_eq!(only([].into_iter()), None);
    }

    #[test]
    fn a_place_is_the_same_however_it_is_written() {
        let at = gpu(1, Some("0000:0a:00.0"));
        assert!(at.is_at("00000000:0A:00.0") && at.is_at("0000:0a:00.0"));
        assert!(!at.is_at("0000:0b:00.0") && !gpu(1, None).is_at("0000:0a:00.0"));
    }
}
