//! The back ends that the page trains with.

use crate::t;

/// A back end of the page.
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

/// What a back end is made of, and so how it comes to the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    /// Our kernels, in the worker that every page has.
    Ours,
    /// The worker's second bundle ([`crate::bundle`]).
    Burn,
    /// A framework of JavaScript, in a worker of its own ([`crate::frameworks`]). Nobody can prove what it computed, so that
    /// its runs are shown and never uploaded.
    Framework(&'static str),
}

impl PageBackend {
    /// As they are offered.
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

    /// What is compared unless somebody chooses: our kernels and each framework, all on WebGPU.
    pub const COMPARED: [Self; 4] = [Self::Wgsl, Self::BurnWgpu, Self::TfjsWebgpu, Self::JaxJsWebgpu];

    /// As the engine calls it, or a program of `app/frameworks`.
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

    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Wgsl => t!(backend_wgsl),
            Self::BurnWgpu => t!(backend_burn_wgpu),
            Self::BurnFlex => t!(backend_burn_flex),
            Self::TfjsWebgpu => t!(backend_tfjs_webgpu),
            Self::TfjsWebgl => t!(backend_tfjs_webgl),
            Self::TfjsWasm => t!(backend_tfjs_wasm),
            Self::JaxJsWebgpu => t!(backend_jax_js_webgpu),
            Self::JaxJsWasm => t!(backend_jax_js_wasm),
        }
    }

    pub fn description(self) -> &'static str {
        match self {
            Self::Wgsl => t!(backend_wgsl_description),
            Self::BurnWgpu => t!(backend_burn_wgpu_description),
            Self::BurnFlex => t!(backend_burn_flex_description),
            Self::TfjsWebgpu => t!(backend_tfjs_webgpu_description),
            Self::TfjsWebgl => t!(backend_tfjs_webgl_description),
            Self::TfjsWasm => t!(backend_tfjs_wasm_description),
            Self::JaxJsWebgpu => t!(backend_jax_js_webgpu_description),
            Self::JaxJsWasm => t!(backend_jax_js_wasm_description),
        }
    }

    /// Whether it needs WebGPU.
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

    /// Whether its runs may be uploaded.
    pub const fn is_provable(self) -> bool {
        !matches!(self.maker(), Maker::Framework(_))
    }
}

impl Maker {
    /// Of what has to be fetched for it, nothing for what every page has.
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
    fn every_back_end_of_the_page_is_one_of_the_engines_or_a_frameworks() {
        for backend in PageBackend::ALL {
            assert_eq!(PageBackend::named(backend.name()), Some(backend));
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
    fn the_frameworks_are_those_that_are_bundled_for_the_page() {
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
