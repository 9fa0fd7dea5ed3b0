//! A record as a person reads it: figures, curves, what was not ideal, what it was made with.

use leptos::prelude::*;
use results::{Outcome, RunRecord, WorkloadRecord};

use super::chart::{AccuracyChart, LossChart};
use super::figures::{Cards, ResultsTable};
use crate::{published, t, text, words};

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
        <h3>{t!(result_all_figures)}</h3>
        <ResultsTable record=record.clone() />
        {record.workloads.iter().cloned().map(|workload| view! { <Curves workload /> }).collect_view()}
        <h3>{t!(result_how_made)}</h3>
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
                <summary>{t!(result_published)}</summary>
                {parts}
            </details>
        }
    })
}

/// Why the run is not ranked, and what was not ideal.
#[component]
fn Caveats(record: RunRecord) -> impl IntoView {
    let standard = record.is_standard();
    let reasons = record.non_standard.iter().map(|of| words::departure::departure(of)).collect::<Vec<_>>().join(", ");
    let warnings = record.warnings;
    let count = warnings.len() + usize::from(!standard);
    (count > 0).then(|| view! {
        <section class="caveats" aria-labelledby="caveats-title">
            <h3 id="caveats-title">{t!(result_worth_knowing)}</h3>
            <ul class="plain">
                {(!standard).then(|| view! { <li>{t!(result_non_standard, reasons = reasons)}</li> })}
                {warnings.into_iter().map(|warning| view! { <li>{words::warning::warning(&warning)}</li> }).collect_view()}
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
        (t!(result_device_reported), text::device_name(adapter, None)),
        (t!(result_interface), [adapter.api.as_str(), adapter.driver.as_str()].join(" ").trim().to_owned()),
        (t!(result_kernels), t!(result_kernels_of, backend = record.device.backend)),
        (
            t!(result_program),
            t!(result_program_on, name = client.name, version = client.version, system = client.operating_system),
        ),
        ("Gradmark", t!(result_commit, version = record.provenance.engine_version, commit = record.provenance.commit)),
        (t!(result_suite), format!("{} {}", words::network::suite_inside(&record.suite.name), record.suite.version)),
        (t!(result_started), text::day(record.provenance.started_unix_seconds)),
        (t!(result_seed), record.seed.to_string()),
    ];
    if let Some(claimed) = record.device.claimed_name.clone() {
        facts.insert(0, (t!(result_device_claimed), claimed));
    }
    for workload in &record.workloads {
        facts.push((t!(result_training), training(workload)));
        facts.extend(evidence(workload).map(|sentence| (t!(result_evidence), sentence)));
    }
    view! {
        <dl class="facts">
            {facts.into_iter().map(|(name, value)| view! { <div><dt>{name}</dt><dd>{value}</dd></div> }).collect_view()}
        </dl>
    }
}

fn training(workload: &WorkloadRecord) -> String {
    let (settings, summary) = (&workload.settings, &workload.summary);
    t!(
        result_training_of,
        workload = workload.workload,
        steps = summary.steps,
        batch = settings.batch_size,
        precision = settings.precision.name(),
        rate = words::language().number(&settings.learning_rate.to_string()),
        samples = summary.samples,
        windows = summary.measured_windows
    )
}

/// What shows that the training happened and was right.
fn evidence(workload: &WorkloadRecord) -> Option<String> {
    let check = workload.correctness.as_ref()?;
    let small = |value: f64| words::language().number(&format!("{value:.1e}"));
    let whole = check.whole_batch.as_ref().map_or_else(String::new, |whole| {
        t!(
            result_whole,
            batch = whole.batch_size,
            part = whole.part_size,
            difference = small(whole.gradient_difference),
            allowed = format!("{:.0e}", whole.gradient_tolerance)
        )
    });
    let redrawn = if check.redraws == 0 { "" } else { t!(result_redrawn) };
    let (name, batch, difference) = (&workload.workload, check.batch_size, small(check.largest_difference));
    let (allowed, more) = (format!("{:.0e}", check.tolerance), format!("{redrawn}{whole}"));
    let (steps, weights) = (workload.first_losses.len(), workload.weight_samples.len());
    Some(if check.passed {
        t!(
            result_agrees,
            workload = name,
            batch = batch,
            difference = difference,
            allowed = allowed,
            more = more,
            steps = steps,
            weights = weights
        )
    } else {
        t!(
            result_disagrees,
            workload = name,
            batch = batch,
            difference = difference,
            allowed = allowed,
            more = more,
            steps = steps,
            weights = weights
        )
    })
}
