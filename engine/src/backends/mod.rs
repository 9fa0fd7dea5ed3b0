//! The back ends of this build, and how one is opened by its name.

mod adapter;
pub mod reference;
#[cfg(feature = "wgsl")]
pub mod wgsl;

use std::rc::Rc;

use results::{Adapter, Precision};
use serde::Serialize;

pub use adapter::AdapterChoice;

use crate::clock::Clock;
use crate::error::EngineError;
use crate::trainer::Backend;

/// Name of the plain reference back end.
pub const REFERENCE: &str = "reference";

/// A back end that this build has.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BackendDefinition {
    pub name: &'static str,
    pub description: &'static str,
    /// Whether it runs on one of [`adapters`]; otherwise it runs on the processor.
    pub uses_adapter: bool,
}

/// Every back end of this build.
pub const BACKENDS: &[BackendDefinition] = &[
    #[cfg(feature = "wgsl")]
    BackendDefinition {
        name: wgsl::NAME,
        description: "Our own WGSL kernels on WebGPU, Vulkan, Metal or DX12.",
        uses_adapter: true,
    },
    BackendDefinition {
        name: REFERENCE,
        description: "Plain loops on one processor core: slow, and the judge of all others.",
        uses_adapter: false,
    },
];

/// Opens the back end named `name` on the adapter that fits `choice`, to compute in f32.
///
/// The clock paces submissions.
///
/// # Errors
/// No such back end, no such adapter (both list what there is), or a device that cannot be opened.
pub async fn open(name: &str, choice: &AdapterChoice, clock: Rc<dyn Clock>) -> Result<Box<dyn Backend>, EngineError> {
    open_in(Precision::F32, name, choice, clock).await
}

/// As [`open`], to compute in `precision`.
///
/// # Errors
/// Those of [`open`], and a back end or device that does not compute in it.
pub async fn open_in(
    precision: Precision,
    name: &str,
    choice: &AdapterChoice,
    clock: Rc<dyn Clock>,
) -> Result<Box<dyn Backend>, EngineError> {
    match name {
        #[cfg(feature = "wgsl")]
        wgsl::NAME => Ok(Box::new(wgsl::WgslBackend::open(choice, precision, clock).await?)),
        REFERENCE => {
            // Plain loops submit nothing that would have to be paced.
            drop(clock);
            let backend: Box<dyn Backend> = match precision {
                Precision::F16 => {
                    return Err(EngineError::NoPrecision {
                        whose: format!("the back end `{REFERENCE}`"),
                        precision: precision.name(),
                        reason: "it computes as exactly as it can",
                        instead: "f32 or f64",
                    });
                }
                Precision::F32 => Box::new(reference::ReferenceBackend::<f32>::new()),
                Precision::F64 => Box::new(reference::ReferenceBackend::<f64>::new()),
            };
            choice.choose_processor(backend.adapter())?;
            Ok(backend)
        }
        _ => Err(EngineError::UnknownBackend {
            name: name.to_owned(),
            known: BACKENDS.iter().map(|b| b.name.to_owned()).collect(),
        }),
    }
}

/// The adapters of this machine, in the order of their indices.
pub async fn adapters() -> Vec<Adapter> {
    #[cfg(feature = "wgsl")]
    return wgsl::adapters().await;
    #[cfg(not(feature = "wgsl"))]
    return Vec::new();
}
