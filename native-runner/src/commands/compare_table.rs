use std::mem::discriminant;

use results::{RunRecord, Warning};
use view::comparison::{Agreement, Comparison, Figures, Row, Timing};
use view::text::times;

use crate::export::ReportSection;
use crate::failure::Result;
use crate::screen::{NONE, NoteMark, Screen, TableColumn, TableRows, TextTable};

pub(crate) fn show(comparison: &Comparison, conditions: &str, screen: Screen) -> Result<()> {
    let Comparison { workload, rows, agreement } = comparison;
    let reason = |row: &Row| Some((NoteMark::Careful, format!("{}: {}", row.contender, row.outcome.reason()?)));
    let mark = match agreement {
        Agreement::Agree { .. } => NoteMark::Good,
        Agreement::Disagree { .. } => NoteMark::Bad,
        Agreement::Unclear { .. } | Agreement::NotCompared { .. } => NoteMark::Open,
    };
    let notes = rows.iter().filter_map(reason).chain([(mark, format!("{agreement}."))]).collect();
    let (title, conditions) = (workload.clone(), conditions.to_owned());
    let section = ReportSection { title, conditions, table: Some(table(rows)), notes, is_detail: false };
    screen.line(&format!("\n{}", section.on_terminal(screen)))
}

pub(crate) fn show_legend(comparisons: &[Comparison], screen: Screen) -> Result<()> {
    let rows = comparisons.iter().flat_map(|comparison| &comparison.rows);
    show_burn(rows.map(|row| (row.contender.to_string(), row.settings.as_slice())), screen)?;
    let text = "Times are medians over the seeds. × is the ratio to the fastest; ≈ marks epochs extrapolated from \
                counted windows because no epoch was finished. Training ends with the last evaluation and excludes all \
                evaluations. Accuracy is the mean over the seeds ± one standard deviation. Start is building, \
                compiling, tuning and the first step. Start, the backend's device memory and the program's host memory \
                are from the first run.";
    screen.line("")?;
    screen.legend(text)
}

/// Shows the warnings of all runs, each kind once per backend and workload.
pub(crate) fn show_warnings(records: &[RunRecord]) -> Result<()> {
    let mut shown: Vec<(&RunRecord, &str, &Warning)> = Vec::new();
    for record in records {
        let workload = record.workloads.first().map_or("", |workload| workload.workload.as_str());
        for warning in &record.warnings {
            let is_known = shown.iter().any(|(other, of, known)| {
                let same_kind = discriminant(*known) == discriminant(warning);
                // Adapter and program are the same for every workload.
                let everywhere = matches!(warning, Warning::SoftwareAdapter { .. } | Warning::Untuned { .. });
                same_kind && other.device.backend == record.device.backend && (*of == workload || everywhere)
            });
            if !is_known {
                shown.push((record, workload, warning));
            }
        }
    }
    let texts = shown.iter().map(|(record, _, warning)| format!("{}: {warning}", record.device.backend));
    Screen::Error.cautions(texts)
}

fn table(rows: &[Row]) -> TextTable {
    let mut table = TableRows::new(rows, |row| row.contender.to_string()).columns(&[
        ("accuracy\n%", &|row| accuracy(row.figures.as_ref()?)),
        ("start\ns", &|row| Some(digits(row.figures.as_ref()?.cold_start?.seconds))),
        ("device\nMiB", &|row| device_memory(row.figures.as_ref()?)),
        ("host\nMiB", &|row| host_memory(row.figures.as_ref()?)),
    ]);
    let timings = [
        timing_column("epoch", rows, &|figures| (figures.epoch, figures.epoch_is_projected)),
        timing_column("training", rows, &|figures| (figures.training, false)),
        timing_column("testing", rows, &|figures| (figures.testing, false)),
    ];
    table.columns.splice(0..0, timings);
    table
}

/// Builds a column of cells with seconds and the ratio to the fastest, which stay together on narrow screens.
fn timing_column(name: &str, rows: &[Row], timing: &dyn Fn(&Figures) -> (Option<Timing>, bool)) -> TableColumn {
    let cell = |row: &Row| match row.figures.as_ref().map(timing) {
        Some((Some(timing), projected)) => {
            let mark = if projected { "≈" } else { "" };
            let ratio = timing.to_fastest.map_or_else(|| NONE.to_owned(), times);
            (format!("{mark}{}", digits(timing.seconds)), ratio)
        }
        _ => (NONE.to_owned(), String::new()),
    };
    let cells: Vec<(String, String)> = rows.iter().map(cell).collect();
    let width = |text: &str| text.chars().count();
    let value_width = cells.iter().map(|cell| width(&cell.0)).fold(width(name), usize::max);
    let ratio_width = cells.iter().map(|cell| width(&cell.1)).fold(1, usize::max);
    let line = |value: &str, ratio: &str| format!("{value:>value_width$}  {ratio:>ratio_width$}");
    TableColumn {
        name: format!("{}\n{}", line(name, ""), line("s", "×")),
        cells: cells.iter().map(|(value, ratio)| line(value, ratio)).collect(),
    }
}

pub(crate) fn accuracy(figures: &Figures) -> Option<String> {
    let percent = |share: f64| format!("{:.2}", share * 100.0);
    let deviation = figures.accuracy_deviation.map(|deviation| format!(" ± {}", percent(deviation)));
    figures.accuracy.map(|share| format!("{}{}", percent(share), deviation.unwrap_or_default()))
}

/// Formats seconds with four significant digits, and never finer than a millisecond.
pub(crate) fn digits(seconds: f64) -> String {
    let decimals = [10.0, 100.0, 1000.0].into_iter().filter(|bound| seconds < *bound).count();
    format!("{seconds:.decimals$}")
}

pub(crate) fn device_memory(figures: &Figures) -> Option<String> {
    Some(format!("{:.1}", figures.device_memory_bytes? as f64 / f64::from(1 << 20)))
}

pub(crate) fn host_memory(figures: &Figures) -> Option<String> {
    Some(format!("{:.0}", figures.host_memory_bytes? as f64 / f64::from(1 << 20)))
}

/// Shows each contender once with its Burn settings: compiler, fusion, autotune and threads.
pub(crate) fn show_burn<'a>(contenders: impl Iterator<Item = (String, &'a [String])>, screen: Screen) -> Result<()> {
    let lines = burn_lines(contenders);
    if !lines.is_empty() {
        screen.line("")?;
    }
    lines.iter().try_for_each(|line| screen.prose("", line, 2))
}

fn burn_lines<'a>(contenders: impl Iterator<Item = (String, &'a [String])>) -> Vec<String> {
    let mut lines = Vec::new();
    for (contender, settings) in contenders {
        let value_of = |what: &str| settings.iter().find_map(|setting| setting.strip_prefix(what)?.strip_prefix(": "));
        let Some(compiler) = value_of("burn compiler") else { continue };
        let others = [("fusion", "burn fusion"), ("autotune", "burn autotune"), ("threads", "threads")];
        let others = others.into_iter().filter_map(|(title, what)| Some(format!(", {title} {}", value_of(what)?)));
        let line = format!("{contender}: {compiler}{}", others.collect::<String>());
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use console::strip_ansi_codes;
    use results::{Compared, Contender, Disagreement, Precision};
    use serde_json::json;
    use view::comparison::RowOutcome;

    use super::*;

    fn figures(seconds: f64, to_fastest: f64) -> Figures {
        let timing = |factor: f64| json!({ "seconds": seconds * factor, "to_fastest": to_fastest });
        let figures = json!({
            "seeds": [1, 2, 3], "epoch": timing(1.0), "epoch_is_projected": false, "training": timing(2.0),
            "testing": timing(0.1), "accuracy": 0.97721, "accuracy_deviation": 0.00112, "cold_start": timing(0.05),
            "device_memory_bytes": 70 << 20, "host_memory_bytes": 312 << 20,
        });
        serde_json::from_value(figures).unwrap()
    }

    fn row(backend: &str, outcome: RowOutcome, figures: Option<Figures>) -> Row {
        let contender = Contender { backend: backend.to_owned(), precision: Precision::F32 };
        Row { contender, adapter: None, settings: Vec::new(), outcome, figures }
    }

    fn lines(rows: &[Row], width: usize) -> Vec<String> {
        let lines = table(rows).lines(Screen::Output, width);
        lines.iter().map(|line| strip_ansi_codes(line).trim_end().to_owned()).collect()
    }

    #[test]
    fn headings_have_units_and_times_have_ratios() {
        let refused = RowOutcome::Refused { reason: "too large".to_owned() };
        let mut projected = figures(61.2, 2.561);
        (projected.epoch_is_projected, projected.training) = (true, Some(Timing { seconds: 30.0, to_fastest: None }));
        let rows = [
            row("wgsl", RowOutcome::Completed, Some(figures(23.9, 1.0))),
            row("burn-flex", RowOutcome::Completed, Some(projected)),
            row("burn-wgpu", refused, None),
        ];
        let expected = [
            "            epoch        training        testing             accuracy  start  device  host",
            "                s     ×         s     ×        s     ×              %      s     MiB   MiB",
            "─────────────────────────────────────────────────────────────────────────────────────────",
            "wgsl        23.90  1.00     47.80  1.00    2.390  1.00   97.72 ± 0.11  1.195    70.0   312",
            "burn-flex  ≈61.20  2.56     30.00     –    6.120  2.56   97.72 ± 0.11  3.060    70.0   312",
            "burn-wgpu       –               –              –                    –      –       –     –",
        ];
        let found = lines(&rows, 100);
        assert_eq!(found.len(), expected.len(), "{}", found.join("\n"));
        for (found, expected) in found.iter().zip(expected) {
            let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(words(found), words(expected));
        }
        let place = |line: &str, of: &str| line.find(of).map(|at| line[..at].chars().count() + of.chars().count());
        assert_eq!(place(&found[1], "MiB"), place(&found[3], "70.0"));
        assert_eq!(place(&found[0], "epoch"), place(&found[3], "23.90"));
    }

    #[test]
    fn a_hundred_columns_are_enough() {
        let mut large = figures(12_345.6, 1234.5);
        large.device_memory_bytes = Some(23_456 << 20);
        large.host_memory_bytes = Some(12_345 << 20);
        let rows = [
            row("burn-vulkan", RowOutcome::Completed, Some(large)),
            row("wgsl", RowOutcome::Completed, Some(figures(10.0, 1.0))),
        ];
        assert_eq!(lines(&rows, 100).len(), 5, "{}", lines(&rows, 100).join("\n"));
    }

    #[test]
    fn incorrect_row_names_the_difference() {
        let disagreement = Disagreement { compared: Compared::Losses, largest_difference: 0.5, tolerance: 1e-3 };
        let reason = RowOutcome::Incorrect { seed: 7, disagreement: Some(disagreement) }.reason().unwrap();
        assert!(reason.starts_with("from seed 7 ") && reason.contains("5.00e-1 where 1e-3 is allowed"), "{reason}");
    }

    fn settings(compiler: &str, state: &str) -> Vec<String> {
        ["burn: 0.22.1".to_owned(), format!("burn compiler: {compiler}")]
            .into_iter()
            .chain(["fusion", "autotune"].map(|what| format!("burn {what}: {state}")))
            .collect()
    }

    #[test]
    fn compiler_fusion_and_autotune_are_listed_once_for_each_contender() {
        let (plain, tuned) = (settings("WGSL", "off"), settings("SPIR-V", "on"));
        let mut processor = settings("rustc", "off");
        processor.push("threads: 2".to_owned());
        let ours = vec!["dense_forward: subgroups".to_owned()];
        let contenders = [
            ("wgsl", &ours),
            ("burn-wgpu", &plain),
            ("burn-vulkan", &tuned),
            ("burn-flex", &processor),
            ("burn-wgpu", &plain),
        ];
        let lines = burn_lines(contenders.into_iter().map(|(name, settings)| (name.to_owned(), settings.as_slice())));
        let expected = [
            "burn-wgpu: WGSL, fusion off, autotune off",
            "burn-vulkan: SPIR-V, fusion on, autotune on",
            "burn-flex: rustc, fusion off, autotune off, threads 2",
        ];
        assert_eq!(lines, expected);
    }
}
