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
        show: |group| Some(group.seeds().to_string()),
        name: "seeds",
        value: |group| Some(group.seeds() as f64),
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
        show: |group| group.epoch_seconds().map(|seconds| about(group, text::seconds(seconds))),
        name: "seconds_per_epoch",
        value: |group| group.epoch_seconds(),
    },
    Figure {
        title: "Throughput",
        show: |group| group.rate().map(|(rate, _)| about(group, text::rate(rate))),
        name: "samples_per_second",
        value: |group| group.rate().map(|(rate, _)| rate),
    },
    Figure {
        title: "Training",
        show: |group| group.training_seconds().map(text::seconds),
        name: "training_seconds",
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

/// Marks a throughput that is not measured as the suite measures.
fn about(group: &Group<'_>, text: String) -> String {
    if group.rate().is_some_and(|(_, is_measured)| is_measured) { text } else { format!("≈ {text}") }
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
            "{workload}: medians over the runs, accuracies as means ± the standard deviation over seeds. ≈ stands before what \
             follows from all of training, warm-up included, where no window counts."
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
            ["rate 0.01", "2", "1", "≈ 3.000 s", "≈ 20.00 k samples/s", "3.000 s", "98.22 ± 0.14 %"]
        );
        assert_eq!(table.rows[1][..4], ["rate 9", "0", "–", "–"]);
        assert_eq!(table.sheet.rows[1][3], Value::Empty);
        assert!(table.rows.iter().all(|row| row.len() == table.columns.len()));
    }
}
