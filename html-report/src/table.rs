//! Tables of text, with the same values unrounded as CSV.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use results::csv::cell;

/// Characters that a data URL encodes: all except the unreserved ones of RFC 3986 and the comma.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b',');

/// Text of an absent value.
pub(crate) const ABSENT: &str = "–";

/// One unrounded value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Number(f64),
    Empty,
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Empty, Into::into)
    }
}

impl Value {
    fn csv(&self) -> String {
        match self {
            Self::Text(text) => cell(text).into_owned(),
            Self::Number(number) => number.to_string(),
            Self::Empty => String::new(),
        }
    }
}

/// Values in named columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sheet {
    pub(crate) columns: Vec<String>,
    /// Rows with the length of `columns`.
    pub(crate) rows: Vec<Vec<Value>>,
}

impl Sheet {
    pub(crate) fn new(columns: &[&str]) -> Self {
        Self { columns: columns.iter().map(|&column| column.to_owned()).collect(), rows: Vec::new() }
    }

    /// Returns the sheet as in RFC 4180, except that lines end with a line feed.
    pub(crate) fn csv(&self) -> String {
        let names = self.columns.iter().map(|name| cell(name)).collect::<Vec<_>>().join(",");
        let row = |row: &Vec<Value>| row.iter().map(Value::csv).collect::<Vec<_>>().join(",");
        [names].into_iter().chain(self.rows.iter().map(row)).map(|line| line + "\n").collect()
    }

    /// Returns a link that contains the CSV.
    pub(crate) fn data_url(&self) -> String {
        format!("data:text/csv;charset=utf-8,{}", utf8_percent_encode(&self.csv(), ENCODED))
    }
}

/// Table of text, with a sheet of the unrounded values.
pub(crate) struct Table {
    pub(crate) caption: String,
    pub(crate) heads: Vec<Head>,
    /// Rows with the length of `heads`; the first cell names the row.
    pub(crate) rows: Vec<Vec<String>>,
    pub(crate) sheet: Sheet,
    /// True for details that are initially collapsed.
    pub(crate) is_folded: bool,
}

/// Head of a text column.
#[derive(Clone, Copy)]
pub(crate) struct Head {
    pub(crate) title: &'static str,
    pub(crate) is_number: bool,
}

pub(crate) const fn words(title: &'static str) -> Head {
    Head { title, is_number: false }
}

pub(crate) const fn number(title: &'static str) -> Head {
    Head { title, is_number: true }
}

/// Text columns, with the text of each row.
pub(crate) type TextColumns<R> = [(Head, fn(&R) -> String)];
/// CSV columns, with the value of each row.
pub(crate) type ValueColumns<R> = [(&'static str, fn(&R) -> Value)];

impl Table {
    pub(crate) fn of<R>(caption: String, rows: &[R], texts: &TextColumns<R>, values: &ValueColumns<R>) -> Self {
        let mut sheet = Sheet::new(&values.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        sheet.rows = rows.iter().map(|row| values.iter().map(|(_, value)| value(row)).collect()).collect();
        Self {
            caption,
            heads: texts.iter().map(|(head, _)| *head).collect(),
            rows: rows.iter().map(|row| texts.iter().map(|(_, text)| text(row)).collect()).collect(),
            sheet,
            is_folded: false,
        }
    }

    pub(crate) fn folded(self) -> Self {
        Self { is_folded: true, ..self }
    }
}

/// Returns the text of a value, or a dash if it is absent.
pub(crate) fn or_absent(text: Option<String>) -> String {
    text.unwrap_or_else(|| ABSENT.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_and_numbers_are_whole() {
        let mut sheet = Sheet::new(&["a, b", "c"]);
        sheet.rows.push(vec!["=1+1 \"x\"".into(), Value::Number(0.1 + 0.2)]);
        sheet.rows.push(vec!["=1".into(), Value::Empty]);
        assert_eq!(sheet.csv(), "\"a, b\",c\n\"'=1+1 \"\"x\"\"\",0.30000000000000004\n'=1,\n");
        assert_eq!(Sheet::new(&["ü #"]).data_url(), "data:text/csv;charset=utf-8,%C3%BC%20%23%0A");
    }
}
