//! The columns of the table. Names stay as they were published; a new column is a line at the end of `record_columns`.

use record_table::Values::{Moment, Text};
use record_table::{Column, record_columns};
use results::api::StoredRun;

pub(super) fn columns() -> Vec<Column<StoredRun>> {
    let own: [Column<StoredRun>; 3] = [
        Column::of("run_id", "the run, whose page is /runs/RUN_ID", Text(|run, _| &run.run_id)),
        Column::in_unit(
            "submitted_unix_seconds",
            "s",
            "when it was handed in, since 1970 UTC",
            Moment(|run, _| run.submitted_unix_seconds),
        ),
        Column::of(
            "tier",
            "how far it was checked: proven, checked, unverified or flagged",
            Text(|run, _| run.tier.name()),
        ),
    ];
    own.into_iter().chain(record_columns()).collect()
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
}
