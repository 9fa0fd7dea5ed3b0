//! The columns of the table. Names stay as they were published; a new column is a line at the end.

use results::Outcome;

use super::values::Values::{self, Flag, Moment, Number, OptionalNumber, OptionalText, OptionalWhole, Text, Whole};

/// A column: what it is called, what it means, and what it has for a workload of a run.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) unit: Option<&'static str>,
    pub(super) meaning: &'static str,
    pub(super) values: Values,
}

/// Words and plain numbers.
const fn of(name: &'static str, meaning: &'static str, values: Values) -> Column {
    Column { name, unit: None, meaning, values }
}

/// What has a unit.
const fn in_unit(name: &'static str, unit: &'static str, meaning: &'static str, values: Values) -> Column {
    Column { name, unit: Some(unit), meaning, values }
}

pub(super) const COLUMNS: &[Column] = &[
    of("run_id", "the run, whose page is /runs/RUN_ID", Text(|run, _| &run.run_id)),
    in_unit(
        "submitted_unix_seconds",
        "s",
        "when it was handed in, since 1970 UTC",
        Moment(|run, _| run.submitted_unix_seconds),
    ),
    of("tier", "how far it was checked: proven, checked, unverified or flagged", Text(|run, _| run.tier.name())),
    of("suite", "the list of workloads that was run", Text(|run, _| &run.record.suite.name)),
    of(
        "suite_version",
        "scores of different versions are never compared",
        Whole(|run, _| run.record.suite.version.into()),
    ),
    of("standard", "whether nothing but the suite's own settings was used", Flag(|run, _| run.record.is_standard())),
    of(
        "seed",
        "from which weights, order of samples, augmentation and dropout follow",
        Whole(|run, _| run.record.seed.into()),
    ),
    of("engine_version", "version of the engine", Text(|run, _| &run.record.provenance.engine_version)),
    of("backend", "the back end that trained", Text(|run, _| &run.record.device.backend)),
    of("adapter_name", "the device as the platform reported it", Text(|run, _| &run.record.device.adapter.name)),
    of("adapter_vendor", "its maker", Text(|run, _| &run.record.device.adapter.vendor)),
    of("adapter_architecture", "its family", Text(|run, _| &run.record.device.adapter.architecture)),
    of(
        "adapter_kind",
        "discrete, integrated, virtual, cpu or unknown",
        Text(|run, _| run.record.device.adapter.kind.name()),
    ),
    of("adapter_api", "graphics interface", Text(|run, _| &run.record.device.adapter.api)),
    of("adapter_driver", "driver name and version", Text(|run, _| &run.record.device.adapter.driver)),
    of("software", "whether a processor pretends to be the GPU", Flag(|run, _| run.record.device.adapter.software)),
    of(
        "claimed_name",
        "the device as a person said it, which nobody checked",
        OptionalText(|run, _| run.record.device.claimed_name.as_deref()),
    ),
    of("client_name", "browser or program", Text(|run, _| &run.record.provenance.client.name)),
    of("client_version", "a browser's major version only", Text(|run, _| &run.record.provenance.client.version)),
    of("operating_system", "its kind", Text(|run, _| &run.record.provenance.client.operating_system)),
    of(
        "logical_processors",
        "where offered",
        OptionalWhole(|run, _| run.record.provenance.client.logical_processors.map(u64::from)),
    ),
    of("workload", "the network with its data set and settings", Text(|_, workload| &workload.workload)),
    of(
        "outcome",
        "completed, diverged, incorrect, failed or cancelled",
        Text(|_, workload| outcome(&workload.outcome)),
    ),
    in_unit("batch_size", "samples", "samples in a batch", Whole(|_, workload| workload.settings.batch_size.into())),
    of(
        "precision",
        "number format: f32, f16, f16-matrix or f64",
        Text(|_, workload| workload.settings.precision.name()),
    ),
    in_unit(
        "training_samples",
        "samples",
        "samples of the training set",
        Whole(|_, workload| workload.settings.training_samples.into()),
    ),
    of("parameters", "trainable parameters", Whole(|_, workload| workload.settings.parameters)),
    in_unit(
        "device_memory_bytes",
        "B",
        "memory that the engine allocated on the device",
        Whole(|_, workload| workload.settings.device_memory_bytes),
    ),
    in_unit(
        "samples_per_second",
        "samples/s",
        "median over the counted windows",
        OptionalNumber(|_, workload| workload.summary.samples_per_second),
    ),
    in_unit(
        "samples_per_second_low",
        "samples/s",
        "lower end of that median's 95 % interval",
        OptionalNumber(|_, workload| workload.summary.samples_per_second_low),
    ),
    in_unit(
        "samples_per_second_high",
        "samples/s",
        "upper end of that interval",
        OptionalNumber(|_, workload| workload.summary.samples_per_second_high),
    ),
    in_unit(
        "step_seconds_p50",
        "s",
        "time of a step, median over the counted windows",
        OptionalNumber(|_, workload| workload.summary.step_seconds_p50),
    ),
    in_unit(
        "step_seconds_p95",
        "s",
        "its 95th percentile",
        OptionalNumber(|_, workload| workload.summary.step_seconds_p95),
    ),
    in_unit(
        "flops_per_second",
        "1/s",
        "arithmetic that the network needs, done per second",
        OptionalNumber(|_, workload| workload.summary.flops_per_second),
    ),
    of(
        "share_of_peak",
        "that over the device's measured peak, 0 to 1",
        OptionalNumber(|_, workload| workload.summary.share_of_peak),
    ),
    in_unit(
        "seconds_per_epoch",
        "s",
        "median over the finished epochs",
        OptionalNumber(|_, workload| workload.summary.seconds_per_epoch),
    ),
    in_unit(
        "training_seconds",
        "s",
        "all timed training, evaluation excluded",
        Number(|_, workload| workload.summary.training_seconds),
    ),
    in_unit(
        "testing_seconds",
        "s",
        "the last pass over the test set",
        OptionalNumber(|_, workload| workload.summary.testing_seconds),
    ),
    of(
        "accuracy",
        "of the last pass over the test set, 0 to 1",
        OptionalNumber(|_, workload| workload.summary.accuracy),
    ),
    of("test_loss", "of the last pass over the test set", OptionalNumber(|_, workload| workload.summary.test_loss)),
    in_unit(
        "seconds_to_target",
        "s",
        "training until the target accuracy was first seen",
        OptionalNumber(|_, workload| workload.summary.seconds_to_target),
    ),
    of(
        "sustained_ratio",
        "worst over best counted window, 0 to 1",
        OptionalNumber(|_, workload| workload.summary.sustained_ratio),
    ),
    of("stable", "whether there were enough windows and they agreed", Flag(|_, workload| workload.summary.stable)),
    of("measured_windows", "windows that count", Whole(|_, workload| workload.summary.measured_windows.into())),
    of("steps", "steps that were trained", Whole(|_, workload| workload.summary.steps)),
    in_unit("samples", "samples", "samples that were trained on", Whole(|_, workload| workload.summary.samples)),
    in_unit(
        "joules_per_sample",
        "J",
        "energy of the device in timed training, where it tells",
        OptionalNumber(|_, workload| workload.summary.joules_per_sample),
    ),
];

fn outcome(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Diverged { .. } => "diverged",
        Outcome::Incorrect => "incorrect",
        Outcome::Cancelled => "cancelled",
        Outcome::Failed { .. } => "failed",
    }
}
