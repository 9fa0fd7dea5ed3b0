use std::fmt::Display;
use std::io::{self, Write};

use console::{Alignment, Style, Term, measure_text_width, pad_str, truncate_str};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::time::uptime;

use crate::failure::{Failure, Result};

const DEFAULT_WIDTH: usize = 80;
const PROSE_WIDTH: usize = 100;

/// Standard output for results, standard error for everything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Screen {
    Output,
    Error,
}

impl Screen {
    /// Returns the width of the terminal in columns; unlimited without one, because scripts need whole lines.
    pub(crate) fn width(self) -> usize {
        let term = self.term();
        if !term.is_term() {
            return usize::MAX;
        }
        term.size_checked().map_or(DEFAULT_WIDTH, |(_, columns)| usize::from(columns))
    }

    pub(crate) fn is_terminal(self) -> bool {
        self.term().is_term() && !console::is_dumb()
    }

    /// Styles the text unless colors are unwanted (`NO_COLOR`, a pipe, a file).
    pub(crate) fn paint(self, style: Style, text: impl Display) -> String {
        let style = match self {
            Self::Output => style.for_stdout(),
            Self::Error => style.for_stderr(),
        };
        style.apply_to(text).to_string()
    }

    pub(crate) fn bold(self, text: impl Display) -> String {
        self.paint(Style::new().bold(), text)
    }

    pub(crate) fn label(self, text: &str, width: usize) -> String {
        self.paint(Style::new().dim(), format!("{text:<width$}"))
    }

    pub(crate) fn line(self, text: &str) -> Result<()> {
        match self {
            Self::Output => writeln!(io::stdout().lock(), "{text}").map_err(Failure::Output),
            Self::Error => {
                let _ = writeln!(io::stderr().lock(), "{text}");
                Ok(())
            }
        }
    }

    /// Prints prose, wrapped to the width and indented after the first line.
    pub(crate) fn prose(self, first: &str, text: &str, indent: usize) -> Result<()> {
        self.line(&self.wrapped(first, text, indent))
    }

    pub(crate) fn heading(self, title: &str) -> Result<()> {
        self.line("")?;
        self.line(&self.bold(title))
    }

    pub(crate) fn note(self, mark: NoteMark, text: &str) -> String {
        self.wrapped(&format!("{} ", mark.shown(self)), text, 2)
    }

    pub(crate) fn caution(self, text: &str) -> Result<()> {
        self.line(&self.note(NoteMark::Careful, text))
    }

    /// Prints an empty line and the cautions, if there are any.
    pub(crate) fn cautions(self, texts: impl IntoIterator<Item = String>) -> Result<()> {
        let mut texts = texts.into_iter().peekable();
        texts.peek().map_or(Ok(()), |_| self.line(""))?;
        texts.try_for_each(|text| self.caution(&text))
    }

    pub(crate) fn legend(self, text: &str) -> Result<()> {
        self.wrapped("", text, 0).lines().try_for_each(|line| self.line(&self.paint(Style::new().dim(), line)))
    }

    pub(crate) fn table(self, table: &TextTable) -> Result<()> {
        table.lines(self, self.width()).iter().try_for_each(|line| self.line(line))
    }

    pub(crate) fn wrapped(self, first: &str, text: &str, indent: usize) -> String {
        wrap(first, text, indent, if self.term().is_term() { self.width().min(PROSE_WIDTH) } else { usize::MAX })
    }

    fn term(self) -> Term {
        match self {
            Self::Output => Term::stdout(),
            Self::Error => Term::stderr(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoteMark {
    Good,
    Bad,
    /// Unknown.
    Open,
    /// Reason to doubt the results.
    Careful,
    Plain,
}

impl NoteMark {
    /// Returns the style and the mark for terminals, and the mark for Markdown.
    fn forms(self) -> (Style, &'static str, &'static str) {
        match self {
            Self::Good => (Style::new().green(), "✓", "✅ "),
            Self::Bad => (Style::new().red(), "✗", "❌ "),
            Self::Open => (Style::new().yellow(), "?", "❔ "),
            Self::Careful => (Style::new().yellow(), "!", "⚠️ "),
            Self::Plain => (Style::new(), " ", ""),
        }
    }

    pub(crate) fn shown(self, screen: Screen) -> String {
        let (style, mark, _) = self.forms();
        screen.paint(style.bold(), mark)
    }

    pub(crate) fn in_markdown(self) -> &'static str {
        self.forms().2
    }
}

/// Joins `first` and the words of `text` into lines of at most `width` columns, unless a single word is longer.
fn wrap(first: &str, text: &str, indent: usize, width: usize) -> String {
    let mut lines = first.to_owned();
    let mut column = measure_text_width(first);
    for (index, word) in words(text).iter().enumerate() {
        let length = measure_text_width(word);
        if index > 0 && column + 1 + length > width {
            lines.push_str(&format!("\n{}", " ".repeat(indent)));
            column = indent;
        } else if index > 0 {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += length;
    }
    lines
}

/// Splits text into words; a number keeps its unit, such as `97 %` or `30 s`.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let unit = word.trim_end_matches([',', '.', ';', ')']);
        let after_number = words.last().is_some_and(|last| last.ends_with(|c: char| c.is_ascii_digit()));
        match words.last_mut() {
            Some(last) if after_number && ["%", "s", "ms", "µs", "min", "samples/s"].contains(&unit) => {
                last.push_str(&format!(" {word}"));
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

const GAP: usize = 2;

/// Columns of values with row titles on the left.
pub(crate) struct TextTable {
    pub(crate) titles: Vec<String>,
    pub(crate) columns: Vec<TableColumn>,
}

pub(crate) struct TableColumn {
    /// May have several lines, such as a second one with the unit.
    pub(crate) name: String,
    pub(crate) cells: Vec<String>,
}

pub(crate) const NONE: &str = "–";

impl TableColumn {
    /// Absent cells are shown as [`NONE`].
    pub(crate) fn new(name: &str, cells: impl IntoIterator<Item = Option<String>>) -> Self {
        let cells = cells.into_iter().map(|cell| cell.unwrap_or_else(|| NONE.to_owned())).collect();
        Self { name: name.to_owned(), cells }
    }

    fn width(&self) -> usize {
        let cells = self.cells.iter().map(String::as_str);
        cells.chain(self.name.lines()).map(measure_text_width).max().unwrap_or(0)
    }
}

/// Heading of a column, and the cell of each row.
pub(crate) type TextColumn<'a, T> = (&'a str, &'a dyn Fn(&T) -> Option<String>);

/// Items, and the titles of their rows in a table.
pub(crate) struct TableRows<'a, T> {
    pub(crate) items: &'a [T],
    pub(crate) titles: Vec<String>,
}

impl<'a, T> TableRows<'a, T> {
    pub(crate) fn new(items: &'a [T], title: impl Fn(&T) -> String) -> Self {
        Self { items, titles: items.iter().map(title).collect() }
    }

    /// Builds a table with a row for each item. Absent cells are shown as [`NONE`].
    pub(crate) fn columns(self, columns: &[TextColumn<'_, T>]) -> TextTable {
        let column = |(name, cell): &TextColumn<'_, T>| TableColumn::new(name, self.items.iter().map(cell));
        TextTable { titles: self.titles, columns: columns.iter().map(column).collect() }
    }
}

impl TextTable {
    /// Formats the table. Columns that do not fit next to each other follow below, under the same titles.
    pub(crate) fn lines(&self, screen: Screen, width: usize) -> Vec<String> {
        let title_width = self.titles.iter().map(|title| measure_text_width(title)).max().unwrap_or(0);
        let mut lines = Vec::new();
        let mut rest = self.columns.as_slice();
        while !rest.is_empty() {
            let mut used = title_width;
            let fits = rest.iter().take_while(|column| {
                used += GAP + column.width();
                used <= width
            });
            let (block, after) = rest.split_at(fits.count().max(1));
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.extend(self.block(block, screen, width, title_width));
            rest = after;
        }
        lines
    }

    fn block(&self, columns: &[TableColumn], screen: Screen, width: usize, title_width: usize) -> Vec<String> {
        let figures: usize = columns.iter().map(|column| GAP + column.width()).sum();
        // On a very narrow screen the titles are cut, never the values.
        let title_width = title_width.min(width.saturating_sub(figures)).max(8);
        let row = |title: &str, cell: &dyn Fn(&TableColumn) -> String| {
            let title = truncate_str(title, title_width, "…");
            let mut line = pad_str(&title, title_width, Alignment::Left, None).into_owned();
            for column in columns {
                line.push_str(&" ".repeat(GAP));
                line.push_str(&pad_str(&cell(column), column.width(), Alignment::Right, None));
            }
            line
        };
        let heads = columns.iter().map(|column| column.name.lines().count()).max().unwrap_or(0).max(1);
        let head = |line| row("", &|column| screen.bold(column.name.lines().nth(line).unwrap_or_default()));
        let rule = screen.paint(Style::new().dim(), "─".repeat(title_width + figures));
        let rows = self.titles.iter().enumerate();
        let rows = rows.map(|(index, title)| row(title, &|column| column.cells[index].clone()));
        (0..heads).map(head).chain([rule]).chain(rows).collect()
    }
}

/// Log filters by number of `-v`: own events; more of them, and events of libraries; everything.
const LOG_FILTERS: [&str; 4] =
    ["warn,native_runner=info", "info,native_runner=debug", "debug,native_runner=trace", "trace"];

/// Shows logs from now on, each with the seconds since the program's start.
pub(crate) fn show_logs(times_asked: u8) {
    let Some(filter) = log_filter(times_asked) else { return };
    // Colors as everywhere else: none for files, pipes and `NO_COLOR`.
    let coloured = Screen::Error.bold("log") != "log";
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter))
        .with_timer(uptime())
        .with_writer(io::stderr)
        // Logging internal errors would panic if standard error is closed.
        .log_internal_errors(false)
        .with_ansi(coloured)
        .init();
}

/// Returns true if log lines may appear at any time, so that progress bars must not be drawn.
pub(crate) fn are_logs_shown() -> bool {
    tracing::dispatcher::has_been_set()
}

fn log_filter(times_asked: u8) -> Option<&'static str> {
    usize::from(times_asked).checked_sub(1).map(|index| LOG_FILTERS[index.min(LOG_FILTERS.len() - 1)])
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

    fn lines(width: usize) -> Vec<String> {
        let column = |name, cells: [&str; 2]| TableColumn::new(name, cells.map(|cell| Some(cell.to_owned())));
        let table = TextTable {
            titles: ["Throughput", "Accuracy"].map(str::to_owned).to_vec(),
            columns: vec![column("first", ["3412 samples/s", "97.61 %"]), column("second", ["12 samples/s", "–"])],
        };
        table.lines(Screen::Output, width).iter().map(|line| console::strip_ansi_codes(line).into_owned()).collect()
    }

    #[test]
    fn figures_stand_under_their_names_aligned_to_the_right() {
        let expected = [
            "                     first        second",
            "────────────────────────────────────────",
            "Throughput  3412 samples/s  12 samples/s",
            "Accuracy           97.61 %             –",
        ];
        assert_eq!(lines(80), expected);
    }

    #[test]
    fn columns_that_do_not_fit_follow_below() {
        let narrow = lines(24);
        assert_eq!(narrow[0], "                   first");
        assert_eq!(narrow[2], "Through…  3412 samples/s");
        assert_eq!(narrow[4], "");
        assert_eq!(narrow[7], "Throughput  12 samples/s");
        assert!(narrow.iter().all(|line| measure_text_width(line) <= 24), "{narrow:?}");
    }

    #[test]
    fn every_v_shows_more_and_none_shows_nothing() {
        let filters = [0, 1, 2, 200].map(log_filter);
        assert_eq!(filters, [None, Some(LOG_FILTERS[0]), Some(LOG_FILTERS[1]), Some(LOG_FILTERS[3])]);
        for text in LOG_FILTERS {
            let error = EnvFilter::builder().parse(text).err();
            assert!(error.is_none(), "{text}: {error:?}");
        }
    }
}
