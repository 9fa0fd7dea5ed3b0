//! Opening back ends.

use std::rc::Rc;

use engine::backends::{self, Opening};
use engine::{Backend, Clock, EngineError};

use crate::cli::PlaceArgs;

/// Opens the back end named `name`. A remote one is watched for as long as it lives.
///
/// # Errors
/// The engine's, and nobody who answers where a device should be served.
pub(crate) fn open(
    name: &str,
    opening: &Opening,
    place: &PlaceArgs,
    clock: Rc<dyn Clock>,
) -> Result<Box<dyn Backend>, EngineError> {
    opening.check(&[name])?;
    #[cfg(feature = "burn-remote")]
    if let Some(address) = &opening.remote {
        let link = crate::link::Link::watch(address, place.remote_timeout)?;
        return pollster::block_on(link.open(backends::open_with(name, opening, clock)));
    }
    #[cfg(not(feature = "burn-remote"))]
    let _ = place;
    pollster::block_on(backends::open_with(name, opening, clock))
}
