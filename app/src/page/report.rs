//! Human-readable view of a record: metrics, curves, caveats, and how it was made.

use leptos::prelude::*;
use results::api::Standings;
use results::estimate::Estimate;
use results::{Goal, Metric, Outcome, RunRecord, Summary, WorkloadRecord, metrics_of};
use view::text::reads_text;

use super::chart::{accuracy_chart, loss_chart, rate_chart, test_loss_chart};
use super::parts::{explain, list_items, set_later, table};
use super::places::STANDINGS;
use crate::route::with_query;
use crate::standing::Rank;
use crate::{platform, published, standing, t, text, words};

pub(super) fn overview(record: RunRecord, heading: AnyView) -> impl IntoView {
    let score = engine::score(&record);
    let rank = rank(&record, score.map(|score| score.value));
    let sentences =
        record.workloads.iter().map(|workload| view! { <li>{words::outcome::workload_headline(workload)}</li> });
    view! {
        <div class="overview">
            {score.map(|score| score_ring(score, rank))}
            <div class="overview-words">
                {heading}
                <div aria-live="polite">{move || rank.get().map(rank_of)}</div>
                <ul class="plain networks-done">{sentences.collect_view()}</ul>
            </div>
        </div>
    }
}

/// Circumference of a circle with radius 54, the ring's.
const RING: f64 = std::f64::consts::TAU * 54.0;

/// The score of the suite with its interval, in a ring that is filled by the share of slower devices.
fn score_ring(score: Estimate, rank: RwSignal<Option<Rank>>) -> impl IntoView {
    let interval = score.interval.map(|of| format!("{} – {}", text::score(of.low), text::score(of.high)));
    let filled = move || match rank.get() {
        Some(Rank::Among { rank, .. }) => rank.slower as f64 / rank.devices as f64 * RING,
        _ => RING,
    };
    view! {
        <div class="score" data-figure="score" title=t!(result_score_meaning)>
            <svg viewBox="0 0 120 120" aria-hidden="true">
                <circle class="ring" cx="60" cy="60" r="54" />
                <circle class="ring-fill" cx="60" cy="60" r="54" stroke-dasharray=move || format!("{} {RING}", filled()) />
            </svg>
            <p>
                <span class="name">"Gradmark"</span>
                <strong>{text::score(score.value)}</strong>
                <span class="unit">"GFLOP/s"</span>
                {interval.map(|interval| view! { <span class="note">{interval}</span> })}
            </p>
        </div>
    }
}

fn rank(record: &RunRecord, score: Option<f64>) -> RwSignal<Option<Rank>> {
    let rank = RwSignal::new(None);
    let published = published::nearest(record);
    let Some(score) = score else { return rank };
    let query = standing::scores_query(record);
    let device = text::device_name(&record.device.adapter, record.device.claimed_name.as_deref());
    set_later(rank, async move {
        let answer = platform::get::<Standings>(&with_query(STANDINGS, &query)).await;
        let among = answer.ok().and_then(|standings| Rank::among(standings.scores, score, &device));
        among.or((!published.is_empty()).then_some(Rank::Published(published)))
    });
    rank
}

fn rank_of(rank: Rank) -> impl IntoView {
    match rank {
        Rank::Among { rank, neighbors } => {
            let neighbors = neighbors.into_iter().map(|(device, score)| {
                let is_own = device.is_none();
                let name = device.map(|name| text::named_device(&name));
                view! {
                    <li class:own=is_own>
                        {name.unwrap_or_else(|| t!(result_this_run).to_owned())}
                        " "
                        <b>{text::score(score)}</b>
                    </li>
                }
            });
            view! {
                <p class="rank">{t!(result_rank, share = rank.percent(), devices = text::count(rank.devices))}</p>
                <ol class="neighbors">{neighbors.collect_view()}</ol>
            }
            .into_any()
        }
        Rank::Published(sentences) => {
            sentences.into_iter().map(|sentence| view! { <p class="rank">{sentence}</p> }).collect_view().into_any()
        }
    }
}

pub(super) fn particulars(record: RunRecord) -> impl IntoView {
    view! {
        <h2 class="minor">{t!(result_all_figures)}</h2>
        <p class="note">{t!(result_score_meaning)}</p>
        {results_table(record.clone())}
        {record.workloads.iter().cloned().map(curves).collect_view()}
        {of_its_time(record.clone())}
        <h2 class="minor">{t!(result_how_made)}</h2>
        {facts(record)}
    }
}

fn of_its_time(record: RunRecord) -> impl IntoView {
    let completed = record.workloads.iter().filter(|workload| workload.outcome == Outcome::Completed);
    let part = |workload: &WorkloadRecord| {
        let sentences = Some(published::sentences(workload)).filter(|sentences| !sentences.is_empty())?;
        let title = text::workload_title(&workload.workload);
        Some(view! { <h3>{title}</h3><ul class="plain">{list_items(sentences)}</ul> })
    };
    let parts: Vec<_> = completed.filter_map(part).collect();
    (!parts.is_empty()).then(|| {
        view! {
            <details class="rates" data-part="published">
                <summary>{t!(result_published)}</summary>
                {parts}
            </details>
        }
    })
}

/// Notes on a run, as many as `most`. Warnings have advice for the person who has just run the benchmark.
pub(super) fn caveats(record: &RunRecord, with_advice: bool, most: usize) -> impl IntoView + use<> {
    let reasons = record.departures.iter().map(words::remarks::departure).collect::<Vec<_>>().join(", ");
    let unusual = (!record.is_standard()).then(|| t!(result_non_standard, reasons));
    let warnings = record.warnings.iter().map(|of| words::remarks::warning(of, with_advice));
    // Settings come last, because the person chose them.
    let notes: Vec<_> = warnings.chain(unusual).take(most).collect();
    (!notes.is_empty()).then(|| {
        view! {
            <div class="caveats"><ul class="plain" aria-label=t!(result_worth_knowing)>{list_items(notes)}</ul></div>
        }
    })
}

fn curves(workload: WorkloadRecord) -> impl IntoView {
    if workload.curve.is_empty() {
        return None;
    }
    let is_text = reads_text(&workload);
    let goal = workload.target.map(|target| target.goal);
    let training = Signal::stored(workload.curve);
    let tests = Signal::stored(workload.evaluations);
    let rates = workload.windows.iter().scan(0.0, |seconds, window| {
        *seconds += window.seconds;
        Some((*seconds, window.samples as f64 / window.seconds))
    });
    let rates = rates.collect();
    let learned = if let Some(Goal::Loss(target)) = goal {
        test_loss_chart(training, tests, target, is_text, true).into_any()
    } else {
        let target = Signal::stored(goal.map(Goal::number));
        view! {
            {loss_chart(training, true)}
            {accuracy_chart(training, tests, target, None, true)}
        }
        .into_any()
    };
    Some(view! {
        <h3>{text::workload_title(&workload.workload)}</h3>
        <div class="charts">
            {learned}
            {rate_chart(rates)}
        </div>
    })
}

fn facts(record: RunRecord) -> impl IntoView {
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
    let WorkloadRecord { workload, settings, summary, .. } = workload;
    let Summary { steps, samples, measured_windows: windows, .. } = summary;
    let (batch, precision) = (settings.batch_size, settings.precision.name());
    let rate = words::language().number(&settings.learning_rate.to_string());
    let [steps, batch, samples, windows] = [*steps, batch.into(), *samples, (*windows).into()].map(text::count);
    t!(result_training_of, workload, steps, batch, precision, rate, samples, windows)
}

fn evidence(workload: &WorkloadRecord) -> Option<String> {
    let check = workload.correctness.as_ref()?;
    let small = |value: f64| words::language().number(&format!("{value:.1e}"));
    let more = check.whole_batch.as_ref().map_or_else(String::new, |whole| {
        let allowed = format!("{:.0e}", whole.gradient_tolerance);
        let (batch, part, difference) = (whole.batch_size, whole.part_size, small(whole.gradient_difference));
        t!(result_whole, batch = text::count(batch), part = text::count(part), difference, allowed)
    });
    let (mark, batch) = (if check.passed { "✓" } else { "✗" }, check.batch_size);
    let (difference, allowed) = (small(check.largest_difference), format!("{:.0e}", check.tolerance));
    let (steps, weights) = (workload.first_losses.len(), workload.weight_samples.len());
    let workload = &workload.workload;
    let (batch, steps, weights) = (text::count(batch), text::count(steps), text::count(weights));
    Some(t!(result_checked, mark, workload, batch, difference, allowed, more, steps, weights))
}

pub(super) fn results_table(record: RunRecord) -> impl IntoView {
    let titles = record.workloads.iter().map(|w| text::workload_title(&w.workload));
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
    let titles = std::iter::once(t!(common_metric).to_owned()).chain(titles);
    let heads = titles.map(|title| view! { <th scope="col">{title}</th> }).collect_view();
    table("results", t!(result_all_figures), heads, view! { <tbody>{rows.collect_view()}</tbody> })
}

fn cell(metric: &'static Metric, workload: &WorkloadRecord) -> impl IntoView + use<> {
    let summary = &workload.summary;
    let is_measured = metric.id == "samples_per_second" && summary.measured_windows > 1;
    let half_width = is_measured.then(|| summary.relative_half_width()).flatten();
    let half_width = half_width.map(|share| format!("± {} %", text::number(share * 100.0, 1)));
    view! {
        <td data-workload=workload.workload.clone()>{text::metric_or_dash(metric, summary)}{explain(half_width)}</td>
    }
}
