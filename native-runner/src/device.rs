//! Opens backends, alone or together, and describes their devices.

use std::rc::Rc;

use engine::backends::{Devices, Opening, REFERENCE};
use engine::{
    AdapterChoice, BACKENDS, Backend, Clock, EngineError, KNOWN_BACKENDS, RunRequest, SUITES, SuiteDefinition,
    Workload, backends,
};
use results::{Adapter, Precision, RunSpec};
use serde::Serialize;

use crate::arguments::{ALL, BenchmarkArgs, PlaceArgs, find_workloads};
use crate::failure::Failure;
use crate::machine::provenance;
use crate::meter::MonotonicClock;
use crate::program;
use crate::screen::Screen;

/// Default time limit of an external program, long enough to compile.
const PROGRAM_TIMEOUT_SECONDS: f64 = 900.0;

/// Opens the backend named `name`. A remote one is watched, and has its own clock, because it runs in another thread.
pub(crate) fn open(
    name: &str,
    opening: &Opening,
    place: &PlaceArgs,
    clock: Rc<dyn Clock>,
) -> Result<Box<dyn Backend>, EngineError> {
    tracing::info!(adapter = %opening.adapter, precision = opening.precision.name(), "opening {name}");
    opening.check_for(name)?;
    if let Some(program) = place.external.named(name) {
        if opening.asks_for_several() {
            let reason = "an external program chooses its devices itself";
            return Err(EngineError::OneDevice { backend: name.to_owned(), reason });
        }
        if let Some(mode) = opening.input {
            let what = format!("input mode `{}`", mode.name());
            let reason = "an external program receives its batches through a pipe, whose time is not measured";
            return Err(EngineError::Unsupported { backend: name.to_owned(), what, reason });
        }
        if opening.adapter != AdapterChoice::Any {
            return Err(EngineError::InvalidSetting {
                what: "the adapter",
                allowed: format!("omitted: the program `{name}` chooses its device itself"),
                value: opening.adapter.to_string(),
            });
        }
        let timeout_seconds = place.external.timeout.unwrap_or(PROGRAM_TIMEOUT_SECONDS);
        return program::open(program, opening, timeout_seconds, clock).map(log_opened);
    }
    #[cfg(feature = "burn-remote")]
    if !opening.remote.is_empty() {
        let (name, opening) = (name.to_owned(), opening.clone());
        let open = move || {
            let clock = Rc::new(MonotonicClock::start());
            pollster::block_on(backends::open_with(&name, &opening, clock))
        };
        return crate::link::open(&place.remote, place.remote_timeout, open).map(log_opened);
    }
    pollster::block_on(backends::open_with(name, opening, clock)).map(log_opened)
}

fn log_opened(backend: Box<dyn Backend>) -> Box<dyn Backend> {
    tracing::info!(devices = backend.devices(), "opened {}: {}", backend.name(), describe(backend.adapter()));
    backend
}

pub(crate) fn describe(adapter: &Adapter) -> String {
    let facts = [adapter.name.as_str(), adapter.kind.name(), adapter.api.as_str(), adapter.driver.as_str()];
    facts.into_iter().filter(|fact| !fact.is_empty()).collect::<Vec<_>>().join(" · ")
}

type OpenedBackends = Vec<Box<dyn Backend>>;

#[derive(Serialize)]
pub(crate) struct Unavailable {
    backend: String,
    reason: String,
}

/// Opens the named backends in each of these precisions. A backend that only [`ALL`] includes may be missing, which is
/// reported on standard error. Explicitly named backends and remote devices with an address must open.
pub(crate) fn open_several(
    names: &[&str],
    precisions: &[Precision],
    choice: &AdapterChoice,
    place: &PlaceArgs,
    clock: &Rc<MonotonicClock>,
) -> Result<(OpenedBackends, Vec<Unavailable>), Failure> {
    let shared = if choice.is_of_several() {
        Some(("--adapter", choice.to_string(), "adapters share; select a single adapter"))
    } else {
        (place.remote.len() > 1).then(|| ("--remote", place.remote.join(","), "devices share; set a single address"))
    };
    if let Some((option, value, rule)) = shared {
        let text = format!("{option} {value} works only in a run of one backend, whose batches the {rule}");
        return Err(Failure::Usage(text));
    }
    let programs: Vec<&str> = place.external.programs.iter().map(|program| program.name).collect();
    let wanted = wanted(names, &programs);
    let named: Vec<&str> = wanted.iter().map(|(name, _)| *name).collect();
    place.opening(Precision::F32, choice).check(&named)?;
    // Listing adapters takes time, and only an adapter index has to be translated.
    let listed =
        matches!(choice, AdapterChoice::Index(_)) && named.iter().any(|name| devices(name) == Devices::Platform);
    let adapters = if listed { pollster::block_on(engine::backends::adapters()) } else { Vec::new() };
    let mut opened = Vec::new();
    let mut unavailable = Vec::new();
    let mut first_error: Option<EngineError> = None;
    let in_precisions = |wanted| precisions.iter().map(move |&precision| (wanted, precision));
    for ((name, may_be_missing), precision) in wanted.into_iter().flat_map(in_precisions) {
        let is_remote = place.opening(precision, choice).suited_to(name).remote.len() == 1;
        let open = |choice: AdapterChoice| {
            let opening = place.opening(precision, &choice).suited_to(name);
            open(name, &opening, place, Rc::<MonotonicClock>::clone(clock))
        };
        match choice_beside(&named, name, choice, &adapters).and_then(open) {
            Ok(backend) => opened.push(backend),
            Err(error) if may_be_missing && !is_remote => {
                unavailable.push(Unavailable { backend: name.to_owned(), reason: error.to_string() });
                first_error.get_or_insert(error);
            }
            Err(error) => return Err(error.into()),
        }
    }
    // A backend without a choice of devices is an error if the user named a device.
    let is_answer = |name: &str| *choice == AdapterChoice::Any || devices(name) != Devices::Given;
    if let Some(error) = first_error.filter(|_| !opened.iter().any(|backend| is_answer(backend.name()))) {
        return Err(error.into());
    }
    if opened.is_empty() {
        return Err(Failure::Usage("this program has only the plain reference; select it with --backend".to_owned()));
    }
    for Unavailable { backend, reason } in &unavailable {
        Screen::Error.prose(&format!("{backend}  "), &format!("cannot run here: {reason}"), 2)?;
    }
    Ok((opened, unavailable))
}

/// Returns each backend name once, with true if it may be missing because [`ALL`] stands for it.
fn wanted<'a>(names: &[&'a str], programs: &[&'a str]) -> Vec<(&'a str, bool)> {
    let own = || BACKENDS.iter().map(|backend| (backend.name, true)).filter(|(name, _)| *name != REFERENCE);
    let all = || own().chain(programs.iter().map(|program| (*program, false))).collect();
    let expanded = names.iter().flat_map(|name| if *name == ALL { all() } else { vec![(*name, false)] });
    let mut wanted: Vec<(&str, bool)> = Vec::new();
    for one in expanded {
        if wanted.iter().all(|(other, _)| *other != one.0) {
            wanted.push(one);
        }
    }
    wanted
}

/// Returns the adapter choice for backend `name` among all `named`: the same device for each backend with a choice,
/// regardless of how it numbers devices.
fn choice_beside(
    named: &[&str],
    name: &str,
    choice: &AdapterChoice,
    adapters: &[Adapter],
) -> Result<AdapterChoice, EngineError> {
    let beside = |wanted: Devices| named.iter().copied().filter(move |name| devices(name) == wanted);
    match (devices(name), choice) {
        // Among backends with a choice, the processor needs no adapter option.
        (Devices::Given, _) if named.iter().any(|name| devices(name) != Devices::Given) => Ok(AdapterChoice::Any),
        (Devices::Platform, &AdapterChoice::Index(index)) => {
            let backend = KNOWN_BACKENDS.iter().find(|known| known.name == name).map_or("", |known| known.name);
            if beside(Devices::Adapters).next().is_some() {
                return choice.beyond(adapters, backend);
            }
            let Some(other) = beside(Devices::Platform).find(|other| *other != name) else { return Ok(choice.clone()) };
            let reason = format!("`{other}` numbers other devices");
            Err(EngineError::IndexOfOthers { backend, index, reason })
        }
        _ => Ok(choice.clone()),
    }
}

/// External programs choose devices themselves. An unknown name is an error when it is opened.
pub(crate) fn devices(name: &str) -> Devices {
    let known = KNOWN_BACKENDS.iter().find(|backend| backend.name == name);
    known.map_or(Devices::Given, |known| known.devices())
}

pub(crate) fn find_suite(name: &str) -> Result<&'static SuiteDefinition, EngineError> {
    let known = || SUITES.iter().map(|suite| suite.name.to_owned()).collect();
    SUITES
        .iter()
        .find(|suite| suite.name == name)
        .ok_or_else(|| EngineError::UnknownSuite { name: name.to_owned(), known: known() })
}

/// Returns the named workloads and those of files; without any, the suite's.
pub(crate) fn workloads(arguments: &BenchmarkArgs, suite: &SuiteDefinition) -> Result<Vec<Workload>, Failure> {
    let (asked, files) = (&arguments.training.workloads, &arguments.training.files);
    if asked.is_empty() && files.files.is_empty() {
        find_workloads(suite.workloads.iter().copied())
    } else {
        files.and_named(asked.iter().map(|name| name.trim()))
    }
}

pub(crate) fn request(
    arguments: &BenchmarkArgs,
    spec: RunSpec,
    suite: &'static SuiteDefinition,
    workloads: Vec<Workload>,
) -> RunRequest {
    RunRequest {
        spec,
        suite,
        workloads,
        registration: None,
        provenance: provenance(),
        claimed_name: arguments.claimed_name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use results::DeviceKind;

    use super::*;

    #[test]
    fn all_excludes_the_reference_and_duplicates() {
        let names = |names: &[&str]| wanted(names, &[]).iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>();
        let mut all = names(&[ALL]);
        assert!(!all.contains(&REFERENCE.to_owned()) && all.len() == BACKENDS.len() - 1);
        assert_eq!(names(&[ALL, ALL]), all);
        all.push(REFERENCE.to_owned());
        assert_eq!(names(&[ALL, REFERENCE, REFERENCE]), all);
        assert_eq!(names(&["x", "y", "x"]), ["x", "y"]);
    }

    fn adapter(name: &str) -> Adapter {
        let (name, kind, api) = (name.to_owned(), DeviceKind::Discrete, "Vulkan".to_owned());
        Adapter { name, kind, api, ..Adapter::default() }
    }

    #[test]
    fn requested_adapter_goes_to_every_back_end_with_a_choice() {
        let asked: [AdapterChoice; 2] = ["discrete", "h200"].map(|text| text.parse().unwrap());
        let named = ["wgsl", "burn-vulkan", "burn-cuda", "burn-rocm", "burn-flex", "burn-remote", REFERENCE];
        for choice in asked {
            for name in named {
                let given = ["burn-flex", "burn-remote", REFERENCE].contains(&name);
                let expected = if given { AdapterChoice::Any } else { choice.clone() };
                assert_eq!(choice_beside(&named, name, &choice, &[]).unwrap(), expected, "{name}");
            }
        }
        // Without other backends, they receive the choice themselves.
        let cpu = AdapterChoice::Cpu;
        assert_eq!(choice_beside(&["burn-flex", REFERENCE], "burn-flex", &cpu, &[]).unwrap(), cpu);
    }

    #[test]
    fn index_means_the_same_device_or_is_refused() {
        let second = AdapterChoice::Index(1);
        let adapters = [adapter("A"), adapter("B")];
        let of = |named: &[&str], name| choice_beside(named, name, &second, &adapters);
        let beside = ["wgsl", "burn-cuda"];
        assert_eq!(of(&beside, "wgsl").unwrap(), second);
        assert_eq!(of(&beside, "burn-cuda").unwrap(), AdapterChoice::Exactly("B".to_owned()));
        // Alone or with only the processor, it numbers its own devices.
        assert_eq!(of(&["burn-cuda", "burn-flex"], "burn-cuda").unwrap(), second);
        assert_eq!(of(&["burn-cuda", "burn-flex"], "burn-flex").unwrap(), AdapterChoice::Any);
        let error = of(&["burn-cuda", "burn-rocm"], "burn-rocm").unwrap_err().to_string();
        assert!(error.contains("--adapter 1") && error.contains("`burn-cuda` numbers other devices"), "{error}");
        let twice = [adapter("B"), adapter("B")];
        assert!(choice_beside(&beside, "burn-cuda", &second, &twice).is_err());
    }
}
