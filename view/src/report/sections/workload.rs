//! Section of a workload: its groups, plots, costs and published results.

use results::InputMode;

use super::{curves, sweeps};
use crate::chart::{Bar, Bars};
use crate::report::group::{Group, PHASES, RunCost, SetupField, labels};
use crate::report::html::{ReportBlock, Section};
use crate::report::plot::Figure;
use crate::report::published::{Published, find_by_workload};
use crate::report::table::{Shown, Table, hidden, number, shown, words};
use crate::text;

/// Largest number of bars in a drawing.
const MAX_BARS: usize = 24;

pub(super) fn section(name: &str, groups: &[&Group<'_>]) -> Section {
    let mut blocks = vec![ReportBlock::Text(common(groups)), ReportBlock::Table(table(name, groups))];
    let plots = [
        ("Learning", curves::figures(name, groups)),
        ("Time against the result", curves::scatter(name, groups)),
        ("Varied settings", sweeps::figures(name, groups)),
        ("Input", waiting(name, groups).into_iter().collect()),
        ("Cost", costs(name, groups)),
    ];
    for (title, figures) in plots {
        if !figures.is_empty() {
            blocks.extend([ReportBlock::Heading(title), ReportBlock::Figures(figures)]);
        }
    }
    blocks.extend(published_blocks(name, groups));
    Section::new(name, blocks)
}

/// Describes the settings shared by all groups.
fn common(groups: &[&Group<'_>]) -> String {
    let Some(first) = groups.first() else { return String::new() };
    let is_equal = |field: &SetupField| groups.iter().all(|group| group.words(*field) == first.words(*field));
    // One device with its data set is the default.
    let is_default = |field: &SetupField| match field {
        SetupField::Devices => first.devices() == 1,
        SetupField::Input => first.input() == InputMode::Resident,
        _ => false,
    };
    let fields: Vec<SetupField> = first.fields().filter(|field| is_equal(field) && !is_default(field)).collect();
    let whose = if groups.len() == 1 { "One group" } else { "All groups" };
    format!("{whose}: {}.", first.joined(&fields, " · "))
}

/// Formats a value, marked if it was not measured over counted windows or a whole epoch.
fn shown_measured(value: Option<(f64, bool)>, text: fn(f64) -> String) -> Shown {
    let mark = if value.is_none_or(|(_, is_measured)| is_measured) { "" } else { "≈ " };
    shown(value.map(|(value, _)| value), |value| format!("{mark}{}", text(value)))
}

fn table(workload: &str, groups: &[&Group<'_>]) -> Table {
    let rows: Vec<(String, &Group<'_>)> = labels(groups).into_iter().zip(groups.iter().copied()).collect();
    let caption = format!(
        "{workload}: medians over the runs; accuracies and losses are means ± the standard deviation over seeds. ≈ marks \
         the throughput of all training, warm-up included, if no window counts, and the time of an epoch extrapolated \
         from counted windows, if no epoch was finished."
    );
    let mut columns = vec![
        words("Group", "group", |(label, _): &(String, &Group<'_>)| label.clone().into()),
        number("Seeds", "seeds", |(_, group)| group.seeds().len().into()),
        number("Epochs", "epochs", |(_, group)| shown(group.epochs(), text::epoch_count)),
        number("Time per epoch", "seconds_per_epoch", |(_, group)| shown_measured(group.epoch(), text::seconds)),
        number("Throughput", "samples_per_second", |(_, group)| shown_measured(group.rate(), text::rate)),
        number("Training", "training_seconds_to_last_evaluation", |(_, group)| {
            shown(group.training_seconds(), text::seconds)
        }),
    ];
    if groups.iter().any(|group| group.reads_text()) {
        columns.push(number("Test loss", "test_loss", |(_, group)| {
            let (loss, text) = group.text_loss().unzip();
            shown(loss, |_| text.unwrap_or_default())
        }));
    }
    columns.extend([
        number("Test accuracy", "accuracy", |(_, group): &(String, &Group<'_>)| {
            let deviation = group.accuracy_deviation().map(|of| format!(" ± {:.2}", of * 100.0)).unwrap_or_default();
            shown(group.accuracy(), |share| format!("{:.2}{deviation} %", share * 100.0))
        }),
        number("Target reached", "seconds_to_target", |(_, group)| {
            shown(group.median_of(|run| run.summary.seconds_to_target), text::seconds)
        }),
        number("Cold start", "cold_start_seconds", |(_, group)| {
            shown(group.median_of(|run| run.workload.cold_start.seconds()), text::seconds)
        }),
    ]);
    Table::of(caption, &rows, &columns)
}

/// Returns a bar for each group with values.
fn rows(groups: &[&Group<'_>], values: impl Fn(&Group<'_>) -> Vec<Option<f64>>) -> Vec<Bar> {
    let named = labels(groups).into_iter().zip(groups).filter(|(_, group)| group.is_completed());
    named.take(MAX_BARS).map(|(name, group)| Bar { name, values: values(group) }).collect()
}

/// Draws the share of a step that waits for its batch; `None` if all data sets are stored on their devices.
fn waiting(workload: &str, groups: &[&Group<'_>]) -> Option<Figure> {
    let is_streamed = groups.iter().any(|group| group.input() != InputMode::Resident);
    let mut rows = rows(groups, |group| vec![group.input_share().map(|share| 100.0 * share)]);
    rows.retain(|row| is_streamed && row.values[0].is_some());
    let note = format!(
        "{workload}. Share of the timed seconds in which the device was idle because its next batch was missing. A \
         resident data set needs no input."
    );
    let parts = vec!["waiting for input".to_owned()];
    let bars = Bars { parts, unit: "percent".to_owned(), show: |percent| format!("{percent:.2} %"), rows };
    Figure::of_bars("Share of the step that waits for input", note, bars)
}

fn costs(workload: &str, groups: &[&Group<'_>]) -> Vec<Figure> {
    let draw = |title: &str, note: &str, parts: &[RunCost], unit: &str, show: fn(f64) -> String| {
        let values = |group: &Group<'_>| parts.iter().map(|(_, cost)| group.median_of(cost)).collect();
        let rows = rows(groups, values);
        let parts = parts.iter().map(|(name, _)| (*name).to_owned()).collect();
        let note = format!("{workload}. {note} Medians over the runs.");
        Figure::of_bars(title, note, Bars { parts, unit: unit.to_owned(), show, rows })
    };
    let memory: [RunCost; 1] = [("resident memory, maximum", |run| {
        run.workload.resources.resident_memory_maximum_bytes.map(|bytes| bytes as f64)
    })];
    let processor: [RunCost; 2] = [
        ("user", |run| run.workload.resources.cpu_user_percent),
        ("system", |run| run.workload.resources.cpu_system_percent),
    ];
    let about_memory = "Maximum memory of the whole process during training; the table of all runs has the device \
                        memory of the backend.";
    let about_processor = "Processor time of the whole process divided by wall time; 100 % is one core.";
    let figures = [
        draw("Cold start", "Time before training, excluding loading data.", &PHASES, "seconds", text::seconds),
        draw("Memory of the process", about_memory, &memory, "bytes", text::mebibytes),
        draw("Processor time", about_processor, &processor, "percent", |percent| format!("{percent:.0} %")),
    ];
    figures.into_iter().flatten().collect()
}

fn published_blocks(workload: &str, groups: &[&Group<'_>]) -> Vec<ReportBlock> {
    let mut rows: Vec<&Published> = Vec::new();
    for row in find_by_workload(workload) {
        let has_value = row.epoch_seconds().is_some() || row.accuracy().is_some() || row.training_seconds().is_some();
        if has_value && !rows.iter().any(|other| row.repeats(other)) {
            rows.push(row);
        }
    }
    if rows.is_empty() {
        return Vec::new();
    }
    let is_near = |row: &&Published| groups.iter().any(|group| Some(group.settings().batch_size) == row.batch_size);
    let (near, far): (Vec<&Published>, Vec<&Published>) = rows.into_iter().partition(is_near);
    let text = "Published results from other hardware, programs and years. Nothing in this section was measured here.";
    let mut blocks = vec![ReportBlock::Heading("Published results"), ReportBlock::Text(text.to_owned())];
    let table = |which: &str, rows: &[&Published]| (!rows.is_empty()).then(|| published_table(workload, which, rows));
    let near = table("with a batch size that was trained here", &near);
    let far = table("with other batch sizes", &far).map(Table::folded);
    blocks.extend(near.into_iter().chain(far).map(ReportBlock::Table));
    blocks
}

fn published_table(workload: &str, which: &str, rows: &[&Published]) -> Table {
    let mut sources: Vec<String> = Vec::new();
    for row in rows {
        let name = row.citation.split(", Table ").next().unwrap_or(&row.citation).to_owned();
        if !sources.contains(&name) {
            sources.push(name);
        }
    }
    let columns = [
        words("Source", "source", |row: &&Published| row.citation.clone().into()),
        words("Framework", "framework", |row| row.framework.clone().into()),
        words("Hardware", "", |row| {
            let count = row.gpus.filter(|count| *count > 1).map(|count| format!("{count} × ")).unwrap_or_default();
            let threads = row.threads.map(|count| format!(", {count} threads")).unwrap_or_default();
            let libraries = row.backend.as_ref().map(|libraries| format!(" ({libraries})")).unwrap_or_default();
            format!("{count}{}{threads}{libraries}", row.device()).into()
        }),
        hidden("hardware", |row| row.device().to_owned().into()),
        hidden("libraries", |row| row.backend.clone().into()),
        hidden("devices", |row| row.gpus.into()),
        hidden("threads", |row| row.threads.into()),
        number("Batch", "batch_size", |row| shown(row.batch_size.map(f64::from), |size| size.to_string())),
        number("Epochs", "epochs", |row| shown(row.epochs, |epochs| text::trimmed(epochs, 2))),
        number("Rate", "learning_rate", |row| shown(row.learning_rate, text::plain)),
        number("Time per epoch", "seconds_per_epoch", |row| shown(row.epoch_seconds(), text::seconds)),
        number("Training", "training_seconds", |row| shown(row.training_seconds(), text::seconds)),
        number("Accuracy", "accuracy", |row| shown(row.accuracy(), text::percent)),
        hidden("memory_megabytes", |row| row.memory_max_mb.into()),
        hidden("note", |row| row.note.clone().into()),
    ];
    let caption = format!("{workload}: published results {which}, from {}.", text::listed(&sources));
    Table::of(caption, rows, &columns)
}

#[cfg(test)]
mod tests {
    use results::Outcome;

    use super::*;
    use crate::chart::Chart;
    use crate::comparison::compare;
    use crate::report::testing::{MadeRun, with_groups};
    use crate::table::SheetCell;

    /// Returns the blocks under a heading in the section of these runs.
    fn blocks_under(heading: &str, runs: impl IntoIterator<Item = MadeRun>) -> Vec<ReportBlock> {
        let blocks = with_groups(runs, |groups| section("caffe-mnist", groups)).blocks;
        let is_heading = |block: &ReportBlock| matches!(block, ReportBlock::Heading(title) if *title == heading);
        let below = blocks.into_iter().skip_while(|block| !is_heading(block)).skip(1);
        below.take_while(|block| !matches!(block, ReportBlock::Heading(_))).collect()
    }

    fn bars_under(heading: &str, runs: impl IntoIterator<Item = MadeRun>) -> Vec<(String, Bars)> {
        let bars = |figure: Figure| match figure.chart {
            Chart::Bars(bars) => (figure.title, bars),
            Chart::Plot(_) => panic!("bars"),
        };
        match blocks_under(heading, runs).pop() {
            Some(ReportBlock::Figures(figures)) => figures.into_iter().map(bars).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn shared_settings_are_named_once() {
        let text = with_groups([64, 640].map(|batch| MadeRun::new("caffe-mnist").batch_size(batch)), common);
        assert_eq!(text, "All groups: burn-flex · f32 · on Some CPU · rate 0.01 · the suite's length.");
    }

    #[test]
    fn tables_have_texts_and_unrounded_values() {
        let made = |seed, accuracy| MadeRun::new("caffe-mnist").seed(seed).rate(20_000.0).accuracy(accuracy).windows(1);
        let wild = MadeRun::new("caffe-mnist").learning_rate(9.0).outcome(Outcome::Diverged { step: 1 });
        let table = with_groups([made(1, 0.98123), made(2, 0.98323), wild], |groups| table("caffe-mnist", groups));
        let shown = ["rate 0.01", "2", "1", "3.000 s", "≈ 20.00 k samples/s", "3.000 s", "98.22 ± 0.14 %"];
        assert_eq!(table.rows[0][..7], shown);
        assert_eq!(table.rows[1][..4], ["rate 9", "0", "–", "–"]);
        assert_eq!(table.sheet.rows[1][3], SheetCell::Empty);
    }

    #[test]
    fn metrics_are_the_ones_of_the_terminal() {
        let made = |seed| MadeRun::new("caffe-mnist").seed(seed);
        for (runs, is_measured) in
            [([made(1), made(2).windows(1)], true), ([made(1), made(2).outcome(Outcome::Incorrect)], false)]
        {
            let records = runs.clone().map(MadeRun::record);
            let terminal = compare("caffe-mnist", &records, &[]).rows.remove(0).figures;
            assert_eq!(terminal.is_some(), is_measured);
            with_groups(runs, |groups| {
                assert_eq!(groups[0].figures(), terminal);
                let is_counted = groups[0].rate().map(|rate| rate.1);
                assert_eq!(is_counted, is_measured.then_some(false), "a run has no counted window");
            });
        }
    }

    #[test]
    fn costs_have_bars_if_measured() {
        let made = MadeRun::new("caffe-mnist");
        let bars = bars_under("Cost", [made.clone().cold_start([Some(9.0), Some(1.0), None, None, Some(0.5)])]);
        let titles: Vec<&str> = bars.iter().map(|(title, _)| title.as_str()).collect();
        assert_eq!(titles, ["Cold start", "Memory of the process", "Processor time"]);
        assert_eq!(bars[0].1.rows[0].values, [Some(1.0), None, None, Some(0.5)]);
        assert_eq!(bars[2].1.rows[0].values, [Some(180.0), Some(12.0)]);
        assert!(bars_under("Cost", [made.cold_start([None; 5]).without_resources()]).is_empty());
    }

    #[test]
    fn input_has_bars_if_streamed() {
        let made = |mode| MadeRun::new("caffe-mnist").backend("wgsl").input(mode);
        let bars = bars_under("Input", InputMode::ALL.map(made));
        let rows: Vec<(&str, f64)> =
            bars[0].1.rows.iter().map(|bar| (bar.name.as_str(), bar.values[0].unwrap())).collect();
        let names = ["input resident on the device", "input streamed with prefetch", "input streamed without prefetch"];
        assert_eq!(rows.iter().map(|row| row.0).collect::<Vec<_>>(), names);
        assert!(rows[0].1 == 0.0 && (rows[1].1 - 10.0).abs() < 0.1, "{rows:?}");
        assert!(bars_under("Input", [made(InputMode::Resident)]).is_empty());
    }

    #[test]
    fn published_rows_with_other_batch_sizes_are_folded() {
        let blocks = blocks_under("Published results", [MadeRun::new("caffe-mnist").batch_size(64)]);
        let table = |block: &ReportBlock| {
            let ReportBlock::Table(table) = block else { panic!("a table") };
            assert!(table.sheet.rows.iter().all(|row| row.len() == table.sheet.columns.len()));
            (table.is_folded, table.rows.iter().all(|row| row[3] == "64"))
        };
        assert_eq!(blocks[1..].iter().map(table).collect::<Vec<_>>(), [(false, true), (true, false)]);
        assert!(published_blocks("airbench95", &[]).is_empty());
    }
}
