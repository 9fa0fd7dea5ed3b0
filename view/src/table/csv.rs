//! Table lines as in RFC 4180, except that they end with a line feed.

use std::borrow::Borrow;

use crate::table::{Column, HasRecord, SheetCell};

/// Writes the header line with the column names.
pub fn write_header<R>(text: &mut String, columns: &[Column<R>]) {
    write_line(text, columns.iter().map(|column| SheetCell::from(column.name)));
}

pub fn write_run<R: HasRecord>(text: &mut String, columns: &[Column<R>], run: &R) {
    for workload in &run.record().workloads {
        write_line(text, columns.iter().map(|column| column.values.cell(run, workload)));
    }
}

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
}
