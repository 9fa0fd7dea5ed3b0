use std::rc::Rc;

use engine::backends::REFERENCE;
use engine::measure::Gauge;
use engine::steps::{self, Contender, Outcome, Request, StepsReport};
use engine::{Backend, WORKLOADS, Workload};
use results::Provenance;
use serde::Serialize;
use sysinfo::System;

use super::contenders::{self, ALL, Unavailable};
use super::steps_table::{name_of, show};
use crate::cli::{JsonTarget, StepsArgs};
use crate::clock::MonotonicClock;
use crate::data_folder::DataFolder;
use crate::device::describe;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::json_output::{deliver, to_json};
use crate::progress::ListProgress;
use crate::provenance::provenance;
use crate::refusal::Refusal;
use crate::screen::Screen;

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

/// Whether a network takes so long, on most devices, that it is measured only where somebody names it.
fn is_large(workload: &Workload) -> bool {
    workload.reduced.is_some()
}

/// Measures steps per second of workloads on several back ends side by side.
pub(crate) fn steps(arguments: &StepsArgs) -> Result<(), Failure> {
    let workloads = if arguments.workloads.is_empty() && arguments.files.first().is_none() {
        WORKLOADS.iter().map(|make| make()).filter(|workload| !is_large(workload)).collect()
    } else {
        arguments.files.and_named(arguments.workloads.iter().map(|name| name.trim()))?
    };
    let clock = Rc::new(MonotonicClock::start());
    let mut progress = ListProgress::new(Interrupt::default(), "window");
    let provenance = provenance();
    let (contenders, unavailable) = contenders(arguments, &clock)?;
    let mut data = DataFolder::with_data_of(&arguments.data, &workloads)?;
    let request = Request {
        workloads,
        batch_sizes: arguments.batch_sizes(),
        budget_seconds: arguments.seconds_per_workload,
        budget_bytes: budget_bytes(arguments, &contenders),
        checked: !arguments.unchecked,
        seed: arguments.seed,
    };
    let gauge = gauge(arguments, &contenders, &clock, &progress);
    let measured = steps::measure(&request, &contenders, gauge, &mut data, clock.as_ref(), &mut progress);
    let report = pollster::block_on(measured);
    progress.finish();

    let provenance = Provenance { wall_seconds: engine::Clock::now_seconds(clock.as_ref()), ..provenance };
    let (requested_adapter, unavailable) = (arguments.adapter.as_str(), unavailable.as_slice());
    let document = Document { report: &report, requested_adapter, unavailable, provenance };
    let target = arguments.json.then_some(JsonTarget::StandardOutput);
    let shown = if arguments.json { Ok(()) } else { show(&report) };
    deliver(shown, target.as_ref(), &to_json(&document)?)?;
    conclude(&report, arguments.json).map_err(|failure| data.advised(failure))
}

/// The back ends that were asked for; without names, all that this machine can run, and the others with the reason.
fn contenders(
    arguments: &StepsArgs,
    clock: &Rc<MonotonicClock>,
) -> Result<(Vec<Contender>, Vec<Unavailable>), Failure> {
    let asked: Vec<&str> = arguments.backends.iter().map(|name| name.trim()).collect();
    let names = if asked.is_empty() { vec![ALL] } else { asked };
    let (opened, unavailable) =
        contenders::open(&names, &arguments.precisions, &arguments.choice(), &arguments.place, clock)?;
    let contender = |backend: Box<dyn Backend>| {
        let most_steps = (backend.name() == REFERENCE).then_some(arguments.reference_steps);
        Contender { on_gauged_device: contenders::on_adapter(backend.as_ref()), backend, most_steps }
    };
    let contenders: Vec<Contender> = opened.into_iter().map(contender).collect();
    introduce(&contenders)?;
    Ok((contenders, unavailable))
}

/// Says what takes part.
fn introduce(contenders: &[Contender]) -> Result<(), Failure> {
    for contender in contenders {
        let device = describe(contender.backend.adapter());
        Screen::Error.prose(&format!("{:<12}", contender.name()), &device, 12)?;
    }
    Ok(())
}

/// What measures the peak of arithmetic of the chosen adapter, where somebody computes on it. Without one, shares of the
/// peak are absent.
#[cfg(feature = "wgsl")]
fn gauge(
    arguments: &StepsArgs,
    contenders: &[Contender],
    clock: &Rc<MonotonicClock>,
    progress: &ListProgress,
) -> Option<Box<dyn Gauge>> {
    if !contenders.iter().any(|contender| contender.on_gauged_device) {
        return None;
    }
    progress.prepare("looking for the peak of arithmetic");
    let clock = Rc::<MonotonicClock>::clone(clock);
    let choice = arguments.choice();
    let opened = engine::backends::wgsl::microbenchmarks::Gauge::open(&choice, clock);
    pollster::block_on(opened).ok().map(|gauge| Box::new(gauge) as Box<dyn Gauge>)
}

#[cfg(not(feature = "wgsl"))]
fn gauge(_: &StepsArgs, _: &[Contender], _: &Rc<MonotonicClock>, _: &ListProgress) -> Option<Box<dyn Gauge>> {
    None
}

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
    let refusals = |counts: fn(&Outcome) -> bool| {
        let counted = entries().filter(|(.., entry)| counts(&entry.outcome));
        let refusals = counted.filter_map(|(workload, size, entry)| {
            Some(format!("{}: {}", name_of(workload, size, entry), Refusal::of(&entry.outcome)?))
        });
        refusals.collect::<Vec<_>>().join("; ")
    };
    let wrong = refusals(|outcome| matches!(outcome, Outcome::Wrong(_)));
    if !wrong.is_empty() {
        return Err(Failure::WrongResults(wrong));
    }
    if report.cancelled {
        return Err(Failure::Cancelled { kept });
    }
    let failed = refusals(|outcome| matches!(outcome, Outcome::Failed { .. }));
    if !failed.is_empty() {
        return Err(Failure::NotMeasured(failed));
    }
    if entries().any(|(.., entry)| entry.outcome.measured().is_some()) {
        return Ok(());
    }
    let all = refusals(|_| true);
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
