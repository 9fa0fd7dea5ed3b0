//! Summary of a run: metrics, warnings, verdict.

use results::statistics::median;
use results::{
    ColdStart, Correctness, FailureCause, Goal, IN_COMPATIBILITY_MODE, Outcome, ResourceSample, RunRecord,
    WorkloadRecord, metrics_of, obstacle, score_digits,
};

use crate::failure::{Failure, Result};
use crate::figures::{figure, goal, loss, mebibytes, reads_text};
use crate::screen::{NONE, Screen, TableColumn, TextTable};

pub(crate) fn show(record: &RunRecord, screen: Screen) -> Result<()> {
    let figures = figures(record);
    if !figures.columns.is_empty() {
        screen.line("")?;
        screen.table(&figures)?;
    }
    if let Some(score) = engine::score(record) {
        let interval = score.interval.map(|of| format!(" ({} – {})", score_digits(of.low), score_digits(of.high)));
        let text = format!("{} GFLOP/s{}", score_digits(score.value), interval.unwrap_or_default());
        screen.line("")?;
        screen.prose(&screen.bold(format!("{:<12}", "Gradmark")), &text, 12)?;
    }
    if record.workloads.iter().any(|workload| cold_start(workload).is_some()) {
        screen.line("")?;
    }
    type Describe = fn(&WorkloadRecord) -> Option<String>;
    let texts: [(&str, Describe); 4] = [
        ("Cold start", cold_start),
        ("Resources", resources_text),
        ("Devices", communication_text),
        ("Input", input_text),
    ];
    for (title, describe) in texts {
        for text in record.workloads.iter().filter_map(describe) {
            screen.prose(&screen.bold(format!("{title:<12}")), &text, 12)?;
        }
    }
    Screen::Error.cautions(record.warnings.iter().map(ToString::to_string))?;
    screen.line("")?;
    screen.prose(&format!("{}  ", screen.bold("Verdict")), &verdict(record), 9)
}

pub(crate) fn not_trained(record: &RunRecord) -> Option<Failure> {
    let failed = record.workloads.iter().filter_map(|workload| match &workload.outcome {
        Outcome::Failed { cause, reason } => Some((*cause, format!("{} was not trained: {reason}", workload.workload))),
        _ => None,
    });
    let (causes, sentences): (Vec<FailureCause>, Vec<String>) = failed.unzip();
    // Insufficient device memory is the most useful reason.
    let is_of_memory = |cause: &&FailureCause| matches!(cause, FailureCause::DoesNotFit | FailureCause::OutOfMemory);
    let cause = *causes.iter().find(is_of_memory).or(causes.first())?;
    let others = if causes.len() < record.workloads.len() { "; the other results are above" } else { "" };
    Some(Failure::NotTrained { cause, sentence: format!("{}{others}", sentences.join("; ")) })
}

pub(crate) fn was_cancelled(record: &RunRecord) -> bool {
    record.workloads.iter().any(|workload| workload.outcome == Outcome::Cancelled)
}

pub(crate) fn wrong(record: &WorkloadRecord) -> Option<String> {
    let workload = &record.workload;
    match &record.outcome {
        Outcome::Completed | Outcome::Cancelled | Outcome::Failed { .. } => None,
        Outcome::Diverged { step } => Some(format!(
            "{workload} diverged: the loss at step {step} was not finite, or a thousand times the first loss; try a \
             smaller --learning-rate than {:?}",
            record.settings.learning_rate
        )),
        Outcome::Incorrect => {
            let found = record.correctness.as_ref().and_then(Correctness::disagreement);
            let difference = found.map_or_else(String::new, |found| format!(" ({found})"));
            Some(format!(
                "{workload}: this backend disagrees with the reference{difference}, so it was not timed; on a GPU, a \
                 newer driver may help, and `native-runner doctor` checks it"
            ))
        }
    }
}

/// Builds a column for each measured workload: metrics, the throughput's interval, and the time of the training.
fn figures(record: &RunRecord) -> TextTable {
    let is_timed = |workload: &&WorkloadRecord| match workload.outcome {
        Outcome::Completed | Outcome::Diverged { .. } => true,
        Outcome::Cancelled | Outcome::Incorrect | Outcome::Failed { .. } => workload.summary.steps > 0,
    };
    let workloads: Vec<&WorkloadRecord> = record.workloads.iter().filter(is_timed).collect();
    let column = |workload: &&WorkloadRecord| TableColumn { name: workload.workload.clone(), cells: Vec::new() };
    let mut table = TextTable { titles: Vec::new(), columns: workloads.iter().map(column).collect() };
    let mut add = |title: &str, cell: &dyn Fn(&WorkloadRecord) -> Option<String>| {
        table.titles.push(title.to_owned());
        for (column, workload) in table.columns.iter_mut().zip(&workloads) {
            column.cells.push(cell(workload).unwrap_or_else(|| NONE.to_owned()));
        }
    };
    for metric in metrics_of(workloads.iter().map(|workload| &workload.summary)) {
        match metric.id {
            "samples_per_second" => {
                add(metric.title, &throughput);
                add("95 % interval", &interval);
            }
            "training_seconds" => {
                add("Training time", &|of| Some(metric.text(of.training_seconds()?)));
                add(metric.title, &|of| Some(metric.text_of(&of.summary)));
            }
            _ => add(metric.title, &|of| Some(metric.text_of(&of.summary))),
        }
    }
    table
}

/// Formats the throughput of the counted windows, or the marked throughput of the whole training.
pub(crate) fn throughput(record: &WorkloadRecord) -> Option<String> {
    let summary = &record.summary;
    let text = |rate| figure("samples_per_second", rate);
    let of_all = || Some(format!("≈ {}", text(summary.samples_per_second_of_all_training()?)));
    summary.samples_per_second.map(text).or_else(of_all)
}

fn interval(record: &WorkloadRecord) -> Option<String> {
    let interval = record.summary.throughput()?.interval?;
    let [low, high] = [interval.low, interval.high].map(|rate| figure("samples_per_second", rate));
    Some(format!("{} – {high}", low.trim_end_matches(" samples/s")))
}

fn cold_start(record: &WorkloadRecord) -> Option<String> {
    let ColdStart { data_seconds, build_seconds, compiling_seconds, tuning_seconds, first_step_seconds } =
        record.cold_start;
    let parts = [
        ("data", data_seconds),
        ("building", build_seconds),
        ("compiling", compiling_seconds),
        ("tuning", tuning_seconds),
        ("first step", first_step_seconds),
    ];
    let known = parts.into_iter().filter_map(|(name, seconds)| {
        // All seconds are formatted alike.
        Some(format!("{name} {}", figure("training_seconds", seconds?)))
    });
    let known: Vec<String> = known.collect();
    (!known.is_empty()).then(|| format!("{}: {}", record.workload, known.join(" · ")))
}

fn verdict(record: &RunRecord) -> String {
    let adapter = &record.device.adapter.name;
    let device = match &record.device.claimed_name {
        Some(name) => format!("{name} (reported as {adapter})"),
        None => adapter.clone(),
    };
    let mode = if record.device.adapter.compatibility { IN_COMPATIBILITY_MODE } else { "" };
    let workloads: Vec<String> = record.workloads.iter().map(headline).collect();
    let why = unranked_because(record);
    let is_completed = record.workloads.iter().all(|of| of.outcome == Outcome::Completed);
    let rank = match () {
        () if record.is_of_open_class() && is_completed => "in the open class, by its loss".to_owned(),
        () if why.is_empty() => "can be ranked".to_owned(),
        () => format!("not ranked: {}", why.join(", ")),
    };
    format!("{device}{mode} · {} · {} · {rank}", record.device.backend, workloads.join(" · "))
}

fn headline(record: &WorkloadRecord) -> String {
    let name = &record.workload;
    match &record.outcome {
        Outcome::Completed => {}
        Outcome::Diverged { .. } => return format!("{name} diverged"),
        Outcome::Incorrect => return format!("{name} incorrect"),
        Outcome::Cancelled => return format!("{name} cancelled"),
        Outcome::Failed { .. } => return format!("{name} not trained"),
    }
    let summary = &record.summary;
    let mut facts = Vec::new();
    facts.extend(summary.samples_per_second.map(|rate| figure("samples_per_second", rate)));
    facts.extend(tested(record));
    facts.extend(record.target.map(|target| {
        // The last evaluation may be worse than a target that was reached earlier.
        let reached = target.reached_seconds.map(|seconds| figure("seconds_to_target", seconds));
        let reached = reached.map_or_else(|| "not reached".to_owned(), |time| format!("reached after {time}"));
        format!("target {} {reached}", goal(target.goal))
    }));
    format!("{name} {}", facts.join(", "))
}

/// Returns the last accuracy, or the last loss if the goal is a loss.
pub(crate) fn tested(record: &WorkloadRecord) -> Option<String> {
    let last = record.evaluations.last()?;
    Some(match record.target.map(|target| target.goal) {
        Some(Goal::Loss(_)) => format!("test loss {}", loss(last.loss, reads_text(record))),
        _ => format!("test accuracy {}", figure("accuracy", last.accuracy)),
    })
}

/// Lists the reasons why the record cannot be ranked by default; empty if it can.
fn unranked_because(record: &RunRecord) -> Vec<String> {
    let mut reasons = Vec::new();
    if record.device.adapter.software {
        reasons.push("software adapter".to_owned());
    }
    reasons.extend(record.departures.iter().map(ToString::to_string));
    let ended = |workload: &WorkloadRecord| {
        let name = &workload.workload;
        match &workload.outcome {
            Outcome::Completed => obstacle(record, workload).map(|obstacle| format!("{name}: {obstacle}")),
            Outcome::Failed { .. } => Some(format!("{name}: not trained")),
            Outcome::Diverged { .. } | Outcome::Incorrect | Outcome::Cancelled => Some("not completed".to_owned()),
        }
    };
    reasons.extend(record.workloads.iter().filter_map(ended));
    if record.run_id.is_none() {
        reasons.push("seed not from a leaderboard".to_owned());
    }
    reasons
}

fn resources_text(record: &WorkloadRecord) -> Option<String> {
    let resources = &record.resources;
    let mut parts = Vec::new();
    parts.extend(resources.cpu_user_percent.map(|percent| format!("processor {percent:.0} % in user mode")));
    parts.extend(resources.cpu_system_percent.map(|percent| format!("{percent:.0} % in system mode")));
    parts.extend(resources.machine_io_wait_percent.map(|percent| format!("machine waiting for disks {percent:.0} %")));
    let memory = resources.resident_memory_average_bytes.zip(resources.resident_memory_maximum_bytes);
    parts.extend(memory.map(|(average, maximum)| {
        format!("memory {} on average, {} maximum", mebibytes(average as f64), mebibytes(maximum as f64))
    }));
    let usual = |value: fn(&ResourceSample) -> Option<f64>| {
        median(&resources.samples.iter().filter_map(value).collect::<Vec<_>>())
    };
    parts.extend(usual(|of| of.gpu_busy_percent).map(|percent| format!("GPU busy {percent:.0} %")));
    let gpu_memory = resources.samples.iter().filter_map(|sample| sample.gpu_memory_bytes).max();
    parts.extend(gpu_memory.map(|bytes| format!("GPU memory {} maximum", mebibytes(bytes as f64))));
    parts.extend(usual(|of| of.gpu_power_watts).map(|watts| format!("{watts:.0} W")));
    parts.extend(usual(|of| of.gpu_clock_hertz).map(|hertz| format!("{:.0} MHz", hertz / 1e6)));
    parts.extend(usual(|of| of.gpu_temperature_celsius).map(|degrees| format!("{degrees:.0} °C")));
    (!parts.is_empty()).then(|| format!("{}: {}", record.workload, parts.join(" · ")))
}

fn communication_text(record: &WorkloadRecord) -> Option<String> {
    let told = record.communication?;
    let seconds = |seconds| figure("training_seconds", seconds);
    let [all, reading, summing, writing] =
        [told.seconds(), told.reading_seconds, told.summing_seconds, told.writing_seconds].map(seconds);
    let more = told.overlapped.map(|of| format!("; {} more during computation", seconds(of.seconds())));
    let (name, share, more) = (&record.workload, 100.0 * record.communication_share()?, more.unwrap_or_default());
    let (devices, exchanges, mebibytes) = (told.devices, told.exchanges, told.bytes >> 20);
    Some(format!(
        "{name}: {devices} devices · communication {all} ({share:.1} % of the timed training): reading {reading}, \
         summing {summing}, writing {writing}{more} · {mebibytes} MiB in {exchanges} exchanges"
    ))
}

fn input_text(record: &WorkloadRecord) -> Option<String> {
    let brought = record.input?;
    let seconds = [brought.waiting_seconds, brought.preparing_seconds, brought.uploading_seconds];
    let [waited, preparing, uploading] = seconds.map(|seconds| figure("training_seconds", seconds));
    let (name, mode, share) = (&record.workload, brought.mode.text(), 100.0 * record.input_share()?);
    let (batches, mebibytes) = (brought.batches, brought.bytes >> 20);
    Some(format!(
        "{name}: {mode} · waited {waited} ({share:.1} % of the timed training): preparing {preparing}, uploading \
         {uploading} · {mebibytes} MiB in {batches} batches"
    ))
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use results::{Departure, DeviceKind, Evaluation, Length, Resources, Summary, Target};

    use super::*;

    /// Record of a workload on some GPU, as a leaderboard requested it.
    fn record(outcome: Outcome) -> RunRecord {
        let stored = include_str!("../../results/tests/all/stored/0.1.0.json");
        let mut record: RunRecord = serde_json::from_str(stored).unwrap();
        let adapter = &mut record.device.adapter;
        (adapter.name, adapter.kind, adapter.software) = ("Some GPU".to_owned(), DeviceKind::Discrete, false);
        record.warnings.clear();
        record.workloads.truncate(1);
        let workload = &mut record.workloads[0];
        workload.workload = "caffe-mnist".to_owned();
        workload.outcome = outcome;
        let correctness = workload.correctness.as_mut().unwrap();
        (correctness.largest_difference, correctness.passed) = (0.087, false);
        correctness.differences.clear();
        workload.cold_start = ColdStart::default();
        let evaluation = Evaluation { step: 938, training_seconds: 12.5, seconds: 1.0, loss: 0.05, accuracy: 0.9861 };
        workload.evaluations = vec![evaluation];
        workload.windows.clear();
        workload.target =
            Some(Target { goal: Goal::Accuracy(0.98), reached_seconds: Some(12.5), reached_step: Some(938) });
        workload.resources = Resources::default();
        workload.summary =
            Summary { samples_per_second: Some(41_234.0), accuracy: Some(0.9861), stable: true, ..Summary::default() };
        record
    }

    #[test]
    fn verdict_names_the_device_and_every_reason_against_a_rank() {
        let standard = "Some GPU · wgsl · caffe-mnist 41.23 k samples/s, test accuracy 98.61 %, \
                        target 98 % reached after 12.50 s · can be ranked";
        assert_eq!(verdict(&record(Outcome::Completed)), standard);
        type RecordChange = fn(&mut RunRecord);

        let cases: [(RecordChange, &str); 4] = [
            (|record| record.device.adapter.compatibility = true, "Some GPU, compatibility mode · "),
            (|record| record.workloads[0].summary.stable = false, "not ranked: caffe-mnist: not steady enough"),
            (
                |record| record.workloads[0].evaluations[0].accuracy = 0.1,
                "not ranked: caffe-mnist: no better than chance",
            ),
            (
                |record| {
                    record.device.adapter.software = true;
                    record.departures = vec![Departure::Length { length: Length::Epochs(NonZero::new(2).unwrap()) }];
                    record.run_id = None;
                },
                "not ranked: software adapter, 2 epochs, seed not from a leaderboard",
            ),
        ];
        for (change, part) in cases {
            let mut record = record(Outcome::Completed);
            change(&mut record);
            let verdict = verdict(&record);
            let holds = if part.starts_with("Some") { verdict.starts_with(part) } else { verdict.ends_with(part) };
            assert!(holds, "{verdict}");
        }
    }

    #[test]
    fn table_of_run_shows_interval_and_training_until_last_test() {
        let mut record = record(Outcome::Completed);
        let of_first = |record: &RunRecord| {
            let TextTable { titles, columns } = figures(record);
            titles.into_iter().zip(columns[0].cells.clone()).collect::<std::collections::BTreeMap<_, _>>()
        };
        let summary = &mut record.workloads[0].summary;
        (summary.samples_per_second_low, summary.samples_per_second_high) = (Some(41_000.0), Some(41_500.0));
        (summary.samples, summary.training_seconds) = (600_000, 20.0);
        assert_eq!(of_first(&record)["95 % interval"], "–", "of too few windows");
        record.workloads[0].summary.measured_windows = 5;
        let rows = of_first(&record);
        assert_eq!(rows["95 % interval"], "41.00 k – 41.50 k samples/s");
        assert_eq!((rows["Training time"].as_str(), rows["Timed training"].as_str()), ("12.50 s", "20.00 s"));
        record.workloads[0].summary.samples_per_second = None;
        assert_eq!(of_first(&record)["Training throughput"], "≈ 30.00 k samples/s");
    }

    #[test]
    fn cold_start_lists_its_known_parts() {
        let mut workload = record(Outcome::Completed).workloads.remove(0);
        assert_eq!(cold_start(&workload), None);
        let ColdStart { data_seconds, build_seconds, tuning_seconds, first_step_seconds, .. } =
            &mut workload.cold_start;
        (*data_seconds, *build_seconds, *tuning_seconds) = (Some(0.25), Some(0.5), Some(75.0));
        *first_step_seconds = Some(0.012);
        let expected = "caffe-mnist: data 250.0 ms · building 500.0 ms · tuning 75.00 s · first step 12.00 ms";
        assert_eq!(cold_start(&workload).as_deref(), Some(expected));
    }

    #[test]
    fn table_has_only_what_was_measured() {
        let mut failed = record(Outcome::failed(FailureCause::Data, "no such file"));
        assert!(figures(&failed).columns.is_empty());
        failed.workloads[0].summary.steps = 3;
        assert_eq!(figures(&failed).columns.len(), 1);
        assert_eq!(figures(&record(Outcome::Completed)).columns.len(), 1);
    }

    #[test]
    fn wrong_results_end_with_status_3_and_name_the_difference() {
        let failure = Failure::if_wrong(wrong(&record(Outcome::Incorrect).workloads[0])).unwrap_err();
        assert_eq!(failure.exit_code(), 3);
        assert!(failure.to_string().contains("8.70e-2 where 1e-3 is allowed"), "{failure}");
        assert!(Failure::if_wrong(wrong(&record(Outcome::Completed).workloads[0])).is_ok());
    }

    #[test]
    fn untrained_workload_ends_with_the_status_of_its_cause() {
        let mut record = record(Outcome::Completed);
        assert!(not_trained(&record).is_none());
        let mut other = record.workloads[0].clone();
        other.outcome = Outcome::failed(FailureCause::DeviceRefused, "no such kernel");
        other.workload = "airbench94".to_owned();
        record.workloads.push(other);
        let failure = not_trained(&record).unwrap();
        assert_eq!(failure.exit_code(), 1);
        let expected = "airbench94 was not trained: no such kernel; the other results are above";
        assert_eq!(failure.to_string(), expected);
        assert!(verdict(&record).contains("airbench94 not trained"), "{}", verdict(&record));
        assert!(verdict(&record).ends_with("not ranked: airbench94: not trained"), "{}", verdict(&record));
        record.workloads[0].outcome = Outcome::failed(FailureCause::OutOfMemory, "full");
        let failure = not_trained(&record).unwrap();
        assert_eq!(failure.exit_code(), 4);
        assert!(failure.to_string().ends_with("; airbench94 was not trained: no such kernel"), "{failure}");
    }
}
