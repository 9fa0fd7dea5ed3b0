use std::rc::Rc;

use engine::backends::{BURN_REMOTE, REFERENCE};
use engine::steps::{self, Contender, Observer as _, Outcome, Request, StepsReport};
use engine::{AdapterChoice, BACKENDS, WORKLOADS};
use results::{Precision, Provenance};
use serde::Serialize;
use sysinfo::System;

use super::steps_table::{name_of, refusal, show};
use crate::cli::{JsonTarget, StepsArgs, find_workloads};
use crate::clock::MonotonicClock;
use crate::data_folder::DataFolder;
use crate::device;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::json_output::to_json;
use crate::provenance::provenance;
use crate::screen::Screen;
use crate::steps_progress::StepsProgress;

/// What `--json` prints.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    report: &'a StepsReport,
    requested_adapter: &'a str,
    /// Back ends of this program that this machine cannot run.
    unavailable: &'a [Unavailable],
    provenance: Provenance,
}

#[derive(Serialize)]
struct Unavailable {
    backend: &'static str,
    reason: String,
}

/// Measures steps per second of workloads on several back ends side by side.
pub(crate) fn steps(arguments: &StepsArgs) -> Result<(), Failure> {
    let workloads = if arguments.workloads.is_empty() {
        WORKLOADS.iter().map(|make| make()).collect()
    } else {
        find_workloads(arguments.workloads.iter().map(|name| name.trim()))?
    };
    let clock = Rc::new(MonotonicClock::start());
    let interrupt = Interrupt::default();
    let mut progress = StepsProgress::new(interrupt.clone());
    interrupt.listen(progress.stop_notice());
    let provenance = provenance();
    let (contenders, unavailable) = contenders(arguments, &clock, &progress)?;
    let request = Request {
        workloads,
        batch_sizes: arguments.batch_sizes(),
        budget_seconds: arguments.seconds_per_workload,
        budget_bytes: budget_bytes(arguments, &contenders),
        checked: !arguments.unchecked,
        seed: arguments.seed,
    };
    let mut data = DataFolder::new(&arguments.data);
    let report = pollster::block_on(steps::measure(&request, &contenders, &mut data, clock.as_ref(), &mut progress));
    progress.finish();

    if arguments.json {
        let provenance = Provenance { wall_seconds: engine::Clock::now_seconds(clock.as_ref()), ..provenance };
        let (requested_adapter, unavailable) = (arguments.adapter.as_str(), unavailable.as_slice());
        let document = Document { report: &report, requested_adapter, unavailable, provenance };
        JsonTarget::StandardOutput.write(&to_json(&document)?)?;
    } else {
        show(&report)?;
    }
    conclude(&report, arguments.json)
}

/// The back ends that were asked for; without names, all that this machine can run, and the others with the reason.
fn contenders(
    arguments: &StepsArgs,
    clock: &Rc<MonotonicClock>,
    progress: &StepsProgress,
) -> Result<(Vec<Contender>, Vec<Unavailable>), Failure> {
    let asked = !arguments.backends.is_empty();
    let mut names: Vec<&str> = if asked {
        arguments.backends.iter().map(|name| name.trim()).collect()
    } else {
        BACKENDS.iter().map(|backend| backend.name).filter(|name| *name != REFERENCE).collect()
    };
    names.dedup();
    let is_named = |name: &str| asked || (name == BURN_REMOTE && arguments.place.remote.is_some());
    arguments.opening(Precision::F32, false).check(&names)?;
    let mut contenders: Vec<Contender> = Vec::new();
    let mut unavailable = Vec::new();
    let mut first_error = None;
    let in_precisions = |name| arguments.precisions.iter().map(move |&precision| (name, precision));
    for (name, precision) in names.into_iter().flat_map(in_precisions) {
        let definition = BACKENDS.iter().find(|backend| backend.name == name);
        let uses_adapter = definition.is_none_or(|definition| definition.uses_adapter);
        let opening = arguments.opening(precision, uses_adapter).suited_to(name);
        match (device::open(name, &opening, &arguments.place, Rc::<MonotonicClock>::clone(clock)), definition) {
            (Ok(backend), _) => {
                let most_steps = (name == REFERENCE).then_some(arguments.reference_steps);
                contenders.push(Contender { backend, peak_flops_per_second: None, most_steps });
            }
            (Err(error), Some(definition)) if !is_named(name) => {
                unavailable.push(Unavailable { backend: definition.name, reason: error.to_string() });
                first_error.get_or_insert(error);
            }
            (Err(error), _) => return Err(error.into()),
        }
    }
    // Back ends that do without an adapter are no answer to somebody who named one.
    let answered = match arguments.choice() {
        AdapterChoice::Any => !contenders.is_empty(),
        _ => contenders.iter().any(on_adapter),
    };
    if let Some(error) = first_error.filter(|_| !answered) {
        return Err(error.into());
    }
    if contenders.is_empty() {
        return Err(Failure::Usage("this program has only the plain reference; ask for it with --backend".to_owned()));
    }
    for Unavailable { backend, reason } in &unavailable {
        Screen::Error.prose(&format!("{backend}  "), &format!("cannot run here: {reason}"), 2)?;
    }
    introduce(&contenders)?;
    measure_peaks(&mut contenders, arguments, clock, progress);
    Ok((contenders, unavailable))
}

/// Whether it computes on the chosen adapter.
fn on_adapter(contender: &Contender) -> bool {
    BACKENDS.iter().any(|backend| backend.name == contender.backend.name() && backend.uses_adapter)
}

/// Says what takes part.
fn introduce(contenders: &[Contender]) -> Result<(), Failure> {
    for contender in contenders {
        let adapter = contender.backend.adapter();
        let facts = [adapter.name.as_str(), adapter.kind.name(), adapter.api.as_str(), adapter.driver.as_str()];
        let facts: Vec<&str> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
        Screen::Error.prose(&format!("{:<12}", contender.name()), &facts.join(" · "), 12)?;
    }
    Ok(())
}

/// Gives every contender on the chosen adapter its measured peak of arithmetic. Without one, shares of it are absent.
#[cfg(feature = "wgsl")]
fn measure_peaks(
    contenders: &mut [Contender],
    arguments: &StepsArgs,
    clock: &MonotonicClock,
    progress: &StepsProgress,
) {
    use engine::backends::wgsl::microbenchmarks::{self, Event, Observer, Suite};

    struct Quiet<'a>(&'a StepsProgress);

    impl Observer for Quiet<'_> {
        fn event(&mut self, _event: &Event<'_>) {}

        fn cancelled(&self) -> bool {
            self.0.cancelled()
        }
    }

    if !contenders.iter().any(on_adapter) {
        return;
    }
    progress.message("measuring the peak of arithmetic".to_owned());
    let request =
        microbenchmarks::Request { suites: vec![Suite::Arithmetic], budget_seconds: 2.0, budget_bytes: u64::MAX };
    let measured =
        pollster::block_on(microbenchmarks::measure(&arguments.choice(), clock, &request, &mut Quiet(progress)));
    let peak = measured.ok().and_then(|report| report.peaks.arithmetic).map(|peak| peak.value);
    for contender in contenders.iter_mut().filter(|contender| on_adapter(contender)) {
        contender.peak_flops_per_second = peak;
    }
}

#[cfg(not(feature = "wgsl"))]
fn measure_peaks(_: &mut [Contender], _: &StepsArgs, _: &MonotonicClock, _: &StepsProgress) {}

/// What may be allocated: as asked, or what is free where the device's memory is the machine's.
fn budget_bytes(arguments: &StepsArgs, contenders: &[Contender]) -> Option<u64> {
    let asked = arguments.budget_mib.map(|mebibytes| u64::from(mebibytes) << 20);
    let software = contenders.iter().any(|contender| contender.backend.adapter().software);
    asked.or_else(|| if software { available_bytes() } else { None })
}

/// Memory of this machine that programs can have; `None` where the platform does not tell.
fn available_bytes() -> Option<u64> {
    let mut system = System::new().ok()?;
    system.refresh_memory();
    Some(system.available_memory()).filter(|bytes| *bytes > 0)
}

/// # Errors
/// Something wrong, cancelled or failed. What does not fit is an answer, unless it is the only one.
fn conclude(report: &StepsReport, kept: bool) -> Result<(), Failure> {
    let entries = || {
        report.workloads.iter().flat_map(|workload| {
            let sizes = workload.sizes.iter();
            sizes.flat_map(move |size| size.entries.iter().map(move |entry| (workload, size, entry)))
        })
    };
    let told = |is_told: fn(&Outcome) -> bool| {
        let told = entries().filter(|(.., entry)| is_told(&entry.outcome));
        let told = told.filter_map(|(workload, size, entry)| {
            Some(format!("{}: {}", name_of(workload, size, entry), refusal(&entry.outcome)?))
        });
        told.collect::<Vec<_>>().join("; ")
    };
    let wrong = told(|outcome| matches!(outcome, Outcome::Wrong { .. }));
    if !wrong.is_empty() {
        return Err(Failure::WrongResults(wrong));
    }
    if report.cancelled {
        return Err(Failure::Cancelled { kept });
    }
    let failed = told(|outcome| matches!(outcome, Outcome::Failed { .. }));
    if !failed.is_empty() {
        return Err(Failure::NotMeasured(failed));
    }
    if entries().any(|(.., entry)| entry.outcome.measured().is_some()) {
        return Ok(());
    }
    let all = told(|_| true);
    let does_not_fit = entries().find_map(|(.., entry)| match &entry.outcome {
        Outcome::DoesNotFit { what, needed_bytes, allowed_bytes } => Some(engine::EngineError::DoesNotFit {
            what: what.clone(),
            needed_bytes: *needed_bytes,
            allowed_bytes: *allowed_bytes,
        }),
        _ => None,
    });
    Err(does_not_fit.map_or(Failure::Usage(all), Failure::from))
}
