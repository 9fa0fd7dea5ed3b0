use console::Style;

use super::{Format, Mark, Note, Report, Section};
use crate::failure::Failure;
use crate::screen::Screen;

/// Aligned columns, as wide as the terminal is.
#[derive(Debug)]
pub(super) struct Terminal;

impl Format for Terminal {
    fn name(&self) -> &'static str {
        "table"
    }

    fn text(&self, report: &Report, screen: Screen) -> Result<String, Failure> {
        let mut parts: Vec<String> = report.sections.iter().map(|section| section_text(section, screen)).collect();
        parts.push(note(&report.headline, screen));
        Ok(parts.join("\n\n"))
    }
}

fn section_text(section: &Section, screen: Screen) -> String {
    let title = screen.paint(Style::new().bold(), &section.title);
    let mut parts = vec![if section.conditions.is_empty() {
        title
    } else {
        screen.wrapped(&format!("{title}  "), &section.conditions, 2)
    }];
    parts.extend(section.table.as_ref().map(|table| table.lines(screen, screen.width()).join("\n")));
    if !section.notes.is_empty() {
        parts.push(section.notes.iter().map(|of| note(of, screen)).collect::<Vec<_>>().join("\n"));
    }
    parts.join("\n\n")
}

fn note(note: &Note, screen: Screen) -> String {
    let (style, mark) = match note.mark {
        Mark::Good => (Style::new().green(), "✓"),
        Mark::Bad => (Style::new().red(), "✗"),
        Mark::Open => (Style::new().yellow(), "?"),
        Mark::Careful => (Style::new().yellow(), "!"),
        Mark::Plain => (Style::new(), " "),
    };
    screen.wrapped(&format!("{} ", screen.paint(style.bold(), mark)), &note.text, 2)
}
