//! The main figures, for people.

use results::{RunRecord, WorkloadRecord, metric};

use super::LocalRun;
use crate::export::{FORMATS, Mark, Note, Report, Section, Sheet};
use crate::failure::Failure;
use crate::report::throughput;
use crate::screen::Screen;
use crate::table::{Column, Table};

/// A cell for a workload of a run.
type Find = fn(&RunRecord, &WorkloadRecord) -> String;

const COLUMNS: [(&str, Find); 9] = [
    ("back end", |run, _| run.device.backend.clone()),
    ("device", |run, _| run.device.adapter.name.clone()),
    ("batch", |_, workload| workload.settings.batch_size.to_string()),
    ("seed", |run, _| run.seed.to_string()),
    ("outcome", |_, workload| workload.outcome.name().to_owned()),
    ("samples per second", |_, workload| throughput(workload).unwrap_or_else(|| "–".to_owned())),
    ("time of an epoch", |_, workload| shown("seconds_per_epoch", workload)),
    ("test accuracy", |_, workload| shown("accuracy", workload)),
    ("time to the target", |_, workload| shown("seconds_to_target", workload)),
];

pub(super) fn text(runs: &[LocalRun]) -> Result<String, Failure> {
    let rows: Vec<_> = runs.iter().flat_map(|run| run.record.workloads.iter().map(|of| (&run.record, of))).collect();
    let column = |(name, find): &(&str, Find)| Column {
        name: (*name).to_owned(),
        cells: rows.iter().map(|(run, workload)| find(run, workload)).collect(),
    };
    let table = Table {
        titles: rows.iter().map(|(_, workload)| workload.workload.clone()).collect(),
        columns: COLUMNS.iter().map(column).collect(),
    };
    let report = Report {
        headline: Note { mark: Mark::Plain, text: format!("{} workloads of {} runs", rows.len(), runs.len()) },
        sections: vec![Section {
            title: "Figures".to_owned(),
            conditions: String::new(),
            table: Some(table),
            notes: Vec::new(),
            is_detail: false,
        }],
        sheet: Sheet { columns: Vec::new(), rows: Vec::new() },
    };
    let markdown = FORMATS.iter().find(|format| format.name() == "markdown").expect("it is one of the formats");
    markdown.text(&report, Screen::Output).map(|text| text + "\n")
}

fn shown(id: &str, workload: &WorkloadRecord) -> String {
    metric(id).expect("it is in the registry of metrics").text_of(&workload.summary)
}
