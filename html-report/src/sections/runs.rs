use results::Outcome;

use crate::csv::{Sheet, Value};
use crate::gathered::Gathered;
use crate::report::{Block, Column, Section, Table};
use crate::run::Run;
use crate::text;

/// Every run in a row.
pub(super) fn section(gathered: &Gathered<'_>) -> Option<Section> {
    let mut sheet = Sheet::new(&[
        "file",
        "workload",
        "backend",
        "device",
        "precision",
        "threads",
        "devices",
        "batch_size",
        "learning_rate",
        "seed",
        "outcome",
        "steps",
        "epochs",
        "training_seconds_to_last_evaluation",
        "samples_per_second",
        "samples_per_second_low",
        "samples_per_second_high",
        "samples_per_second_of_all_training",
        "accuracy",
        "test_loss",
        "seconds_to_target",
        "cold_start_seconds",
        "device_memory_bytes",
        "resident_memory_maximum_bytes",
        "cpu_user_percent",
        "cpu_system_percent",
        "communication_share",
        "input",
        "input_share",
        "not_standard",
        "layout",
        "length",
        "scale",
        "training_flops_per_sample",
    ]);
    let of_group = gathered.groups.iter().flat_map(|group| group.runs.iter().map(move |run| (group, run)));
    let scale = |run: &Run<'_>| {
        let is_it = |record: &results::RunRecord| std::ptr::eq(record, run.record);
        gathered.input.entries.iter().find(|entry| entry.record.as_ref().is_some_and(is_it))?.scale
    };
    sheet.rows = of_group.map(|(group, run)| values(&group.setup, run, scale(run))).collect();
    let rows: Vec<Vec<String>> = gathered.runs().map(shown).collect();
    if rows.is_empty() {
        return None;
    }
    let texts = ["Run", "Back end", "Outcome"].into_iter().map(Column::text);
    let numbers = ["Batch", "Rate", "Seed", "Throughput", "Accuracy"].into_iter().map(Column::number);
    let table = Table {
        caption: format!(
            "All {} with the file that each is from; the CSV has more columns.",
            text::counted(rows.len(), "run")
        ),
        columns: texts.chain(numbers).collect(),
        rows,
        sheet,
        is_folded: true,
    };
    let mut blocks = vec![Block::Table(table)];
    if !gathered.input.others.is_empty() {
        blocks.push(Block::Text(format!("Other files that are no records: {}.", text::listed(&gathered.input.others))));
    }
    Some(Section { title: "All runs".to_owned(), blocks })
}

fn outcome(run: &Run<'_>) -> &'static str {
    match run.workload.outcome {
        Outcome::Completed => "completed",
        Outcome::Diverged { .. } => "diverged",
        Outcome::Incorrect => "incorrect",
        Outcome::Cancelled => "cancelled",
        Outcome::Failed { .. } => "not trained",
    }
}

fn shown(run: &Run<'_>) -> Vec<String> {
    let none = || "–".to_owned();
    let settings = &run.workload.settings;
    vec![
        format!("{} ({})", run.workload.workload, run.place),
        run.record.device.backend.clone(),
        outcome(run).to_owned(),
        settings.batch_size.to_string(),
        text::plain(settings.learning_rate),
        run.seed().to_string(),
        throughput(run).unwrap_or_else(none),
        run.summary.accuracy.map_or_else(none, text::percent),
    ]
}

/// Of the windows that count, or with a mark of all training.
fn throughput(run: &Run<'_>) -> Option<String> {
    let of_all = || Some(format!("≈ {}", text::rate(run.summary.samples_per_second_of_all_training()?)));
    run.summary.samples_per_second.map(text::rate).or_else(of_all)
}

fn values(setup: &crate::group::Setup, run: &Run<'_>, scale: Option<f64>) -> Vec<Value> {
    let settings = &run.workload.settings;
    let resources = &run.workload.resources;
    let summary = &run.summary;
    vec![
        Value::from(run.place),
        Value::from(run.workload.workload.as_str()),
        Value::from(setup.backend.as_str()),
        Value::from(setup.device.as_str()),
        Value::from(settings.precision.name()),
        Value::from(setup.threads.map(f64::from)),
        Value::Number(f64::from(setup.devices)),
        Value::Number(f64::from(settings.batch_size)),
        Value::Number(settings.learning_rate),
        Value::Number(f64::from(run.seed())),
        Value::from(outcome(run)),
        Value::Number(run.steps() as f64),
        Value::Number(run.epochs()),
        Value::from(run.workload.training_seconds()),
        Value::from(summary.samples_per_second),
        Value::from(summary.samples_per_second_low),
        Value::from(summary.samples_per_second_high),
        Value::from(summary.samples_per_second_of_all_training()),
        Value::from(summary.accuracy),
        Value::from(summary.test_loss),
        Value::from(summary.seconds_to_target),
        Value::from(run.cold_start_seconds()),
        Value::Number(settings.device_memory_bytes as f64),
        Value::from(resources.resident_memory_maximum_bytes.map(|bytes| bytes as f64)),
        Value::from(resources.cpu_user_percent),
        Value::from(resources.cpu_system_percent),
        Value::from(run.workload.communication_share()),
        Value::from(run.workload.input.map(|input| input.mode.name()).unwrap_or_default()),
        Value::from(run.workload.input_share()),
        Value::Text(run.record.non_standard.join("; ")),
        settings.layout().map_or(Value::Empty, Value::from),
        run.record.length().map_or(Value::Empty, Value::from),
        Value::from(scale),
        Value::Number(settings.training_flops_per_sample as f64),
    ]
}
