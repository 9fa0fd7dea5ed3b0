//! Checks of everything except the workloads: suite, provenance, device, warnings.

use std::collections::BTreeSet;

use results::{
    Client, ClientKind, DeviceKind, Feature, Provenance, RunRecord, RunSpec, SCHEMA_VERSION, Suite, Warning,
};

use super::bounds::{Checked, FieldPath};

const LABEL: usize = 64;
const SENTENCE: usize = 300;
const REPORTED_NAME: usize = 200;
const CLAIMED_NAME: usize = 100;
const WORKLOADS: usize = 64;
const WARNINGS: usize = 256;
/// Latest accepted time. Beyond the year 5000 a clock is not merely wrong.
const LATEST_UNIX_SECONDS: f64 = 1e11;
/// Maximum duration: a week. No run of a suite takes longer.
pub(super) const MAX_SECONDS: f64 = 7.0 * 86_400.0;

pub(super) fn check(record: &RunRecord) -> Checked {
    let root = FieldPath::ROOT;
    check_schema_version(record.schema_version)?;
    root.field("run_id").optional_text(record.run_id.as_deref(), LABEL)?;
    root.field("nonce").optional_text(record.nonce.as_deref(), 2 * LABEL)?;
    check_suite(&root.field("suite"), &record.suite)?;
    check_requested(&root.field("requested"), record)?;
    check_provenance(&root.field("provenance"), &record.provenance)?;
    check_device(&root.field("device"), record)?;
    check_workload_names(&root.field("workloads"), record)?;
    let warnings = root.field("warnings");
    warnings.list(record.warnings.len(), WARNINGS)?;
    warnings.each(&record.warnings, |path, warning| check_warning(&path, warning))
}

pub(crate) fn check_schema_version(version: u32) -> Checked {
    if version == SCHEMA_VERSION {
        return Ok(());
    }
    FieldPath::ROOT.field("schema_version").refuse(
        "unknown_schema_version",
        format!(
            "The record has schema version {version}, but this leaderboard reads version {SCHEMA_VERSION}. Use a \
             client of the leaderboard's version."
        ),
    )
}

pub(super) fn check_suite(path: &FieldPath<'_>, suite: &Suite) -> Checked {
    path.field("name").name(&suite.name)?;
    path.field("version").whole(u64::from(suite.version), 1..=10_000)
}

pub(super) fn check_engine_version(path: &FieldPath<'_>, version: &str) -> Checked {
    path.filled_text(version, LABEL)
}

fn check_provenance(path: &FieldPath<'_>, provenance: &Provenance) -> Checked {
    check_engine_version(&path.field("engine_version"), &provenance.engine_version)?;
    path.field("commit").filled_text(&provenance.commit, LABEL)?;
    path.field("started_unix_seconds").number(provenance.started_unix_seconds, 0.0..=LATEST_UNIX_SECONDS)?;
    path.field("wall_seconds").number(provenance.wall_seconds, 0.0..=MAX_SECONDS)?;
    check_client(&path.field("client"), &provenance.client)
}

fn check_client(path: &FieldPath<'_>, client: &Client) -> Checked {
    path.field("name").filled_text(&client.name, LABEL)?;
    path.field("version").filled_text(&client.version, LABEL)?;
    path.field("operating_system").filled_text(&client.operating_system, LABEL)?;
    let processors = client.logical_processors.map_or(1, u64::from);
    path.field("logical_processors").whole(processors, 1..=65_536)?;
    let major_only = client.version == "unknown"
        || (client.version.len() <= 5 && client.version.bytes().all(|b| b.is_ascii_digit()));
    if client.kind == ClientKind::Browser && !major_only {
        return path.field("version").refuse(
            "too_precise",
            "A browser must send only its major version, as digits, or `unknown`: more could identify a person.",
        );
    }
    Ok(())
}

fn check_requested(path: &FieldPath<'_>, record: &RunRecord) -> Checked {
    let RunSpec { suite, workloads, backend, adapter, without, .. } = &record.requested;
    path.field("suite").holds(*suite == record.suite.name, "The suite differs from the requested one.")?;
    let names = path.field("workloads");
    names.list(workloads.len(), WORKLOADS)?;
    names.each(workloads, |path, name| path.name(name))?;
    path.field("backend").name(backend)?;
    path.field("adapter").filled_text(adapter, REPORTED_NAME)?;
    path.field("without").list(without.len(), Feature::ALL.len())
}

/// Checks the device, and that only the requested adapter and backend were used.
fn check_device(path: &FieldPath<'_>, record: &RunRecord) -> Checked {
    let RunRecord { device, requested, .. } = record;
    path.field("backend").name(&device.backend)?;
    path.field("claimed_name").optional_text(device.claimed_name.as_deref(), CLAIMED_NAME)?;
    let adapter = path.field("adapter");
    for (name, value) in [
        ("name", &device.adapter.name),
        ("vendor", &device.adapter.vendor),
        ("architecture", &device.adapter.architecture),
        ("api", &device.adapter.api),
        ("driver", &device.adapter.driver),
    ] {
        adapter.field(name).text(value, REPORTED_NAME)?;
    }
    path.field("backend").holds(
        requested.backend == device.backend,
        "The backend differs from the requested one, so the run is not valid.",
    )?;
    let kinds = [DeviceKind::Discrete, DeviceKind::Integrated, DeviceKind::Virtual, DeviceKind::Cpu];
    let asked = kinds.into_iter().find(|kind| kind.name() == requested.adapter);
    adapter.field("kind").holds(
        asked.is_none_or(|kind| kind == device.adapter.kind),
        "The kind of the adapter differs from the requested one, so the run is not valid.",
    )
}

fn check_workload_names(path: &FieldPath<'_>, record: &RunRecord) -> Checked {
    path.list(record.workloads.len(), WORKLOADS)?;
    let mut seen = BTreeSet::new();
    for (i, workload) in record.workloads.iter().enumerate() {
        let item = path.item(i);
        item.field("workload").name(&workload.workload)?;
        if !seen.insert(&workload.workload) {
            let message = format!("The record contains {} twice.", workload.workload);
            return item.field("workload").refuse("duplicate_workload", message);
        }
    }
    Ok(())
}

fn check_warning(path: &FieldPath<'_>, warning: &Warning) -> Checked {
    let seconds = 0.0..=MAX_SECONDS;
    warning.workload().map_or(Ok(()), |workload| path.field("workload").name(workload))?;
    match warning {
        Warning::SoftwareAdapter { name } => path.field("name").text(name, REPORTED_NAME),
        Warning::PerhapsSoftware { flops_per_second, processors: _ } => {
            path.field("flops_per_second").number(*flops_per_second, 0.0..=1e18)
        }
        Warning::NotStabilised { half_width_percent, .. } => {
            path.field("half_width_percent").number(*half_width_percent, 0.0..=1e6)
        }
        Warning::NotLearned { accuracy, chance, .. } => {
            path.field("accuracy").share(*accuracy)?;
            path.field("chance").share(*chance)
        }
        Warning::StoppedByBudget { budget_seconds, .. } => {
            path.field("budget_seconds").number(*budget_seconds, seconds)
        }
        Warning::TabHidden { seconds: hidden, paused_seconds } => {
            path.field("seconds").number(*hidden, seconds.clone())?;
            path.field("paused_seconds").number(*paused_seconds, seconds)
        }
        Warning::CoarseTimer { resolution_seconds } => {
            path.field("resolution_seconds").number(*resolution_seconds, seconds)
        }
        Warning::Untuned { backend } => path.field("backend").name(backend),
        Warning::ProcessorPressed { share } => path.field("share").share(*share),
        Warning::CheckpointMissed { reason, .. } | Warning::Unregistered { reason } => {
            path.field("reason").text(reason, SENTENCE)
        }
        Warning::TooFewWindows { .. }
        | Warning::TuningNotSettled { .. }
        | Warning::SmallerBatch { .. }
        | Warning::GeneratedData { .. }
        | Warning::StoppedEarly { .. }
        | Warning::NoWakeLock
        | Warning::NotIsolated
        | Warning::OnBattery => Ok(()),
    }
}
