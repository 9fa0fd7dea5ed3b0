//! The table of a workload's groups.

use crate::csv::{Sheet, Value};
use crate::group::{Group, label, varying};
use crate::report::{Column, Table};
use crate::text;

/// Stands for a figure that is not there.
const NONE: &str = "–";

/// A column: its title, what people read, and the raw value with its name.
struct Figure {
    title: &'static str,
    show: fn(&Group<'_>) -> Option<String>,
    name: &'static str,
    value: fn(&Group<'_>) -> Option<f64>,
}

const FIGURES: &[Figure] = &[
    Figure {
        title: "Seeds",
        show: |group| Some(group.seeds().len().to_string()),
        name: "seeds",
        value: |group| Some(group.seeds().len() as f64),
    },
    Figure {
        title: "Epochs",
        show: |group| {
            group.epochs().map(|epochs| text::epochs(epochs).split(' ').next().unwrap_or_default().to_owned())
        },
        name: "epochs",
        value: |group| group.epochs(),
    },
    Figure {
        title: "Time per epoch",
        show: |group| group.epoch().map(|(seconds, is_finished)| marked(text::seconds(seconds), is_finished)),
        name: "seconds_per_epoch",
        value: |group| group.epoch().map(|(seconds, _)| seconds),
    },
    Figure {
        title: "Throughput",
        show: |group| group.rate().map(|(rate, is_counted)| marked(text::rate(rate), is_counted)),
        name: "samples_per_second",
        value: |group| group.rate().map(|(rate, _)| rate),
    },
    Figure {
        title: "Training",
        show: |group| group.training_seconds().map(text::seconds),
        name: "training_seconds_to_last_evaluation",
        value: |group| group.training_seconds(),
    },
    Figure {
        title: "Test accuracy",
        show: |group| {
            let deviation = group.accuracy_deviation().map(|of| format!(" ± {:.2}", of * 100.0)).unwrap_or_default();
            group.accuracy().map(|share| format!("{:.2}{deviation} %", share * 100.0))
        },
        name: "accuracy",
        value: |group| group.accuracy(),
    },
    Figure {
        title: "Target reached",
        show: |group| group.median_of(|run| run.summary.seconds_to_target).map(text::seconds),
        name: "seconds_to_target",
        value: |group| group.median_of(|run| run.summary.seconds_to_target),
    },
    Figure {
        title: "Cold start",
        show: |group| group.median_of(|run| run.cold_start_seconds()).map(text::seconds),
        name: "cold_start_seconds",
        value: |group| group.median_of(|run| run.cold_start_seconds()),
    },
];

/// Marks a figure that is not measured as the suite measures.
fn marked(text: String, is_measured: bool) -> String {
    if is_measured { text } else { format!("≈ {text}") }
}

pub(super) fn table(workload: &str, groups: &[&Group<'_>]) -> Table {
    let fields = varying(groups);
    let columns = FIGURES.iter().map(|figure| Column::number(figure.title));
    let shown = |group: &&Group<'_>| {
        let cells = FIGURES.iter().map(|figure| figure_of(figure, group));
        [label(group, &fields)].into_iter().chain(cells).collect()
    };
    let mut sheet = Sheet::new(&["group"]);
    sheet.columns.extend(FIGURES.iter().map(|figure| figure.name.to_owned()));
    sheet.rows = groups
        .iter()
        .map(|group| {
            let values = FIGURES.iter().map(|figure| Value::from((figure.value)(group)));
            [Value::Text(label(group, &fields))].into_iter().chain(values).collect()
        })
        .collect();
    Table {
        caption: format!(
            "{workload}: medians over the runs, accuracies as means ± the standard deviation over seeds. ≈ stands before a \
             throughput of all of training, warm-up included, where no window counts, and before the time of an epoch that is \
             extrapolated from the windows that count, where no epoch was finished."
        ),
        columns: [Column::text("Group")].into_iter().chain(columns).collect(),
        rows: groups.iter().map(shown).collect(),
        sheet,
        is_folded: false,
    }
}

fn figure_of(figure: &Figure, group: &Group<'_>) -> String {
    (figure.show)(group).unwrap_or_else(|| NONE.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Made, groups};
    use results::Outcome;

    #[test]
    fn figures_are_shown_and_kept_unrounded_and_what_diverged_has_none() {
        let records = [
            Made::new("caffe-mnist").seed(1).rate(20_000.0).accuracy(0.98123).windows(1).record(),
            Made::new("caffe-mnist").seed(2).rate(20_000.0).accuracy(0.98323).windows(1).record(),
            Made::new("caffe-mnist").learning_rate(9.0).outcome(Outcome::Diverged { step: 1 }).record(),
        ];
        let groups = groups(&records);
        let table = table("caffe-mnist", &groups.iter().collect::<Vec<_>>());
        assert_eq!(
            table.rows[0][..7],
            ["rate 0.01", "2", "1", "3.000 s", "≈ 20.00 k samples/s", "3.000 s", "98.22 ± 0.14 %"]
        );
        assert_eq!(table.rows[1][..4], ["rate 9", "0", "–", "–"]);
        assert_eq!(table.sheet.rows[1][3], Value::Empty);
        assert!(table.rows.iter().all(|row| row.len() == table.columns.len()));
    }

    #[test]
    fn throughput_and_epoch_are_those_of_the_terminal() {
        let made = |seed, windows| Made::new("caffe-mnist").seed(seed).windows(windows).record();
        let records = [made(1, 10), made(2, 1)];
        let terminal = results::comparison::compare("caffe-mnist", &records, &[]).rows.remove(0).figures.unwrap();
        let groups = groups(&records);
        assert_eq!(groups[0].rate(), terminal.throughput());
        assert_eq!(groups[0].rate().map(|rate| rate.1), Some(false), "a run has no window that counts");
        let of_terminal = [terminal.epoch, terminal.training].map(|timing| timing.map(|of| of.seconds));
        assert_eq!([groups[0].epoch().map(|epoch| epoch.0), groups[0].training_seconds()], of_terminal);
        let accuracy = (groups[0].accuracy(), groups[0].accuracy_deviation());
        assert_eq!(accuracy, (terminal.accuracy, terminal.accuracy_deviation));
    }

    #[test]
    fn back_end_that_computed_wrongly_has_no_figures_as_on_the_terminal() {
        let made = |seed| Made::new("caffe-mnist").seed(seed);
        let records = [made(1).record(), made(2).outcome(Outcome::Incorrect).record()];
        let terminal = results::comparison::compare("caffe-mnist", &records, &[]).rows.remove(0);
        assert_eq!((groups(&records)[0].figures(), terminal.figures), (None, None));
    }
}
