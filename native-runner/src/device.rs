//! Opening back ends, and saying what they run on.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use engine::backends::{Keeper, Opening};
use engine::{AdapterChoice, Backend, Clock, EngineError, backends};
use results::Adapter;

use crate::cli::PlaceArgs;
use crate::data_folder::cache;
use crate::json_output::replace_file;
#[cfg(feature = "burn-remote")]
use crate::meter::MonotonicClock;
use crate::program;
use crate::program::NamedProgram;

/// Default time limit of an external program, long enough to compile.
const PROGRAM_TIMEOUT_SECONDS: f64 = 900.0;

/// Opens the back end named `name`. A remote one is watched as long as it lives, and has its own clock, because it
/// runs in another thread.
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
        return open_program(program, opening, place.external.timeout.unwrap_or(PROGRAM_TIMEOUT_SECONDS), clock);
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

/// Describes an adapter in one line.
pub(crate) fn describe(adapter: &Adapter) -> String {
    let facts = [adapter.name.as_str(), adapter.kind.name(), adapter.api.as_str(), adapter.driver.as_str()];
    facts.into_iter().filter(|fact| !fact.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// File of keys and texts. If it cannot be read or written, kernels are tuned again in the next run.
#[derive(Debug)]
pub(crate) struct KeptFile {
    path: PathBuf,
    /// True if stored results are ignored.
    forgets: bool,
}

impl KeptFile {
    pub(crate) fn of_the_user(forgets: bool) -> Option<Arc<dyn Keeper>> {
        let path = cache()?.join("tuning.json");
        Some(Arc::new(Self { path, forgets }))
    }

    fn all(&self) -> BTreeMap<String, String> {
        fs::read(&self.path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }
}

impl Keeper for KeptFile {
    fn recall(&self, key: &str) -> Option<String> {
        let kept = if self.forgets { None } else { self.all().remove(key) };
        tracing::debug!(key, ?kept, "tuning recalled from {}", self.path.display());
        kept
    }

    fn keep(&self, key: &str, text: &str) {
        tracing::debug!(key, text, "tuning kept in {}", self.path.display());
        let mut all = self.all();
        all.insert(key.to_owned(), text.to_owned());
        let json = serde_json::to_vec_pretty(&all).expect("texts are always JSON");
        // Several programs may do this at the same time, and the last one wins.
        let written = self.path.parent().map_or(Ok(()), fs::create_dir_all);
        let _ = written.and_then(|()| replace_file(&self.path, &json));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_text_is_recalled_by_key_unless_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/tuning.json");
        let file = |forgets| KeptFile { path: path.clone(), forgets };
        assert_eq!(file(false).recall("a device"), None);
        file(false).keep("a device", "fast");
        file(true).keep("another", "slow");
        assert_eq!(file(false).recall("a device").as_deref(), Some("fast"));
        assert_eq!(file(false).recall("another").as_deref(), Some("slow"));
        assert_eq!(file(true).recall("a device"), None);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        fs::write(&path, b"{ half of it").unwrap();
        assert_eq!(file(false).recall("a device"), None);
    }
}
