//! The back ends that the page trains with.

/// A back end of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageBackend {
    #[default]
    Wgsl,
    BurnWgpu,
    BurnFlex,
}

impl PageBackend {
    /// As they are offered.
    pub const ALL: [Self; 3] = [Self::Wgsl, Self::BurnWgpu, Self::BurnFlex];

    /// As the engine calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wgsl => "wgsl",
            Self::BurnWgpu => "burn-wgpu",
            Self::BurnFlex => "burn-flex",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|backend| backend.name() == name)
    }

    /// For people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Wgsl => "Our WGSL kernels",
            Self::BurnWgpu => "Burn on WebGPU",
            Self::BurnFlex => "Burn on the processor",
        }
    }

    pub const fn description(self) -> &'static str {
        match self {
            Self::Wgsl => "Written for these networks; part of this page.",
            Self::BurnWgpu => "An established framework, with kernels that it makes itself.",
            Self::BurnFlex => "The same framework without your GPU, on one core.",
        }
    }

    pub const fn uses_gpu(self) -> bool {
        !matches!(self, Self::BurnFlex)
    }

    /// Whether it comes with the worker's second bundle ([`crate::bundle`]).
    pub const fn is_burn(self) -> bool {
        !matches!(self, Self::Wgsl)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_back_end_of_the_page_is_one_of_the_engines() {
        for backend in PageBackend::ALL {
            let known = engine::KNOWN_BACKENDS.iter().find(|known| known.name == backend.name()).unwrap();
            assert_eq!(known.uses_adapter, backend.uses_gpu(), "{backend:?}");
            assert_eq!(PageBackend::named(backend.name()), Some(backend));
            assert_eq!(backend.is_burn(), backend.name().starts_with("burn-"));
        }
    }
}
