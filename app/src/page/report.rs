//! A record as a person reads it: metrics, curves, caveats, and how it was made.

use leptos::prelude::*;
use results::estimate::Estimate;
use results::{Metric, Outcome, RunRecord, WorkloadRecord, metrics_of};

use super::chart::{AccuracyChart, LossChart};
use crate::headline::{self, Figure};
use crate::words::remarks::Reader;
use crate::{published, t, text, words};

/// The most important facts.
#[component]
pub(super) fn Overview(record: RunRecord, #[prop(optional)] reader: Reader) -> impl IntoView {
    view! {
        {engine::score(&record).map(|score| view! { <Score score /> })}
        <Cards record=record.clone() />
        <OfItsTime record=record.clone() />
        <Caveats record reader />
    }
}

/// The score of the suite, with its interval.
#[component]
fn Score(score: Estimate) -> impl IntoView {
    let interval = score.interval.map(|of| format!("{} – {}", text::score(of.low), text::score(of.high)));
    view! {
        <p class="score" data-figure="score">
            <span class="name">"Gradmark"</span>
            <strong>{text::score(score.value)}</strong>
            <span class="unit">"GFLOP/s"</span>
            {interval.map(|interval| view! { <span class="note">{interval}</span> })}
        </p>
        <p class="note">{t!(result_score_meaning)}</p>
    }
}

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

#[component]
fn Caveats(record: RunRecord, reader: Reader) -> impl IntoView {
    let standard = record.is_standard();
    let reasons = record.departures.iter().map(words::remarks::departure).collect::<Vec<_>>().join(", ");
    let warnings: Vec<String> = record.warnings.iter().map(|of| words::remarks::warning(of, reader)).collect();
    let count = warnings.len() + usize::from(!standard);
    (count > 0).then(|| {
        view! {
            <section class="caveats" aria-labelledby="caveats-title">
                <h3 id="caveats-title">{t!(result_worth_knowing)}</h3>
                <ul class="plain">
                    {(!standard).then(|| view! { <li>{t!(result_non_standard, reasons = reasons)}</li> })}
                    {warnings.into_iter().map(|warning| view! { <li>{warning}</li> }).collect_view()}
                </ul>
            </section>
        }
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

#[component]
fn Facts(record: RunRecord) -> impl IntoView {
    let adapter = &record.device.adapter;
    let client = &record.provenance.client;
    let mut facts = vec![
        (t!(leaderboard_device), format!("{} ({})", text::device_name(adapter, None), t!(leaderboard_reported))),
        (t!(result_interface), [adapter.api.as_str(), adapter.driver.as_str()].join(" ").trim().to_owned()),
        (t!(common_backend), record.device.backend.clone()),
        (t!(common_program), format!("{} {}, {}", client.name, client.version, client.operating_system)),
        ("Gradmark", format!("{}, commit {}", record.provenance.engine_version, record.provenance.commit)),
        (t!(common_suite), format!("{} {}", text::suite_inside(&record.suite.name), record.suite.version)),
        (t!(result_started), text::day(record.provenance.started_unix_seconds)),
        (t!(common_seed), record.requested.seed.to_string()),
    ];
    if let Some(claimed) = record.device.claimed() {
        facts.insert(0, (t!(leaderboard_device), format!("{claimed} ({})", t!(leaderboard_claimed))));
    }
    for workload in &record.workloads {
        facts.push((t!(common_training), training(workload)));
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

/// Evidence that the training happened and was correct.
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
    Some(t!(
        result_checked,
        mark = if check.passed { "✓" } else { "✗" },
        workload = workload.workload,
        batch = check.batch_size,
        difference = small(check.largest_difference),
        allowed = format!("{:.0e}", check.tolerance),
        more = whole,
        steps = workload.first_losses.len(),
        weights = workload.weight_samples.len()
    ))
}

/// The most important metrics of each workload.
#[component]
pub(super) fn Cards(record: RunRecord) -> impl IntoView {
    let cards = record.workloads.into_iter().map(|workload| {
        let title = text::workload_title(&workload.workload);
        let body = if workload.outcome == Outcome::Completed {
            let figures = headline::figures(&workload).into_iter().map(|figure| view! { <Large figure /> });
            view! { <dl>{figures.collect_view()}</dl> }.into_any()
        } else {
            view! { <p>{text::capitalised(&text::outcome(&workload.outcome))}</p> }.into_any()
        };
        view! { <article class="card"><h3>{title}</h3>{body}</article> }
    });
    view! { <div class="cards">{cards.collect_view()}</div> }
}

#[component]
fn Large(figure: Figure) -> impl IntoView {
    let Figure { title, number, unit, remark } = figure;
    view! {
        <div>
            <dt>{title}</dt>
            <dd>
                {number}
                <small>{format!(" {unit}")}</small>
                {remark.map(|remark| view! { <span class="explain">{remark}</span> })}
            </dd>
        </div>
    }
}

/// Every metric of every workload.
#[component]
pub(super) fn ResultsTable(record: RunRecord) -> impl IntoView {
    let titles: Vec<String> = record.workloads.iter().map(|w| text::workload_title(&w.workload)).collect();
    let rows = metrics_of(record.workloads.iter().map(|w| &w.summary)).into_iter().map(|metric| {
        let cells = record.workloads.iter().map(|workload| cell(metric, workload));
        view! {
            <tr data-metric=metric.id>
                <th scope="row">
                    {text::metric_title(metric)}
                    <span class="explain long">{text::metric_description(metric)}</span>
                </th>
                {cells.collect_view()}
            </tr>
        }
    });
    view! {
        <div class="scroll" role="region" aria-label=t!(common_scrollable, what = t!(result_all_figures)) tabindex="0">
            <table class="results" aria-label=t!(result_all_figures)>
                <thead>
                    <tr>
                        <th scope="col">{t!(common_metric)}</th>
                        {titles.into_iter().map(|title| view! { <th scope="col">{title}</th> }).collect_view()}
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
}

fn cell(metric: &'static Metric, workload: &WorkloadRecord) -> impl IntoView + use<> {
    let summary = &workload.summary;
    let half_width = (metric.id == "samples_per_second" && summary.measured_windows > 1)
        .then(|| summary.relative_half_width())
        .flatten();
    view! {
        <td data-workload=workload.workload.clone()>
            {text::metric_or_dash(metric, summary)}
            {half_width.map(|share| view! { <span class="explain">{format!("± {} %", text::number(share * 100.0, 1))}</span> })}
        </td>
    }
}
