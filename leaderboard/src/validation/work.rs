//! Facts of the work from the engine's registry: suites, networks and recipes. A run may declare that it departs from
//! its suite; then only the rules apply that no setting changes.

use engine::{BatchPlan, KNOWN_BACKENDS, Standard, SuiteDefinition, Workload};
use results::{Departure, Goal, Outcome, RunRecord, Settings, Suite, Target, WorkloadRecord};

use super::RecordOrigin;
use super::bounds::{Checked, FieldPath, Refusal};

/// Relative tolerance for the same seconds, summed in another order or written by another program.
const ROUNDING: f64 = 1e-6;
/// Relative tolerance for rates and shares, which are written in full and may differ in their last digit.
const SAME: f64 = 1e-12;

pub(super) fn check(record: &RunRecord) -> Checked {
    let root = FieldPath::ROOT;
    let backend = &record.device.backend;
    let is_known = KNOWN_BACKENDS.iter().any(|known| known.name == backend);
    let message = format_args!("This leaderboard has no backend named {backend}.");
    root.field("device.backend").require(is_known, "unknown_backend", message)?;
    check_work(record)
}

/// Checks the work of a record with any backend name.
pub(super) fn check_work(record: &RunRecord) -> Checked {
    let root = FieldPath::ROOT;
    let suite = known_suite(&root.field("suite"), &record.suite)?;
    let departures = engine::departures(record, suite);
    if record.departures != departures {
        let words = |all: &[Departure]| all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let message = format!(
            "The record lists these departures from the suite: {}. The actual departures are: {}.",
            words(&record.departures),
            words(&departures)
        );
        return root.field("departures").refuse(NOT_STANDARD, message);
    }
    let workloads = root.field("workloads");
    for (i, of) in record.workloads.iter().enumerate() {
        let path = workloads.item(i);
        let Some(known) = Standard::of_record(suite, of) else {
            let message = format!("This leaderboard has no network named {}.", of.workload);
            return path.field("workload").refuse("unknown_workload", message);
        };
        check_facts(&path.field("settings"), &of.settings, &known)?;
        check_course(&path, of, &known.workload)?;
        if record.follows_rules() {
            check_recipe(&path, of, &known)?;
            check_evaluations(&path.field("evaluations"), of, &known)?;
        }
    }
    Ok(())
}

pub(super) fn known_suite(path: &FieldPath<'_>, suite: &Suite) -> Result<&'static SuiteDefinition, Refusal> {
    let known = engine::suite(&suite.name).filter(|known| known.version == suite.version);
    known.ok_or_else(|| {
        let Suite { name, version } = suite;
        let message = format!("This leaderboard has no suite {name} version {version}. Try a newer client.");
        Refusal { code: "unknown_suite", message, field: path.to_string() }
    })
}

const NOT_STANDARD: &str = "not_standard";

fn says_so(message: &str) -> String {
    format!("{message} A run that departs from its suite must list this in `departures`; it is shown but never ranked.")
}

fn check_facts(path: &FieldPath<'_>, settings: &Settings, known: &Standard) -> Checked {
    let name = known.workload.name;
    let model = &known.workload.model;
    let parameters = model.parameters().unwrap_or_default();
    let operations = model.operations().map(|operations| operations.training_flops()).unwrap_or_default();
    let facts = [
        ("parameters", settings.parameters, parameters, "parameters"),
        ("training_flops_per_sample", settings.training_flops_per_sample, operations, "operations per sample"),
        ("training_samples", settings.training_samples.into(), known.batches.samples.into(), "training samples"),
        ("test_samples", settings.test_samples.into(), known.test_samples.into(), "test samples"),
    ];
    for (field, claimed, right, what) in facts {
        let message = format_args!("{name} has {right} {what}, but the record has {claimed}.");
        path.field(field).require(claimed == right, "wrong_work", message)?;
    }
    Ok(())
}

/// Checks that windows have the samples of whole steps, and that evaluations are between windows.
fn check_course(path: &FieldPath<'_>, record: &WorkloadRecord, workload: &Workload) -> Checked {
    let Settings { training_samples, batch_size, .. } = record.settings;
    let Ok(batches) = workload.batches(training_samples, batch_size) else {
        return path.field("settings.batch_size").refuse("out_of_range", "The batch size is out of range.");
    };
    let windows = path.field("windows");
    let (mut step, mut seconds) = (0, 0.0);
    let mut ends = Vec::with_capacity(record.windows.len());
    for (i, window) in record.windows.iter().enumerate() {
        let samples_before = batches.samples_of_steps(step);
        step += u64::from(window.steps);
        seconds += window.seconds;
        ends.push((step, seconds));
        let samples = batches.samples_of_steps(step) - samples_before;
        let message = format_args!("These steps train on {samples} samples, but the record has {}.", window.samples);
        windows.item(i).field("samples").require(window.samples == samples, "inconsistent", message)?;
    }
    let evaluations = path.field("evaluations");
    for (i, evaluation) in record.evaluations.iter().enumerate() {
        let item = evaluations.item(i);
        let end = ends.binary_search_by_key(&evaluation.step, |end| end.0).ok().map(|place| ends[place].1);
        let message = "An evaluation must follow a window, but no window ends at this step.";
        item.field("step").holds(end.is_some(), message)?;
        let apart = (end.unwrap_or_default() - evaluation.training_seconds).abs();
        let message = "The training time differs from the total time of the windows before this evaluation.";
        item.field("training_seconds").holds(apart <= ROUNDING * (1.0 + evaluation.training_seconds), message)?;
    }
    Ok(())
}

fn check_recipe(path: &FieldPath<'_>, record: &WorkloadRecord, known: &Standard) -> Checked {
    let (settings, target) = (path.field("settings"), path.field("target"));
    let (name, BatchPlan { batch_size, .. }) = (known.workload.name, known.batches);
    let (rate, claimed) = (known.workload.optimizer.learning_rate, &record.settings);
    let goal = known.workload.target;
    let (field, message) = match &record.target {
        _ if claimed.batch_size != batch_size => (
            settings.field("batch_size"),
            format!("The suite trains {name} with a batch size of {batch_size}, not {}.", claimed.batch_size),
        ),
        _ if !same(rate, claimed.learning_rate) => (
            settings.field("learning_rate"),
            format!("The suite trains {name} with a learning rate of {rate}, not {}.", claimed.learning_rate),
        ),
        Some(Target { goal: claimed, .. }) if is_same_goal(*claimed, goal) => return Ok(()),
        Some(Target { goal: claimed, .. }) => {
            let [right, wrong] = [goal, *claimed].map(|goal| format!("{} {}", goal.name(), goal.number()));
            (target.field(claimed.name()), format!("The target of {name} is the {right}, not the {wrong}."))
        }
        None => (target, format!("The target of {name}, the {} {}, is missing.", goal.name(), goal.number())),
    };
    field.refuse(NOT_STANDARD, says_so(&message))
}

fn is_same_goal(a: Goal, b: Goal) -> bool {
    a.name() == b.name() && same(a.number(), b.number())
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= SAME * a.abs().max(b.abs())
}

/// Checks that evaluations follow the suite's schedule until its end.
fn check_evaluations(path: &FieldPath<'_>, record: &WorkloadRecord, known: &Standard) -> Checked {
    if record.outcome != Outcome::Completed {
        return Ok(());
    }
    path.require(!record.evaluations.is_empty(), NOT_STANDARD, says_so("The suite evaluates the test set."))?;
    for (number, evaluation) in (1..).zip(&record.evaluations) {
        let i = number as usize - 1;
        let mark = known.evaluation_step(number).min(known.steps);
        let is_last = i + 1 == record.evaluations.len();
        let out_of_time = evaluation.training_seconds >= known.training_seconds * (1.0 - ROUNDING);
        let may_end = is_last && (out_of_time || known.workload.early_stopping.is_some());
        let at_mark = evaluation.step == mark && (!is_last || mark == known.steps || may_end);
        if !(at_mark || may_end && evaluation.step < mark) {
            let message = format!(
                "The suite evaluates after step {mark} here and ends after {} steps or {} s, but this is step {}.",
                known.steps, known.training_seconds, evaluation.step
            );
            return path.item(i).field("step").refuse(NOT_STANDARD, says_so(&message));
        }
        let message = "Training continued after the suite's time limit.";
        path.item(i).field("training_seconds").holds(is_last || !out_of_time, message)?;
    }
    Ok(())
}

/// Maximum relative drift of two clocks that run for hours …
const DRIFT: f64 = 0.01;
/// … and maximum time for sending a record and reading the clocks.
const SLACK_SECONDS: f64 = 2.0;

pub(super) fn check_time(record: &RunRecord, origin: &RecordOrigin<'_>) -> Checked {
    let wall_seconds = record.provenance.wall_seconds;
    let path = FieldPath::ROOT.field("provenance.wall_seconds");
    // Each second counts once. Loading data may precede the announcement.
    let worked_seconds = |of: &WorkloadRecord| {
        let cold = &of.cold_start;
        let built = [cold.build_seconds, cold.compiling_seconds, cold.tuning_seconds];
        let trained: f64 = of.windows.iter().map(|w| w.seconds).sum();
        let tested: f64 = of.evaluations.iter().map(|e| e.seconds).sum();
        trained + tested + built.into_iter().flatten().sum::<f64>()
    };
    let worked: f64 = record.workloads.iter().map(worked_seconds).sum();
    let message = match origin {
        _ if !fits(worked, wall_seconds) => {
            format!("The workloads took {worked:.1} s in total, but the whole run took only {wall_seconds:.1} s.")
        }
        RecordOrigin::Announced { seconds_ago, .. } if !fits(wall_seconds, *seconds_ago) => format!(
            "The run took {wall_seconds:.1} s according to its record, but was announced only {seconds_ago:.1} s ago."
        ),
        _ => return Ok(()),
    };
    path.refuse("time_does_not_fit", message)
}

fn fits(claimed: f64, available: f64) -> bool {
    claimed <= available * (1.0 + DRIFT) + SLACK_SECONDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_and_travel_are_forgiven_and_more_is_not() {
        assert!(fits(3600.0, 3599.0));
        assert!(fits(1.9, 0.0));
        assert!(!fits(10.0, 7.0));
        assert!(!fits(4000.0, 3600.0));
    }
}
