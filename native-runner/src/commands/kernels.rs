use std::collections::BTreeMap;
use std::rc::Rc;

use clap::Args;
use engine::backends::wgsl::microbenchmarks::{self, Request};
use results::Provenance;
use results::kernels::{Entry, KernelOutcome, KernelRecord, KernelReport, KernelSuite, KernelTiming, Peak};

use crate::arguments::{AdapterArgs, CellArgs, adapter_choice, named, positive_seconds};
use crate::failure::{Failure, Result};
use crate::figures::{amount, figure, unmeasured, wrong};
use crate::json_output::{JsonTarget, deliver, to_json};
use crate::machine::provenance;
use crate::meter::MonotonicClock;
use crate::progress::{self, Interrupt, ListProgress};
use crate::screen::{Screen, TableRows, TextTable};

const SCREEN: Screen = Screen::Output;

pub(crate) fn kernels(arguments: &KernelsArgs) -> Result<()> {
    if arguments.cell.ends_with_input {
        progress::end_with_input();
    }
    arguments.json.as_ref().map_or(Ok(()), JsonTarget::check)?;
    let is_asked = |suite: &KernelSuite| arguments.suites.is_empty() || arguments.suites.contains(suite);
    // Without suites, the adapter is opened and nothing is measured.
    let suites = KernelSuite::ALL.into_iter().filter(|suite| !arguments.cell.opens_only && is_asked(suite)).collect();
    let (budget_seconds, budget_bytes) = (arguments.budget_seconds, u64::from(arguments.budget_mib) << 20);
    let request = Request { suites, budget_seconds, budget_bytes };
    let clock = Rc::new(MonotonicClock::start());
    let mut progress = ListProgress::new(Interrupt::default());
    let provenance = provenance();
    let choice = adapter_choice(&arguments.adapter.adapter);
    let measuring = microbenchmarks::measure(&choice, Rc::<MonotonicClock>::clone(&clock), &request, &mut progress);
    let measured = pollster::block_on(measuring);
    drop(progress);
    let report = measured?;
    if arguments.cell.opens_only {
        return Ok(());
    }

    let provenance = Provenance { wall_seconds: engine::Clock::now_seconds(clock.as_ref()), ..provenance };
    let requested_adapter = arguments.adapter.adapter.clone();
    let record = KernelRecord { report, requested_adapter, budget_seconds, budget_bytes, provenance };
    let target = arguments.json.as_ref();
    let shown = if target == Some(&JsonTarget::StandardOutput) { Ok(()) } else { show(&record.report) };
    deliver(shown, target, &to_json(&record)?)?;
    Failure::if_wrong(wrong(&record.report))?;
    if record.report.cancelled { Err(Failure::Cancelled { kept: arguments.json.is_some() }) } else { Ok(()) }
}

fn show(report: &KernelReport) -> Result<()> {
    let peaks: Vec<&Peak> = report.peaks.iter().collect();
    let peaks = TableRows::new(&peaks, |peak| peak.title.clone()).columns(&[
        ("best", &|peak| Some(amount(peak.unit, peak.value))),
        ("spread", &|peak| Some(spread(&peak.timing))),
        ("with", &|peak| Some(peak.variant.clone())),
    ]);
    let of_suite = |suite| report.entries.iter().filter(move |entry| entry.suite == suite).collect::<Vec<&Entry>>();
    let suites = KernelSuite::ALL.map(|suite| {
        let title = match suite {
            KernelSuite::Gemm => "Matrix products, M × N × K as in DeepBench",
            KernelSuite::Conv => "Convolutions, samples × width×height×channels → filters, kernel",
            KernelSuite::Rnn => "Recurrent layers without the products of their input, units, sequences × steps",
            KernelSuite::Arithmetic | KernelSuite::Memory | KernelSuite::Launch => "Peaks",
        };
        (title, entries_table(&of_suite(suite)), of_suite(suite))
    });
    for (title, table, entries) in [("Peaks of the device", peaks, Vec::new())].into_iter().chain(suites) {
        if !table.titles.is_empty() {
            SCREEN.heading(title)?;
            SCREEN.table(&table)?;
        }
        show_refused(&entries)?;
    }
    Ok(())
}

fn entries_table(entries: &[&Entry]) -> TextTable {
    let has_row = |entry: &&&Entry| matches!(entry.outcome, KernelOutcome::Measured(_) | KernelOutcome::Wrong(_));
    let rate = |rate| figure("flops_per_second", rate);
    let rows: Vec<&Entry> = entries.iter().filter(has_row).copied().collect();
    TableRows::new(&rows, |entry| format!("{}, {}", entry.size, entry.pass.title())).columns(&[
        ("time", &|entry| match entry.outcome.measured() {
            Some(of) => Some(figure("training_seconds", of.timing.seconds)),
            None => Some("wrong".to_owned()),
        }),
        ("spread", &|entry| Some(spread(&entry.outcome.measured()?.timing))),
        ("rate", &|entry| Some(rate(entry.outcome.measured()?.flops_per_second))),
        ("peak\nbeside it", &|entry| entry.outcome.measured()?.peak_flops_per_second.map(rate)),
        ("of that\npeak", &|entry| Some(format!("{:.1} %", entry.outcome.measured()?.peak_share? * 100.0))),
        ("kernel", &|entry| Some(entry.kernels.join(" + "))),
    ])
}

fn show_refused(entries: &[&Entry]) -> Result<()> {
    let mut by_reason: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| !matches!(entry.outcome, KernelOutcome::Wrong(_))) {
        if let Some((reason, detail)) = unmeasured(&entry.outcome) {
            by_reason.entry(reason).or_default().push(format!("{}, {}{detail}", entry.size, entry.pass.title()));
        }
    }
    for (reason, entries) in by_reason {
        SCREEN.prose(&format!("  {reason}: "), &entries.join("; "), 4)?;
    }
    Ok(())
}

fn spread(timing: &KernelTiming) -> String {
    format!("±{:.1} %", timing.relative_spread() * 100.0)
}

const KERNELS_EXAMPLES: &str = "\
Examples:
  native-runner kernels                            measure everything on the best GPU
  native-runner kernels --suite gemm,conv,rnn      measure products only, in percent of the measured peak
  native-runner kernels --suite memory,launch --adapter cpu --json
                                                   measure bandwidth and launches of a software adapter
  native-runner kernels --budget-seconds 20        include larger sizes

Every product is compared with plain sums before it is timed; a wrong result is not timed and ends the
program with status 3. Sizes that do not fit are listed with their requirements.";

#[derive(Debug, Args)]
#[command(after_help = KERNELS_EXAMPLES)]
pub(crate) struct KernelsArgs {
    /// Suites to measure, separated by commas [default: all]; products also measure the peak of arithmetic
    #[arg(long = "suite", value_name = "A,B", value_delimiter = ',', value_parser = suite)]
    suites: Vec<KernelSuite>,
    #[command(flatten)]
    pub(crate) adapter: AdapterArgs,
    /// Seconds that the repetitions of one entry may take; longer entries are skipped
    #[arg(long, value_name = "X", default_value_t = 2.0, value_parser = positive_seconds)]
    pub(crate) budget_seconds: f64,
    /// Mebibytes that one entry may use on the device; larger entries are skipped
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) budget_mib: u32,
    /// Write JSON with every sample; without FILE or with `-`, to standard output instead of the tables
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub(crate) json: Option<JsonTarget>,
    #[command(flatten)]
    pub(crate) cell: CellArgs,
}

fn suite(text: &str) -> Result<KernelSuite, String> {
    named(text, &KernelSuite::ALL, KernelSuite::name)
}

#[cfg(test)]
mod tests {
    use results::kernels::{Difference, Pass};

    use super::*;

    fn entry(outcome: KernelOutcome) -> Entry {
        let (size, kernels) = ("8 × 8 × 8".to_owned(), vec!["dense_forward".to_owned()]);
        Entry { suite: KernelSuite::Gemm, size, pass: Pass::Forward, flops: 1024, bytes: 768, kernels, outcome }
    }

    #[test]
    fn wrong_entries_have_rows_and_unmeasured_ones_do_not() {
        let wrong = entry(KernelOutcome::Wrong(Difference { at: 3, found: 1.5, expected: 2.5 }));
        let slow = entry(KernelOutcome::TooSlow { predicted_seconds: 3.0, allowed_seconds: 0.5 });
        assert_eq!(entries_table(&[&wrong, &slow]).columns[0].cells, ["wrong"]);
    }
}
