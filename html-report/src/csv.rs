//! Tables of raw values, as CSV and as links that hold it.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use results::csv::cell;

/// Everything in a data URL but what RFC 3986 leaves alone, and the comma, of which CSV has many.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b',');

/// One value, unrounded.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Number(f64),
    Empty,
}

/// Values under names with their units.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sheet {
    pub(crate) columns: Vec<String>,
    /// Each as long as the names.
    pub(crate) rows: Vec<Vec<Value>>,
}

impl From<Option<f64>> for Value {
    fn from(number: Option<f64>) -> Self {
        number.map_or(Self::Empty, Self::Number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
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

impl Sheet {
    pub(crate) fn new(columns: &[&str]) -> Self {
        Self { columns: columns.iter().map(|&column| column.to_owned()).collect(), rows: Vec::new() }
    }

    /// As RFC 4180 writes it, but for the line feed at the end of lines.
    pub(crate) fn csv(&self) -> String {
        let names = self.columns.iter().map(|name| cell(name)).collect::<Vec<_>>().join(",");
        let row = |row: &Vec<Value>| row.iter().map(Value::csv).collect::<Vec<_>>().join(",");
        [names].into_iter().chain(self.rows.iter().map(row)).map(|line| line + "\n").collect()
    }

    /// A link that holds all of it.
    pub(crate) fn data_url(&self) -> String {
        format!("data:text/csv;charset=utf-8,{}", utf8_percent_encode(&self.csv(), ENCODED))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_and_numbers_are_whole() {
        let mut sheet = Sheet::new(&["a, b", "c"]);
        sheet.rows.push(vec![Value::from("=1+1 \"x\""), Value::Number(0.1 + 0.2)]);
        sheet.rows.push(vec![Value::Text("=1".to_owned()), Value::Empty]);
        assert_eq!(sheet.csv(), "\"a, b\",c\n\"'=1+1 \"\"x\"\"\",0.30000000000000004\n'=1,\n");
        assert_eq!(Sheet::new(&["ü #"]).data_url(), "data:text/csv;charset=utf-8,%C3%BC%20%23%0A");
    }
}
