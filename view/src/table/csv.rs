//! Table lines as in RFC 4180, except that they end with a line feed.

use crate::table::{Cell, Column, Run};

/// Writes the header line with the column names.
pub fn write_header<R>(text: &mut String, columns: &[Column<R>]) {
    write_line(text, columns.iter().map(|column| Cell::Text(column.name.into())));
}

pub fn write_run<R: Run>(text: &mut String, columns: &[Column<R>], run: &R) {
    for workload in &run.record().workloads {
        write_line(text, columns.iter().map(|column| column.values.cell(run, workload)));
    }
}

pub(crate) fn write_line<'a>(text: &mut String, cells: impl Iterator<Item = Cell<'a>>) {
    for (number, cell) in cells.enumerate() {
        if number > 0 {
            text.push(',');
        }
        match cell {
            Cell::Empty => {}
            Cell::Text(value) => text.push_str(&results::csv::cell(&value)),
            Cell::Whole(value) => text.push_str(&value.to_string()),
            Cell::Number(value) | Cell::Moment(value) => text.push_str(&value.to_string()),
            Cell::Flag(value) => text.push_str(&value.to_string()),
        }
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line<'a>(cells: impl IntoIterator<Item = Cell<'a>>) -> String {
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
            assert_eq!(line([Cell::Text(text.into())]), format!("{expected}\n"));
        }
        assert_eq!(line([Cell::Number(-1.5), Cell::Empty, Cell::Flag(true)]), "-1.5,,true\n");
    }
}
