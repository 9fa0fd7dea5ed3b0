//! The published rows of a workload.

use crate::csv::{Sheet, Value};
use crate::group::Group;
use crate::published::{Published, of_workload};
use crate::report::{Block, Column, Table};
use crate::text;

const NONE: &str = "–";

pub(super) fn blocks(workload: &str, groups: &[&Group<'_>]) -> Vec<Block> {
    let mut rows: Vec<&Published> = Vec::new();
    for row in of_workload(workload) {
        let has_figure = row.epoch_seconds().is_some() || row.accuracy().is_some() || row.training_seconds().is_some();
        if has_figure && !rows.iter().any(|other| row.repeats(other)) {
            rows.push(row);
        }
    }
    if rows.is_empty() {
        return Vec::new();
    }
    let of_ours = |row: &&Published| groups.iter().any(|group| Some(group.setup.batch_size) == row.batch_size);
    let (near, far): (Vec<&Published>, Vec<&Published>) = rows.into_iter().partition(of_ours);
    let text = "Published elsewhere, on other hardware, with other programs, in other years: nothing of this was measured here.";
    let mut blocks = vec![Block::Heading("Published figures".to_owned()), Block::Text(text.to_owned())];
    let near = (!near.is_empty()).then(|| table(workload, "with a batch size that was trained here", &near, false));
    let far = (!far.is_empty()).then(|| table(workload, "with other batch sizes", &far, true));
    blocks.extend(near.into_iter().chain(far).map(Block::Table));
    blocks
}

fn table(workload: &str, which: &str, rows: &[&Published], is_folded: bool) -> Table {
    let columns = ["Source", "Framework", "Hardware"].into_iter().map(Column::text);
    let numbers = ["Batch", "Epochs", "Rate", "Time per epoch", "Training", "Accuracy"].into_iter().map(Column::number);
    let mut sheet = Sheet::new(&[
        "source",
        "framework",
        "hardware",
        "libraries",
        "devices",
        "threads",
        "batch_size",
        "epochs",
        "learning_rate",
        "seconds_per_epoch",
        "training_seconds",
        "accuracy",
        "memory_megabytes",
        "note",
    ]);
    sheet.rows = rows.iter().map(|row| values(row)).collect();
    Table {
        caption: format!("{workload}: published figures {which}, from {}.", sources(rows)),
        columns: columns.chain(numbers).collect(),
        rows: rows.iter().map(|row| shown(row)).collect(),
        sheet,
        is_folded,
    }
}

fn sources(rows: &[&Published]) -> String {
    let mut names: Vec<String> = Vec::new();
    for row in rows {
        let citation = row.citation();
        let name = citation.split(", Table ").next().unwrap_or(&citation).to_owned();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    text::listed(&names)
}

fn shown(row: &Published) -> Vec<String> {
    let or_none = |text: Option<String>| text.unwrap_or_else(|| NONE.to_owned());
    let device = match row.gpus {
        Some(count) if count > 1 => format!("{count} × {}", row.device()),
        _ => row.device(),
    };
    let threads = row.threads.map(|count| format!(", {count} threads")).unwrap_or_default();
    let libraries = row.backend.as_ref().map(|libraries| format!(" ({libraries})")).unwrap_or_default();
    vec![
        row.citation(),
        row.framework.clone(),
        format!("{device}{threads}{libraries}"),
        or_none(row.batch_size.map(|size| size.to_string())),
        or_none(row.epochs.map(|epochs| text::trimmed(epochs, 2))),
        or_none(row.learning_rate.map(text::plain)),
        or_none(row.epoch_seconds().map(text::seconds)),
        or_none(row.training_seconds().map(text::seconds)),
        or_none(row.accuracy().map(text::percent)),
    ]
}

fn values(row: &Published) -> Vec<Value> {
    vec![
        Value::Text(row.citation()),
        Value::Text(row.framework.clone()),
        Value::Text(row.device()),
        Value::Text(row.backend.clone().unwrap_or_default()),
        Value::from(row.gpus.map(f64::from)),
        Value::from(row.threads.map(f64::from)),
        Value::from(row.batch_size.map(f64::from)),
        Value::from(row.epochs),
        Value::from(row.learning_rate),
        Value::from(row.epoch_seconds()),
        Value::from(row.training_seconds()),
        Value::from(row.accuracy()),
        Value::from(row.memory_max_mb),
        Value::Text(row.note.clone().unwrap_or_default()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Made, groups};

    #[test]
    fn rows_with_our_batch_size_stand_open_and_the_others_are_folded() {
        let records = [Made::new("caffe-mnist").batch_size(64).record()];
        let groups = groups(&records);
        let blocks = blocks("caffe-mnist", &groups.iter().collect::<Vec<_>>());
        let tables: Vec<&Table> = blocks
            .iter()
            .filter_map(|block| match block {
                Block::Table(table) => Some(table),
                _ => None,
            })
            .collect();
        assert_eq!(tables.iter().map(|table| table.is_folded).collect::<Vec<_>>(), [false, true]);
        assert!(tables[0].rows.iter().all(|row| row[3] == "64"), "{:?}", tables[0].rows);
        for table in tables {
            assert!(table.rows.iter().all(|row| row.len() == table.columns.len()));
            assert!(table.sheet.rows.iter().all(|row| row.len() == table.sheet.columns.len()));
        }
    }

    #[test]
    fn a_network_of_which_nothing_is_published_has_no_table() {
        assert!(blocks("airbench95", &[]).is_empty());
    }
}
