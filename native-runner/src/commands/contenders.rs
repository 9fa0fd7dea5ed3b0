//! The back ends that a command puts side by side.

use std::rc::Rc;

use engine::backends::REFERENCE;
use engine::{AdapterChoice, BACKENDS, Backend, EngineError};
use results::{Adapter, Precision};
use serde::Serialize;

use crate::cli::PlaceArgs;
use crate::clock::MonotonicClock;
use crate::device;
use crate::failure::Failure;
use crate::screen::Screen;

/// Stands for every back end of this program but the plain reference, which is slow.
pub(crate) const ALL: &str = "all";

/// Back ends that are ready to compute.
pub(super) type Opened = Vec<Box<dyn Backend>>;

/// A back end of this program that this machine cannot run.
#[derive(Serialize)]
pub(super) struct Unavailable {
    pub(super) backend: &'static str,
    pub(super) reason: String,
}

/// Opens the back ends of these names in each of these precisions, in the order of their names. What [`ALL`] stands for
/// may be missing, which is told on standard error; what is named itself may not, nor a remote device with an address.
///
/// # Errors
/// A back end that was named and cannot be used; and nothing that fits the adapter that was asked for.
pub(super) fn open(
    names: &[&str],
    precisions: &[Precision],
    choice: &AdapterChoice,
    place: &PlaceArgs,
    clock: &Rc<MonotonicClock>,
) -> Result<(Opened, Vec<Unavailable>), Failure> {
    let uses_adapter = |name: &str| {
        let definition = BACKENDS.iter().find(|backend| backend.name == name);
        definition.is_none_or(|definition| definition.uses_adapter)
    };
    let wanted = wanted(names);
    let named: Vec<&str> = wanted.iter().map(|wanted| wanted.name()).collect();
    place.opening(Precision::F32, choice).check(&named)?;
    // Beside others, the processor is no adapter that anybody would have to ask for.
    let beside_adapters = wanted.iter().any(|wanted| uses_adapter(wanted.name()));
    let mut opened = Opened::new();
    let mut unavailable = Vec::new();
    let mut first_error: Option<EngineError> = None;
    let in_precisions = |wanted| precisions.iter().map(move |&precision| (wanted, precision));
    for (wanted, precision) in wanted.iter().copied().flat_map(in_precisions) {
        let name = wanted.name();
        let choice = if uses_adapter(name) || !beside_adapters { choice } else { &AdapterChoice::Any };
        let opening = place.opening(precision, choice).suited_to(name);
        let is_remote = opening.remote.is_some();
        match (device::open(name, &opening, place, Rc::<MonotonicClock>::clone(clock)), wanted) {
            (Ok(backend), _) => opened.push(backend),
            (Err(error), Wanted::IfItRuns(backend)) if !is_remote => {
                unavailable.push(Unavailable { backend, reason: error.to_string() });
                first_error.get_or_insert(error);
            }
            (Err(error), _) => return Err(error.into()),
        }
    }
    // Back ends that do without an adapter are no answer to somebody who named one.
    let answered = match choice {
        AdapterChoice::Any => !opened.is_empty(),
        _ => opened.iter().any(|backend| on_adapter(backend.as_ref())),
    };
    if let Some(error) = first_error.filter(|_| !answered) {
        return Err(error.into());
    }
    if opened.is_empty() {
        return Err(Failure::Usage("this program has only the plain reference; ask for it with --backend".to_owned()));
    }
    for Unavailable { backend, reason } in &unavailable {
        Screen::Error.prose(&format!("{backend}  "), &format!("cannot run here: {reason}"), 2)?;
    }
    Ok((opened, unavailable))
}

#[derive(Clone, Copy, PartialEq)]
enum Wanted<'a> {
    ByName(&'a str),
    IfItRuns(&'static str),
}

impl<'a> Wanted<'a> {
    fn name(self) -> &'a str {
        match self {
            Self::ByName(name) | Self::IfItRuns(name) => name,
        }
    }
}

/// Each once, where it is named first.
fn wanted<'a>(names: &[&'a str]) -> Vec<Wanted<'a>> {
    let mut wanted: Vec<Wanted<'a>> = Vec::new();
    for name in names {
        if *name == ALL {
            let all = BACKENDS.iter().map(|backend| backend.name).filter(|name| *name != REFERENCE);
            let all: Vec<_> = all.filter(|name| wanted.iter().all(|other| other.name() != *name)).collect();
            wanted.extend(all.into_iter().map(Wanted::IfItRuns));
        } else if wanted.iter().all(|other| other.name() != *name) {
            wanted.push(Wanted::ByName(name));
        }
    }
    wanted
}

/// Whether it computes on the chosen adapter.
pub(super) fn on_adapter(backend: &dyn Backend) -> bool {
    BACKENDS.iter().any(|definition| definition.name == backend.name() && definition.uses_adapter)
}

/// What an adapter is, in one line.
pub(super) fn describe(adapter: &Adapter) -> String {
    let facts = [adapter.name.as_str(), adapter.kind.name(), adapter.api.as_str(), adapter.driver.as_str()];
    facts.into_iter().filter(|fact| !fact.is_empty()).collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_everything_but_the_reference_and_names_count_once() {
        let names = |names: &[&str]| wanted(names).iter().map(|wanted| wanted.name().to_owned()).collect::<Vec<_>>();
        let mut all = names(&[ALL]);
        assert!(!all.contains(&REFERENCE.to_owned()) && all.len() == BACKENDS.len() - 1);
        assert_eq!(names(&[ALL, ALL]), all);
        all.push(REFERENCE.to_owned());
        assert_eq!(names(&[ALL, REFERENCE, REFERENCE]), all);
        assert_eq!(names(&["x", "y", "x"]), ["x", "y"]);
    }
}
