//! Cautions: reasons to doubt metrics.

use std::collections::BTreeMap;

use results::kernels::{Entry, KernelOutcome};
use results::summary::{MeasuredWorkload, has_learned};
use results::{Correctness, Outcome, Warning};

use crate::report::findings::{Finding, FindingRule, Kind};
use crate::report::input::{GatheredRuns, Study, Trouble};
use crate::report::kernels::{OnDevice, reason, title};
use crate::text::{counted, counted_entries, listed, plain, trimmed};

/// Largest deviation from the median that counts as steady, for windows of kernels.
const MAX_STEADY_SPREAD: f64 = 0.1;

pub(super) const CAUTIONS: FindingRule = FindingRule {
    title: "Cautions",
    find: |gathered| {
        let found = CHECKS.iter().filter_map(|check| check(gathered));
        found.map(|(text, numbers)| Finding::new(Kind::Caution, text, numbers)).collect()
    },
};

/// Sentence, with the lines that support it.
type Caution = (String, Vec<String>);

const CHECKS: &[fn(&GatheredRuns<'_>) -> Option<Caution>] = &[
    find_unfinished,
    |gathered| {
        let rest = "With less training, accuracies are not comparable with published ones; speed is.";
        shortened(gathered, false, "every limit is", "of the original", rest)
    },
    |gathered| {
        let rest = "There are fewer windows, and slow entries are skipped, so medians cover only smaller sizes.";
        shortened(gathered, true, "every entry has", "of the original seconds", rest)
    },
    find_without_metrics,
    wrong_kernels,
    software,
    software_kernels,
    find_generated_data,
    find_not_learned,
    non_standard,
    unsteady,
    unsteady_kernels,
    single_seeds,
    builds,
];

fn find_unfinished(gathered: &GatheredRuns<'_>) -> Option<Caution> {
    let open = gathered.input.studies.iter().filter(|study| study.finished_cells < study.planned_cells);
    let sentence =
        |study: &Study| format!("{}: {} of {} cells have run", study.name, study.finished_cells, study.planned_cells);
    let sentences: Vec<String> = open.map(sentence).collect();
    let text = format!("Not finished: {}. The same `native-runner study` command resumes it.", listed(&sentences));
    (!sentences.is_empty()).then_some((text, Vec::new()))
}

fn shortened(gathered: &GatheredRuns<'_>, kernels: bool, what: &str, of: &str, rest: &str) -> Option<Caution> {
    let studies = gathered.input.studies.iter().filter(|study| study.measures_kernels == kernels && study.scale < 1.0);
    let sentence = |study: &Study| format!("in {} {what} {} % {of}", study.name, trimmed(study.scale * 100.0, 4));
    let sentences: Vec<String> = studies.map(sentence).collect();
    let text = format!("Shortened: {}. {rest}", listed(&sentences));
    (!sentences.is_empty()).then_some((text, Vec::new()))
}

/// Returns the runs without metrics, with the reason.
pub(crate) fn troubles(gathered: &GatheredRuns<'_>) -> Vec<(String, Trouble)> {
    let left_none = gathered.input.entries.iter().filter(|entry| entry.record.is_none());
    let of_entry = left_none
        .filter_map(|entry| Some((entry.asked.as_ref().unwrap_or(&entry.place).clone(), entry.trouble.clone()?)));
    of_entry.chain(gathered.runs().filter_map(trouble_of)).collect()
}

fn trouble_of(run: &MeasuredWorkload<'_>) -> Option<(String, Trouble)> {
    let (kind, reason) = match &run.workload.outcome {
        Outcome::Completed => return None,
        Outcome::Diverged { step } => {
            ("diverged", format!("the loss at step {step} was not finite, or a thousand times the first loss"))
        }
        Outcome::Incorrect => {
            let found = run.workload.correctness.as_ref().and_then(Correctness::disagreement);
            let how = found.map_or_else(|| "disagrees".to_owned(), |found| format!("disagrees ({found})"));
            ("incorrect", format!("the backend {how} with the reference, so it was not timed"))
        }
        Outcome::Cancelled => ("cancelled", "the run was cancelled".to_owned()),
        Outcome::Failed { reason, .. } => ("not trained", reason.clone()),
    };
    let settings = &run.workload.settings;
    let what = format!(
        "{} · {} · batch {} · rate {} · seed {}",
        run.workload.workload,
        run.record.device.backend,
        settings.batch_size,
        plain(settings.learning_rate),
        run.seed()
    );
    Some((what, Trouble { kind: kind.to_owned(), reason }))
}

fn find_without_metrics(gathered: &GatheredRuns<'_>) -> Option<Caution> {
    let troubles = troubles(gathered);
    let left_none = gathered.input.entries.iter().filter(|entry| entry.record.is_none()).count();
    let measured = gathered.input.kernels.len();
    let all = left_none + gathered.runs().count() + measured;
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, trouble) in &troubles {
        *kinds.entry(&trouble.kind).or_default() += 1;
    }
    let kinds: Vec<String> = kinds.into_iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let text = format!(
        "{} of {} {} no results: {}.",
        troubles.len(),
        counted(all, if measured > 0 { "cell" } else { "run" }),
        if troubles.len() == 1 { "has" } else { "have" },
        listed(&kinds)
    );
    let numbers =
        troubles.iter().map(|(what, trouble)| format!("{what}: {}, {}", trouble.kind, trouble.reason)).collect();
    (!troubles.is_empty()).then_some((text, numbers))
}

/// Returns the text for the number of matching runs.
fn share_of<'a>(gathered: &GatheredRuns<'a>, is_meant: impl Fn(&MeasuredWorkload<'a>) -> bool) -> Option<String> {
    let (all, meant) = (gathered.runs().count(), gathered.runs().filter(|run| is_meant(run)).count());
    match meant {
        0 => None,
        1 if all == 1 => Some("The run".to_owned()),
        meant if meant == all => Some(format!("All {all} runs")),
        meant => Some(format!("{meant} of {all} runs")),
    }
}

fn distinct(mut words: Vec<String>) -> Vec<String> {
    words.sort_unstable();
    words.dedup();
    words
}

/// Returns a caution about the matching runs, with the distinct lines about them.
fn about_runs<'a>(
    gathered: &GatheredRuns<'a>,
    is_meant: impl Fn(&MeasuredWorkload<'a>) -> bool,
    text: impl FnOnce(String) -> String,
    line: impl Fn(&MeasuredWorkload<'a>) -> String,
) -> Option<Caution> {
    let lines = gathered.runs().filter(|run| is_meant(run)).map(line).collect();
    Some((text(share_of(gathered, &is_meant)?), distinct(lines)))
}

fn software(gathered: &GatheredRuns<'_>) -> Option<Caution> {
    let text = |runs| {
        format!("{runs} used a software adapter: the processor did the work of a GPU, so the speed is not a GPU's.")
    };
    let adapter = |run: &MeasuredWorkload<'_>| run.record.device.adapter.clone();
    about_runs(gathered, |run| adapter(run).software, text, |run| adapter(run).name)
}

fn find_generated_data(gathered: &GatheredRuns<'_>) -> Option<Caution> {
    let is_generated = |run: &MeasuredWorkload<'_>| {
        let name = &run.workload.workload;
        let is_it = |warning: &Warning| matches!(warning, Warning::GeneratedData { workload } if workload == name);
        run.record.warnings.iter().any(is_it)
    };
    let text = |runs| {
        format!("{runs} trained on generated samples: accuracies are not comparable with published ones; speed is.")
    };
    about_runs(gathered, is_generated, text, |run| run.workload.workload.clone())
}

fn find_not_learned(gathered: &GatheredRuns<'_>) -> Option<Caution> {
    let has_not = |run: &MeasuredWorkload<'_>| {
        let is_tested = run.workload.settings.chance_accuracy.is_some() && !run.workload.evaluations.is_empty();
        run.is_completed() && is_tested && !has_learned(run.workload)
    };
    let text = |runs| {
        format!(
            "{runs} ended no better than always answering the most frequent class, so only the speed is meaningful."
        )
    };
    let line = |run: &MeasuredWorkload<'_>| {
        let (workload, batch) = (&run.workload.workload, run.workload.settings.batch_size);
        format!("{workload} on {}, batch {batch}", run.record.device.backend)
    };
    about_runs(gathered, has_not, text, line)
}

fn non_standard(gathered: &GatheredRuns<'_>) -> Option<Caution> {
    let is_meant = |run: &MeasuredWorkload<'_>| !run.record.is_standard();
    let runs = share_of(gathered, is_meant)?;
    let one = if runs.starts_with("The ") {
        "is not a standard run of its suite"
    } else {
        "are not standard runs of their suite"
    };
    let text = format!("{runs} {one}: shown on leaderboards, but never ranked.");
    let terms = gathered.runs().flat_map(|run| run.record.departures.iter().map(ToString::to_string)).collect();
    Some((text, distinct(terms)))
}

fn unsteady(gathered: &GatheredRuns<'_>) -> Option<Caution> {
    let without = share_of(gathered, |run| run.is_completed() && run.summary.samples_per_second.is_none());
    let few =
        share_of(gathered, |run| run.is_completed() && run.summary.samples_per_second.is_some() && !run.summary.stable);
    let of_whole = without.map(|runs| {
        format!(
            "{runs} had no window long enough to count: throughput covers all training, warm-up included, has no \
             interval, and is not compared."
        )
    });
    let of_few = few.map(|runs| {
        format!("{runs} had too few windows, or windows that differed by more than 2.5 %: throughput is unsteady.")
    });
    let sentences: Vec<String> = of_whole.into_iter().chain(of_few).collect();
    (!sentences.is_empty()).then(|| (sentences.join(" "), Vec::new()))
}

fn single_seeds(gathered: &GatheredRuns<'_>) -> Option<Caution> {
    let trained: Vec<usize> =
        gathered.groups.iter().map(|group| group.seeds().len()).filter(|seeds| *seeds > 0).collect();
    let single = trained.iter().filter(|seeds| **seeds == 1).count();
    let which = if single == trained.len() {
        "Every group was".to_owned()
    } else {
        format!("{single} of {} groups were", trained.len())
    };
    let text = format!(
        "{which} trained from a single seed: the spread of seeds is unknown, so the sampling error of the test set \
         replaces it, which is often smaller."
    );
    (single > 0).then_some((text, Vec::new()))
}

fn builds(gathered: &GatheredRuns<'_>) -> Option<Caution> {
    let of = |run: &MeasuredWorkload<'_>| {
        format!("{} ({})", run.record.provenance.engine_version, run.record.provenance.commit)
    };
    let builds = distinct(gathered.runs().map(of).collect());
    let text =
        format!("The runs come from {} of the program, which may differ in speed.", counted(builds.len(), "build"));
    (builds.len() > 1).then_some((text, builds))
}

fn kernel_entries<'g, 'a>(
    gathered: &'g GatheredRuns<'a>,
) -> impl Iterator<Item = (&'g OnDevice<'a>, &'g Entry)> + Clone {
    let records = gathered.kernels.iter().flat_map(|device| device.records.iter().map(move |record| (device, record)));
    records.flat_map(|(device, record)| record.report.entries.iter().map(move |entry| (device, entry)))
}

fn software_kernels(gathered: &GatheredRuns<'_>) -> Option<Caution> {
    let names: Vec<String> =
        gathered.kernels.iter().filter(|device| device.adapter.software).map(|device| device.name.clone()).collect();
    let verb = if names.len() == 1 { "is a software adapter" } else { "are software adapters" };
    let text = format!(
        "{} {verb}: the processor did the work of a GPU. The peak was measured on the same adapter, so shares of the \
         peak do not apply to GPUs.",
        listed(&names)
    );
    (!names.is_empty()).then_some((text, Vec::new()))
}

fn unsteady_kernels(gathered: &GatheredRuns<'_>) -> Option<Caution> {
    let spreads = kernel_entries(gathered)
        .filter_map(|(_, entry)| Some((entry, entry.outcome.measured()?.timing.relative_spread())));
    let measured = spreads.clone().count();
    let far = spreads.filter(|(_, spread)| *spread > MAX_STEADY_SPREAD);
    let far: Vec<String> =
        far.map(|(entry, spread)| format!("{}: ±{} %", title(entry), trimmed(spread * 100.0, 1))).collect();
    let text = format!(
        "{} of {} with results have windows that differ by more than ±{} %: other programs ran, or clocks had not \
         settled.",
        far.len(),
        counted_entries(measured),
        trimmed(MAX_STEADY_SPREAD * 100.0, 0)
    );
    (!far.is_empty()).then_some((text, far))
}

fn wrong_kernels(gathered: &GatheredRuns<'_>) -> Option<Caution> {
    let wrong = kernel_entries(gathered).filter(|(_, entry)| matches!(entry.outcome, KernelOutcome::Wrong(_)));
    let lines: Vec<String> = wrong
        .map(|(device, entry)| format!("{} on {}: {}", title(entry), device.name, reason(entry).unwrap_or_default()))
        .collect();
    let text = format!("{} differed from plain sums and was not timed.", counted_entries(lines.len()));
    (!lines.is_empty()).then_some((text, lines))
}

#[cfg(test)]
mod tests {
    use results::kernels::{Difference, Pass};

    use super::*;
    use crate::report::input::{Input, ReportEntry};
    use crate::report::testing::{MadeRun, found_in, input, input_of_kernels, kernels, study};

    fn texts(input: &Input) -> String {
        let found = found_in(&CAUTIONS, input);
        assert!(found.iter().all(|found| found.kind == Kind::Caution));
        found.into_iter().map(|found| format!("{}\n{}\n", found.text, found.numbers.join("\n"))).collect()
    }

    #[test]
    fn clean_comparisons_have_no_cautions() {
        let made = |seed| MadeRun::new("caffe-mnist").seed(seed);
        assert_eq!(texts(&input(vec![made(1).record(), made(2).record()])), "");
        let other = made(1).warning(Warning::GeneratedData { workload: "other".to_owned() });
        assert_eq!(texts(&input(vec![other.record(), made(2).record()])), "", "a warning about another workload");
    }

    #[track_caller]
    fn expect_parts(text: &str, parts: &[&str]) {
        for part in parts {
            assert!(text.contains(part), "`{part}` is missing in {text}");
        }
    }

    #[test]
    fn shortened_and_unfinished_studies_are_named() {
        let study = Study { scale: 0.015, planned_cells: 19, finished_cells: 12, ..study() };
        let text = texts(&Input { studies: vec![study], ..input(vec![]) });
        expect_parts(&text, &["s: 12 of 19 cells", "1.5 % of the original"]);
    }

    #[test]
    fn runs_without_metrics_are_counted_by_reason() {
        let mut input = input(vec![
            MadeRun::new("caffe-mnist").record(),
            MadeRun::new("caffe-mnist").learning_rate(5.0).outcome(Outcome::Diverged { step: 7 }).record(),
        ]);
        let trouble = Trouble { kind: "timed out".to_owned(), reason: "took longer than 60 s".to_owned() };
        let asked = Some("torch-mnist · burn-flex".to_owned());
        input.entries.push(ReportEntry { asked, trouble: Some(trouble), ..ReportEntry::default() });
        let parts = [
            "2 of 3 runs have no results: 1 diverged and 1 timed out.",
            "torch-mnist · burn-flex: timed out, took longer than 60 s",
            "rate 5 · seed 1: diverged, the loss at step 7",
        ];
        expect_parts(&texts(&input), &parts);
    }

    #[test]
    fn software_generated_data_and_departures_are_named() {
        let record = MadeRun::new("keras-babi-rnn")
            .device("llvmpipe")
            .software()
            .warning(Warning::GeneratedData { workload: "keras-babi-rnn".to_owned() })
            .trained_steps(20)
            .windows(1)
            .accuracy(0.1)
            .record();
        let parts = [
            "The run used a software adapter",
            "llvmpipe",
            "generated samples",
            "never ranked",
            "20 steps",
            "no window long enough to count",
            "Every group was trained from a single seed",
            "no better than always answering",
        ];
        expect_parts(&texts(&input(vec![record])), &parts);
    }

    #[test]
    fn cautions_about_kernels_are_named() {
        let mut all =
            vec![kernels("llvmpipe", &[("8 × 8 × 8", Pass::Forward, Some(0.5)), ("9 × 9 × 9", Pass::Forward, None)])];
        assert_eq!(texts(&input_of_kernels(all.clone())), "");
        let report = &mut all[0].report;
        report.adapter.software = true;
        report.entries[1].outcome = KernelOutcome::Wrong(Difference { at: 1, found: 2.0, expected: 3.0 });
        if let KernelOutcome::Measured(figures) = &mut report.entries[0].outcome {
            figures.timing.seconds_highest *= 2.0;
        }
        let study = Study { measures_kernels: true, scale: 0.05, ..study() };
        let parts = [
            "in s every entry has 5 % of the original seconds",
            "llvmpipe is a software adapter",
            "1 of 1 entry with results",
            "9 × 9 × 9, forward on llvmpipe: wrong: value 1 is 2e0",
        ];
        expect_parts(&texts(&Input { studies: vec![study], ..input_of_kernels(all) }), &parts);
    }
}
