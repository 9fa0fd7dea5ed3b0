//! Report of a study, or of any records, as one HTML file.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use console::Style;
use view::report::{Finding, Input, Kind, Report, ReportEntry, Study, Trouble, is_own};

use crate::failure::{Failure, Result};
use crate::json_output::{JsonTarget, cannot_write, holds_something};
use crate::records::{self, KeptRecord};
use crate::screen::Screen;
use crate::study::definition::StudyDefinition;
use crate::study::folder::{CellRecord, Folder, StudyPlan};

const DEFAULT_NAME: &str = "report.html";

pub(crate) fn report(arguments: &ReportArgs) -> Result<()> {
    let target = arguments.output.clone().unwrap_or_else(|| {
        let first = arguments.paths[0].as_path();
        let folder = if first.is_dir() { first } else { first.parent().unwrap_or(Path::new("")) };
        JsonTarget::File(folder.join(DEFAULT_NAME))
    });
    // Only an existing report is overwritten.
    if let JsonTarget::File(path) = &target
        && !arguments.force
        && holds_something(path)
        && !is_own(&fs::read(path).map_err(|source| cannot_write(path, source))?)
    {
        return Err(Failure::Usage(format!(
            "{} exists and is not a report; choose another file with -o FILE, or overwrite it with --force",
            path.display()
        )));
    }
    let input = input(&arguments.paths, arguments.title.as_deref())?;
    let report = Report::of(&input);
    target.write(&report.html)?;
    let screen = JsonTarget::screen_beside(Some(&target));
    screen.line(&screen.bold(&input.title))?;
    screen.line("")?;
    for finding in &report.findings {
        show(finding, screen)?;
    }
    if let JsonTarget::File(path) = &target {
        screen.line("")?;
        screen.prose("", &format!("Written to {} ({} kB).", path.display(), report.html.len().div_ceil(1000)), 0)?;
    }
    Ok(())
}

fn show(finding: &Finding, screen: Screen) -> Result<()> {
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

pub(crate) fn input(paths: &[PathBuf], title: Option<&str>) -> Result<Input> {
    let mut input = Input::default();
    for path in paths {
        if let Some(plan) = if path.is_dir() { Folder::plan(path)? } else { None } {
            study(path, plan, &mut input)?;
            continue;
        }
        let found = records::read(path)?;
        input.kernels.extend(found.kernels.into_iter().map(|(_, record)| record));
        input.others.extend(found.others);
        let entry = |of: KeptRecord| ReportEntry { place: of.place, record: Some(of.record), ..ReportEntry::default() };
        input.entries.extend(found.records.into_iter().map(entry));
    }
    if input.entries.is_empty() && input.kernels.is_empty() {
        let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        let advice = "`native-runner study`, `--json FILE` and `--output FOLDER` write records";
        return Err(Failure::Usage(format!("there are no records in {}; {advice}", names.join(", "))));
    }
    input.title = match (title, input.studies.as_slice()) {
        (Some(title), _) => title.to_owned(),
        (None, [study]) => study.title.clone(),
        (None, _) if input.entries.is_empty() => "Kernel benchmarks".to_owned(),
        (None, _) if input.entries.len() == 1 => "Report on 1 run".to_owned(),
        (None, _) => format!("Report on {} runs", input.entries.len()),
    };
    Ok(input)
}

fn study(path: &Path, plan: StudyPlan, input: &mut Input) -> Result<()> {
    let mut finished = Folder::read(path, &plan)?;
    finished.sort_by_key(|of| plan.cells.iter().find(|cell| cell.id == of.id).map(|cell| cell.place));
    let (measures_kernels, planned_cells, finished_cells) = (plan.is_of_kernels(), plan.cells.len(), finished.len());
    let of_cells = Study { measures_kernels, planned_cells, finished_cells, ..Study::default() };
    let StudyPlan { name, scale, definition, .. } = plan;
    let StudyDefinition { title, description, repeats, differs, .. } = definition;
    input.studies.push(Study { name, title, description, repeats, differs, scale, ..of_cells });
    for finished in finished {
        let asked = Some(finished.settings.text());
        let record = match finished.record {
            Some(CellRecord::Kernels(record)) => {
                input.kernels.push(*record);
                continue;
            }
            Some(CellRecord::Run(record)) => Some(*record),
            None => None,
        };
        let kind = finished.ending.words();
        let reason = finished.reason.unwrap_or_else(|| "no reason given".to_owned());
        let trouble = record.is_none().then_some(Trouble { kind, reason });
        input.entries.push(ReportEntry { place: finished.id, asked, record, scale: Some(finished.scale), trouble });
    }
    Ok(())
}

const REPORT_EXAMPLES: &str = "\
Examples:
  native-runner report studies/gtdl-batch-size-2026-11-24
                                                   write report.html into a study's folder, finished or not
  native-runner report runs -o runs.html           report on all records of a folder
  native-runner report mine theirs.json --title \"Two machines\" -o both.html
                                                   report on several folders and files
  native-runner report all.json -o - > all.html    report on the output of `--backend all --json`

The file is self-contained: no script, no network. Plots are SVG, and the file has their values as
CSV. The findings are also printed.";

#[derive(Debug, Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub(crate) struct ReportArgs {
    /// Folder of a study, folder of records, or file from `--json` (also of `kernels`); several make one report
    #[arg(value_name = "DIR|FILE", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// File to write; `-` is standard output, and everything else then goes to standard error [default: `report.html`
    /// in the first folder]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<JsonTarget>,
    /// Heading of the report [default: the study's title]
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Overwrite an existing file that is not a report
    #[arg(long)]
    pub(crate) force: bool,
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_network_that_has_published_figures_is_one_of_ours() {
        for name in view::report::published_workloads() {
            assert!(engine::workload(name).is_some(), "{name}");
        }
    }

    #[test]
    fn every_kernel_that_has_a_published_figure_is_measured() {
        use engine::backends::wgsl::microbenchmarks::sizes;

        for (suite, size) in view::report::published_kernel_sizes() {
            assert!(sizes(suite).iter().any(|own| own == size), "{size}");
        }
    }
}
