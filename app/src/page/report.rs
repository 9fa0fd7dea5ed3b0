//! A record as a person reads it: figures, curves, what was not ideal, what it was made with.

use leptos::prelude::*;
use results::{Outcome, RunRecord, WorkloadRecord};

use super::chart::{AccuracyChart, LossChart};
use super::figures::{Cards, ResultsTable};
use crate::{published, text};

/// What a person wants to know at once.
#[component]
pub(super) fn Overview(record: RunRecord) -> impl IntoView {
    view! {
        <Cards record=record.clone() />
        <OfItsTime record=record.clone() />
        <Caveats record />
    }
}

/// Everything else.
#[component]
pub(super) fn Particulars(record: RunRecord) -> impl IntoView {
    view! {
        <h3>"All figures"</h3>
        <ResultsTable record=record.clone() />
        {record.workloads.iter().cloned().map(|workload| view! { <Curves workload /> }).collect_view()}
        <h3>"How it was made"</h3>
        <Facts record />
    }
}

/// The hardware of those who published figures of the same networks.
#[component]
fn OfItsTime(record: RunRecord) -> impl IntoView {
    let completed = record.workloads.iter().filter(|workload| workload.outcome == Outcome::Completed);
    let parts: Vec<_> = completed.map(|workload| (workload, published::sentences(workload))).collect();
    let parts = parts.into_iter().filter(|(_, sentences)| !sentences.is_empty()).map(|(workload, sentences)| {
        view! {
            <h4>{text::workload_title(&workload.workload)}</h4>
            <ul class="plain">{sentences.into_iter().map(|of| view! { <li>{of}</li> }).collect_view()}</ul>
        }
    });
    let parts: Vec<_> = parts.collect();
    (!parts.is_empty()).then(|| {
        view! {
            <details class="rates" data-part="published">
                <summary>"Beside what was published of these networks"</summary>
                {parts}
            </details>
        }
    })
}

/// Why the run is not ranked, and what was not ideal.
#[component]
fn Caveats(record: RunRecord) -> impl IntoView {
    let standard = record.is_standard();
    let reasons = record.non_standard.join(", ");
    let warnings = record.warnings;
    let count = warnings.len() + usize::from(!standard);
    (count > 0).then(|| view! {
        <section class="caveats" aria-labelledby="caveats-title">
            <h3 id="caveats-title">"Worth knowing"</h3>
            <ul class="plain">
                {(!standard).then(|| view! { <li>{format!("Non-standard, so shown but never ranked: {reasons}.")}</li> })}
                {warnings.into_iter().map(|warning| view! { <li>{text::warning(&warning)}</li> }).collect_view()}
            </ul>
        </section>
    })
}

#[component]
fn Curves(workload: WorkloadRecord) -> impl IntoView {
    if workload.curve.is_empty() {
        return None;
    }
    let training = Signal::stored(workload.curve);
    let tests = Signal::stored(workload.evaluations);
    let target = Signal::stored(workload.target.map(|target| target.accuracy));
    Some(view! {
        <h3>{text::workload_title(&workload.workload)}</h3>
        <div class="charts">
            <LossChart training />
            <AccuracyChart training tests target />
        </div>
    })
}

/// Device, software and evidence.
#[component]
fn Facts(record: RunRecord) -> impl IntoView {
    let adapter = &record.device.adapter;
    let client = &record.provenance.client;
    let mut facts = vec![
        ("Device, as reported", text::device_name(adapter, None)),
        ("Interface", [adapter.api.as_str(), adapter.driver.as_str()].join(" ").trim().to_owned()),
        ("Kernels", format!("back end {}", record.device.backend)),
        ("Program", format!("{} {} on {}", client.name, client.version, client.operating_system)),
        ("Gradmark", format!("{}, commit {}", record.provenance.engine_version, record.provenance.commit)),
        ("Suite", format!("{} {}", record.suite.name, record.suite.version)),
        ("Started", text::day(record.provenance.started_unix_seconds)),
        ("Seed", record.seed.to_string()),
    ];
    if let Some(claimed) = record.device.claimed_name.clone() {
        facts.insert(0, ("Device, as claimed", claimed));
    }
    for workload in &record.workloads {
        facts.push(("Training", training(workload)));
        facts.extend(evidence(workload).map(|sentence| ("Evidence", sentence)));
    }
    view! {
        <dl class="facts">
            {facts.into_iter().map(|(name, value)| view! { <div><dt>{name}</dt><dd>{value}</dd></div> }).collect_view()}
        </dl>
    }
}

fn training(workload: &WorkloadRecord) -> String {
    let (settings, summary) = (&workload.settings, &workload.summary);
    format!(
        "{}: {} steps of batch size {} in {}, learning rate {}, {} samples, {} windows counted",
        workload.workload,
        text::count(summary.steps),
        settings.batch_size,
        settings.precision.name(),
        settings.learning_rate,
        text::count(summary.samples),
        summary.measured_windows
    )
}

/// What shows that the training happened and was right.
fn evidence(workload: &WorkloadRecord) -> Option<String> {
    let check = workload.correctness.as_ref()?;
    let verdict = if check.passed { "agrees" } else { "disagrees" };
    let whole = check.whole_batch.as_ref().map_or_else(String::new, |whole| {
        format!(
            ", and its batches of {} with the same samples in batches of {} (gradients differ by {:.1e}, allowed {:.0e})",
            whole.batch_size, whole.part_size, whole.gradient_difference, whole.gradient_tolerance
        )
    });
    let redrawn = match check.redraws {
        0 => "",
        _ => ", with other samples than the first because rounding alone decided what was compared there",
    };
    Some(format!(
        "{}: {verdict} with the reference back end on batches of {} (largest relative difference of a loss {:.1e}, allowed \
         {:.0e}){redrawn}{whole}; the losses of the first {} steps and {} final weights are kept",
        workload.workload,
        check.batch_size,
        check.largest_difference,
        check.tolerance,
        workload.first_losses.len(),
        workload.weight_samples.len()
    ))
}
