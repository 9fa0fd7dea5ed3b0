use std::collections::BTreeSet;
use std::rc::Rc;

use clap::Args;
use engine::backends::wgsl::microbenchmarks;
use engine::backends::{Devices, REFERENCE};
use engine::measure::Gauge;
use engine::steps::{Cliff, Entrant, EntrantSteps, Measured, Request, Size, StepsOutcome, StepsReport, WorkloadSteps};
use engine::{Backend, WORKLOADS, steps};
use results::{FailureCause, Precision, Provenance};
use serde::Serialize;

use crate::arguments::{
    ALL, AdapterArgs, DataArgs, PlaceArgs, WorkloadFileArgs, adapter_choice, positive_seconds, precision,
};
use crate::commands::compare_table::show_burn;
use crate::data_folder::LocalData;
use crate::device::{self, Unavailable, describe};
use crate::failure::{Failure, Result};
use crate::figures::{figure, mebibytes, unmeasured};
use crate::json_output::{JsonTarget, deliver, to_json};
use crate::machine::provenance;
use crate::meter::{MonotonicClock, free_memory_bytes};
use crate::progress::{Interrupt, ListProgress};
use crate::screen::{Screen, TableRows, TextTable};

#[derive(Serialize)]
struct StepsDocument<'a> {
    #[serde(flatten)]
    report: &'a StepsReport,
    noise: bool,
    requested_adapter: &'a str,
    unavailable: &'a [Unavailable],
    provenance: Provenance,
}

pub(crate) fn steps(arguments: &StepsArgs) -> Result<()> {
    let workloads = if arguments.workloads.is_empty() && arguments.files.files.is_empty() {
        // Reduced networks are slow on most devices, and measured only if named.
        WORKLOADS.iter().map(|make| make()).filter(|workload| workload.reduced.is_none()).collect()
    } else {
        arguments.files.and_named(arguments.workloads.iter().map(|name| name.trim()))?
    };
    let clock = Rc::new(MonotonicClock::start());
    let mut progress = ListProgress::new(Interrupt::default());
    let provenance = provenance();
    let (entrants, unavailable) = entrants(arguments, &clock)?;
    let mut data = LocalData::with_data_of(&arguments.data, &workloads, arguments.noise)?;
    let batch_sizes = arguments.batch_sizes.iter().flat_map(|BatchSizes(sizes)| sizes).copied();
    let batch_sizes = BTreeSet::from_iter(batch_sizes).into_iter().collect();
    // A software adapter shares the machine's memory.
    let is_software = entrants.iter().any(|entrant| entrant.backend.adapter().software);
    let free_bytes = if is_software { free_memory_bytes() } else { None };
    let budget_bytes = arguments.budget_mib.map(|mebibytes| u64::from(mebibytes) << 20).or(free_bytes);
    let (budget_seconds, checked, seed) = (arguments.seconds_per_workload, !arguments.unchecked, arguments.seed);
    let request = Request { workloads, batch_sizes, budget_seconds, budget_bytes, checked, seed };
    let gauge = entrants.iter().any(|entrant| entrant.on_gauged_device).then(|| {
        progress.prepare("measuring the peak of arithmetic");
        let (choice, clock) = (adapter_choice(&arguments.adapter.adapter), Rc::<MonotonicClock>::clone(&clock));
        let opened = pollster::block_on(microbenchmarks::Gauge::open(&choice, clock));
        opened.ok().map(|gauge| Box::new(gauge) as Box<dyn Gauge>)
    });
    let gauge = gauge.flatten();
    let measured = steps::measure(&request, &entrants, gauge, &mut data, clock.as_ref(), &mut progress);
    let report = pollster::block_on(measured);
    drop(progress);

    let provenance = Provenance { wall_seconds: engine::Clock::now_seconds(clock.as_ref()), ..provenance };
    let (requested_adapter, unavailable) = (arguments.adapter.adapter.as_str(), unavailable.as_slice());
    let output = StepsDocument { report: &report, noise: arguments.noise, requested_adapter, unavailable, provenance };
    let target = arguments.json.then_some(JsonTarget::StandardOutput);
    let shown = match (arguments.json, arguments.noise) {
        (true, _) => Ok(()),
        (false, false) => show(&report),
        (false, true) => show(&report).and_then(|()| SCREEN.caution("the samples were noise (--noise)")),
    };
    deliver(shown, target.as_ref(), &to_json(&output)?)?;
    conclude(&report, arguments.json).map_err(|failure| data.advised(failure))
}

fn entrants(arguments: &StepsArgs, clock: &Rc<MonotonicClock>) -> Result<(Vec<Entrant>, Vec<Unavailable>)> {
    let names: Vec<&str> = arguments.backends.iter().map(|name| name.trim()).collect();
    let choice = adapter_choice(&arguments.adapter.adapter);
    let (opened, unavailable) = device::open_several(&names, &arguments.precision, &choice, &arguments.place, clock)?;
    let entrant = |backend: Box<dyn Backend>| {
        let most_steps = (backend.name() == REFERENCE).then_some(arguments.reference_steps);
        Entrant { on_gauged_device: device::devices(backend.name()) == Devices::Adapters, backend, most_steps }
    };
    let entrants: Vec<Entrant> = opened.into_iter().map(entrant).collect();
    for entrant in &entrants {
        Screen::Error.prose(&format!("{:<12}", entrant.name()), &describe(entrant.backend.adapter()), 12)?;
    }
    Ok((entrants, unavailable))
}

fn entries(report: &StepsReport) -> impl Iterator<Item = (&WorkloadSteps, &Size, &EntrantSteps)> {
    report.workloads.iter().flat_map(|workload| {
        let sizes = workload.sizes.iter();
        sizes.flat_map(move |size| size.entries.iter().map(move |entry| (workload, size, entry)))
    })
}

fn conclude(report: &StepsReport, kept: bool) -> Result<()> {
    let refusals = |counts: fn(&StepsOutcome) -> bool| {
        let counted = entries(report).filter(|(.., entry)| counts(&entry.outcome));
        let refusals = counted.filter_map(|(workload, size, entry)| {
            let (reason, detail) = unmeasured(&entry.outcome)?;
            Some(format!("{}: {reason}{detail}", name_of(workload, size, entry)))
        });
        refusals.collect::<Vec<_>>()
    };
    Failure::if_wrong(refusals(|outcome| matches!(outcome, StepsOutcome::Wrong(_))))?;
    if report.cancelled {
        return Err(Failure::Cancelled { kept });
    }
    let failed = refusals(|outcome| matches!(outcome, StepsOutcome::Failed { .. }));
    if !failed.is_empty() {
        return Err(Failure::Incomplete(failed.join("; ")));
    }
    if entries(report).any(|(.., entry)| entry.outcome.measured().is_some()) {
        return Ok(());
    }
    let sentence = refusals(|_| true).join("; ");
    let is_too_large = entries(report).any(|(.., entry)| matches!(entry.outcome, StepsOutcome::DoesNotFit { .. }));
    let cause = FailureCause::DoesNotFit;
    Err(if is_too_large { Failure::NotTrained { cause, sentence } } else { Failure::Usage(sentence) })
}

const SCREEN: Screen = Screen::Output;

pub(crate) fn show(report: &StepsReport) -> Result<()> {
    let table = table(report);
    if !table.titles.is_empty() {
        SCREEN.line("")?;
        SCREEN.table(&table)?;
    }
    let measured = entries(report).filter_map(|(.., entry)| Some((entry.backend, entry.outcome.measured()?)));
    show_burn(measured.map(|(backend, of)| (backend.to_owned(), of.variants.as_slice())), SCREEN)?;
    SCREEN.cautions(notes(report))
}

fn table(report: &StepsReport) -> TextTable {
    let rows =
        entries(report).filter_map(|(workload, size, entry)| Some((workload, size, entry.outcome.measured()?, entry)));
    let rows: Vec<(&WorkloadSteps, &Size, &Measured, &EntrantSteps)> = rows.collect();
    let rate = |rate| figure("samples_per_second", rate);
    // The increase in time per sample over the next smaller batch size, if it is too large.
    let cliff = |(workload, size, _, entry): &(&WorkloadSteps, &Size, &Measured, &EntrantSteps)| {
        let is_here = |of: &&Cliff| of.backend == entry.backend && of.to_batch_size == size.batch_size && of.is_real();
        let rise = workload.cliffs.iter().find(is_here).map(|cliff| cliff.rise_in_turns.unwrap_or(cliff.rise));
        Some(rise.map_or_else(String::new, |rise| format!("+{:.0} %", rise * 100.0)))
    };
    let mut table = TableRows::new(&rows, |(workload, ..)| workload.workload.to_owned()).columns(&[
        ("backend", &|(.., entry)| Some(entry.backend.to_owned())),
        ("batch", &|(_, size, ..)| Some(size.batch_size.to_string())),
        ("steps", &|(.., of, _)| Some(rate(of.steps_per_second).replace("samples", "steps"))),
        ("samples", &|(.., of, _)| Some(rate(of.samples_per_second))),
        ("spread", &|(.., of, _)| (of.windows.len() > 1).then(|| format!("±{}", percent(of.relative_spread)))),
        ("a sample", &|(.., of, _)| Some(figure("step_seconds_p50", 1.0 / of.samples_per_second))),
        ("arithmetic", &|(.., of, _)| Some(figure("flops_per_second", of.flops_per_second))),
        ("of peak", &|(.., of, _)| of.peak_share.map(percent)),
        ("to fastest", &|(.., of, _)| Some(format!("{:.3}", of.ratio_to_fastest))),
        ("memory", &|(.., of, _)| Some(mebibytes(of.device_memory_bytes as f64))),
        ("cliff", &cliff),
    ]);
    if report.workloads.iter().all(|workload| workload.sizes.len() < 2) {
        table.columns.pop();
    }
    table
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn notes(report: &StepsReport) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    notes.extend(report.contenders.iter().flat_map(|of| &of.warnings).map(ToString::to_string));
    for workload in &report.workloads {
        for size in &workload.sizes {
            for entry in &size.entries {
                let name = name_of(workload, size, entry);
                notes.extend(unmeasured(&entry.outcome).map(|(reason, detail)| format!("{name}: {reason}{detail}")));
                if entry.outcome.measured().is_some_and(|measured| !measured.losses_are_finite) {
                    notes.push(format!("{name}: the loss is not finite, so the network learns nothing"));
                }
            }
        }
        notes.extend(workload.cliffs.iter().map(|cliff| format!("{}, {}", workload.workload, about(cliff))));
    }
    if !report.checked {
        notes.push("first losses were not compared with the plain reference (--unchecked)".to_owned());
    }
    notes
}

fn about(cliff: &Cliff) -> String {
    let Cliff { backend, from_batch_size, to_batch_size, rise, rise_in_turns } = cliff;
    let first = percent(*rise);
    let sizes = format!("in batches of {to_batch_size} than in batches of {from_batch_size}");
    match rise_in_turns {
        None => format!("{backend}: a sample takes {first} longer {sizes}"),
        Some(again) if cliff.is_real() => {
            format!("{backend}: a sample takes {} longer {sizes}, measured in turns", percent(*again))
        }
        Some(again) => format!(
            "{backend}: a sample seemed to take {first} longer {sizes}; measured in turns it takes {:+.1} %, so the \
             machine had slowed down",
            again * 100.0
        ),
    }
}

fn name_of(workload: &WorkloadSteps, size: &Size, entry: &EntrantSteps) -> String {
    format!("{} in batches of {}, {}", workload.workload, size.batch_size, entry.backend)
}

const STEPS_EXAMPLES: &str = "\
Examples:
  native-runner steps                              measure every workload on every backend except the reference
  native-runner steps --adapter cpu --workload keras-mnist-mlp,caffe-mnist --seconds-per-workload 3
                                                   measure two workloads briefly on a software adapter
  native-runner steps --backend wgsl,reference --reference-steps 2 --workload keras-mnist-mlp
                                                   compare with two steps of the plain reference
  native-runner steps --backend wgsl --precision f32,f16
                                                   measure the gain of 16-bit storage
  native-runner steps --backend wgsl --precision f16,f16-matrix
                                                   measure the gain of matrix units
  native-runner steps --workload keras-mnist-cnn --batch-sizes 1..4096
                                                   find batch sizes with slower samples

The windows of the backends take turns. First losses are compared with the plain reference before timing;
a wrong backend is not timed and ends the program with status 3. Sizes that do not fit are listed with
their requirements and limits.";

#[derive(Debug, Args)]
#[command(after_help = STEPS_EXAMPLES)]
pub(crate) struct StepsArgs {
    /// Workloads to measure, separated by commas [default: all]
    #[arg(long = "workload", value_name = "A,B", value_delimiter = ',')]
    pub(crate) workloads: Vec<String>,
    #[command(flatten)]
    pub(crate) files: WorkloadFileArgs,
    /// Backends to measure, separated by commas [default: all except the plain reference, which is slow]
    #[arg(long = "backend", value_name = "A,B", value_delimiter = ',', default_value = ALL, hide_default_value = true)]
    pub(crate) backends: Vec<String>,
    /// Precisions to measure, separated by commas
    #[arg(long, value_name = "A,B", value_delimiter = ',', default_value = "f32", value_parser = precision)]
    precision: Vec<Precision>,
    /// Steps of the plain reference, if selected, for each workload and batch size
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    reference_steps: u32,
    #[command(flatten)]
    pub(crate) adapter: AdapterArgs,
    /// Seconds of warm-up and windows for each workload and batch size, all backends together; excludes loading,
    /// building, checking and the peak of arithmetic
    #[arg(long, value_name = "X", default_value_t = 10.0, value_parser = positive_seconds)]
    seconds_per_workload: f64,
    /// Batch sizes, separated by commas; `1..4096` doubles from 1 up to 4096 [default: the workload's]
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = batch_sizes)]
    batch_sizes: Vec<BatchSizes>,
    /// Mebibytes that a workload may use on the device; larger workloads are refused (on Burn after building, because
    /// its use is unknown before) [default on a software adapter: the machine's free memory]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) budget_mib: Option<u32>,
    /// Seed of weights, shuffles and dropout
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u32,
    /// Skip the comparison of first losses with the plain reference
    #[arg(long)]
    unchecked: bool,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Train on noise in the shape of the data sets, which then need no files. Steps take as long, and nothing is
    /// learned
    #[arg(long, help_heading = "Data and output")]
    noise: bool,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Print JSON, with every window
    #[arg(long, help_heading = "Data and output")]
    pub(crate) json: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct BatchSizes(Vec<u32>);

fn batch_sizes(text: &str) -> Result<BatchSizes, String> {
    let size = |text: &str| text.trim().parse().ok().filter(|size: &u32| (1..=1 << 24).contains(size));
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    match (size(first), size(last)) {
        (Some(first), Some(last)) if first <= last => {
            let doubled = std::iter::successors(Some(first), |size| size.checked_mul(2));
            Ok(BatchSizes(doubled.take_while(|size| *size <= last).collect()))
        }
        _ => Err("it must be a number of samples above 0, or two of them with `..` between".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cliff_that_turns_do_not_confirm_is_reported_so() {
        let (backend, from_batch_size, to_batch_size, rise) = ("wgsl", 128, 256, 0.5);
        let cliff = |rise_in_turns| Cliff { backend, from_batch_size, to_batch_size, rise, rise_in_turns };
        assert!(about(&cliff(None)).contains("takes 50.0 % longer in batches of 256"));
        assert!(about(&cliff(Some(0.2))).contains("takes 20.0 % longer"));
        assert!(about(&cliff(Some(-0.02))).contains("in turns it takes -2.0 %"));
    }

    #[test]
    fn batch_sizes_are_single_or_double_from_one_to_another() {
        assert_eq!(batch_sizes("1..16"), Ok(BatchSizes(vec![1, 2, 4, 8, 16])));
        assert_eq!(batch_sizes("3..20"), Ok(BatchSizes(vec![3, 6, 12])));
        for wrong in ["0", "4..2", "1..", "x", "-1"] {
            assert!(batch_sizes(wrong).is_err(), "{wrong}");
        }
    }
}
