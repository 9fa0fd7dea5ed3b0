//! Columns of record tables. `docs/columns.csv` has their units and meanings.

use std::sync::LazyLock;

use results::summary::MeasuredWorkload;
use results::{RunRecord, WorkloadRecord};

use crate::table::Values::{
    Flag, Moment, Number, OptionalFlag, OptionalNumber, OptionalText, OptionalWhole, Text, Whole,
};
use crate::table::{Column, HasRecord, Values};

/// Name, unit and meaning of each column, in published order.
static DICTIONARY: LazyLock<Vec<[String; 3]>> = LazyLock::new(|| {
    let entry = |line: &str| {
        let mut cells = line.splitn(3, ',');
        let meaning = |cell: &str| cell.trim_matches('"').replace("\"\"", "\"");
        [(); 3].map(|()| cells.next().map(meaning).unwrap_or_default())
    };
    include_str!("../../../docs/columns.csv").lines().skip(1).map(entry).collect()
});

fn documented<R>(name: &'static str, values: Values<R>) -> Column<R> {
    let entry = DICTIONARY.iter().find(|entry| entry[0] == name);
    let [_, unit, meaning] = entry.unwrap_or_else(|| panic!("docs/columns.csv has no {name}"));
    Column::of(name, unit, meaning, values)
}

/// Returns the columns that describe a record's workload, in published order. Add new ones at the end.
pub fn record_columns<R: HasRecord>() -> Vec<Column<R>> {
    vec![
        documented("suite", Text(|run, _| &run.record().suite.name)),
        documented("suite_version", Whole(|run, _| run.record().suite.version.into())),
        documented("standard", Flag(|run, _| run.record().is_standard())),
        documented("seed", Whole(|run, _| run.record().requested.seed.into())),
        documented("engine_version", Text(|run, _| &run.record().provenance.engine_version)),
        documented("backend", Text(|run, _| &run.record().device.backend)),
        documented("adapter_name", Text(|run, _| &run.record().device.adapter.name)),
        documented("adapter_vendor", Text(|run, _| &run.record().device.adapter.vendor)),
        documented("adapter_architecture", Text(|run, _| &run.record().device.adapter.architecture)),
        documented("adapter_kind", Text(|run, _| run.record().device.adapter.kind.name())),
        documented("adapter_api", Text(|run, _| &run.record().device.adapter.api)),
        documented("adapter_driver", Text(|run, _| &run.record().device.adapter.driver)),
        documented("software", Flag(|run, _| run.record().device.adapter.software)),
        documented("claimed_name", OptionalText(|run, _| run.record().device.claimed_name.clone())),
        documented("client_name", Text(|run, _| &run.record().provenance.client.name)),
        documented("client_version", Text(|run, _| &run.record().provenance.client.version)),
        documented("operating_system", Text(|run, _| &run.record().provenance.client.operating_system)),
        documented(
            "logical_processors",
            OptionalWhole(|run, _| run.record().provenance.client.logical_processors.map(u64::from)),
        ),
        documented("workload", Text(|_, of| &of.workload)),
        documented("outcome", Text(|_, of| of.outcome.name())),
        documented("batch_size", Whole(|_, of| of.settings.batch_size.into())),
        documented("precision", Text(|_, of| of.settings.precision.name())),
        documented("training_samples", Whole(|_, of| of.settings.training_samples.into())),
        documented("parameters", Whole(|_, of| of.settings.parameters)),
        documented("device_memory_bytes", Whole(|_, of| of.settings.device_memory_bytes)),
        documented("samples_per_second", OptionalNumber(|_, of| of.summary.samples_per_second)),
        documented("samples_per_second_low", OptionalNumber(|_, of| of.summary.samples_per_second_low)),
        documented("samples_per_second_high", OptionalNumber(|_, of| of.summary.samples_per_second_high)),
        documented("step_seconds_p50", OptionalNumber(|_, of| of.summary.step_seconds_p50)),
        documented("step_seconds_p95", OptionalNumber(|_, of| of.summary.step_seconds_p95)),
        documented("flops_per_second", OptionalNumber(|_, of| of.summary.flops_per_second)),
        documented("share_of_peak", OptionalNumber(|_, of| of.summary.share_of_peak)),
        documented("seconds_per_epoch", OptionalNumber(|_, of| of.summary.seconds_per_epoch)),
        documented("training_seconds", Number(|_, of| of.summary.training_seconds)),
        documented("testing_seconds", OptionalNumber(|_, of| of.summary.testing_seconds)),
        documented("accuracy", OptionalNumber(|_, of| of.summary.accuracy)),
        documented("test_loss", OptionalNumber(|_, of| of.summary.test_loss)),
        documented("seconds_to_target", OptionalNumber(|_, of| of.summary.seconds_to_target)),
        documented("sustained_ratio", OptionalNumber(|_, of| of.summary.sustained_ratio)),
        documented("stable", Flag(|_, of| of.summary.stable)),
        documented("measured_windows", Whole(|_, of| of.summary.measured_windows.into())),
        documented("steps", Whole(|_, of| of.summary.steps)),
        documented("samples", Whole(|_, of| of.summary.samples)),
        documented("joules_per_sample", OptionalNumber(|_, of| of.summary.joules_per_sample)),
        documented("threads", OptionalWhole(|_, of| of.settings.threads.map(u64::from))),
        documented("layout", OptionalText(|_, of| of.settings.layout.map(|layout| layout.name().to_owned()))),
        documented("training_flops_per_sample", Whole(|_, of| of.settings.training_flops_per_sample)),
        documented(
            "samples_per_second_of_all_training",
            OptionalNumber(|_, of| of.summary.samples_per_second_of_all_training()),
        ),
        documented("score", OptionalNumber(|run, _| Some(engine::score(run.record())?.value))),
        documented("compatibility", Flag(|run, _| run.record().device.adapter.compatibility)),
        documented("has_battery", OptionalFlag(|run, _| run.record().provenance.client.has_battery)),
    ]
}

/// Run from a file, or from a cell of a study.
pub struct LocalRun<'a> {
    pub place: &'a str,
    pub record: &'a RunRecord,
    /// Factor that the study applied to its length.
    pub scale: Option<f64>,
}

impl HasRecord for LocalRun<'_> {
    fn record(&self) -> &RunRecord {
        self.record
    }
}

fn epochs(run: &LocalRun<'_>, workload: &WorkloadRecord) -> f64 {
    MeasuredWorkload { record: run.record, workload, summary: workload.summary.clone() }.epochs()
}

/// Returns the columns of runs on this machine. Those at the end are not in the leaderboard's tables, because ranked
/// runs do not differ in them.
pub fn local_columns<'a>() -> Vec<Column<LocalRun<'a>>> {
    let first: [Column<LocalRun<'a>>; 3] = [
        documented("place", Text(|run, _| run.place)),
        documented("started_unix_seconds", Moment(|run, _| run.record.provenance.started_unix_seconds)),
        documented("commit", Text(|run, _| &run.record.provenance.commit)),
    ];
    let last: [Column<LocalRun<'a>>; 22] = [
        documented("reason", OptionalText(|_, of| of.outcome.failure().map(str::to_owned))),
        documented("learning_rate", Number(|_, of| of.settings.learning_rate)),
        documented("devices", Whole(|_, of| of.communication.map_or(1, |all| all.devices.into()))),
        documented("communication_seconds", OptionalNumber(|_, of| of.communication.map(|all| all.seconds()))),
        documented("input", OptionalText(|_, of| of.input.map(|input| input.mode.name().to_owned()))),
        documented("input_waiting_seconds", OptionalNumber(|_, of| of.input.map(|input| input.waiting_seconds))),
        documented("first_step_seconds", OptionalNumber(|_, of| of.cold_start.first_step_seconds)),
        documented("length", OptionalText(|run, _| run.record.requested.length.map(|length| length.to_string()))),
        documented("scale", OptionalNumber(|run, _| run.scale)),
        documented("training_seconds_to_last_evaluation", OptionalNumber(|_, of| of.training_seconds())),
        documented("cpu_user_percent", OptionalNumber(|_, of| of.resources.cpu_user_percent)),
        documented("cpu_system_percent", OptionalNumber(|_, of| of.resources.cpu_system_percent)),
        documented("machine_io_wait_percent", OptionalNumber(|_, of| of.resources.machine_io_wait_percent)),
        documented("resident_memory_average_bytes", OptionalWhole(|_, of| of.resources.resident_memory_average_bytes)),
        documented("resident_memory_maximum_bytes", OptionalWhole(|_, of| of.resources.resident_memory_maximum_bytes)),
        documented("joules_per_epoch", OptionalNumber(|_, of| of.summary.joules_per_epoch)),
        documented("samples_per_joule", OptionalNumber(|_, of| of.summary.samples_per_joule)),
        documented("epochs", Number(epochs)),
        documented("cold_start_seconds", OptionalNumber(|_, of| of.cold_start.seconds())),
        documented("communication_share", OptionalNumber(|_, of| of.communication_share())),
        documented("input_share", OptionalNumber(|_, of| of.input_share())),
        documented("departures", OptionalText(|run, _| Some(run.record.departures_text("; ")))),
    ];
    first.into_iter().chain(record_columns()).chain(last).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_the_documented_ones_in_order() {
        let names: Vec<&str> = local_columns().iter().map(|column| column.name).collect();
        assert_eq!(names, DICTIONARY.iter().map(|entry| entry[0].as_str()).collect::<Vec<_>>());
        let mut unique = names.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), names.len());
        assert!(DICTIONARY.iter().all(|[_, _, meaning]| !meaning.is_empty() && !meaning.contains('"')));
        let line = |entry: &[String; 3]| entry.each_ref().map(|cell| results::csv::cell(cell)).join(",") + "\n";
        let quoted: String = DICTIONARY.iter().map(line).collect();
        assert_eq!(include_str!("../../../docs/columns.csv"), format!("name,unit,meaning\n{quoted}"));
    }
}
