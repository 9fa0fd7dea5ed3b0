//! Steps per second as a person reads them.

use console::Style;
use engine::steps::{Cliff, Entry, Measured, Size, StepsReport, WorkloadSteps};

use super::framework::burn_lines;
use crate::failure::Failure;
use crate::figures::{figure, mebibytes};
use crate::refusal::Refusal;
use crate::screen::Screen;
use crate::table::{Column, Table};

const SCREEN: Screen = Screen::Output;

/// Shows every figure, and what has none with the reason.
///
/// # Errors
/// The screen cannot be written to.
pub(super) fn show(report: &StepsReport) -> Result<(), Failure> {
    let table = table(report);
    if !table.titles.is_empty() {
        SCREEN.line("")?;
        for line in table.lines(SCREEN, SCREEN.width()) {
            SCREEN.line(&line)?;
        }
    }
    let frameworks = frameworks(report);
    if !frameworks.is_empty() {
        SCREEN.line("")?;
    }
    for line in frameworks {
        SCREEN.prose("", &line, 2)?;
    }
    let notes = notes(report);
    if !notes.is_empty() {
        SCREEN.line("")?;
    }
    let mark = SCREEN.paint(Style::new().yellow().bold(), "!");
    for note in notes {
        SCREEN.prose(&format!("{mark} "), &note, 2)?;
    }
    Ok(())
}

/// What decides how fast each framework is.
fn frameworks(report: &StepsReport) -> Vec<String> {
    let entries = report.workloads.iter().flat_map(|of| of.sizes.iter().flat_map(|size| &size.entries));
    let measured = entries.filter_map(|entry| Some((entry.backend.to_owned(), entry.outcome.measured()?)));
    burn_lines(measured.map(|(backend, measured)| (backend, measured.variants.as_slice())))
}

/// A line of the table.
struct Row<'a> {
    workload: &'a WorkloadSteps,
    size: &'a Size,
    entry: &'a Entry,
    measured: &'a Measured,
}

fn table(report: &StepsReport) -> Table {
    let mut rows = Vec::new();
    for workload in &report.workloads {
        for size in &workload.sizes {
            for entry in &size.entries {
                let measured = entry.outcome.measured();
                rows.extend(measured.map(|measured| Row { workload, size, entry, measured }));
            }
        }
    }
    let column = |name: &str, cell: &dyn Fn(&Row<'_>) -> String| Column {
        name: name.to_owned(),
        cells: rows.iter().map(cell).collect(),
    };
    let mut columns = vec![
        column("back end", &|row| row.entry.backend.to_owned()),
        column("batch", &|row| row.size.batch_size.to_string()),
        column("steps", &|row| figure("samples_per_second", row.measured.steps_per_second).replace("samples", "steps")),
        column("samples", &|row| figure("samples_per_second", row.measured.samples_per_second)),
        column("spread", &|row| spread(row.measured)),
        column("a sample", &|row| figure("step_seconds_p50", 1.0 / row.measured.samples_per_second)),
        column("arithmetic", &|row| figure("flops_per_second", row.measured.flops_per_second)),
        column("of peak", &|row| row.measured.peak_share.map_or_else(|| "–".to_owned(), percent)),
        column("to fastest", &|row| format!("{:.3}", row.measured.ratio_to_fastest)),
        column("memory", &|row| mebibytes(row.measured.device_memory_bytes)),
    ];
    if report.workloads.iter().any(|workload| workload.sizes.len() > 1) {
        columns.push(column("cliff", &cliff));
    }
    Table { titles: rows.iter().map(|row| row.workload.workload.to_owned()).collect(), columns }
}

/// How much longer a sample takes than at the batch size before, where that is too much.
fn cliff(row: &Row<'_>) -> String {
    let here = row
        .workload
        .cliffs
        .iter()
        .find(|cliff| cliff.backend == row.entry.backend && cliff.to_batch_size == row.size.batch_size);
    let real = here.filter(|cliff| cliff.is_real());
    real.map_or_else(String::new, |cliff| format!("+{:.0} %", cliff.rise_in_turns.unwrap_or(cliff.rise) * 100.0))
}

/// A single window has no spread.
fn spread(measured: &Measured) -> String {
    if measured.windows.len() < 2 {
        return "–".to_owned();
    }
    format!("±{:.1} %", measured.relative_spread * 100.0)
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// What a person must know beside the figures.
fn notes(report: &StepsReport) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    notes.extend(report.contenders.iter().flat_map(|of| &of.warnings).map(ToString::to_string));
    for workload in &report.workloads {
        for size in &workload.sizes {
            for entry in &size.entries {
                let name = name_of(workload, size, entry);
                notes.extend(Refusal::of(&entry.outcome).map(|refusal| format!("{name}: {refusal}")));
                if entry.outcome.measured().is_some_and(|measured| !measured.losses_are_finite) {
                    notes.push(format!("{name}: the loss is not a finite number, so it trains but learns nothing"));
                }
            }
        }
        notes.extend(workload.cliffs.iter().map(|cliff| format!("{}, {}", workload.workload, about(cliff))));
    }
    if !report.checked {
        notes.push("first losses were not compared with the plain reference's (--unchecked)".to_owned());
    }
    notes
}

/// A rise of the time per sample, and what became of it when both batch sizes took turns.
fn about(cliff: &Cliff) -> String {
    let Cliff { backend, from_batch_size, to_batch_size, rise, rise_in_turns } = cliff;
    let first = percent(*rise);
    let sizes = format!("in batches of {to_batch_size} than in batches of {from_batch_size}");
    match rise_in_turns {
        None => format!("{backend}: a sample takes {first} longer {sizes}"),
        Some(again) if cliff.is_real() => {
            format!("{backend}: a sample takes {} longer {sizes}, measured in turns", percent(*again))
        }
        Some(again) => format!(
            "{backend}: a sample seemed to take {first} longer {sizes}; measured in turns it takes {:+.1} %, so the \
             machine had become slower",
            again * 100.0
        ),
    }
}

/// Workload, batch size and back end.
pub(super) fn name_of(workload: &WorkloadSteps, size: &Size, entry: &Entry) -> String {
    format!("{} in batches of {}, {}", workload.workload, size.batch_size, entry.backend)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cliff_that_was_not_there_in_turns_is_told_as_such() {
        let cliff = |rise_in_turns| Cliff {
            backend: "wgsl",
            from_batch_size: 128,
            to_batch_size: 256,
            rise: 0.5,
            rise_in_turns,
        };
        assert!(about(&cliff(None)).contains("takes 50.0 % longer in batches of 256"));
        assert!(about(&cliff(Some(0.2))).contains("takes 20.0 % longer"));
        assert!(about(&cliff(Some(-0.02))).contains("in turns it takes -2.0 %"));
    }
}
