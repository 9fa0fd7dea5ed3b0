//! All known backends, and their availability in this build and on this machine.

use std::rc::Rc;

use async_recursion::async_recursion;
use results::Precision;
use serde::Serialize;

use super::{AdapterChoice, Opening, REFERENCE, adapters};
use crate::clock::Clock;
use crate::error::{EngineError, Result};
use crate::model::{Layer, Model, ModelError};

pub const WGSL: &str = "wgsl";
pub const BURN_FLEX: &str = "burn-flex";
pub(crate) const BURN_WGPU: &str = "burn-wgpu";
pub(crate) const BURN_VULKAN: &str = "burn-vulkan";
pub(crate) const BURN_METAL: &str = "burn-metal";
pub(crate) const BURN_CUDA: &str = "burn-cuda";
pub(crate) const BURN_ROCM: &str = "burn-rocm";
pub const BURN_REMOTE: &str = "burn-remote";

#[derive(Clone, Copy, Debug, Serialize)]
pub struct BackendDefinition {
    pub name: &'static str,
    pub description: &'static str,
    /// True if the backend runs on one of [`adapters`].
    pub uses_adapter: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Devices {
    Adapters,
    /// Devices of its platform, with separate names, kinds and indices.
    Platform,
    /// No choice: the backend uses the processor, or a device chosen by a server.
    Given,
}

impl BackendDefinition {
    pub fn devices(&self) -> Devices {
        match self.name {
            _ if self.uses_adapter => Devices::Adapters,
            BURN_CUDA | BURN_ROCM => Devices::Platform,
            _ => Devices::Given,
        }
    }

    pub fn feature(&self) -> Option<&'static str> {
        (self.name != REFERENCE).then_some(self.name)
    }
}

const fn backend(name: &'static str, description: &'static str, uses_adapter: bool) -> BackendDefinition {
    BackendDefinition { name, description, uses_adapter }
}

pub const KNOWN_BACKENDS: [BackendDefinition; 9] = [
    backend(WGSL, "Gradmark's WGSL kernels on WebGPU, Vulkan, Metal or DX12.", true),
    backend(BURN_WGPU, "Burn, a machine learning framework in Rust, with CubeCL on WGSL.", true),
    backend(BURN_VULKAN, "Burn with CubeCL's SPIR-V on Vulkan.", true),
    backend(BURN_METAL, "Burn with CubeCL's Metal shaders.", true),
    backend(BURN_CUDA, "Burn with CubeCL on NVIDIA's CUDA.", false),
    backend(BURN_ROCM, "Burn with CubeCL on AMD's ROCm.", false),
    backend(BURN_FLEX, "Burn on the processor, in pure Rust.", false),
    backend(BURN_REMOTE, "Burn on a device of `native-runner serve-device`, on this or another machine.", false),
    backend(REFERENCE, "Plain loops on one processor core; slow, and the reference for all others.", false),
];

pub const BACKENDS: &[BackendDefinition] = &[
    #[cfg(feature = "wgsl")]
    KNOWN_BACKENDS[0],
    #[cfg(feature = "burn-wgpu")]
    KNOWN_BACKENDS[1],
    #[cfg(feature = "burn-vulkan")]
    KNOWN_BACKENDS[2],
    #[cfg(feature = "burn-metal")]
    KNOWN_BACKENDS[3],
    #[cfg(feature = "burn-cuda")]
    KNOWN_BACKENDS[4],
    #[cfg(feature = "burn-rocm")]
    KNOWN_BACKENDS[5],
    #[cfg(feature = "burn-flex")]
    KNOWN_BACKENDS[6],
    #[cfg(feature = "burn-remote")]
    KNOWN_BACKENDS[7],
    KNOWN_BACKENDS[8],
];

#[derive(Clone, Debug, Serialize)]
pub struct BackendState {
    #[serde(flatten)]
    pub definition: BackendDefinition,
    pub built: bool,
    /// True if the backend is built and this machine can run it.
    pub runs: bool,
    /// Option required to determine `runs`.
    pub needs: Option<&'static str>,
    /// Reason why the backend cannot be used, or option required to use it.
    pub remark: Option<String>,
}

/// Opens each backend of this build to determine its state.
#[async_recursion(?Send)]
pub async fn states(clock: Rc<dyn Clock>) -> Vec<BackendState> {
    let only_software = adapters().await.iter().all(|adapter| adapter.software);
    let mut states = Vec::new();
    for definition in KNOWN_BACKENDS {
        let built = BACKENDS.iter().any(|backend| backend.name == definition.name);
        let choice = if definition.uses_adapter && only_software { AdapterChoice::Cpu } else { AdapterChoice::Any };
        let opened = super::open_with(definition.name, &Opening::new(Precision::F32, &choice), Rc::clone(&clock)).await;
        let remark = match &opened {
            Ok(backend) if backend.adapter().software => {
                let name = &backend.adapter().name;
                Some(format!("only on {name}, a software adapter: select it with `--adapter cpu`"))
            }
            Ok(_) => None,
            Err(error) => Some(error.to_string()),
        };
        let needs = matches!(opened, Err(EngineError::NoHost { .. })).then_some("--remote HOST[:PORT]");
        states.push(BackendState { definition, built, runs: opened.is_ok(), needs, remark });
    }
    states
}

/// Returns true for the backends that compute with Burn.
fn is_burn(name: &str) -> bool {
    name.starts_with("burn-") && KNOWN_BACKENDS.iter().any(|known| known.name == name)
}

/// Returns the name of a backend, which this build may lack.
pub fn find_known(name: &str) -> Result<&'static str> {
    let known = KNOWN_BACKENDS.iter().map(|known| known.name).find(|known| *known == name);
    known.ok_or_else(|| EngineError::UnknownBackend {
        name: name.to_owned(),
        known: BACKENDS.iter().map(|backend| backend.name.to_owned()).collect(),
    })
}

/// Returns the reason why a backend trains on a single device only, or `None` if it supports several.
pub(super) fn only_one_device(name: &str) -> Option<&'static str> {
    match name {
        REFERENCE => Some("it computes with plain loops on one core of the processor"),
        BURN_FLEX => Some("it uses the processor with all cores (--threads sets their number)"),
        BURN_CUDA => Some(
            "Burn exchanges gradients with NCCL, which does not report its time and waits forever for a lost device; \
             serve each device with `native-runner serve-device --backend burn-cuda --adapter N`, and train on all of \
             them with `--backend burn-remote --remote HOST:PORT,HOST:PORT`",
        ),
        BURN_WGPU | BURN_VULKAN | BURN_METAL | BURN_ROCM => Some(
            "Burn exchanges gradients only among CUDA devices; serve each device with `native-runner serve-device \
             --adapter N`, and train on all of them with `--backend burn-remote --remote HOST:PORT,HOST:PORT`",
        ),
        _ => None,
    }
}

/// Returns the reason why a backend has no choice of input modes, or `None` if it has one.
pub(super) fn own_input(name: &str) -> Option<&'static str> {
    match name {
        REFERENCE => Some("it reads each sample from memory as it computes"),
        _ if is_burn(name) => Some(
            "it prepares each batch on the processor, like Burn's data loader; Burn's queue decides how much of this \
             overlaps with computation, so the waiting time of the device is unknown",
        ),
        _ => None,
    }
}

/// Returns the reason why a backend has no choice of layouts, or `None` if it has one.
pub(super) fn only_layout(name: &str) -> Option<&'static str> {
    match name {
        WGSL => Some("its kernels store channels last, in groups of four"),
        REFERENCE => Some("as the reference, it computes with channels last"),
        _ if is_burn(name) => {
            Some("Burn's convolutions take channels first, and Burn chooses the layout inside its kernels")
        }
        _ => None,
    }
}

/// Returns the reason why a backend cannot train `model`, without opening the backend.
pub fn unsupported(backend: &str, model: &Model) -> Option<ModelError> {
    if is_burn(backend) { by_burn(model) } else { None }
}

/// Returns an error for the first layer that Burn's operations do not compute as defined.
pub(super) fn by_burn(model: &Model) -> Option<ModelError> {
    // An invalid model is reported when it is built.
    let shapes = model.shapes().ok()?;
    model.nodes.iter().zip(&shapes).enumerate().find_map(|(index, (node, &output))| {
        let Layer::Pool { stride, padding, .. } = node.layer else { return None };
        let input = model.shape_of(*node.inputs.first()?, &shapes);
        // Rounding up may give a window that contains only padding.
        let beyond = |made: u32, given: u32| (made - 1) * stride >= given + padding;
        let unsupported = beyond(output.height, input.height) || beyond(output.width, input.width);
        let reason = "Burn leaves out windows that begin beyond the last pixel".to_owned();
        unsupported.then_some(ModelError::Unsupported { model: model.name, layer: index, reason })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Activation, PoolKind, Rounding, Shape};
    use crate::testing::Standstill;

    #[test]
    fn every_back_end_runs_or_names_its_reason_or_feature() {
        let states = pollster::block_on(states(Rc::new(Standstill)));
        assert_eq!(states.len(), KNOWN_BACKENDS.len());
        for state in &states {
            assert!(state.runs || state.remark.as_ref().is_some_and(|remark| !remark.is_empty()), "{state:?}");
            assert!(state.built || !state.runs, "{state:?}");
            let feature = format!("--features {}", state.definition.name);
            assert!(state.built || state.remark.as_ref().unwrap().contains(&feature), "{state:?}");
            assert_eq!(state.needs.is_some(), state.built && state.definition.name == BURN_REMOTE, "{state:?}");
        }
        assert!(states.iter().any(|state| state.definition.name == REFERENCE && state.runs));
    }

    fn pooled(side: u32, stride: u32) -> Model {
        let (kind, rounding, activation) = (PoolKind::Max, Rounding::Ceil, Activation::Identity);
        let layer = Layer::Pool { kind, side, stride, padding: 0, rounding, activation };
        Model::sequence("pooled", Shape::new(7, 7, 3), vec![layer])
    }

    #[test]
    fn networks_unsupported_by_burn_have_a_reason() {
        // Windows of two pixels start at 0, 4 and 8, but only pixels 0 to 6 exist.
        let model = pooled(2, 4);
        let error = unsupported("burn-flex", &model).unwrap().to_string();
        assert!(error.contains("pooled: layer 0") && error.contains("beyond the last pixel"), "{error}");
        assert_eq!(unsupported("wgsl", &model), None);
        assert_eq!(unsupported("burn-wgpu", &pooled(3, 2)), None);
    }
}
