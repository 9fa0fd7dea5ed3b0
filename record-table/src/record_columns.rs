//! Columns shared by all record tables. Add new ones at the end.

use results::Layout;

use crate::Run;
use crate::column::Column;
use crate::column::Values::{Flag, Number, OptionalNumber, OptionalText, OptionalWhole, Text, Whole};

/// Returns the columns that describe a record's workload, in published order.
pub fn record_columns<R: Run>() -> Vec<Column<R>> {
    vec![
        Column::of("suite", "list of workloads that was run", Text(|run, _| &run.record().suite.name)),
        Column::of(
            "suite_version",
            "version of the suite; scores of different versions are never compared",
            Whole(|run, _| run.record().suite.version.into()),
        ),
        Column::of(
            "standard",
            "true if only the suite's settings were used",
            Flag(|run, _| run.record().is_standard()),
        ),
        Column::of(
            "seed",
            "determines initial weights, order of samples, augmentation and dropout",
            Whole(|run, _| run.record().requested.seed.into()),
        ),
        Column::of("engine_version", "version of the engine", Text(|run, _| &run.record().provenance.engine_version)),
        Column::of("backend", "backend that trained", Text(|run, _| &run.record().device.backend)),
        Column::of(
            "adapter_name",
            "name of the device as the platform reports it",
            Text(|run, _| &run.record().device.adapter.name),
        ),
        Column::of("adapter_vendor", "vendor of the device", Text(|run, _| &run.record().device.adapter.vendor)),
        Column::of(
            "adapter_architecture",
            "architecture of the device",
            Text(|run, _| &run.record().device.adapter.architecture),
        ),
        Column::of(
            "adapter_kind",
            "discrete, integrated, virtual, cpu or unknown",
            Text(|run, _| run.record().device.adapter.kind.name()),
        ),
        Column::of("adapter_api", "graphics API", Text(|run, _| &run.record().device.adapter.api)),
        Column::of("adapter_driver", "driver name and version", Text(|run, _| &run.record().device.adapter.driver)),
        Column::of(
            "software",
            "true if a processor acts as the GPU",
            Flag(|run, _| run.record().device.adapter.software),
        ),
        Column::of(
            "claimed_name",
            "name of the device as entered by a person, not verified",
            OptionalText(|run, _| run.record().device.claimed_name.as_deref()),
        ),
        Column::of(
            "client_name",
            "name of the browser or program",
            Text(|run, _| &run.record().provenance.client.name),
        ),
        Column::of(
            "client_version",
            "version of the client; of a browser, the major version only",
            Text(|run, _| &run.record().provenance.client.version),
        ),
        Column::of(
            "operating_system",
            "kind of system",
            Text(|run, _| &run.record().provenance.client.operating_system),
        ),
        Column::of(
            "logical_processors",
            "number of logical processors, if reported",
            OptionalWhole(|run, _| run.record().provenance.client.logical_processors.map(u64::from)),
        ),
        Column::of("workload", "network with its data set and settings", Text(|_, of| &of.workload)),
        Column::of("outcome", "completed, diverged, incorrect, failed or cancelled", Text(|_, of| of.outcome.name())),
        Column::in_unit("batch_size", "samples", "samples in a batch", Whole(|_, of| of.settings.batch_size.into())),
        Column::of(
            "precision",
            "number format: f32, f16, f16-matrix or f64",
            Text(|_, of| of.settings.precision.name()),
        ),
        Column::in_unit(
            "training_samples",
            "samples",
            "samples of the training set",
            Whole(|_, of| of.settings.training_samples.into()),
        ),
        Column::of("parameters", "trainable parameters", Whole(|_, of| of.settings.parameters)),
        Column::in_unit(
            "device_memory_bytes",
            "B",
            "memory that the engine allocated on the device",
            Whole(|_, of| of.settings.device_memory_bytes),
        ),
        Column::in_unit(
            "samples_per_second",
            "samples/s",
            "median over the counted windows; empty without counted windows",
            OptionalNumber(|_, of| of.summary.samples_per_second),
        ),
        Column::in_unit(
            "samples_per_second_low",
            "samples/s",
            "lower end of the median's 95 % interval",
            OptionalNumber(|_, of| of.summary.samples_per_second_low),
        ),
        Column::in_unit(
            "samples_per_second_high",
            "samples/s",
            "upper end of the median's 95 % interval",
            OptionalNumber(|_, of| of.summary.samples_per_second_high),
        ),
        Column::in_unit(
            "step_seconds_p50",
            "s",
            "time of a step, median over the counted windows",
            OptionalNumber(|_, of| of.summary.step_seconds_p50),
        ),
        Column::in_unit(
            "step_seconds_p95",
            "s",
            "time of a step, 95th percentile over the counted windows",
            OptionalNumber(|_, of| of.summary.step_seconds_p95),
        ),
        Column::in_unit(
            "flops_per_second",
            "1/s",
            "arithmetic that the network needs, per second",
            OptionalNumber(|_, of| of.summary.flops_per_second),
        ),
        Column::of(
            "share_of_peak",
            "flops_per_second over the device's measured peak, 0 to 1",
            OptionalNumber(|_, of| of.summary.share_of_peak),
        ),
        Column::in_unit(
            "seconds_per_epoch",
            "s",
            "time of an epoch, median over the finished epochs",
            OptionalNumber(|_, of| of.summary.seconds_per_epoch),
        ),
        Column::in_unit(
            "training_seconds",
            "s",
            "all timed training, including steps trained only for measurement, excluding evaluation",
            Number(|_, of| of.summary.training_seconds),
        ),
        Column::in_unit(
            "testing_seconds",
            "s",
            "time of the last pass over the test set",
            OptionalNumber(|_, of| of.summary.testing_seconds),
        ),
        Column::of(
            "accuracy",
            "accuracy of the last pass over the test set, 0 to 1",
            OptionalNumber(|_, of| of.summary.accuracy),
        ),
        Column::of(
            "test_loss",
            "loss of the last pass over the test set",
            OptionalNumber(|_, of| of.summary.test_loss),
        ),
        Column::in_unit(
            "seconds_to_target",
            "s",
            "training until the target accuracy was first measured",
            OptionalNumber(|_, of| of.summary.seconds_to_target),
        ),
        Column::of(
            "sustained_ratio",
            "worst over best counted window, 0 to 1",
            OptionalNumber(|_, of| of.summary.sustained_ratio),
        ),
        Column::of("stable", "true if enough windows were measured and they agreed", Flag(|_, of| of.summary.stable)),
        Column::of("measured_windows", "number of counted windows", Whole(|_, of| of.summary.measured_windows.into())),
        Column::of("steps", "number of trained steps", Whole(|_, of| of.summary.steps)),
        Column::in_unit("samples", "samples", "number of trained samples", Whole(|_, of| of.summary.samples)),
        Column::in_unit(
            "joules_per_sample",
            "J",
            "energy of the device in timed training, if reported",
            OptionalNumber(|_, of| of.summary.joules_per_sample),
        ),
        Column::of(
            "threads",
            "threads of a backend that computes on the processor",
            OptionalWhole(|_, of| of.settings.threads.map(u64::from)),
        ),
        Column::of(
            "layout",
            "memory layout of images, nhwc or nchw, if an external program reported it",
            OptionalText(|_, of| of.settings.layout.map(Layout::name)),
        ),
        Column::of(
            "training_flops_per_sample",
            "floating-point operations of a training sample, forward and backward, counted from the network's shapes",
            Whole(|_, of| of.settings.training_flops_per_sample),
        ),
        Column::in_unit(
            "samples_per_second_of_all_training",
            "samples/s",
            "all samples over all timed training, warm-up included",
            OptionalNumber(|_, of| of.summary.samples_per_second_of_all_training()),
        ),
        Column::in_unit(
            "score",
            "GFLOP/s",
            "score of the run in each of its rows; empty unless the run completed its suite",
            OptionalNumber(|run, _| Some(engine::score(run.record())?.value)),
        ),
        Column::of(
            "compatibility",
            "true if the device was in WebGPU's compatibility mode",
            Flag(|run, _| run.record().device.adapter.compatibility),
        ),
    ]
}
