//! Lines of the table, as RFC 4180 writes them but for the line feed at their end.

use crate::Run;
use crate::column::Column;
use crate::values::Cell;

/// The line of names.
pub fn write_header<R>(text: &mut String, columns: &[Column<R>]) {
    write_line(text, columns.iter().map(|column| Cell::Text(column.name)));
}

/// A line for each workload.
pub fn write_run<R: Run>(text: &mut String, columns: &[Column<R>], run: &R) {
    for workload in &run.record().workloads {
        write_line(text, columns.iter().map(|column| column.values.cell(run, workload)));
    }
}

fn write_line<'a>(text: &mut String, cells: impl Iterator<Item = Cell<'a>>) {
    for (number, cell) in cells.enumerate() {
        if number > 0 {
            text.push(',');
        }
        match cell {
            Cell::Empty => {}
            Cell::Text(value) => text.push_str(&results::csv::cell(value)),
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
    fn a_text_is_quoted_where_it_must_be() {
        let cells = ["plain", "a,b", "say \"hi\"", "two\nlines", "显卡"].map(Cell::Text);
        assert_eq!(line(cells), "plain,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",显卡\n");
    }

    #[test]
    fn no_text_is_a_formula_and_numbers_stay_numbers() {
        for (text, expected) in [
            ("=1+1", "'=1+1\n"),
            ("+1", "'+1\n"),
            ("-1", "'-1\n"),
            ("@SUM(A1)", "'@SUM(A1)\n"),
            ("\t=1", "'\t=1\n"),
            ("\r=1", "\"'\r=1\"\n"),
            ("'quoted'", "''quoted'\n"),
            ("=A1,\"x\"", "\"'=A1,\"\"x\"\"\"\n"),
            ("a=b", "a=b\n"),
        ] {
            assert_eq!(line([Cell::Text(text)]), expected);
        }
        assert_eq!(line([Cell::Number(-1.5), Cell::Empty, Cell::Flag(true)]), "-1.5,,true\n");
    }
}
