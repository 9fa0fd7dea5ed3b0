//! Opening a backend of this build by name.

mod adapter;
#[cfg(feature = "burn")]
mod burn;
pub mod external;
mod list;
mod opening;
pub mod reference;
#[cfg(all(test, feature = "wgsl"))]
mod segment_tests;
#[cfg(any(feature = "wgsl", feature = "burn-remote"))]
mod sharing;
#[cfg(feature = "wgsl")]
pub mod wgsl;

use async_recursion::async_recursion;
use std::rc::Rc;

use results::{Adapter, DeviceKind, Precision};

pub use adapter::AdapterChoice;
#[cfg(feature = "burn-remote")]
pub use burn::remote as served;
pub use list::{
    BACKENDS, BURN_FLEX, BURN_REMOTE, BackendDefinition, BackendState, Devices, KNOWN_BACKENDS, WGSL, find_known,
    states, unsupported,
};
pub use opening::{Keeper, Opening};

use crate::clock::Clock;
use crate::error::{EngineError, Result};
use crate::trainer::Backend;

pub const REFERENCE: &str = "reference";

/// Opens the backend named `name` with these options. The clock paces submissions. Fails with a list of the available
/// ones if the backend or adapter does not exist, and if the backend would ignore an option.
#[async_recursion(?Send)]
pub async fn open_with(name: &str, opening: &Opening, clock: Rc<dyn Clock>) -> Result<Box<dyn Backend>> {
    opening.check_for(name)?;
    match name {
        #[cfg(feature = "wgsl")]
        list::WGSL if opening.asks_for_several() => wgsl::parallel::open(opening, clock).await,
        #[cfg(feature = "wgsl")]
        list::WGSL => Ok(Box::new(wgsl::WgslBackend::open(opening, clock).await?) as Box<dyn Backend>),
        REFERENCE => {
            // Plain loops need no pacing.
            drop(clock);
            let backend: Box<dyn Backend> = match opening.precision {
                Precision::F32 => Box::new(reference::ReferenceBackend::<f32>::new()),
                Precision::F64 => Box::new(reference::ReferenceBackend::<f64>::new()),
                precision => {
                    return Err(EngineError::NoPrecision {
                        whose: format!("the backend `{REFERENCE}`"),
                        precision: precision.name(),
                        reason: "it computes with full precision".to_owned(),
                        instead: "f32 or f64",
                    });
                }
            };
            opening.adapter.choose_processor(backend.adapter())?;
            Ok(backend)
        }
        _ => {
            let known = list::find_known(name)?;
            #[cfg(feature = "burn")]
            return burn::open(known, opening, clock).await;
            #[cfg(not(feature = "burn"))]
            Err(EngineError::BackendNotBuilt { name: known })
        }
    }
}

/// Lists the adapters of this machine in index order.
#[async_recursion(?Send)]
pub async fn adapters() -> Vec<Adapter> {
    #[cfg(feature = "wgsl")]
    return wgsl::adapters().await;
    #[cfg(not(feature = "wgsl"))]
    return Vec::new();
}

/// Rejects every precision but f32.
fn check_f32(whose: String, precision: Precision, reason: &str) -> Result<()> {
    if precision == Precision::F32 {
        return Ok(());
    }
    Err(EngineError::NoPrecision { whose, precision: precision.name(), reason: reason.to_owned(), instead: "f32" })
}

fn processor(name: String) -> Adapter {
    Adapter {
        name,
        architecture: std::env::consts::ARCH.to_owned(),
        kind: DeviceKind::Cpu,
        api: "CPU".to_owned(),
        ..Adapter::default()
    }
}
