//! One workload: settings, cold start, evidence. Its training is checked in `training`, its use of the machine in
//! `resources`.

use results::{
    ColdStart, Compared, Correctness, Outcome, Precision, ResourceSample, Resources, Settings, WholeBatch,
    WorkloadRecord,
};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::bounds::{Checked, FieldPath};
use super::run::MAX_SECONDS;
use super::training;

const MAX_BATCH: u64 = 65_536;
const MAX_SET: u64 = 100_000_000;
const MAX_PARAMETERS: u64 = 1_000_000_000_000;
const MAX_FLOPS_PER_SAMPLE: u64 = 1_000_000_000_000_000;
/// A pebibyte, more than any machine's memory.
pub(super) const MAX_BYTES: u64 = 1 << 50;
const MAX_LEARNING_RATE: f64 = 1000.0;
const VARIANTS: usize = 256;
const VARIANT: usize = 200;
const FIRST_LOSSES: usize = 1000;
const WEIGHT_SAMPLES: usize = 4096;

pub(super) fn check(path: &FieldPath<'_>, record: &WorkloadRecord) -> Checked {
    check_network(path, record.network.is_some())?;
    check_settings(&path.field("settings"), &record.settings)?;
    check_outcome(path, record)?;
    check_cold_start(&path.field("cold_start"), &record.cold_start)?;
    check_correctness(path, record)?;
    training::check(path, record)?;
    check_evidence(path, record)?;
    check_resources(&path.field("resources"), &record.resources)
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

/// Refuses a record with other networks than the leaderboard's; `path` is the record's.
pub(crate) fn check_networks(path: &FieldPath<'_>, record: &Networks) -> Checked {
    let workloads = path.field("workloads");
    workloads.each(&record.workloads, |path, workload| check_network(&path, workload.network.is_some()))
}

fn check_network(path: &FieldPath<'_>, has_network: bool) -> Checked {
    if !has_network {
        return Ok(());
    }
    let message = "A leaderboard accepts only its own networks, because it cannot verify the training of others.";
    path.field("network").refuse("network_of_a_file", message)
}

fn check_outcome(path: &FieldPath<'_>, record: &WorkloadRecord) -> Checked {
    let field = path.field("outcome");
    match &record.outcome {
        Outcome::Completed | Outcome::Incorrect | Outcome::Cancelled => Ok(()),
        Outcome::Diverged { step } => field.field("step").whole(*step, 0..=training::MAX_STEPS),
        Outcome::Failed { cause: _, reason } => {
            field.field("reason").filled_text(reason, Outcome::MAX_REASON_CHARACTERS)?;
            field.holds(has_no_figures(record), "A workload that could not be trained must not have metrics.")
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
    batch_size.whole(u64::from(settings.batch_size), 1..=MAX_BATCH)?;
    path.field("training_samples").whole(u64::from(settings.training_samples), 1..=MAX_SET)?;
    path.field("test_samples").whole(u64::from(settings.test_samples), 1..=MAX_SET)?;
    batch_size.holds(settings.batch_size <= settings.training_samples, "The batch is larger than the training set.")?;
    settings.chance_accuracy.map_or(Ok(()), |chance| path.field("chance_accuracy").share(chance))?;
    path.field("learning_rate").number(settings.learning_rate, f64::MIN_POSITIVE..=MAX_LEARNING_RATE)?;
    path.field("parameters").whole(settings.parameters, 1..=MAX_PARAMETERS)?;
    path.field("training_flops_per_sample").whole(settings.training_flops_per_sample, 1..=MAX_FLOPS_PER_SAMPLE)?;
    path.field("device_memory_bytes").whole(settings.device_memory_bytes, 0..=MAX_BYTES)?;
    let variants = path.field("variants");
    variants.list(settings.variants.len(), VARIANTS)?;
    variants.each(&settings.variants, |path, variant| path.filled_text(variant, VARIANT))
}

fn check_cold_start(path: &FieldPath<'_>, cold_start: &ColdStart) -> Checked {
    for (name, seconds) in [
        ("data_seconds", cold_start.data_seconds),
        ("build_seconds", cold_start.build_seconds),
        ("compiling_seconds", cold_start.compiling_seconds),
        ("tuning_seconds", cold_start.tuning_seconds),
        ("first_step_seconds", cold_start.first_step_seconds),
    ] {
        path.field(name).optional_number(seconds, 0.0..=MAX_SECONDS)?;
    }
    Ok(())
}

fn check_evidence(path: &FieldPath<'_>, record: &WorkloadRecord) -> Checked {
    let losses = path.field("first_losses");
    losses.list(record.first_losses.len(), FIRST_LOSSES)?;
    losses.each(&record.first_losses, |path, &loss| path.finite(f64::from(loss)))?;
    let steps: u64 = record.windows.iter().map(|w| u64::from(w.steps)).sum();
    losses.holds(record.first_losses.len() as u64 <= steps, "The record has more first losses than steps.")?;
    let weights = path.field("weight_samples");
    weights.list(record.weight_samples.len(), WEIGHT_SAMPLES)?;
    weights.each(&record.weight_samples, |path, sample| path.field("value").finite(f64::from(sample.value)))
}

const LOSSES: usize = 1000;
/// Maximum number of differences, one of each kind.
const DIFFERENCES: usize = 8;
/// Largest tolerance in f32 and f64; correct backends differ by at most 1e-6.
const MAX_TOLERANCE: f64 = 1e-3;
/// Largest tolerance in f16, for deep networks.
const WIDEST_TOLERANCE_OF_F16: f64 = 0.1;
/// Relative tolerance. Client and server compute the same few operations in double precision.
const ROUNDING: f64 = 1e-9;

pub(super) fn check_correctness(path: &FieldPath<'_>, record: &WorkloadRecord) -> Checked {
    let Some(correctness) = &record.correctness else { return Ok(()) };
    let field = path.field("correctness");
    check_numbers(&field, correctness, &record.settings)?;
    field.field("passed").holds(
        correctness.passed || record.outcome != Outcome::Completed,
        "The backend disagreed with the reference, so the outcome cannot be `completed`.",
    )?;
    path.field("outcome").holds(
        !(correctness.passed && record.outcome == Outcome::Incorrect),
        "The outcome is incorrect, but the comparison with the reference passed.",
    )
}

fn check_numbers(path: &FieldPath<'_>, correctness: &Correctness, settings: &Settings) -> Checked {
    path.field("batch_size").whole(u64::from(correctness.batch_size), 1..=65_536)?;
    path.field("redraws").whole(u64::from(correctness.redraws), 0..=u64::from(Correctness::MAX_REDRAWS))?;
    let widest = match settings.precision {
        Precision::F16 | Precision::F16Matrix => WIDEST_TOLERANCE_OF_F16,
        Precision::F32 | Precision::F64 => MAX_TOLERANCE,
    };
    path.field("tolerance").number(correctness.tolerance, 0.0..=widest)?;
    path.field("largest_difference").number(correctness.largest_difference, 0.0..=f64::MAX)?;
    let (losses, references) = (&correctness.losses, &correctness.reference_losses);
    path.field("losses").list(losses.len(), LOSSES)?;
    path.field("reference_losses").holds(
        losses.len() == references.len() && !losses.is_empty(),
        "Each loss needs a reference loss, and there must be at least one.",
    )?;
    for (i, (&loss, &reference)) in losses.iter().zip(references).enumerate() {
        path.field("losses").item(i).finite(loss)?;
        path.field("reference_losses").item(i).finite(reference)?;
    }
    let largest = Correctness::largest_difference_of(losses, references);
    path.field("largest_difference").holds(
        (largest - correctness.largest_difference).abs() <= ROUNDING * largest.max(1e-6),
        "The largest difference does not match the losses.",
    )?;
    let differences = path.field("differences");
    differences.list(correctness.differences.len(), DIFFERENCES)?;
    differences.each(&correctness.differences, |path, found| {
        path.field("largest_difference").number(found.largest_difference, 0.0..=f64::MAX)?;
        path.field("tolerance").number(found.tolerance, 0.0..=found.compared.widest_tolerance(settings.precision))
    })?;
    if let Some(whole) = &correctness.whole_batch {
        check_whole_batch(&path.field("whole_batch"), whole, correctness.tolerance, settings)?;
    }
    path.field("passed").holds(
        correctness.passed == correctness.disagreement().is_none(),
        "The value does not match the differences and tolerances of the comparison.",
    )
}

/// Checks the whole batch. `tolerance` is the tolerance of losses.
fn check_whole_batch(path: &FieldPath<'_>, whole: &WholeBatch, tolerance: f64, settings: &Settings) -> Checked {
    path.field("batch_size").holds(
        whole.batch_size == settings.batch_size,
        "The batch compared with its parts must have the measured batch size.",
    )?;
    path.field("part_size").whole(u64::from(whole.part_size), 1..=u64::from(whole.batch_size))?;
    path.field("loss").finite(whole.loss)?;
    path.field("loss_of_parts").finite(whole.loss_of_parts)?;
    path.field("gradient_difference").number(whole.gradient_difference, 0.0..=f64::MAX)?;
    path.field("gradient_tolerance")
        .number(whole.gradient_tolerance, 0.0..=Compared::Gradient.widest_tolerance(settings.precision))?;
    path.field("passed").holds(
        whole.passed == whole.disagreement(tolerance).is_none(),
        "The value does not match the differences and tolerances of the whole batch and its parts.",
    )
}

/// CPU usage of one process on the largest existing machine.
const MAX_CPU_PERCENT: f64 = 65_536.0 * 100.0;
/// More power than a rack of machines draws.
const MAX_WATTS: f64 = 1e6;
const MAX_JOULES: f64 = MAX_WATTS * MAX_SECONDS;
const MAX_HERTZ: f64 = 1e12;
const COLDEST_CELSIUS: f64 = -273.15;
const HOTTEST_CELSIUS: f64 = 1000.0;

pub(super) fn check_resources(path: &FieldPath<'_>, resources: &Resources) -> Checked {
    for (name, percent) in [
        ("cpu_user_percent", resources.cpu_user_percent),
        ("cpu_system_percent", resources.cpu_system_percent),
        ("machine_io_wait_percent", resources.machine_io_wait_percent),
    ] {
        path.field(name).optional_number(percent, 0.0..=MAX_CPU_PERCENT)?;
    }
    let (average, maximum) = (resources.resident_memory_average_bytes, resources.resident_memory_maximum_bytes);
    path.field("resident_memory_average_bytes").whole(average.unwrap_or(0), 0..=MAX_BYTES)?;
    path.field("resident_memory_maximum_bytes").whole(maximum.unwrap_or(0), 0..=MAX_BYTES)?;
    path.field("resident_memory_average_bytes").holds(
        average.zip(maximum).is_none_or(|(average, maximum)| average <= maximum),
        "The average exceeds the maximum.",
    )?;
    check_samples(&path.field("samples"), &resources.samples)
}

fn check_samples(path: &FieldPath<'_>, samples: &[ResourceSample]) -> Checked {
    path.list(samples.len(), Resources::MAX_SAMPLES)?;
    path.each(samples, |path, sample| check_sample(&path, sample))?;
    for (place, pair) in samples.windows(2).enumerate() {
        let path = path.item(place + 1);
        if pair[1].seconds < pair[0].seconds {
            return path.field("seconds").refuse("not_increasing", "The sample is earlier than the previous one.");
        }
        for (name, joules) in [
            (
                "gpu_energy_joules",
                (|sample: &ResourceSample| sample.gpu_energy_joules) as fn(&ResourceSample) -> Option<f64>,
            ),
            ("processor_energy_joules", |sample| sample.processor_energy_joules),
        ] {
            let grows = joules(&pair[0]).zip(joules(&pair[1])).is_none_or(|(before, after)| before <= after);
            path.field(name).holds(grows, "Consumed energy must not decrease.")?;
        }
    }
    Ok(())
}

/// Checks a sample. An exhaustive pattern, so that a new field cannot be forgotten.
fn check_sample(path: &FieldPath<'_>, sample: &ResourceSample) -> Checked {
    let &ResourceSample {
        seconds,
        gpu_busy_percent,
        gpu_memory_bytes,
        gpu_power_watts,
        gpu_energy_joules,
        gpu_clock_hertz,
        gpu_temperature_celsius,
        processor_energy_joules,
    } = sample;
    path.field("seconds").number(seconds, 0.0..=MAX_SECONDS)?;
    path.field("gpu_busy_percent").optional_number(gpu_busy_percent, 0.0..=100.0)?;
    path.field("gpu_memory_bytes").whole(gpu_memory_bytes.unwrap_or(0), 0..=MAX_BYTES)?;
    path.field("gpu_power_watts").optional_number(gpu_power_watts, 0.0..=MAX_WATTS)?;
    path.field("gpu_energy_joules").optional_number(gpu_energy_joules, 0.0..=MAX_JOULES)?;
    path.field("gpu_clock_hertz").optional_number(gpu_clock_hertz, 0.0..=MAX_HERTZ)?;
    path.field("gpu_temperature_celsius")
        .optional_number(gpu_temperature_celsius, COLDEST_CELSIUS..=HOTTEST_CELSIUS)?;
    path.field("processor_energy_joules").optional_number(processor_energy_joules, 0.0..=MAX_JOULES)
}
