//! Suites of kernels as a person reads them.

use results::kernels::{KernelRecord, KernelSummary};

use super::table::Row;
use crate::commands::compare_table::NONE;
use crate::figures::figure;
use crate::kernel_results::amount;
use crate::table::{Column, Table};

pub(super) const ABOUT: &str = "Shares are of the peak of arithmetic that was measured in turns with each entry: the median of \
                                all entries with figures, the lowest and the highest. Entries without one take longer than \
                                their budget allows, need more memory, or are done by no kernel; the files of the cells and \
                                the report say which.";

/// A line for each suite on each adapter.
pub(super) fn table(rows: &[Row<'_>], titles: Vec<String>) -> Table {
    let records: Vec<Option<&KernelRecord>> =
        rows.iter().map(|row| row.finished.iter().find_map(|finished| finished.kernels())).collect();
    let column = |name: &str, cell: &dyn Fn(&KernelRecord) -> Option<String>| Column {
        name: name.to_owned(),
        cells: records.iter().map(|of| of.and_then(cell).unwrap_or_else(|| NONE.to_owned())).collect(),
    };
    let summary = |record: &KernelRecord| KernelSummary::of(&record.report.entries);
    let percent = |share: Option<f64>| Some(format!("{:.1}", share? * 100.0));
    Table {
        titles,
        columns: vec![
            column("measured\nentries", &|of| {
                let KernelSummary { entries, measured, .. } = summary(of);
                (entries > 0).then(|| format!("{measured} of {entries}"))
            }),
            column("of peak\nmedian %", &|of| percent(summary(of).peak_share)),
            column("lowest\n%", &|of| percent(summary(of).peak_share_lowest)),
            column("highest\n%", &|of| percent(summary(of).peak_share_highest)),
            column("best rate", &|of| Some(figure("flops_per_second", summary(of).flops_per_second?))),
            column("peaks of the device", &|of| Some(peaks(of)).filter(|text| !text.is_empty())),
        ],
    }
}

/// The values of what a device can do at best; the order of the suites names them.
fn peaks(record: &KernelRecord) -> String {
    let values = record.report.peaks.iter().map(|peak| amount(peak.unit, peak.value));
    values.collect::<Vec<_>>().join(", ")
}
