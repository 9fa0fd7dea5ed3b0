//! Backends that the page trains with.

use engine::{Layer, Rule, Workload};
use results::Contender;

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

// Names of backends in the engine, or of programs in `app/frameworks`.
results::names!(PageBackend {
    Wgsl = "wgsl",
    BurnWgpu = "burn-wgpu",
    BurnFlex = "burn-flex",
    TfjsWebgpu = "tfjs-webgpu",
    TfjsWebgl = "tfjs-webgl",
    TfjsWasm = "tfjs-wasm",
    JaxJsWebgpu = "jax-js-webgpu",
    JaxJsWasm = "jax-js-wasm"
});

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
    /// Backends compared by default: our kernels and each framework, all on WebGPU.
    pub const COMPARED: [Self; 4] = [Self::Wgsl, Self::BurnWgpu, Self::TfjsWebgpu, Self::JaxJsWebgpu];

    pub fn title(self) -> &'static str {
        words::named("backend", self.name()).unwrap_or_default()
    }

    /// Description. Only the first backend of each framework has one; it is empty for the others.
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

    /// Returns why the backend cannot train a network exactly as defined. Does not open the backend.
    pub fn unsupported(self, workload: &Workload) -> Option<String> {
        match self.maker() {
            Maker::Framework(_) => self.lacks(workload).map(|what| format!("it has no {what}")),
            Maker::Ours | Maker::Burn => {
                engine::backends::unsupported(self.name(), &workload.model).map(|reason| reason.to_string())
            }
        }
    }

    /// Returns a feature that a network needs and the framework's program in `app/frameworks/src` lacks.
    fn lacks(self, workload: &Workload) -> Option<&'static str> {
        let Workload { model, input, optimizer, average, .. } = workload;
        let layer = model.nodes.iter().find_map(|node| self.lacks_layer(&node.layer));
        layer
            .or(matches!(optimizer.rule, Rule::Nesterov { .. }).then_some("Nesterov momentum"))
            .or(average.as_ref().map(|_| "averages of weights"))
            .or((input.test_views.len() > 1).then_some("tests over several views of an image"))
    }

    fn lacks_layer(self, layer: &Layer) -> Option<&'static str> {
        let on_wasm = self == Self::TfjsWasm;
        let of_jax = matches!(self, Self::JaxJsWebgpu | Self::JaxJsWasm);
        match layer {
            Layer::Dense { .. }
            | Layer::Dropout { .. }
            | Layer::LocalResponseNorm { .. }
            | Layer::Add { .. }
            | Layer::PositionEmbedding { .. }
            | Layer::LayerNorm { .. }
            | Layer::Attention { .. }
            | Layer::WordScores { .. } => None,
            Layer::Conv2d { .. } => on_wasm.then_some("gradients of convolutions"),
            Layer::Pool { padding, .. } => (*padding > 0).then_some("pooling with a border"),
            Layer::Embedding { zero_padding: true, .. } => Some("padding that has no vector"),
            Layer::Embedding { .. } => on_wasm.then_some("gradients of word vectors"),
            Layer::Lstm { .. } => of_jax.then_some("LSTM layers"),
            _ => Some("support for one of the layers"),
        }
    }
}

pub fn title(contender: &Contender) -> String {
    PageBackend::named(&contender.backend).map_or_else(|| contender.to_string(), |known| known.title().to_owned())
}

pub fn title_of(backend: &str) -> String {
    PageBackend::named(backend).map_or_else(|| backend.to_owned(), |known| known.title().to_owned())
}

impl Maker {
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

    use serde_json::Value;

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
    fn frameworks_cannot_train_every_network() {
        let lacks = |backend: PageBackend, network: &str| backend.unsupported(&engine::workload(network).unwrap());
        let wasm = |network: &str| lacks(PageBackend::TfjsWasm, network);
        assert_eq!([wasm("keras-mnist-mlp"), wasm("keras-mnist-hrnn")], [None, None]);
        assert_eq!(wasm("caffe-mnist").as_deref(), Some("it has no gradients of convolutions"));
        assert_eq!(lacks(PageBackend::TfjsWebgpu, "caffe-mnist"), None);
        assert_eq!(lacks(PageBackend::JaxJsWasm, "keras-mnist-hrnn").as_deref(), Some("it has no LSTM layers"));
        for network in ["gpt-nano", "gpt-small"] {
            assert_eq!(lacks(PageBackend::TfjsWebgpu, network), None);
            assert_eq!(lacks(PageBackend::JaxJsWasm, network), None);
            assert_eq!(wasm(network).as_deref(), Some("it has no gradients of word vectors"));
        }
        for framework in PageBackend::ALL.into_iter().filter(|backend| !backend.is_provable()) {
            assert!(lacks(framework, "resnet20-cifar10").is_some(), "{framework:?} has no batch normalization");
        }
        for make in engine::WORKLOADS {
            assert_eq!(PageBackend::Wgsl.unsupported(&make()), None);
        }
    }

    #[test]
    fn frameworks_match_bundles_of_the_page() {
        let bundled: Vec<Value> = serde_json::from_str(include_str!("../frameworks/bundles.json")).unwrap();
        let bundled = bundled.iter().filter(|of| of["page"] != false).map(|of| of["name"].as_str().unwrap());
        let offered = PageBackend::ALL.into_iter().filter(|backend| !backend.is_provable());
        assert_eq!(bundled.collect::<BTreeSet<_>>(), offered.map(PageBackend::name).collect());
    }
}
