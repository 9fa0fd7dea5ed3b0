//! Opening back ends, and saying what they run on.

use std::rc::Rc;

use engine::backends::{self, Opening};
use engine::{AdapterChoice, Backend, Clock, EngineError};
use results::Adapter;

use crate::cli::PlaceArgs;
#[cfg(feature = "burn-remote")]
use crate::clock::MonotonicClock;
use crate::program::{self, NamedProgram};

/// Opens the back end named `name`. A remote one is watched for as long as it lives, and has a clock of its own, because
/// it computes in a thread of its own.
///
/// # Errors
/// The engine's, and nobody who answers where a device should be served.
pub(crate) fn open(
    name: &str,
    opening: &Opening,
    place: &PlaceArgs,
    clock: Rc<dyn Clock>,
) -> Result<Box<dyn Backend>, EngineError> {
    tracing::info!(adapter = %opening.adapter, precision = opening.precision.name(), "opening {name}");
    let backend = open_silently(name, opening, place, clock)?;
    tracing::info!(devices = backend.devices(), "opened {name}: {}", describe(backend.adapter()));
    Ok(backend)
}

fn open_silently(
    name: &str,
    opening: &Opening,
    place: &PlaceArgs,
    clock: Rc<dyn Clock>,
) -> Result<Box<dyn Backend>, EngineError> {
    opening.check(&[name])?;
    opening.check_devices(name)?;
    opening.check_overlap()?;
    opening.check_input(name)?;
    opening.check_layout(name)?;
    if let Some(program) = place.external.named(name) {
        if opening.asks_for_several() {
            let reason = "an external program chooses its devices itself";
            return Err(EngineError::OneDevice { backend: name.to_owned(), reason });
        }
        if let Some(mode) = opening.input {
            let reason = "an external program gets its batches through a pipe, and what that takes is not counted";
            return Err(EngineError::OwnInput { backend: name.to_owned(), mode: mode.name(), reason });
        }
        return open_program(program, opening, place.external.timeout_seconds(), clock);
    }
    #[cfg(feature = "burn-remote")]
    if !opening.remote.is_empty() {
        let (name, opening) = (name.to_owned(), opening.clone());
        return crate::link::open(&opening.remote.clone(), place.remote_timeout, move || {
            let clock = Rc::new(MonotonicClock::start());
            pollster::block_on(backends::open_with(&name, &opening, clock))
        });
    }
    pollster::block_on(backends::open_with(name, opening, clock))
}

fn open_program(
    program: &NamedProgram,
    opening: &Opening,
    timeout_seconds: f64,
    clock: Rc<dyn Clock>,
) -> Result<Box<dyn Backend>, EngineError> {
    if opening.adapter != AdapterChoice::Any {
        return Err(EngineError::InvalidSetting {
            what: "the adapter",
            allowed: format!("left out: the program `{}` chooses its device itself", program.name),
            value: opening.adapter.to_string(),
        });
    }
    program::open(program, opening, timeout_seconds, clock)
}

/// What an adapter is, in one line.
pub(crate) fn describe(adapter: &Adapter) -> String {
    let facts = [adapter.name.as_str(), adapter.kind.name(), adapter.api.as_str(), adapter.driver.as_str()];
    facts.into_iter().filter(|fact| !fact.is_empty()).collect::<Vec<_>>().join(" · ")
}
