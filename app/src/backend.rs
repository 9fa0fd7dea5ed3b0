//! Backends that the page trains with.

use crate::words;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageBackend {
    #[default]
    Wgsl,
    BurnWgpu,
    BurnFlex,
    TfjsWebgpu,
    TfjsWebgl,
    TfjsWasm,
    JaxJsWebgpu,
    JaxJsWasm,
}

/// Origin of a backend, which determines how the page loads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    Ours,
    /// The worker's second bundle ([`crate::supplies`]).
    Burn,
    /// JavaScript framework, in its own worker. Its runs cannot be proven, so they are displayed but never uploaded.
    Framework(&'static str),
}

impl PageBackend {
    pub const ALL: [Self; 8] = [
        Self::Wgsl,
        Self::BurnWgpu,
        Self::BurnFlex,
        Self::TfjsWebgpu,
        Self::TfjsWebgl,
        Self::TfjsWasm,
        Self::JaxJsWebgpu,
        Self::JaxJsWasm,
    ];

    /// Backends compared by default: our kernels and each framework, all on WebGPU.
    pub const COMPARED: [Self; 4] = [Self::Wgsl, Self::BurnWgpu, Self::TfjsWebgpu, Self::JaxJsWebgpu];

    /// Name in the engine, or of a program in `app/frameworks`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wgsl => "wgsl",
            Self::BurnWgpu => "burn-wgpu",
            Self::BurnFlex => "burn-flex",
            Self::TfjsWebgpu => "tfjs-webgpu",
            Self::TfjsWebgl => "tfjs-webgl",
            Self::TfjsWasm => "tfjs-wasm",
            Self::JaxJsWebgpu => "jax-js-webgpu",
            Self::JaxJsWasm => "jax-js-wasm",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|backend| backend.name() == name)
    }

    pub fn title(self) -> &'static str {
        words::named("backend", self.name()).unwrap_or_default()
    }

    /// Description, which is empty for further backends of the same framework.
    pub fn description(self) -> &'static str {
        words::named("backend", &format!("{}_description", self.name())).unwrap_or_default()
    }

    pub const fn uses_webgpu(self) -> bool {
        matches!(self, Self::Wgsl | Self::BurnWgpu | Self::TfjsWebgpu | Self::JaxJsWebgpu)
    }

    pub const fn maker(self) -> Maker {
        match self {
            Self::Wgsl => Maker::Ours,
            Self::BurnWgpu | Self::BurnFlex => Maker::Burn,
            Self::TfjsWebgpu | Self::TfjsWebgl | Self::TfjsWasm => Maker::Framework("TensorFlow.js"),
            Self::JaxJsWebgpu | Self::JaxJsWasm => Maker::Framework("jax-js"),
        }
    }

    pub const fn is_provable(self) -> bool {
        !matches!(self.maker(), Maker::Framework(_))
    }
}

impl Maker {
    /// Name of the bundle to download, if any.
    pub const fn fetched(self) -> Option<&'static str> {
        match self {
            Self::Ours => None,
            Self::Burn => Some("Burn"),
            Self::Framework(name) => Some(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde::Deserialize;

    use super::*;

    #[test]
    fn every_backend_is_known_to_engine_or_framework() {
        for backend in PageBackend::ALL {
            assert_eq!(PageBackend::named(backend.name()), Some(backend));
            assert!(!backend.title().is_empty(), "{backend:?}");
            let known = engine::KNOWN_BACKENDS.iter().find(|known| known.name == backend.name());
            assert_eq!(known.is_some(), backend.is_provable(), "{backend:?}");
            assert_eq!(backend.maker() == Maker::Burn, backend.name().starts_with("burn-"));
            match known {
                Some(known) => assert_eq!(known.uses_adapter, backend.uses_webgpu(), "{backend:?}"),
                None => assert_eq!(engine::backends::external::checked_name(backend.name()).unwrap(), backend.name()),
            }
        }
        assert!(PageBackend::COMPARED.iter().all(|backend| backend.uses_webgpu()));
    }

    #[test]
    fn frameworks_match_bundles_of_the_page() {
        #[derive(Deserialize)]
        struct Bundled {
            name: String,
            #[serde(default = "yes")]
            page: bool,
        }
        const fn yes() -> bool {
            true
        }
        let bundled: Vec<Bundled> = serde_json::from_str(include_str!("../frameworks/bundles.json")).unwrap();
        let bundled: BTreeSet<String> = bundled.into_iter().filter(|of| of.page).map(|of| of.name).collect();
        let offered = PageBackend::ALL.into_iter().filter(|backend| !backend.is_provable());
        assert_eq!(bundled, offered.map(|backend| backend.name().to_owned()).collect());
    }
}
