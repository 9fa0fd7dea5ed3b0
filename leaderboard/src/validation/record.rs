//! Agreement of a record's values with each other. The course of its training is checked in `training`.

use std::collections::BTreeSet;

use results::api::SharedComparison;
use results::{
    ClientKind, Compared, Correctness, DeviceKind, Outcome, Precision, ResourceSample, Resources, RunRecord,
    SCHEMA_VERSION, Settings, WholeBatch, WorkloadRecord,
};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::bounds::{Checked, FieldPath, Refusal, check_values};
use super::{RecordOrigin, table, training, work};

/// Checks a record, which may have networks of its own only if it was announced with one.
pub(super) fn check(record: &RunRecord, may_have_networks: bool) -> Checked {
    check_schema_version(record.schema_version)?;
    check_values(record, table::RECORD)?;
    check_run(&FieldPath::ROOT, record)?;
    FieldPath::ROOT.field("workloads").each(&record.workloads, |path, of| {
        check_network(&path, of.network.is_some() && !may_have_networks)?;
        check_counts(&path, of)?;
        check_correctness(&path, of)?;
        training::check(&path, of)?;
        check_evidence(&path, of)?;
        check_resources(&path.field("resources"), &of.resources)?;
        check_alone(&path, of)?;
        training::check_summary(&path.field("summary"), of)
    })
}

pub(crate) fn check_schema_version(version: u32) -> Checked {
    let otherwise = format_args!(
        "The record has schema version {version}, but this leaderboard reads version {SCHEMA_VERSION}. Use a client of \
         the leaderboard's version."
    );
    FieldPath::ROOT.field("schema_version").require(version == SCHEMA_VERSION, "unknown_schema_version", otherwise)
}

/// Checks that only the requested suite, adapter and backend were used, and each workload once.
fn check_run(root: &FieldPath<'_>, record: &RunRecord) -> Checked {
    let RunRecord { device, requested, .. } = record;
    let message = "The suite differs from the requested one.";
    root.field("requested.suite").holds(requested.suite == record.suite.name, message)?;
    let client = &record.provenance.client;
    let major_only = client.version == "unknown"
        || (client.version.len() <= 5 && client.version.bytes().all(|b| b.is_ascii_digit()));
    root.field("provenance.client.version").require(
        client.kind != ClientKind::Browser || major_only,
        "too_precise",
        "A browser must send only its major version, as digits, or `unknown`: more could identify a person.",
    )?;
    let message = "The backend differs from the requested one, so the run is not valid.";
    root.field("device.backend").holds(requested.backend == device.backend, message)?;
    let kinds = [DeviceKind::Discrete, DeviceKind::Integrated, DeviceKind::Virtual, DeviceKind::Cpu];
    let asked = kinds.into_iter().find(|kind| kind.name() == requested.adapter);
    let message = "The kind of the adapter differs from the requested one, so the run is not valid.";
    root.field("device.adapter.kind").holds(asked.is_none_or(|kind| kind == device.adapter.kind), message)?;
    let mut seen = BTreeSet::new();
    for (i, WorkloadRecord { workload, .. }) in record.workloads.iter().enumerate() {
        let otherwise = format_args!("The record contains {workload} twice.");
        let path = root.field("workloads");
        path.item(i).field("workload").require(seen.insert(workload), "duplicate_workload", otherwise)?;
    }
    Ok(())
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
    let message = "A leaderboard accepts a network from a file only in the suite `open`, if it was announced with it.";
    path.field("network").require(!has_network, "network_of_a_file", message)
}

fn check_counts(path: &FieldPath<'_>, record: &WorkloadRecord) -> Checked {
    let WorkloadRecord { windows, curve, evaluations, epochs, peaks, segments, first_losses, weight_samples, .. } =
        record;
    let not_trained = windows.is_empty() && curve.is_empty() && evaluations.is_empty() && epochs.is_empty();
    let no_proof = peaks.is_empty() && segments.is_empty() && first_losses.is_empty() && weight_samples.is_empty();
    let message = "A workload that could not be trained must not have metrics.";
    path.field("outcome").holds(record.outcome.failure().is_none() || (not_trained && no_proof), message)?;
    let message = "The batch is larger than the training set.";
    path.field("settings.batch_size").holds(record.settings.batch_size <= record.settings.training_samples, message)
}

fn check_evidence(path: &FieldPath<'_>, record: &WorkloadRecord) -> Checked {
    let steps: u64 = record.windows.iter().map(|w| u64::from(w.steps)).sum();
    let message = "The record has more first losses than steps.";
    path.field("first_losses").holds(record.first_losses.len() as u64 <= steps, message)?;
    let message = "The record has more segments than windows, but each segment is a window.";
    path.field("segments").holds(record.segments.len() <= record.windows.len(), message)
}

/// Checks that one device trained the workload, with its data set in its memory.
fn check_alone(path: &FieldPath<'_>, workload: &WorkloadRecord) -> Checked {
    let message = "Several devices trained this workload together. The leaderboard only accepts runs on one device.";
    path.field("communication").require(workload.communication.is_none(), "several_devices", message)?;
    let message = "The host streamed the batches to the device. The leaderboard only accepts data sets on the device.";
    path.field("input").require(workload.input.is_none(), "streamed_input", message)
}

/// Largest tolerance in f32 and f64; correct backends differ by at most 1e-6.
const MAX_TOLERANCE: f64 = 1e-3;
/// Largest tolerance in f16, for deep networks.
const WIDEST_TOLERANCE_OF_F16: f64 = 0.1;
/// Relative tolerance. Client and server compute the same few operations in double precision.
const ROUNDING: f64 = 1e-9;

fn check_correctness(path: &FieldPath<'_>, record: &WorkloadRecord) -> Checked {
    let Some(correctness) = &record.correctness else { return Ok(()) };
    let field = path.field("correctness");
    check_numbers(&field, correctness, &record.settings)?;
    let message = "The backend disagreed with the reference, so the outcome cannot be `completed`.";
    field.field("passed").holds(correctness.passed || record.outcome != Outcome::Completed, message)?;
    let message = "The outcome is incorrect, but the comparison with the reference passed.";
    path.field("outcome").holds(!(correctness.passed && record.outcome == Outcome::Incorrect), message)
}

fn check_numbers(path: &FieldPath<'_>, correctness: &Correctness, settings: &Settings) -> Checked {
    let widest = match settings.precision {
        Precision::F16 | Precision::F16Matrix => WIDEST_TOLERANCE_OF_F16,
        Precision::F32 | Precision::F64 => MAX_TOLERANCE,
    };
    path.field("tolerance").number(correctness.tolerance, 0.0..=widest)?;
    let (losses, references) = (&correctness.losses, &correctness.reference_losses);
    let message = "Each loss needs a reference loss, and there must be at least one.";
    path.field("reference_losses").holds(losses.len() == references.len() && !losses.is_empty(), message)?;
    let largest = Correctness::largest_difference_of(losses, references);
    let is_same = (largest - correctness.largest_difference).abs() <= ROUNDING * largest.max(1e-6);
    path.field("largest_difference").holds(is_same, "The largest difference does not match the losses.")?;
    path.field("differences").each(&correctness.differences, |path, found| {
        path.field("tolerance").number(found.tolerance, 0.0..=found.compared.widest_tolerance(settings.precision))
    })?;
    if let Some(whole) = &correctness.whole_batch {
        check_whole_batch(&path.field("whole_batch"), whole, correctness.tolerance, settings)?;
    }
    let message = "The value does not match the differences and tolerances of the comparison.";
    path.field("passed").holds(correctness.passed == correctness.disagreement().is_none(), message)
}

/// Checks the whole batch. `tolerance` is the tolerance of losses.
fn check_whole_batch(path: &FieldPath<'_>, whole: &WholeBatch, tolerance: f64, settings: &Settings) -> Checked {
    let message = "The batch compared with its parts must have the measured batch size.";
    path.field("batch_size").holds(whole.batch_size == settings.batch_size, message)?;
    path.field("part_size").within(u64::from(whole.part_size), 1..=u64::from(whole.batch_size))?;
    path.field("gradient_tolerance")
        .number(whole.gradient_tolerance, 0.0..=Compared::Gradient.widest_tolerance(settings.precision))?;
    let message = "The value does not match the differences and tolerances of the whole batch and its parts.";
    path.field("passed").holds(whole.passed == whole.disagreement(tolerance).is_none(), message)
}

fn check_resources(path: &FieldPath<'_>, resources: &Resources) -> Checked {
    let (average, maximum) = (resources.resident_memory_average_bytes, resources.resident_memory_maximum_bytes);
    let is_in_order = average.zip(maximum).is_none_or(|(average, maximum)| average <= maximum);
    path.field("resident_memory_average_bytes").holds(is_in_order, "The average exceeds the maximum.")?;
    let samples = path.field("samples");
    for (i, pair) in (1..).zip(resources.samples.windows(2)) {
        let path = samples.item(i);
        let message = "The sample is earlier than the previous one.";
        path.field("seconds").require(pair[1].seconds >= pair[0].seconds, "not_increasing", message)?;
        let grows = |joules: fn(&ResourceSample) -> Option<f64>| {
            joules(&pair[0]).zip(joules(&pair[1])).is_none_or(|(before, after)| before <= after)
        };
        for (name, grows) in [
            ("gpu_energy_joules", grows(|sample| sample.gpu_energy_joules)),
            ("processor_energy_joules", grows(|sample| sample.processor_energy_joules)),
        ] {
            path.field(name).holds(grows, "Consumed energy must not decrease.")?;
        }
    }
    Ok(())
}

pub(crate) fn check_comparison(shared: &SharedComparison) -> Checked {
    check_values(shared, table::COMPARISON)?;
    for (number, record) in shared.records.iter().enumerate() {
        let within = |refusal: Refusal| Refusal { field: format!("records[{number}].{}", refusal.field), ..refusal };
        let checked = check(record, false)
            .and_then(|()| work::check_time(record, &RecordOrigin::Imported))
            .and_then(|()| work::check_work(record));
        checked.map_err(within)?;
    }
    let trained = shared.records.iter().map(|record| record.device.backend.as_str());
    let refused = shared.refused.iter().map(|of| of.contender.backend.as_str());
    let backends: BTreeSet<&str> = trained.chain(refused).collect();
    let message = "A comparison must have at least two backends, and at least one record.";
    FieldPath::ROOT.field("records").require(!shared.records.is_empty() && backends.len() >= 2, "too_few", message)
}
