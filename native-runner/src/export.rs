//! Reports of commands for people or programs: a command creates a [`TextReport`] and takes a [`Format`].

use clap::ValueEnum;
use view::table::Sheet;

use crate::failure::Result;
use crate::json_output::cannot_be_json;
use crate::screen::{NoteMark, Screen, TextTable};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Table,
    Markdown,
    Csv,
    JsonLines,
}

impl Format {
    /// Returns the report without a final newline.
    pub(crate) fn text(self, report: &TextReport, screen: Screen) -> Result<String> {
        match self {
            Self::Table => {
                let sections = report.sections.iter().map(|section| section.on_terminal(screen));
                let (mark, headline) = &report.headline;
                Ok(sections.chain([screen.note(*mark, headline)]).collect::<Vec<_>>().join("\n\n"))
            }
            Self::Markdown => {
                // GitHub-flavored, for a pull request: the headline first, and details folded.
                let headline = format!("### {}", in_markdown(&report.headline));
                let sections = report.sections.iter().map(ReportSection::in_markdown);
                Ok([headline].into_iter().chain(sections).collect::<Vec<_>>().join("\n\n"))
            }
            Self::Csv => Ok(report.sheet.csv().trim_end_matches('\n').to_owned()),
            Self::JsonLines => report.sheet.json_lines().map_err(cannot_be_json),
        }
    }
}

pub(crate) struct TextReport {
    pub(crate) headline: ReportNote,
    pub(crate) sections: Vec<ReportSection>,
    /// Unrounded values under names with units.
    pub(crate) sheet: Sheet,
}

#[derive(Default)]
pub(crate) struct ReportSection {
    pub(crate) title: String,
    /// Conditions that apply to all rows; may be empty.
    pub(crate) conditions: String,
    pub(crate) table: Option<TextTable>,
    pub(crate) notes: Vec<ReportNote>,
    pub(crate) is_detail: bool,
}

pub(crate) type ReportNote = (NoteMark, String);

impl ReportSection {
    pub(crate) fn on_terminal(&self, screen: Screen) -> String {
        let title = screen.bold(&self.title);
        let title =
            if self.conditions.is_empty() { title } else { screen.wrapped(&format!("{title}  "), &self.conditions, 2) };
        let table = self.table.as_ref().map(|table| table.lines(screen, screen.width()).join("\n"));
        let notes: Vec<String> = self.notes.iter().map(|(mark, text)| screen.note(*mark, text)).collect();
        let notes = (!notes.is_empty()).then(|| notes.join("\n"));
        [Some(title), table, notes].into_iter().flatten().collect::<Vec<_>>().join("\n\n")
    }

    fn in_markdown(&self) -> String {
        let mut title = if self.is_detail { escaped(&self.title) } else { format!("**{}**", escaped(&self.title)) };
        if !self.conditions.is_empty() {
            title.push_str(&format!(" · {}", escaped(&self.conditions)));
        }
        let mut parts = vec![if self.is_detail { format!("<details><summary>{title}</summary>") } else { title }];
        parts.extend(self.table.as_ref().map(table_text));
        if !self.notes.is_empty() {
            parts.push(self.notes.iter().map(|of| format!("- {}", in_markdown(of))).collect::<Vec<_>>().join("\n"));
        }
        parts.extend(self.is_detail.then(|| "</details>".to_owned()));
        parts.join("\n\n")
    }
}

fn table_text(table: &TextTable) -> String {
    // Multi-line headings become one line here.
    let names = table.columns.iter().map(|column| escaped(column.name.replace('\n', " ").trim()));
    let head = format!("| | {} |\n|---|{}", names.collect::<Vec<_>>().join(" | "), "---:|".repeat(table.columns.len()));
    let rows = table.titles.iter().enumerate().map(|(index, title)| {
        let cells = table.columns.iter().map(|column| column.cells[index].trim());
        format!("| {} |", [title.as_str()].into_iter().chain(cells).map(escaped).collect::<Vec<_>>().join(" | "))
    });
    [head].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}

fn in_markdown((mark, text): &ReportNote) -> String {
    format!("{}{}", mark.in_markdown(), escaped(text))
}

fn escaped(text: &str) -> String {
    let letters = text.chars().map(|letter| match letter {
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '&' => "&amp;".to_owned(),
        '@' => "&#64;".to_owned(),
        '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '#' | '~' => format!("\\{letter}"),
        _ => letter.to_string(),
    });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::TableColumn;

    fn report() -> TextReport {
        let column = |name, cells: [&str; 2]| TableColumn::new(name, cells.map(|cell| Some(cell.to_owned())));
        let titles = vec!["a|b".to_owned(), "<script>".to_owned()];
        let columns = vec![column("ratio", ["0.9", "1.0"]), column("time\ns", ["1", "–"])];
        let table = Some(TextTable { titles, columns });
        let (title, conditions) = ("head against base".to_owned(), "3 runs each".to_owned());
        let notes = vec![(NoteMark::Open, "a_b *may* be slower".to_owned())];
        let compared = ReportSection { title, conditions, table, notes, is_detail: false };
        let (title, notes) = ("More".to_owned(), vec![(NoteMark::Plain, "driver: 1 → 2".to_owned())]);
        let more = ReportSection { title, notes, is_detail: true, ..ReportSection::default() };
        let headline = (NoteMark::Bad, "One of two is slower.".to_owned());
        TextReport { headline, sections: vec![compared, more], sheet: Sheet::default() }
    }

    fn text(name: &str) -> String {
        let format = Format::from_str(name, false).unwrap();
        console::strip_ansi_codes(&format.text(&report(), Screen::Output).unwrap()).into_owned()
    }

    #[test]
    fn terminal_shows_tables_notes_and_the_headline_last() {
        let expected = "\
head against base  3 runs each

          ratio  time
                    s
─────────────────────
a|b         0.9     1
<script>    1.0     –

? a_b *may* be slower

More

  driver: 1 → 2

✗ One of two is slower.";
        let found: Vec<String> = text("table").lines().map(|line| line.trim_end().to_owned()).collect();
        assert_eq!(found.join("\n"), expected);
    }

    #[test]
    fn markdown_starts_with_the_headline_and_escapes_markup() {
        let expected = "\
### ❌ One of two is slower.

**head against base** · 3 runs each

| | ratio | time s |
|---|---:|---:|
| a\\|b | 0.9 | 1 |
| &lt;script&gt; | 1.0 | – |

- ❔ a\\_b \\*may\\* be slower

<details><summary>More</summary>

- driver: 1 → 2

</details>";
        assert_eq!(text("markdown"), expected);
    }
}
