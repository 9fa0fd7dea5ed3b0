//! Names of the files. What is called otherwise is not ours: it is neither offered nor deleted.

use std::fmt;

use results::open_data::ExportFormat;

use super::is_kept;

/// `gradmark-2026-11-23.csv.gz`, or that of its sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SnapshotName {
    day: String,
    format: ExportFormat,
    sum: bool,
}

const BEGINNING: &str = "gradmark-";
const SUM: &str = ".sha256";

/// Text is compressed here; a Parquet file is as it is.
fn ending(format: ExportFormat) -> &'static str {
    match format {
        ExportFormat::Csv => ".csv.gz",
        ExportFormat::Jsonl => ".jsonl.gz",
        ExportFormat::Parquet => ".parquet",
    }
}

impl SnapshotName {
    pub(super) fn new(day: String, format: ExportFormat) -> Self {
        Self { day, format, sum: false }
    }

    pub(super) fn parse(name: &str) -> Option<Self> {
        let (day, rest) = name.strip_prefix(BEGINNING)?.split_at_checked("2026-11-23".len())?;
        let (rest, sum) = rest.strip_suffix(SUM).map_or((rest, false), |rest| (rest, true));
        let format = ExportFormat::ALL.into_iter().find(|format| ending(*format) == rest)?;
        is_day(day).then(|| Self { day: day.to_owned(), format, sum })
    }

    pub(super) fn day(&self) -> &str {
        &self.day
    }

    pub(super) fn is_sum(&self) -> bool {
        self.sum
    }

    /// Whether it is neither too old nor of a day that is far ahead.
    pub(super) fn is_kept(&self, now: f64) -> bool {
        is_kept(&self.day, now)
    }
}

impl fmt::Display for SnapshotName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sum = if self.sum { SUM } else { "" };
        write!(formatter, "{BEGINNING}{}{}{sum}", self.day, ending(self.format))
    }
}

fn is_day(text: &str) -> bool {
    text.bytes().enumerate().all(|(place, byte)| match place {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for format in ExportFormat::ALL {
            let name = SnapshotName::new("2026-11-23".to_owned(), format);
            assert_eq!(SnapshotName::parse(&name.to_string()), Some(name.clone()));
            let sum = SnapshotName::parse(&format!("{name}.sha256")).unwrap();
            assert!(sum.is_sum() && sum.to_string() == format!("{name}.sha256") && sum.day() == "2026-11-23");
        }
    }

    #[test]
    fn other_files_are_not_ours() {
        for name in [
            "gradmark.sqlite",
            "gradmark.sqlite.secret",
            "gradmark-2026-11-23.csv",
            "gradmark-2026-11-23.parquet.sha256.sha256",
            "gradmark-2026-11-2.parquet",
            "gradmark-2026-11-23",
            "gradmark-20261-1-3.parquet",
            "gradmark-2026-11-2é.parquet",
            "gradmark-../../etc.parquet",
            "../gradmark-2026-11-23.parquet",
            ".gradmark-2026-11-23.parquet.partial",
            "",
        ] {
            assert_eq!(SnapshotName::parse(name), None, "{name}");
        }
    }
}
