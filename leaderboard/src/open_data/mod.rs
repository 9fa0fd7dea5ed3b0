//! All visible results as one text, made a portion at a time, for whoever downloads it and for a file.

mod columns;
mod csv;

use results::api::StoredRun;
use results::open_data::{ExportAbout, ExportColumn, ExportFormat, LICENCE, LICENCE_ADDRESS};

use crate::limits::day_of;
use crate::storage::{Place, Storage, StorageError};
use columns::COLUMNS;

/// Runs that are in memory at once. Each has at most the size of an upload, and mostly a hundredth of that.
const RUNS_AT_ONCE: u32 = 16;

/// An export that has come so far.
///
/// Each portion is a query of its own, so that an export that takes minutes holds up nobody. A run that is deleted
/// meanwhile is absent from what follows, and one that comes meanwhile is at the end.
pub(crate) struct Export {
    storage: Storage,
    format: ExportFormat,
    place: Place,
    state: State,
    runs: u64,
    left_out: u64,
}

#[derive(PartialEq)]
enum State {
    Beginning,
    Going,
    Ended,
}

impl Export {
    pub(crate) fn new(storage: Storage, format: ExportFormat) -> Self {
        Self { storage, format, place: Place::BEGINNING, state: State::Beginning, runs: 0, left_out: 0 }
    }

    /// The next lines; nothing after the last ones.
    pub(crate) async fn next(&mut self) -> Result<Option<String>, StorageError> {
        if self.state == State::Ended {
            return Ok(None);
        }
        let portion = self.storage.visible_runs_after(&self.place, RUNS_AT_ONCE).await?;
        let mut text = String::new();
        if self.state == State::Beginning && self.format == ExportFormat::Csv {
            csv::write_header(&mut text);
        }
        self.state = State::Going;
        for run in &portion.runs {
            self.write(&mut text, run)?;
        }
        self.runs += portion.runs.len() as u64;
        self.left_out += portion.left_out;
        match portion.next {
            Some(place) => self.place = place,
            None => self.end(),
        }
        Ok(Some(text))
    }

    fn write(&self, text: &mut String, run: &StoredRun) -> Result<(), StorageError> {
        match self.format {
            ExportFormat::Csv => csv::write_run(text, run),
            ExportFormat::Jsonl => {
                text.push_str(&serde_json::to_string(run)?);
                text.push('\n');
            }
        }
        Ok(())
    }

    fn end(&mut self) {
        self.state = State::Ended;
        if self.left_out > 0 {
            tracing::warn!(left_out = self.left_out, "an export left out runs that cannot be read");
        }
    }

    /// Runs that were written so far.
    pub(crate) fn runs(&self) -> u64 {
        self.runs
    }

    /// Runs so far that are stored and cannot be read.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }
}

pub(crate) fn about(runs: u64) -> ExportAbout {
    let column = |column: &columns::Column| ExportColumn {
        name: column.name.to_owned(),
        unit: column.unit.map(ToOwned::to_owned),
        meaning: column.meaning.to_owned(),
    };
    ExportAbout {
        licence: LICENCE.to_owned(),
        licence_address: LICENCE_ADDRESS.to_owned(),
        runs,
        csv: "UTF-8, a line of names first, commas between cells, double quotes around cells that need them, a line feed \
              after each line. A run has a line for each of its workloads, whatever became of it. An empty cell means \
              that the run does not have the value, never zero. A text that begins with =, +, -, @, an apostrophe, a \
              tab, a line feed or a carriage return has one apostrophe more before it, so that no spreadsheet takes it \
              for a formula: take that one away to have the text as it was."
            .to_owned(),
        csv_columns: COLUMNS.iter().map(column).collect(),
        jsonl: "A JSON document in each line, one for each run, in the order in which they were submitted: what \
                /api/v1/runs/{id} answers. /api/v1/schema describes its record."
            .to_owned(),
    }
}

/// The day of a moment, as `2026-11-23`, UTC.
pub(crate) fn date(unix_seconds: f64) -> String {
    // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": years begin in March, so that a leap day is the last.
    let days = day_of(unix_seconds) + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0.0, "1970-01-01"),
            (951_782_399.0, "2000-02-28"),
            (951_782_400.0, "2000-02-29"),
            (951_868_800.0, "2000-03-01"),
            (1_800_000_000.0, "2027-01-15"),
            (4_107_542_399.5, "2100-02-28"),
            (4_107_542_400.0, "2100-03-01"),
        ] {
            assert_eq!(date(seconds), expected, "{seconds}");
        }
    }
}
