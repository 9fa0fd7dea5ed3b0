//! The columns of the table. Names stay as they were published; a new column is a line at the end.

use record_table::Values::{Moment, Number, OptionalNumber, OptionalText, OptionalWhole, Text, Whole};
use record_table::{Column, record_columns};
use results::Outcome;

use super::LocalRun;

pub(super) fn columns() -> Vec<Column<LocalRun>> {
    let first: [Column<LocalRun>; 3] = [
        Column::of(
            "place",
            "the file, or the cell of a study, that the record was found in",
            Text(|run, _| &run.place),
        ),
        Column::in_unit(
            "started_unix_seconds",
            "s",
            "start of the run, since 1970 UTC, by the clock of its machine",
            Moment(|run, _| run.record.provenance.started_unix_seconds),
        ),
        Column::of("commit", "of the engine's sources", Text(|run, _| &run.record.provenance.commit)),
    ];
    first.into_iter().chain(record_columns()).chain(settings()).chain(resources()).collect()
}

/// What a leaderboard has no column for, because what it ranks does not differ in it.
fn settings() -> [Column<LocalRun>; 10] {
    [
        Column::of(
            "reason",
            "why the workload could not be trained",
            OptionalText(|_, workload| {
                if let Outcome::Failed { reason, .. } = &workload.outcome { Some(reason.as_str()) } else { None }
            }),
        ),
        Column::of("learning_rate", "before any schedule", Number(|_, workload| workload.settings.learning_rate)),
        Column::of(
            "devices",
            "that shared each batch",
            Whole(|_, workload| workload.communication.map_or(1, |communication| communication.devices.into())),
        ),
        Column::in_unit(
            "communication_seconds",
            "s",
            "in which devices waited for each other's gradients",
            OptionalNumber(|_, workload| workload.communication.map(|communication| communication.seconds())),
        ),
        Column::of(
            "input",
            "how batches came to the device: resident, prefetch or stream; empty where nobody told",
            OptionalText(|_, workload| workload.input.map(|input| input.mode.name())),
        ),
        Column::in_unit(
            "input_waiting_seconds",
            "s",
            "in which the device waited for its next batch",
            OptionalNumber(|_, workload| workload.input.map(|input| input.waiting_seconds)),
        ),
        Column::in_unit(
            "first_step_seconds",
            "s",
            "the first step that was timed",
            OptionalNumber(|_, workload| workload.cold_start.first_step_seconds),
        ),
        Column::of(
            "length",
            "how long was trained, as it was asked for; empty where it is the suite's length",
            OptionalText(|run, _| run.record.length()),
        ),
        Column::of(
            "scale",
            "what a study multiplied its length by; empty outside a study",
            OptionalNumber(|run, _| run.scale),
        ),
        Column::in_unit(
            "training_seconds_to_last_evaluation",
            "s",
            "training until the last evaluation; evaluations excluded",
            OptionalNumber(|_, workload| workload.training_seconds()),
        ),
    ]
}

fn resources() -> [Column<LocalRun>; 7] {
    [
        Column::in_unit(
            "cpu_user_percent",
            "%",
            "processor time of the process in user mode while it trained; 100 is one core",
            OptionalNumber(|_, workload| workload.resources.cpu_user_percent),
        ),
        Column::in_unit(
            "cpu_system_percent",
            "%",
            "the same in the system",
            OptionalNumber(|_, workload| workload.resources.cpu_system_percent),
        ),
        Column::in_unit(
            "machine_io_wait_percent",
            "%",
            "time in which cores of the machine waited for discs; 100 is one core",
            OptionalNumber(|_, workload| workload.resources.machine_io_wait_percent),
        ),
        Column::in_unit(
            "resident_memory_average_bytes",
            "B",
            "memory of the process",
            OptionalWhole(|_, workload| workload.resources.resident_memory_average_bytes),
        ),
        Column::in_unit(
            "resident_memory_maximum_bytes",
            "B",
            "its maximum",
            OptionalWhole(|_, workload| workload.resources.resident_memory_maximum_bytes),
        ),
        Column::in_unit(
            "joules_per_epoch",
            "J",
            "energy of the device for a pass over the training set",
            OptionalNumber(|_, workload| workload.summary.joules_per_epoch),
        ),
        Column::in_unit(
            "samples_per_joule",
            "samples/J",
            "samples per second for each watt",
            OptionalNumber(|_, workload| workload.summary.samples_per_joule),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_column_has_a_name_of_its_own() {
        let columns = columns();
        let names: BTreeSet<_> = columns.iter().map(|column| column.name).collect();
        assert_eq!(names.len(), columns.len());
    }

    #[test]
    fn data_dictionary_is_current() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/columns.csv");
        let line = |column: &Column<LocalRun>| {
            let cells = [column.name, column.unit.unwrap_or_default(), column.meaning];
            cells.map(results::csv::cell).join(",") + "\n"
        };
        let expected = "name,unit,meaning\n".to_owned() + &columns().iter().map(line).collect::<String>();
        if std::env::var_os("UPDATE_COLUMNS").is_some() {
            std::fs::write(file, &expected).unwrap();
        }
        let stored = std::fs::read_to_string(file).unwrap_or_default();
        assert!(stored == expected, "docs/columns.csv is old; run with UPDATE_COLUMNS=1 and commit the file");
    }
}
