//! Reports of commands for people or programs: a command creates a [`TextReport`] and takes a [`Format`].

use clap::ValueEnum;
use console::Style;
use view::table::Sheet;

use crate::failure::Failure;
use crate::json_output::cannot_be_json;
use crate::screen::{Screen, TextTable};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Table,
    Markdown,
    Csv,
    JsonLines,
}

impl Format {
    /// Returns the report without a final newline.
    pub(crate) fn text(self, report: &TextReport, screen: Screen) -> Result<String, Failure> {
        match self {
            Self::Table => {
                let sections = report.sections.iter().map(|section| section_on_terminal(section, screen));
                let headline = note_on_terminal(&report.headline, screen);
                Ok(sections.chain([headline]).collect::<Vec<_>>().join("\n\n"))
            }
            Self::Markdown => {
                // GitHub-flavored, for a pull request: the headline first, and details folded.
                let headline = format!("### {}", note_in_markdown(&report.headline));
                let sections = report.sections.iter().map(section_in_markdown);
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

pub(crate) struct ReportNote {
    pub(crate) mark: NoteMark,
    pub(crate) text: String,
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

fn section_in_markdown(section: &ReportSection) -> String {
    let mut title =
        if section.is_detail { escaped(&section.title) } else { format!("**{}**", escaped(&section.title)) };
    if !section.conditions.is_empty() {
        title.push_str(&format!(" · {}", escaped(&section.conditions)));
    }
    let mut parts = vec![if section.is_detail { format!("<details><summary>{title}</summary>") } else { title }];
    parts.extend(section.table.as_ref().map(table_text));
    if !section.notes.is_empty() {
        parts.push(section.notes.iter().map(|of| format!("- {}", note_in_markdown(of))).collect::<Vec<_>>().join("\n"));
    }
    if section.is_detail {
        parts.push("</details>".to_owned());
    }
    parts.join("\n\n")
}

fn table_text(table: &TextTable) -> String {
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    // Multi-line headings become one line here.
    let names = table.columns.iter().map(|column| escaped(column.name.replace('\n', " ").trim()));
    let mut lines = vec![format!("| | {} |", names.collect::<Vec<_>>().join(" | "))];
    lines.push(format!("|---|{}", "---:|".repeat(table.columns.len())));
    for (index, title) in table.titles.iter().enumerate() {
        let cells = table.columns.iter().map(|column| escaped(column.cells[index].trim()));
        lines.push(line([escaped(title)].into_iter().chain(cells).collect()));
    }
    lines.join("\n")
}

fn note_in_markdown(note: &ReportNote) -> String {
    let mark = match note.mark {
        NoteMark::Good => "✅ ",
        NoteMark::Bad => "❌ ",
        NoteMark::Open => "❔ ",
        NoteMark::Careful => "⚠️ ",
        NoteMark::Plain => "",
    };
    format!("{mark}{}", escaped(&note.text))
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

fn section_on_terminal(section: &ReportSection, screen: Screen) -> String {
    let title = screen.bold(&section.title);
    let mut parts = vec![if section.conditions.is_empty() {
        title
    } else {
        screen.wrapped(&format!("{title}  "), &section.conditions, 2)
    }];
    parts.extend(section.table.as_ref().map(|table| table.lines(screen, screen.width()).join("\n")));
    if !section.notes.is_empty() {
        parts.push(section.notes.iter().map(|of| note_on_terminal(of, screen)).collect::<Vec<_>>().join("\n"));
    }
    parts.join("\n\n")
}

fn note_on_terminal(note: &ReportNote, screen: Screen) -> String {
    let (style, mark) = match note.mark {
        NoteMark::Good => (Style::new().green(), "✓"),
        NoteMark::Bad => (Style::new().red(), "✗"),
        NoteMark::Open => (Style::new().yellow(), "?"),
        NoteMark::Careful => (Style::new().yellow(), "!"),
        NoteMark::Plain => (Style::new(), " "),
    };
    screen.wrapped(&format!("{} ", screen.paint(style.bold(), mark)), &note.text, 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::TableColumn;

    fn report() -> TextReport {
        let column = |name, cells: [&str; 2]| TableColumn::new(name, cells.map(|cell| Some(cell.to_owned())));
        TextReport {
            headline: ReportNote { mark: NoteMark::Bad, text: "One of two is slower.".to_owned() },
            sections: vec![
                ReportSection {
                    title: "head against base".to_owned(),
                    conditions: "3 runs each".to_owned(),
                    table: Some(TextTable {
                        titles: vec!["a|b".to_owned(), "<script>".to_owned()],
                        columns: vec![column("ratio", ["0.9", "1.0"]), column("time\ns", ["1", "–"])],
                    }),
                    notes: vec![ReportNote { mark: NoteMark::Open, text: "a_b *may* be slower".to_owned() }],
                    is_detail: false,
                },
                ReportSection {
                    title: "More".to_owned(),
                    notes: vec![ReportNote { mark: NoteMark::Plain, text: "driver: 1 → 2".to_owned() }],
                    is_detail: true,
                    ..ReportSection::default()
                },
            ],
            sheet: Sheet::default(),
        }
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
