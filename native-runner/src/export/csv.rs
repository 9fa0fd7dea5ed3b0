use results::csv::cell;
use serde_json::Value;

use super::{Format, Report};
use crate::failure::Failure;
use crate::screen::Screen;

/// A table for spreadsheets and statistics, with the names of the columns first.
#[derive(Debug)]
pub(super) struct Csv;

impl Format for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn text(&self, report: &Report, _screen: Screen) -> Result<String, Failure> {
        let names = report.sheet.columns.iter().map(|name| cell(name).into_owned()).collect::<Vec<_>>().join(",");
        let row = |row: &Vec<Value>| row.iter().map(value).collect::<Vec<_>>().join(",");
        Ok([names].into_iter().chain(report.sheet.rows.iter().map(row)).collect::<Vec<_>>().join("\n"))
    }
}

fn value(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => cell(text).into_owned(),
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        // JSON in a cell.
        Value::Array(_) | Value::Object(_) => cell(&value.to_string()).into_owned(),
    }
}
