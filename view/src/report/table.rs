//! Tables of text, with the same values unrounded as CSV.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::table::{Sheet, SheetCell};
use crate::text::brief;

/// Characters that a data URL encodes: all except the unreserved ones of RFC 3986 and the comma.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b',');

pub(crate) const ABSENT: &str = "–";

/// Returns a link that contains the CSV of a sheet.
pub(crate) fn data_url(sheet: &Sheet) -> String {
    format!("data:text/csv;charset=utf-8,{}", utf8_percent_encode(&sheet.csv(), ENCODED))
}

/// Formats an unrounded value for a table of them.
pub(crate) fn briefly(value: &SheetCell) -> String {
    match value {
        SheetCell::Empty => String::new(),
        SheetCell::Text(text) => text.clone(),
        SheetCell::Whole(whole) => whole.to_string(),
        SheetCell::Flag(flag) => flag.to_string(),
        SheetCell::Number(number) | SheetCell::Moment(number) => brief(*number),
    }
}

pub(crate) struct Shown {
    text: String,
    value: SheetCell,
}

impl<T: Into<SheetCell>> From<T> for Shown {
    fn from(value: T) -> Self {
        let value = value.into();
        Self { text: briefly(&value), value }
    }
}

/// Formats a number, or shows a dash if it is absent.
pub(crate) fn shown(value: impl Into<Option<f64>>, text: impl FnOnce(f64) -> String) -> Shown {
    let value = value.into();
    Shown { text: value.map_or_else(|| ABSENT.to_owned(), text), value: value.into() }
}

/// Column of a table, with the value of each row.
pub(crate) struct ReportColumn<R> {
    /// Heading; absent if only the CSV has the column.
    title: Option<&'static str>,
    /// Name in the CSV; empty if only the table has the column.
    name: &'static str,
    is_number: bool,
    value: fn(&R) -> Shown,
}

pub(crate) const fn words<R>(title: &'static str, name: &'static str, value: fn(&R) -> Shown) -> ReportColumn<R> {
    ReportColumn { title: Some(title), name, is_number: false, value }
}

pub(crate) const fn number<R>(title: &'static str, name: &'static str, value: fn(&R) -> Shown) -> ReportColumn<R> {
    ReportColumn { title: Some(title), name, is_number: true, value }
}

/// Creates a column that only the CSV has.
pub(crate) const fn hidden<R>(name: &'static str, value: fn(&R) -> Shown) -> ReportColumn<R> {
    ReportColumn { title: None, name, is_number: false, value }
}

/// Table of text, with a sheet of the unrounded values.
pub(crate) struct Table {
    pub(crate) caption: String,
    /// Titles of the columns, each with true if it has numbers.
    pub(crate) heads: Vec<(&'static str, bool)>,
    /// Rows with the length of `heads`; the first cell names the row.
    pub(crate) rows: Vec<Vec<String>>,
    pub(crate) sheet: Sheet,
    /// True for details that are initially collapsed.
    pub(crate) is_folded: bool,
}

impl Table {
    pub(crate) fn of<R>(caption: impl Into<String>, rows: &[R], columns: &[ReportColumn<R>]) -> Self {
        let names: Vec<&str> = columns.iter().map(|column| column.name).filter(|name| !name.is_empty()).collect();
        let head = |column: &ReportColumn<R>| Some((column.title?, column.is_number));
        let mut table = Self {
            caption: caption.into(),
            heads: columns.iter().filter_map(head).collect(),
            rows: Vec::new(),
            sheet: Sheet::new(&names),
            is_folded: false,
        };
        for row in rows {
            let (mut texts, mut values) = (Vec::new(), Vec::new());
            for column in columns {
                let Shown { text, value } = (column.value)(row);
                texts.extend(column.title.map(|_| text));
                values.extend(Some(value).filter(|_| !column.name.is_empty()));
            }
            table.rows.push(texts);
            table.sheet.rows.push(values);
        }
        table
    }

    pub(crate) fn folded(self) -> Self {
        Self { is_folded: true, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_have_only_plain_characters() {
        assert_eq!(data_url(&Sheet::new(&["ü #"])), "data:text/csv;charset=utf-8,%C3%BC%20%23%0A");
    }
}
