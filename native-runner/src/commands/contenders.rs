//! The back ends that a command puts side by side.

use std::rc::Rc;

use engine::backends::{Devices, REFERENCE};
use engine::{AdapterChoice, BACKENDS, Backend, EngineError, KNOWN_BACKENDS, SUITES, SuiteDefinition, Workload};
use results::{Adapter, Precision};
use serde::Serialize;

use crate::cli::{ALL, BenchmarkArgs, PlaceArgs, find_workloads};
use crate::device;
use crate::failure::Failure;
use crate::meter::MonotonicClock;
use crate::screen::Screen;

pub(crate) type Opened = Vec<Box<dyn Backend>>;

#[derive(Serialize)]
pub(crate) struct Unavailable {
    pub(crate) backend: &'static str,
    pub(crate) reason: String,
}

/// Opens the named back ends in each of these precisions. Those that [`ALL`] stands for may be missing, which is
/// reported on standard error; named ones may not, nor a remote device with an address.
pub(crate) fn open(
    names: &[&str],
    precisions: &[Precision],
    choice: &AdapterChoice,
    place: &PlaceArgs,
    clock: &Rc<MonotonicClock>,
) -> Result<(Opened, Vec<Unavailable>), Failure> {
    if choice.is_of_several() {
        let text = format!(
            "--adapter {choice} is for a run of one back end, whose batches they share; name a single adapter here"
        );
        return Err(Failure::Usage(text));
    }
    if place.remote.len() > 1 {
        let text = format!(
            "--remote {} is for a run of one back end, whose batches these devices share; name a single address here",
            place.remote.join(",")
        );
        return Err(Failure::Usage(text));
    }
    let programs: Vec<&str> = place.external.all().iter().map(|program| program.name).collect();
    let wanted = wanted(names, &programs);
    let named: Vec<&str> = wanted.iter().map(|wanted| wanted.name()).collect();
    place.opening(Precision::F32, choice).check(&named)?;
    // Listing adapters takes time, and only an index among them has to be translated.
    let listed =
        matches!(choice, AdapterChoice::Index(_)) && named.iter().any(|name| devices(name) == Devices::Platform);
    let adapters = if listed { pollster::block_on(engine::backends::adapters()) } else { Vec::new() };
    let mut opened = Opened::new();
    let mut unavailable = Vec::new();
    let mut first_error: Option<EngineError> = None;
    let in_precisions = |wanted| precisions.iter().map(move |&precision| (wanted, precision));
    for (wanted, precision) in wanted.iter().copied().flat_map(in_precisions) {
        let name = wanted.name();
        let is_remote = place.opening(precision, choice).suited_to(name).remote.len() == 1;
        let open = |choice: AdapterChoice| {
            let opening = place.opening(precision, &choice).suited_to(name);
            device::open(name, &opening, place, Rc::<MonotonicClock>::clone(clock))
        };
        match (choice_beside(&named, name, choice, &adapters).and_then(open), wanted) {
            (Ok(backend), _) => opened.push(backend),
            (Err(error), Wanted::IfItRuns(backend)) if !is_remote => {
                unavailable.push(Unavailable { backend, reason: error.to_string() });
                first_error.get_or_insert(error);
            }
            (Err(error), _) => return Err(error.into()),
        }
    }
    // A back end without a choice of devices is wrong for a user who named one.
    let answered = match choice {
        AdapterChoice::Any => !opened.is_empty(),
        _ => opened.iter().any(|backend| devices(backend.name()) != Devices::Given),
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

fn wanted<'a>(names: &[&'a str], programs: &[&'a str]) -> Vec<Wanted<'a>> {
    let mut wanted: Vec<Wanted<'a>> = Vec::new();
    for name in names {
        if *name == ALL {
            let all = BACKENDS.iter().map(|backend| backend.name).filter(|name| *name != REFERENCE);
            let all: Vec<_> = all.filter(|name| wanted.iter().all(|other| other.name() != *name)).collect();
            wanted.extend(all.into_iter().map(Wanted::IfItRuns));
            let programs = programs.iter().filter(|name| wanted.iter().all(|other| other.name() != **name));
            let programs: Vec<_> = programs.map(|name| Wanted::ByName(name)).collect();
            wanted.extend(programs);
        } else if wanted.iter().all(|other| other.name() != *name) {
            wanted.push(Wanted::ByName(name));
        }
    }
    wanted
}

/// Returns the adapter choice for back end `name` among all `named`: the same device for each one with a choice,
/// however it counts devices.
fn choice_beside(
    named: &[&str],
    name: &str,
    choice: &AdapterChoice,
    adapters: &[Adapter],
) -> Result<AdapterChoice, EngineError> {
    let beside = |wanted: Devices| named.iter().copied().filter(move |name| devices(name) == wanted);
    match (devices(name), choice) {
        // Beside others, the processor is no adapter that anybody would have to ask for.
        (Devices::Given, _) if named.iter().any(|name| devices(name) != Devices::Given) => Ok(AdapterChoice::Any),
        (Devices::Platform, AdapterChoice::Index(index)) => {
            let backend = KNOWN_BACKENDS.iter().find(|known| known.name == name).map_or("", |known| known.name);
            if beside(Devices::Adapters).next().is_some() {
                return choice.beyond(adapters, backend);
            }
            match beside(Devices::Platform).find(|other| *other != name) {
                None => Ok(choice.clone()),
                Some(other) => {
                    let reason = format!("`{other}` counts others");
                    Err(EngineError::IndexOfOthers { backend, index: *index, reason })
                }
            }
        }
        _ => Ok(choice.clone()),
    }
}

/// External programs choose devices themselves. An unknown name is an error when it is opened.
pub(crate) fn devices(name: &str) -> Devices {
    let known = KNOWN_BACKENDS.iter().find(|backend| backend.name == name);
    known.map_or(Devices::Given, |known| known.devices())
}

pub(crate) fn on_adapter(backend: &dyn Backend) -> bool {
    devices(backend.name()) == Devices::Adapters
}

pub(crate) fn find_suite(name: &str) -> Result<&'static SuiteDefinition, EngineError> {
    let known = || SUITES.iter().map(|suite| suite.name.to_owned()).collect();
    engine::suite(name).ok_or_else(|| EngineError::UnknownSuite { name: name.to_owned(), known: known() })
}

/// Returns the named workloads and the ones from files, or the suite's if none is named.
pub(crate) fn workloads(arguments: &BenchmarkArgs, suite: &SuiteDefinition) -> Result<Vec<Workload>, Failure> {
    let (asked, files) = (&arguments.training.workloads, &arguments.training.files);
    if asked.is_empty() && files.first().is_none() {
        find_workloads(suite.workloads.iter().copied())
    } else {
        files.and_named(asked.iter().map(|name| name.trim()))
    }
}

#[cfg(test)]
mod tests {
    use results::DeviceKind;

    use super::*;

    #[test]
    fn all_is_everything_but_the_reference_and_names_count_once() {
        let names =
            |names: &[&str]| wanted(names, &[]).iter().map(|wanted| wanted.name().to_owned()).collect::<Vec<_>>();
        let mut all = names(&[ALL]);
        assert!(!all.contains(&REFERENCE.to_owned()) && all.len() == BACKENDS.len() - 1);
        assert_eq!(names(&[ALL, ALL]), all);
        all.push(REFERENCE.to_owned());
        assert_eq!(names(&[ALL, REFERENCE, REFERENCE]), all);
        assert_eq!(names(&["x", "y", "x"]), ["x", "y"]);
    }

    fn adapter(name: &str) -> Adapter {
        let text = String::new;
        let kind = DeviceKind::Discrete;
        let (vendor, architecture, driver) = (text(), text(), text());
        Adapter { name: name.to_owned(), vendor, architecture, kind, api: "Vulkan".to_owned(), driver, software: false }
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
        // By themselves they are asked, and say what they are.
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
        // Alone it counts its own devices, also together with the processor.
        assert_eq!(of(&["burn-cuda", "burn-flex"], "burn-cuda").unwrap(), second);
        assert_eq!(of(&["burn-cuda", "burn-flex"], "burn-flex").unwrap(), AdapterChoice::Any);
        let error = of(&["burn-cuda", "burn-rocm"], "burn-rocm").unwrap_err().to_string();
        assert!(error.contains("--adapter 1") && error.contains("`burn-cuda` counts others"), "{error}");
        let twice = [adapter("B"), adapter("B")];
        assert!(choice_beside(&beside, "burn-cuda", &second, &twice).is_err());
    }
}
