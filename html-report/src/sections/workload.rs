//! Section of a workload: its groups, plots, costs and published results.

use results::InputMode;
use results::summary::MeasuredWorkload;

use super::{curves, sweeps};
use crate::group::{Field, Group, PHASES, labels};
use crate::html::{Block, Section};
use crate::plot::{Bar, Bars, Figure};
use crate::published::{Published, find_by_workload};
use crate::table::{Table, number, or_absent, words};
use crate::text;

/// Largest number of bars in a drawing.
const MAX_BARS: usize = 24;

pub(super) fn section(name: &str, groups: &[&Group<'_>]) -> Section {
    let mut blocks = vec![Block::Text(common(groups)), Block::Table(table(name, groups))];
    let plots = [
        ("Learning", curves::figures(name, groups)),
        ("Time against accuracy", curves::scatter(name, groups)),
        ("Varied settings", sweeps::figures(name, groups)),
        ("Input", bars([waiting(name, groups)])),
        ("Cost", bars([cold_starts(name, groups), memory(name, groups), processor(name, groups)])),
    ];
    for (title, figures) in plots {
        if !figures.is_empty() {
            blocks.extend([Block::Heading(title.to_owned()), Block::Figures(figures)]);
        }
    }
    blocks.extend(published_blocks(name, groups));
    Section { title: name.to_owned(), blocks }
}

/// Describes the settings shared by all groups.
fn common(groups: &[&Group<'_>]) -> String {
    let Some(first) = groups.first() else { return String::new() };
    let is_equal = |field: &Field| groups.iter().all(|group| group.setup.words(*field) == first.setup.words(*field));
    // One device with its data set is the default.
    let is_default = |field: &Field| match field {
        Field::Devices => first.setup.devices == 1,
        Field::Input => first.setup.input == InputMode::Resident,
        _ => false,
    };
    let fields: Vec<Field> = Field::ALL.into_iter().filter(|field| is_equal(field) && !is_default(field)).collect();
    let whose = if groups.len() == 1 { "One group" } else { "All groups" };
    format!("{whose}: {}.", first.setup.joined(&fields, " · "))
}

/// Marks a value that was not measured over counted windows or a whole epoch.
fn mark_unmeasured(text: String, is_measured: bool) -> String {
    if is_measured { text } else { format!("≈ {text}") }
}

fn table(workload: &str, groups: &[&Group<'_>]) -> Table {
    let rows: Vec<(String, &Group<'_>)> = labels(groups).into_iter().zip(groups.iter().copied()).collect();
    let caption = format!(
        "{workload}: medians over the runs; accuracies are means ± the standard deviation over seeds. ≈ marks the \
         throughput of all training, warm-up included, if no window counts, and the time of an epoch extrapolated from \
         counted windows, if no epoch was finished."
    );
    Table::of(
        caption,
        &rows,
        &[
            (words("Group"), |(label, _)| label.clone()),
            (number("Seeds"), |(_, group)| group.seeds().len().to_string()),
            (number("Epochs"), |(_, group)| {
                or_absent(group.epochs().map(|of| text::epochs(of).split(' ').next().unwrap_or_default().to_owned()))
            }),
            (number("Time per epoch"), |(_, group)| {
                or_absent(
                    group.epoch().map(|(seconds, is_finished)| mark_unmeasured(text::seconds(seconds), is_finished)),
                )
            }),
            (number("Throughput"), |(_, group)| {
                or_absent(group.rate().map(|(rate, is_counted)| mark_unmeasured(text::rate(rate), is_counted)))
            }),
            (number("Training"), |(_, group)| or_absent(group.training_seconds().map(text::seconds))),
            (number("Test accuracy"), |(_, group)| {
                let deviation = group.accuracy_deviation().map(|of| format!(" ± {:.2}", of * 100.0));
                let deviation = deviation.unwrap_or_default();
                or_absent(group.accuracy().map(|share| format!("{:.2}{deviation} %", share * 100.0)))
            }),
            (number("Target reached"), |(_, group)| or_absent(seconds_to_target(group).map(text::seconds))),
            (number("Cold start"), |(_, group)| or_absent(cold_start_seconds(group).map(text::seconds))),
        ],
        &[
            ("group", |(label, _)| label.as_str().into()),
            ("seeds", |(_, group)| (group.seeds().len() as f64).into()),
            ("epochs", |(_, group)| group.epochs().into()),
            ("seconds_per_epoch", |(_, group)| group.epoch().map(|(seconds, _)| seconds).into()),
            ("samples_per_second", |(_, group)| group.rate().map(|(rate, _)| rate).into()),
            ("training_seconds_to_last_evaluation", |(_, group)| group.training_seconds().into()),
            ("accuracy", |(_, group)| group.accuracy().into()),
            ("seconds_to_target", |(_, group)| seconds_to_target(group).into()),
            ("cold_start_seconds", |(_, group)| cold_start_seconds(group).into()),
        ],
    )
}

fn seconds_to_target(group: &Group<'_>) -> Option<f64> {
    group.median_of(|run| run.summary.seconds_to_target)
}

fn cold_start_seconds(group: &Group<'_>) -> Option<f64> {
    group.median_of(|run| run.workload.cold_start.seconds())
}

fn bars<const N: usize>(all: [Bars; N]) -> Vec<Figure> {
    all.into_iter().filter(Bars::has_values).map(Figure::Bars).collect()
}

/// Returns a bar for each group with values.
fn rows(groups: &[&Group<'_>], values: impl Fn(&Group<'_>) -> Vec<Option<f64>>) -> Vec<Bar> {
    let named = labels(groups).into_iter().zip(groups).filter(|(_, group)| group.is_completed());
    named.take(MAX_BARS).map(|(name, group)| Bar { name, values: values(group) }).collect()
}

/// Draws the share of a step that waits for its batch; empty if all data sets are stored on their devices.
fn waiting(workload: &str, groups: &[&Group<'_>]) -> Bars {
    let is_streamed = groups.iter().any(|group| group.setup.input != InputMode::Resident);
    let mut rows = rows(groups, |group| vec![group.input_share().map(|share| 100.0 * share)]);
    rows.retain(|row| is_streamed && row.values[0].is_some());
    Bars {
        title: "Share of the step that waits for input".to_owned(),
        note: format!(
            "{workload}. Share of the timed seconds in which the device was idle because its next batch was missing. A \
             resident data set needs no input."
        ),
        parts: vec!["waiting for input".to_owned()],
        unit: "percent".to_owned(),
        show: |percent| format!("{percent:.2} %"),
        rows,
    }
}

fn cold_starts(workload: &str, groups: &[&Group<'_>]) -> Bars {
    let values = |group: &Group<'_>| {
        PHASES.map(|(_, seconds)| group.median_of(|run| seconds(&run.workload.cold_start))).to_vec()
    };
    Bars {
        title: "Cold start".to_owned(),
        note: format!("{workload}. Time before training, excluding loading data; medians over the runs."),
        parts: PHASES.map(|(name, _)| name.to_owned()).to_vec(),
        unit: "seconds".to_owned(),
        show: text::seconds,
        rows: rows(groups, values),
    }
}

fn memory(workload: &str, groups: &[&Group<'_>]) -> Bars {
    let bytes =
        |run: &MeasuredWorkload<'_>| run.workload.resources.resident_memory_maximum_bytes.map(|bytes| bytes as f64);
    Bars {
        title: "Memory of the process".to_owned(),
        note: format!(
            "{workload}. Maximum memory of the whole process during training; medians over the runs. The table of all \
             runs has the device memory of the backend."
        ),
        parts: vec!["resident memory, maximum".to_owned()],
        unit: "bytes".to_owned(),
        show: text::mebibytes,
        rows: rows(groups, |group| vec![group.median_of(bytes)]),
    }
}

fn processor(workload: &str, groups: &[&Group<'_>]) -> Bars {
    let user = |run: &MeasuredWorkload<'_>| run.workload.resources.cpu_user_percent;
    let system = |run: &MeasuredWorkload<'_>| run.workload.resources.cpu_system_percent;
    Bars {
        title: "Processor time".to_owned(),
        note: format!(
            "{workload}. Processor time of the whole process divided by wall time; 100 % is one core. Medians over the \
             runs."
        ),
        parts: vec!["user".to_owned(), "system".to_owned()],
        unit: "percent".to_owned(),
        show: |percent| format!("{percent:.0} %"),
        rows: rows(groups, |group| vec![group.median_of(user), group.median_of(system)]),
    }
}

fn published_blocks(workload: &str, groups: &[&Group<'_>]) -> Vec<Block> {
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
    let is_near = |row: &&Published| groups.iter().any(|group| Some(group.setup.batch_size) == row.batch_size);
    let (near, far): (Vec<&Published>, Vec<&Published>) = rows.into_iter().partition(is_near);
    let text = "Published results from other hardware, programs and years. Nothing in this section was measured here.";
    let mut blocks = vec![Block::Heading("Published results".to_owned()), Block::Text(text.to_owned())];
    let table = |which: &str, rows: &[&Published]| (!rows.is_empty()).then(|| published_table(workload, which, rows));
    let near = table("with a batch size that was trained here", &near);
    let far = table("with other batch sizes", &far).map(Table::folded);
    blocks.extend(near.into_iter().chain(far).map(Block::Table));
    blocks
}

fn published_table(workload: &str, which: &str, rows: &[&Published]) -> Table {
    let mut sources: Vec<String> = Vec::new();
    for row in rows {
        let citation = row.citation();
        let name = citation.split(", Table ").next().unwrap_or(&citation).to_owned();
        if !sources.contains(&name) {
            sources.push(name);
        }
    }
    Table::of(
        format!("{workload}: published results {which}, from {}.", text::listed(&sources)),
        rows,
        &[
            (words("Source"), |row| row.citation()),
            (words("Framework"), |row| row.framework.clone()),
            (words("Hardware"), |row| {
                let count = row.gpus.filter(|count| *count > 1).map(|count| format!("{count} × ")).unwrap_or_default();
                let threads = row.threads.map(|count| format!(", {count} threads")).unwrap_or_default();
                let libraries = row.backend.as_ref().map(|libraries| format!(" ({libraries})")).unwrap_or_default();
                format!("{count}{}{threads}{libraries}", row.device())
            }),
            (number("Batch"), |row| or_absent(row.batch_size.map(|size| size.to_string()))),
            (number("Epochs"), |row| or_absent(row.epochs.map(|epochs| text::trimmed(epochs, 2)))),
            (number("Rate"), |row| or_absent(row.learning_rate.map(text::plain))),
            (number("Time per epoch"), |row| or_absent(row.epoch_seconds().map(text::seconds))),
            (number("Training"), |row| or_absent(row.training_seconds().map(text::seconds))),
            (number("Accuracy"), |row| or_absent(row.accuracy().map(text::percent))),
        ],
        &[
            ("source", |row| row.citation().into()),
            ("framework", |row| row.framework.as_str().into()),
            ("hardware", |row| row.device().into()),
            ("libraries", |row| row.backend.as_deref().unwrap_or_default().into()),
            ("devices", |row| row.gpus.into()),
            ("threads", |row| row.threads.into()),
            ("batch_size", |row| row.batch_size.into()),
            ("epochs", |row| row.epochs.into()),
            ("learning_rate", |row| row.learning_rate.into()),
            ("seconds_per_epoch", |row| row.epoch_seconds().into()),
            ("training_seconds", |row| row.training_seconds().into()),
            ("accuracy", |row| row.accuracy().into()),
            ("memory_megabytes", |row| row.memory_max_mb.into()),
            ("note", |row| row.note.as_deref().unwrap_or_default().into()),
        ],
    )
}

#[cfg(test)]
mod tests {
    use results::comparison::compare;
    use results::{Outcome, Resources, RunRecord};

    use super::*;
    use crate::table::Value;
    use crate::testing::{Made, groups};

    /// Returns the blocks under a heading in the section of these records.
    fn blocks_under(heading: &str, records: &[RunRecord]) -> Vec<Block> {
        let groups = groups(records);
        let blocks = section("caffe-mnist", &groups.iter().collect::<Vec<_>>()).blocks;
        let is_heading = |block: &Block| matches!(block, Block::Heading(title) if title == heading);
        let below = blocks.into_iter().skip_while(|block| !is_heading(block)).skip(1);
        below.take_while(|block| !matches!(block, Block::Heading(_))).collect()
    }

    fn bars_under(heading: &str, records: &[RunRecord]) -> Vec<Bars> {
        let bars = |figure| if let Figure::Bars(bars) = figure { bars } else { panic!("bars") };
        match blocks_under(heading, records).pop() {
            Some(Block::Figures(figures)) => figures.into_iter().map(bars).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn shared_settings_are_named_once() {
        let records = [64, 640].map(|batch| Made::new("caffe-mnist").batch_size(batch).record());
        let groups = groups(&records);
        let text = common(&groups.iter().collect::<Vec<_>>());
        assert_eq!(text, "All groups: burn-flex · f32 · on Some CPU · rate 0.01 · the suite's length.");
    }

    #[test]
    fn tables_have_texts_and_unrounded_values() {
        let made = |seed, accuracy| Made::new("caffe-mnist").seed(seed).rate(20_000.0).accuracy(accuracy).windows(1);
        let wild = Made::new("caffe-mnist").learning_rate(9.0).outcome(Outcome::Diverged { step: 1 });
        let records = [made(1, 0.98123).record(), made(2, 0.98323).record(), wild.record()];
        let groups = groups(&records);
        let table = table("caffe-mnist", &groups.iter().collect::<Vec<_>>());
        assert_eq!(
            table.rows[0][..7],
            ["rate 0.01", "2", "1", "3.000 s", "≈ 20.00 k samples/s", "3.000 s", "98.22 ± 0.14 %"]
        );
        assert_eq!(table.rows[1][..4], ["rate 9", "0", "–", "–"]);
        assert_eq!(table.sheet.rows[1][3], Value::Empty);
    }

    #[test]
    fn metrics_are_the_ones_of_the_terminal() {
        let made = |seed, windows| Made::new("caffe-mnist").seed(seed).windows(windows).record();
        let records = [made(1, 10), made(2, 1)];
        let terminal = compare("caffe-mnist", &records, &[]).rows.remove(0).figures.unwrap();
        let all = groups(&records);
        assert_eq!(all[0].figures().as_ref(), Some(&terminal));
        assert_eq!(all[0].rate().map(|rate| rate.1), Some(false), "a run has no counted window");
        assert_eq!((all[0].accuracy(), all[0].accuracy_deviation()), (terminal.accuracy, terminal.accuracy_deviation));
        let made = |seed| Made::new("caffe-mnist").seed(seed);
        let records = [made(1).record(), made(2).outcome(Outcome::Incorrect).record()];
        let terminal = compare("caffe-mnist", &records, &[]).rows.remove(0);
        assert_eq!((groups(&records)[0].figures(), terminal.figures), (None, None));
    }

    #[test]
    fn costs_have_bars_if_measured() {
        let start = |seconds| Made::new("caffe-mnist").cold_start(seconds).record();
        let bars = bars_under("Cost", &[start([Some(9.0), Some(1.0), None, None, Some(0.5)])]);
        let titles: Vec<&str> = bars.iter().map(|bars| bars.title.as_str()).collect();
        assert_eq!(titles, ["Cold start", "Memory of the process", "Processor time"]);
        assert_eq!(bars[0].rows[0].values, [Some(1.0), None, None, Some(0.5)]);
        assert_eq!(bars[2].rows[0].values, [Some(180.0), Some(12.0)]);
        let mut record = start([None; 5]);
        record.workloads[0].resources = Resources::default();
        assert!(bars_under("Cost", &[record]).is_empty());
    }

    #[test]
    fn input_has_bars_if_streamed() {
        let made = |mode| Made::new("caffe-mnist").backend("wgsl").input(mode).record();
        let bars = bars_under("Input", &InputMode::ALL.map(made));
        let rows: Vec<(&str, f64)> =
            bars[0].rows.iter().map(|bar| (bar.name.as_str(), bar.values[0].unwrap())).collect();
        let names = ["input resident on the device", "input streamed with prefetch", "input streamed without prefetch"];
        assert_eq!(rows.iter().map(|row| row.0).collect::<Vec<_>>(), names);
        assert!(rows[0].1 == 0.0 && (rows[1].1 - 10.0).abs() < 0.1, "{rows:?}");
        assert!(bars_under("Input", &[made(InputMode::Resident)]).is_empty());
    }

    #[test]
    fn published_rows_with_other_batch_sizes_are_folded() {
        let blocks = blocks_under("Published results", &[Made::new("caffe-mnist").batch_size(64).record()]);
        let table = |block: &Block| {
            let Block::Table(table) = block else { panic!("a table") };
            assert!(table.sheet.rows.iter().all(|row| row.len() == table.sheet.columns.len()));
            (table.is_folded, table.rows.iter().all(|row| row[3] == "64"))
        };
        assert_eq!(blocks[1..].iter().map(table).collect::<Vec<_>>(), [(false, true), (true, false)]);
        assert!(published_blocks("airbench95", &[]).is_empty());
    }
}
