use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::{Format, Report};
use crate::failure::Failure;
use crate::screen::Screen;

/// An object in each line, with every column in it.
#[derive(Debug)]
pub(super) struct JsonLines;

impl Format for JsonLines {
    fn name(&self) -> &'static str {
        "json-lines"
    }

    fn text(&self, report: &Report, _screen: Screen) -> Result<String, Failure> {
        let line = |values| serde_json::to_string(&Row { columns: &report.sheet.columns, values });
        let lines: Result<Vec<String>, _> = report.sheet.rows.iter().map(line).collect();
        Ok(lines.map_err(|error| Failure::File { what: "JSON".to_owned(), source: error.into() })?.join("\n"))
    }
}

/// Values in the order of the columns, which a map of values would not keep.
struct Row<'a> {
    columns: &'a [String],
    values: &'a Vec<Value>,
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.columns.len()))?;
        for (column, value) in self.columns.iter().zip(self.values) {
            map.serialize_entry(column, value)?;
        }
        map.end()
    }
}
