use console::Style;

use super::{Finding, Report, Severity};
use crate::failure::Failure;
use crate::screen::Screen;

/// Columns before a sentence: two spaces, the longest word, two spaces.
const INDENT: usize = 11;

/// Shows a report as a person reads it, and pastes it.
///
/// # Errors
/// The screen cannot be written to.
pub(crate) fn show(report: &Report, screen: Screen) -> Result<(), Failure> {
    let bold = |text: &str| screen.paint(Style::new().bold(), text);
    screen.line(&bold(&format!("Gradmark doctor {} ({})", report.engine_version, report.commit)))?;
    for section in &report.sections {
        screen.line("")?;
        screen.line(&bold(section.name.title()))?;
        section.findings.iter().try_for_each(|finding| show_finding(finding, screen))?;
    }
    screen.line("")?;
    screen.line(&bold("Verdict"))?;
    screen.prose("  ", &report.verdict.sentence, 2)?;
    if let Some(command) = &report.verdict.command {
        screen.line(&format!("  {}", bold(command)))?;
    }
    screen.prose("  ", &counts(report), 2)
}

fn show_finding(finding: &Finding, screen: Screen) -> Result<(), Failure> {
    let style = match finding.severity {
        Severity::Fine => Style::new().green(),
        Severity::Note => Style::new().cyan(),
        Severity::Warning => Style::new().yellow().bold(),
        Severity::Problem => Style::new().red().bold(),
    };
    let word = screen.paint(style, format!("{:7}", finding.severity.word()));
    screen.prose(&format!("  {word}  "), &finding.sentence, INDENT)?;
    finding
        .advice
        .as_ref()
        .map_or(Ok(()), |advice| screen.prose(&format!("{}→ ", " ".repeat(INDENT)), advice, INDENT + 2))
}

/// How much there is of what matters.
fn counts(report: &Report) -> String {
    let number = |severity: Severity, one: &str| match report.count(severity) {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {one}s")),
    };
    let parts: Vec<String> =
        [number(Severity::Problem, "problem"), number(Severity::Warning, "warning")].into_iter().flatten().collect();
    if parts.is_empty() { "no problems, no warnings".to_owned() } else { parts.join(", ") }
}
