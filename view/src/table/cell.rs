//! Unrounded values in named columns, for programs.

use std::borrow::Borrow;

use serde::{Serialize, Serializer};

/// Value in a table row.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum SheetCell {
    Empty,
    Text(String),
    Whole(u64),
    Number(f64),
    Flag(bool),
    /// Seconds since 1970 UTC.
    Moment(f64),
}

impl From<&str> for SheetCell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for SheetCell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<f64> for SheetCell {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<u64> for SheetCell {
    fn from(whole: u64) -> Self {
        Self::Whole(whole)
    }
}

impl From<u32> for SheetCell {
    fn from(whole: u32) -> Self {
        Self::Whole(whole.into())
    }
}

impl From<usize> for SheetCell {
    fn from(count: usize) -> Self {
        Self::Whole(count as u64)
    }
}

impl From<bool> for SheetCell {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl<T: Into<Self>> From<Option<T>> for SheetCell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Empty, Into::into)
    }
}

/// Rows of values, each with the length of `columns`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<SheetCell>>,
}

impl Sheet {
    pub fn new(columns: &[&str]) -> Self {
        Self { columns: columns.iter().map(|&column| column.to_owned()).collect(), rows: Vec::new() }
    }

    /// Returns the sheet as CSV with a header line.
    pub fn csv(&self) -> String {
        let mut text = String::new();
        write_line(&mut text, self.columns.iter().map(|name| SheetCell::from(name.as_str())));
        self.rows.iter().for_each(|row| write_line(&mut text, row));
        text
    }

    /// Returns a JSON document per row, one per line.
    ///
    /// # Errors
    /// Never in practice, because all values have JSON.
    pub fn json_lines(&self) -> serde_json::Result<String> {
        let line = |row: &Vec<_>| serde_json::to_string(&NamedCells { names: &self.columns, row });
        Ok(self.rows.iter().map(line).collect::<Result<Vec<_>, _>>()?.join("\n"))
    }
}

/// Row with its names, in column order, which a map would not preserve.
struct NamedCells<'a> {
    names: &'a [String],
    row: &'a [SheetCell],
}

impl Serialize for NamedCells<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.names.iter().zip(self.row))
    }
}

/// Writes a line as in RFC 4180, except that it ends with a line feed.
pub(crate) fn write_line(text: &mut String, cells: impl IntoIterator<Item = impl Borrow<SheetCell>>) {
    for (number, cell) in cells.into_iter().enumerate() {
        if number > 0 {
            text.push(',');
        }
        match cell.borrow() {
            SheetCell::Empty => {}
            SheetCell::Text(value) => text.push_str(&results::csv::cell(value)),
            SheetCell::Whole(value) => text.push_str(&value.to_string()),
            SheetCell::Number(value) | SheetCell::Moment(value) => text.push_str(&value.to_string()),
            SheetCell::Flag(value) => text.push_str(&value.to_string()),
        }
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_quoted_and_never_a_formula() {
        for (text, expected) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            ("显卡", "显卡"),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("\r=1", "\"'\r=1\""),
            ("'quoted'", "''quoted'"),
            ("=A1,\"x\"", "\"'=A1,\"\"x\"\"\""),
            ("a=b", "a=b"),
        ] {
            let mut line = String::new();
            write_line(&mut line, [SheetCell::from(text), SheetCell::Number(-1.5), SheetCell::Empty, true.into()]);
            assert_eq!(line, format!("{expected},-1.5,,true\n"));
        }
    }

    #[test]
    fn texts_are_quoted_and_numbers_are_whole() {
        let mut sheet = Sheet::new(&["a, b", "c"]);
        sheet.rows.push(vec!["=1+1 \"x\"".into(), SheetCell::Number(0.1 + 0.2)]);
        sheet.rows.push(vec!["=1".into(), SheetCell::Empty]);
        assert_eq!(sheet.csv(), "\"a, b\",c\n\"'=1+1 \"\"x\"\"\",0.30000000000000004\n'=1,\n");
        let lines = "{\"a, b\":\"=1+1 \\\"x\\\"\",\"c\":0.30000000000000004}\n{\"a, b\":\"=1\",\"c\":null}";
        assert_eq!(sheet.json_lines().unwrap(), lines);
    }
}
