//! One workload: settings, cold start, evidence. Its training is in `training`, its use of the machine in `resources`.

use results::{ColdStart, Outcome, Settings, WorkloadRecord};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::bounds::{Checked, FieldPath};
use super::run::LONGEST_SECONDS;
use super::{correctness, resources, training};

const LARGEST_BATCH: u64 = 65_536;
const LARGEST_SET: u64 = 100_000_000;
const MOST_PARAMETERS: u64 = 1_000_000_000_000;
const MOST_FLOPS_PER_SAMPLE: u64 = 1_000_000_000_000_000;
/// A pebibyte: no machine's memory is larger.
pub(super) const MOST_BYTES: u64 = 1 << 50;
const LARGEST_LEARNING_RATE: f64 = 1000.0;
const VARIANTS: usize = 256;
const VARIANT: usize = 200;
const FIRST_LOSSES: usize = 1000;
const WEIGHT_SAMPLES: usize = 4096;

pub(super) fn check(path: &FieldPath<'_>, record: &WorkloadRecord) -> Checked {
    check_network(path, record.network.is_some())?;
    check_settings(&path.field("settings"), &record.settings)?;
    check_outcome(path, record)?;
    check_cold_start(&path.field("cold_start"), &record.cold_start)?;
    correctness::check(path, record)?;
    training::check(path, record)?;
    check_evidence(path, record)?;
    resources::check(&path.field("resources"), &record.resources)
}

/// Networks of a record, which are values of any type and size. Their presence is read before the record itself.
#[derive(Deserialize)]
pub(crate) struct Networks {
    #[serde(default)]
    workloads: Vec<HasNetwork>,
}

#[derive(Deserialize)]
struct HasNetwork {
    #[serde(default)]
    network: Option<IgnoredAny>,
}

/// Refuses a record with a network of its own; `path` is the record's.
pub(crate) fn check_networks(path: &FieldPath<'_>, record: &Networks) -> Checked {
    let workloads = path.field("workloads");
    let mut networks = record.workloads.iter().enumerate();
    networks.try_for_each(|(i, workload)| check_network(&workloads.item(i), workload.network.is_some()))
}

fn check_network(path: &FieldPath<'_>, has_network: bool) -> Checked {
    if !has_network {
        return Ok(());
    }
    let message = "A leaderboard takes only networks that it has itself: nobody could prove what another one trained.";
    path.field("network").refuse("network_of_a_file", message)
}

fn check_outcome(path: &FieldPath<'_>, record: &WorkloadRecord) -> Checked {
    let field = path.field("outcome");
    match &record.outcome {
        Outcome::Completed | Outcome::Incorrect | Outcome::Cancelled => Ok(()),
        Outcome::Diverged { step } => field.field("step").whole(*step, 0..=training::MOST_STEPS),
        Outcome::Failed { cause: _, reason } => {
            field.field("reason").filled_text(reason, Outcome::MOST_REASON_CHARACTERS)?;
            field.holds(has_no_figures(record), "A workload that could not be trained has no figures.")
        }
    }
}

fn has_no_figures(record: &WorkloadRecord) -> bool {
    let trained = [
        record.windows.len(),
        record.curve.len(),
        record.evaluations.len(),
        record.epochs.len(),
        record.peaks.len(),
        record.segments.len(),
        record.first_losses.len(),
        record.weight_samples.len(),
    ];
    trained.iter().all(|count| *count == 0)
}

fn check_settings(path: &FieldPath<'_>, settings: &Settings) -> Checked {
    let batch_size = path.field("batch_size");
    batch_size.whole(u64::from(settings.batch_size), 1..=LARGEST_BATCH)?;
    path.field("training_samples").whole(u64::from(settings.training_samples), 1..=LARGEST_SET)?;
    path.field("test_samples").whole(u64::from(settings.test_samples), 1..=LARGEST_SET)?;
    batch_size.holds(
        settings.batch_size <= settings.training_samples,
        "The batch is larger than the training set that it is taken from.",
    )?;
    settings.chance_accuracy.map_or(Ok(()), |chance| path.field("chance_accuracy").share(chance))?;
    path.field("learning_rate").number(settings.learning_rate, f64::MIN_POSITIVE..=LARGEST_LEARNING_RATE)?;
    path.field("parameters").whole(settings.parameters, 1..=MOST_PARAMETERS)?;
    path.field("training_flops_per_sample").whole(settings.training_flops_per_sample, 1..=MOST_FLOPS_PER_SAMPLE)?;
    path.field("device_memory_bytes").whole(settings.device_memory_bytes, 0..=MOST_BYTES)?;
    let variants = path.field("variants");
    variants.list(settings.variants.len(), VARIANTS)?;
    settings.variants.iter().enumerate().try_for_each(|(i, variant)| variants.item(i).filled_text(variant, VARIANT))
}

fn check_cold_start(path: &FieldPath<'_>, cold_start: &ColdStart) -> Checked {
    for (name, seconds) in [
        ("data_seconds", cold_start.data_seconds),
        ("build_seconds", cold_start.build_seconds),
        ("compiling_seconds", cold_start.compiling_seconds),
        ("tuning_seconds", cold_start.tuning_seconds),
        ("first_step_seconds", cold_start.first_step_seconds),
    ] {
        path.field(name).optional_number(seconds, 0.0..=LONGEST_SECONDS)?;
    }
    Ok(())
}

fn check_evidence(path: &FieldPath<'_>, record: &WorkloadRecord) -> Checked {
    let losses = path.field("first_losses");
    losses.list(record.first_losses.len(), FIRST_LOSSES)?;
    for (i, &loss) in record.first_losses.iter().enumerate() {
        losses.item(i).finite(f64::from(loss))?;
    }
    let steps: u64 = record.windows.iter().map(|w| u64::from(w.steps)).sum();
    losses.holds(record.first_losses.len() as u64 <= steps, "There are more first losses than steps.")?;
    let weights = path.field("weight_samples");
    weights.list(record.weight_samples.len(), WEIGHT_SAMPLES)?;
    for (i, sample) in record.weight_samples.iter().enumerate() {
        weights.item(i).field("value").finite(f64::from(sample.value))?;
    }
    Ok(())
}
