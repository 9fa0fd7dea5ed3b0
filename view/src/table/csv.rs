//! Table lines as in RFC 4180, except that they end with a line feed.

use crate::table::{Column, HasRecord, TableCell};

/// Writes the header line with the column names.
pub fn write_header<R>(text: &mut String, columns: &[Column<R>]) {
    write_line(text, columns.iter().map(|column| TableCell::Text(column.name.into())));
}

pub fn write_run<R: HasRecord>(text: &mut String, columns: &[Column<R>], run: &R) {
    for workload in &run.record().workloads {
        write_line(text, columns.iter().map(|column| column.values.cell(run, workload)));
    }
}

pub(crate) fn write_line<'a>(text: &mut String, cells: impl Iterator<Item = TableCell<'a>>) {
    for (number, cell) in cells.enumerate() {
        if number > 0 {
            text.push(',');
        }
        match cell {
            TableCell::Empty => {}
            TableCell::Text(value) => text.push_str(&results::csv::cell(&value)),
            TableCell::Whole(value) => text.push_str(&value.to_string()),
            TableCell::Number(value) | TableCell::Moment(value) => text.push_str(&value.to_string()),
            TableCell::Flag(value) => text.push_str(&value.to_string()),
        }
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line<'a>(cells: impl IntoIterator<Item = TableCell<'a>>) -> String {
        let mut text = String::new();
        write_line(&mut text, cells.into_iter());
        text
    }

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
            assert_eq!(line([TableCell::Text(text.into())]), format!("{expected}\n"));
        }
        assert_eq!(line([TableCell::Number(-1.5), TableCell::Empty, TableCell::Flag(true)]), "-1.5,,true\n");
    }
}
