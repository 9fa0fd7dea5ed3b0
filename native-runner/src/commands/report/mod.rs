//! A study, or any records, as one HTML file.

mod read;

pub(super) use read::input;

use std::fs;
use std::path::Path;

use console::Style;
use html_report::{Finding, Kind, Report, is_own};

use crate::cli::{JsonTarget, ReportArgs};
use crate::failure::Failure;
use crate::json_output::{cannot_write, holds_something};
use crate::screen::Screen;

const USUAL_NAME: &str = "report.html";

/// Writes the report and prints what it found.
///
/// # Errors
/// Nothing to report on, a file that is damaged, or one in the way.
pub(crate) fn report(arguments: &ReportArgs) -> Result<(), Failure> {
    let target = arguments.output.clone().unwrap_or_else(|| usual_target(&arguments.paths[0]));
    if let JsonTarget::File(path) = &target {
        refuse_others(path, arguments.force)?;
    }
    let input = read::input(&arguments.paths, arguments.title.as_deref())?;
    let report = Report::of(&input);
    let html = report.html();
    target.write(&html)?;
    let screen = JsonTarget::screen_beside(Some(&target));
    screen.line(&screen.paint(Style::new().bold(), &input.title))?;
    screen.line("")?;
    for finding in report.findings() {
        show(finding, screen)?;
    }
    if let JsonTarget::File(path) = &target {
        screen.line("")?;
        screen.prose("", &format!("Written to {} ({} kB).", path.display(), html.len().div_ceil(1000)), 0)?;
    }
    Ok(())
}

fn show(finding: &Finding, screen: Screen) -> Result<(), Failure> {
    let (mark, style) = match finding.kind {
        Kind::Caution => ("!", Style::new().yellow().bold()),
        Kind::Difference => ("≠", Style::new().cyan().bold()),
        Kind::Tie => ("=", Style::new().bold()),
        Kind::Undecided => ("?", Style::new().yellow()),
        Kind::Figure => ("·", Style::new()),
        Kind::Published => ("»", Style::new().dim()),
    };
    screen.prose(&format!("{} ", screen.paint(style, mark)), &finding.text, 2)
}

/// Beside the records.
fn usual_target(path: &Path) -> JsonTarget {
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
    JsonTarget::File(folder.join(USUAL_NAME))
}

/// A report may take the place of a report, and of nothing else.
fn refuse_others(path: &Path, force: bool) -> Result<(), Failure> {
    if force || !holds_something(path) || is_own(&fs::read(path).map_err(|source| cannot_write(path, source))?) {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "{} is there and is no report; choose another file with -o FILE, or write over it with --force",
        path.display()
    )))
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_network_that_has_published_figures_is_one_of_ours() {
        for name in html_report::published_workloads() {
            assert!(engine::workload(name).is_some(), "{name}");
        }
    }

    #[cfg(feature = "wgsl")]
    #[test]
    fn every_kernel_that_has_a_published_figure_is_measured() {
        use engine::backends::wgsl::microbenchmarks::outline;

        for (suite, size) in html_report::published_kernel_sizes() {
            assert!(outline(suite, u64::MAX).sizes.iter().any(|own| own == size), "{size}");
        }
    }
}
