use std::fmt::Display;
use std::io::{self, Write};

use console::{Style, Term};

use crate::failure::Failure;

/// Columns of a terminal that does not say how many it has.
const USUAL_WIDTH: usize = 80;
/// Prose wider than this is hard to read, however wide the terminal.
const PROSE_WIDTH: usize = 100;

/// Where something is shown: results on standard output, all else on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Screen {
    Output,
    Error,
}

impl Screen {
    /// Columns of the terminal. Without one there is no limit: a script wants its lines whole.
    pub(crate) fn width(self) -> usize {
        let term = self.term();
        if !term.is_term() {
            return usize::MAX;
        }
        term.size_checked().map_or(USUAL_WIDTH, |(_, columns)| usize::from(columns))
    }

    /// Whether something may be drawn over and over.
    pub(crate) fn is_terminal(self) -> bool {
        self.term().is_term() && !console::is_dumb()
    }

    /// The text in this style, or as it is where colours are not wanted (`NO_COLOR`, a pipe, a file).
    pub(crate) fn paint(self, style: Style, text: impl Display) -> String {
        let style = match self {
            Self::Output => style.for_stdout(),
            Self::Error => style.for_stderr(),
        };
        style.apply_to(text).to_string()
    }

    /// # Errors
    /// Standard output is closed, or its disc is full. A closed standard error is no reason to stop.
    pub(crate) fn line(self, text: &str) -> Result<(), Failure> {
        match self {
            Self::Output => writeln!(io::stdout().lock(), "{text}").map_err(Failure::Output),
            Self::Error => {
                let _ = writeln!(io::stderr().lock(), "{text}");
                Ok(())
            }
        }
    }

    /// Prose, wrapped to the width and indented after the first line.
    ///
    /// # Errors
    /// As [`Screen::line`].
    pub(crate) fn prose(self, first: &str, text: &str, indent: usize) -> Result<(), Failure> {
        self.line(&self.wrapped(first, text, indent))
    }

    /// The lines of [`Screen::prose`].
    pub(crate) fn wrapped(self, first: &str, text: &str, indent: usize) -> String {
        let width = match self.width() {
            usize::MAX => usize::MAX,
            columns => columns.min(PROSE_WIDTH),
        };
        wrap(first, text, indent, width)
    }

    fn term(self) -> Term {
        match self {
            Self::Output => Term::stdout(),
            Self::Error => Term::stderr(),
        }
    }
}

/// `first` and then the words of `text`, no line wider than `width` where words allow, all lines but the first indented.
fn wrap(first: &str, text: &str, indent: usize, width: usize) -> String {
    let mut lines = first.to_owned();
    let mut column = console::measure_text_width(first);
    let mut line_is_empty = true;
    for word in words(text) {
        let length = console::measure_text_width(&word);
        if !line_is_empty && column + 1 + length > width {
            lines.push('\n');
            lines.push_str(&" ".repeat(indent));
            column = indent;
            line_is_empty = true;
        }
        if !line_is_empty {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(&word);
        column += length;
        line_is_empty = false;
    }
    lines
}

/// The words of `text`; a number keeps the unit behind it, such as `97 %` or `30 s`.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let unit = word.trim_end_matches([',', '.', ';', ')']);
        let after_number = words.last().is_some_and(|last| last.ends_with(|c: char| c.is_ascii_digit()));
        match words.last_mut() {
            Some(last) if after_number && ["%", "s", "ms", "µs", "min", "samples/s"].contains(&unit) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_wrapped_at_words_and_indented() {
        assert_eq!(wrap("! ", "one two three four", 2, 10), "! one two\n  three\n  four");
        assert_eq!(wrap("", "unbreakable", 0, 4), "unbreakable");
        assert_eq!(wrap("", "about 97.5 %, or so", 0, 10), "about\n97.5 %, or\nso");
    }
}
