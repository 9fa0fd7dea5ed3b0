use super::{Format, Mark, Note, Report, Section};
use crate::failure::Failure;
use crate::screen::Screen;
use crate::table::Table;

/// GitHub's, for a comment under a pull request: the headline first, and details folded.
#[derive(Debug)]
pub(super) struct Markdown;

impl Format for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn text(&self, report: &Report, _screen: Screen) -> Result<String, Failure> {
        let mut parts = vec![format!("### {}", note(&report.headline))];
        parts.extend(report.sections.iter().map(section_text));
        Ok(parts.join("\n\n"))
    }
}

fn section_text(section: &Section) -> String {
    let mut title =
        if section.is_detail { escaped(&section.title) } else { format!("**{}**", escaped(&section.title)) };
    if !section.conditions.is_empty() {
        title.push_str(&format!(" · {}", escaped(&section.conditions)));
    }
    let mut parts = vec![if section.is_detail { format!("<details><summary>{title}</summary>") } else { title }];
    parts.extend(section.table.as_ref().map(table_text));
    if !section.notes.is_empty() {
        parts.push(section.notes.iter().map(|of| format!("- {}", note(of))).collect::<Vec<_>>().join("\n"));
    }
    if section.is_detail {
        parts.push("</details>".to_owned());
    }
    parts.join("\n\n")
}

fn table_text(table: &Table) -> String {
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    // A heading of several lines is one here.
    let names = table.columns.iter().map(|column| escaped(&column.name.replace('\n', " ")));
    let mut lines = vec![format!("| | {} |", names.collect::<Vec<_>>().join(" | "))];
    lines.push(format!("|---|{}", "---:|".repeat(table.columns.len())));
    for (index, title) in table.titles.iter().enumerate() {
        let cells = table.columns.iter().map(|column| escaped(column.cells[index].trim()));
        lines.push(line([escaped(title)].into_iter().chain(cells).collect()));
    }
    lines.join("\n")
}

fn note(note: &Note) -> String {
    let mark = match note.mark {
        Mark::Good => "✅ ",
        Mark::Bad => "❌ ",
        Mark::Open => "❔ ",
        Mark::Careful => "⚠️ ",
        Mark::Plain => "",
    };
    format!("{mark}{}", escaped(&note.text))
}

/// The text as it is, whatever names and drivers hold: nothing in it is mark-up, or calls somebody.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '@' => escaped.push_str("&#64;"),
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '#' | '~' => escaped.extend(['\\', letter]),
            _ => escaped.push(letter),
        }
    }
    escaped
}
