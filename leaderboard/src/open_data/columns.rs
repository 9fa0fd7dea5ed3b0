//! The columns of the table. Names stay as they were published; a new column is a line at the end.

use results::api::StoredRun;
use results::{Outcome, WorkloadRecord};

/// A column: what it is called, what it means, and what it has for a workload of a run.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) unit: Option<&'static str>,
    pub(super) meaning: &'static str,
    pub(super) cell: fn(&StoredRun, &WorkloadRecord) -> Cell,
}

pub(super) enum Cell {
    Empty,
    /// A number or a truth value, which needs no care.
    Plain(String),
    /// Words, which may be anything.
    Text(String),
}

/// Words and plain numbers.
const fn of(name: &'static str, meaning: &'static str, cell: fn(&StoredRun, &WorkloadRecord) -> Cell) -> Column {
    Column { name, unit: None, meaning, cell }
}

/// What has a unit.
const fn in_unit(
    name: &'static str,
    unit: &'static str,
    meaning: &'static str,
    cell: fn(&StoredRun, &WorkloadRecord) -> Cell,
) -> Column {
    Column { name, unit: Some(unit), meaning, cell }
}

pub(super) const COLUMNS: &[Column] = &[
    of("run_id", "the run, whose page is /runs/RUN_ID", |run, _| run.run_id.as_str().into()),
    in_unit("submitted_unix_seconds", "s", "when it was handed in, since 1970 UTC", |run, _| {
        run.submitted_unix_seconds.into()
    }),
    of("tier", "how far it was checked: proven, checked, unverified or flagged", |run, _| run.tier.name().into()),
    of("suite", "the list of workloads that was run", |run, _| run.record.suite.name.as_str().into()),
    of("suite_version", "scores of different versions are never compared", |run, _| run.record.suite.version.into()),
    of("standard", "whether nothing but the suite's own settings was used", |run, _| run.record.is_standard().into()),
    of("seed", "from which weights, order of samples, augmentation and dropout follow", |run, _| {
        run.record.seed.into()
    }),
    of("engine_version", "version of the engine", |run, _| run.record.provenance.engine_version.as_str().into()),
    of("backend", "the back end that trained", |run, _| run.record.device.backend.as_str().into()),
    of("adapter_name", "the device as the platform reported it", |run, _| {
        run.record.device.adapter.name.as_str().into()
    }),
    of("adapter_vendor", "its maker", |run, _| run.record.device.adapter.vendor.as_str().into()),
    of("adapter_architecture", "its family", |run, _| run.record.device.adapter.architecture.as_str().into()),
    of("adapter_kind", "discrete, integrated, virtual, cpu or unknown", |run, _| {
        run.record.device.adapter.kind.name().into()
    }),
    of("adapter_api", "graphics interface", |run, _| run.record.device.adapter.api.as_str().into()),
    of("adapter_driver", "driver name and version", |run, _| run.record.device.adapter.driver.as_str().into()),
    of("software", "whether a processor pretends to be the GPU", |run, _| run.record.device.adapter.software.into()),
    of("claimed_name", "the device as a person said it, which nobody checked", |run, _| {
        run.record.device.claimed_name.as_deref().into()
    }),
    of("client_name", "browser or program", |run, _| run.record.provenance.client.name.as_str().into()),
    of("client_version", "a browser's major version only", |run, _| {
        run.record.provenance.client.version.as_str().into()
    }),
    of("operating_system", "its kind", |run, _| run.record.provenance.client.operating_system.as_str().into()),
    of("logical_processors", "where offered", |run, _| run.record.provenance.client.logical_processors.into()),
    of("workload", "the network with its data set and settings", |_, workload| workload.workload.as_str().into()),
    of("outcome", "completed, diverged, incorrect or cancelled", |_, workload| outcome(&workload.outcome).into()),
    in_unit("batch_size", "samples", "samples in a batch", |_, workload| workload.settings.batch_size.into()),
    of("precision", "number format: f32, f16, f16-matrix or f64", |_, workload| {
        workload.settings.precision.name().into()
    }),
    in_unit("training_samples", "samples", "samples of the training set", |_, workload| {
        workload.settings.training_samples.into()
    }),
    of("parameters", "trainable parameters", |_, workload| workload.settings.parameters.into()),
    in_unit("device_memory_bytes", "B", "memory that the engine allocated on the device", |_, workload| {
        workload.settings.device_memory_bytes.into()
    }),
    in_unit("samples_per_second", "samples/s", "median over the counted windows", |_, workload| {
        workload.summary.samples_per_second.into()
    }),
    in_unit("samples_per_second_low", "samples/s", "lower end of that median's 95 % interval", |_, workload| {
        workload.summary.samples_per_second_low.into()
    }),
    in_unit("samples_per_second_high", "samples/s", "upper end of that interval", |_, workload| {
        workload.summary.samples_per_second_high.into()
    }),
    in_unit("step_seconds_p50", "s", "time of a step, median over the counted windows", |_, workload| {
        workload.summary.step_seconds_p50.into()
    }),
    in_unit("step_seconds_p95", "s", "its 95th percentile", |_, workload| workload.summary.step_seconds_p95.into()),
    in_unit("flops_per_second", "1/s", "arithmetic that the network needs, done per second", |_, workload| {
        workload.summary.flops_per_second.into()
    }),
    of("share_of_peak", "that over the device's measured peak, 0 to 1", |_, workload| {
        workload.summary.share_of_peak.into()
    }),
    in_unit("seconds_per_epoch", "s", "median over the finished epochs", |_, workload| {
        workload.summary.seconds_per_epoch.into()
    }),
    in_unit("training_seconds", "s", "all timed training, evaluation excluded", |_, workload| {
        workload.summary.training_seconds.into()
    }),
    in_unit("testing_seconds", "s", "the last pass over the test set", |_, workload| {
        workload.summary.testing_seconds.into()
    }),
    of("accuracy", "of the last pass over the test set, 0 to 1", |_, workload| workload.summary.accuracy.into()),
    of("test_loss", "of the last pass over the test set", |_, workload| workload.summary.test_loss.into()),
    in_unit("seconds_to_target", "s", "training until the target accuracy was first seen", |_, workload| {
        workload.summary.seconds_to_target.into()
    }),
    of("sustained_ratio", "worst over best counted window, 0 to 1", |_, workload| {
        workload.summary.sustained_ratio.into()
    }),
    of("stable", "whether there were enough windows and they agreed", |_, workload| workload.summary.stable.into()),
    of("measured_windows", "windows that count", |_, workload| workload.summary.measured_windows.into()),
    of("steps", "steps that were trained", |_, workload| workload.summary.steps.into()),
    in_unit("samples", "samples", "samples that were trained on", |_, workload| workload.summary.samples.into()),
];

fn outcome(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Diverged { .. } => "diverged",
        Outcome::Incorrect => "incorrect",
        Outcome::Cancelled => "cancelled",
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// What is written as it is.
macro_rules! plain {
    ($($kind:ty),*) => {
        $(impl From<$kind> for Cell {
            fn from(value: $kind) -> Self {
                Self::Plain(value.to_string())
            }
        })*
    };
}
plain!(f64, u32, u64, bool);

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Empty, Into::into)
    }
}
