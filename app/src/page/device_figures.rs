//! A device's figures: scores of whole suites first, then each network.

use leptos::prelude::*;
use results::api::{CategoryFigure, voices_missing};

use crate::words::network;
use crate::{standing, t, text};

const COLUMNS: &str = "7";

#[component]
pub(super) fn DeviceFigures(figures: Vec<CategoryFigure>) -> impl IntoView {
    if figures.is_empty() {
        return view! {
            <p class="callout">
                {t!(device_no_place)}
            </p>
        }
        .into_any();
    }
    let (scores, networks): (Vec<_>, Vec<_>) = figures.into_iter().partition(|figure| figure.workload.is_none());
    let scores = (!scores.is_empty()).then(|| {
        view! {
            <h3>{t!(leaderboard_whole_suite)}</h3>
            <p class="note">{t!(device_suite_note)}</p>
            <Figures figures=scores label=t!(leaderboard_whole_suite) figure=t!(leaderboard_score) />
        }
    });
    let networks = (!networks.is_empty()).then(|| {
        view! {
            <h3>{t!(leaderboard_each_network)}</h3>
            <Figures figures=networks label=t!(device_figures) figure=t!(leaderboard_rate) />
        }
    });
    view! {
        {scores}
        {networks}
        <p class="note">
            {t!(device_figures_note)}
        </p>
    }
    .into_any()
}

/// A group of lines for each suite.
#[component]
fn Figures(figures: Vec<CategoryFigure>, label: &'static str, figure: &'static str) -> impl IntoView {
    let bodies = figures.chunk_by(|a, b| a.suite == b.suite).map(|lines| {
        let suite = &lines[0].suite;
        view! {
            <tbody>
                <tr class="group">
                    <th scope="rowgroup" colspan=COLUMNS>
                        {t!(network_suite_version, suite = network::suite(&suite.name), version = suite.version)}
                    </th>
                </tr>
                {lines.iter().cloned().map(row).collect_view()}
            </tbody>
        }
    });
    view! {
        <div class="scroll" role="region" aria-label=t!(common_scrollable, what = label) tabindex="0">
            <table class="leaderboard" aria-label=label>
                <thead>
                    <tr>
                        <th scope="col">{t!(leaderboard_network)}</th>
                        <th scope="col" class="number" title=t!(leaderboard_figure_meaning)>{figure}</th>
                        <th scope="col" class="number">{t!(leaderboard_place)}</th>
                        <th scope="col" class="number" title=t!(leaderboard_runs_meaning)>{t!(leaderboard_runs)}</th>
                        <th scope="col">{t!(leaderboard_backend)}</th>
                        <th scope="col">{t!(leaderboard_precision)}</th>
                        <th scope="col">{t!(leaderboard_run_in)}</th>
                    </tr>
                </thead>
                {bodies.collect_view()}
            </table>
        </div>
    }
}

fn row(line: CategoryFigure) -> impl IntoView {
    let (title, (value, interval)) = match &line.workload {
        Some(workload) => (text::workload_title(workload), standing::rate(&line.figure)),
        None => (t!(device_all_networks).to_owned(), standing::score(&line.figure)),
    };
    let place = match voices_missing(line.figure.submitters, line.figure.days) {
        0 => t!(leaderboard_of, part = line.place, whole = line.of),
        missing => t!(leaderboard_voices_missing, number = missing),
    };
    let best = t!(device_best, network = title, backend = line.backend, client = text::client(line.client_kind));
    view! {
        <tr data-workload=line.workload.clone().unwrap_or_default()>
            <th scope="row">
                {title}
                <span class="explain">
                    <a href=format!("/runs/{}", line.best_run_id) aria-label=best>{t!(leaderboard_best)}</a>
                </span>
            </th>
            <td class="number">{value}<span class="explain">{interval}</span></td>
            <td class="number">{place}</td>
            <td class="number">
                {text::count(line.figure.runs)}
                <span class="explain">{t!(common_submitters, number = line.figure.submitters)}</span>
            </td>
            <td class="program">{line.backend}</td>
            <td class="program">{line.precision.name()}</td>
            <td class="program">{text::client(line.client_kind)}</td>
        </tr>
    }
}
