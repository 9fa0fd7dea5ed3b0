//! A device's figures: scores of whole suites first, then each network.

use leptos::prelude::*;
use results::api::CategoryFigure;

use super::place_tables::{FIGURE_MEANING, RUNS_MEANING};
use crate::{standing, text};

const COLUMNS: &str = "7";

#[component]
pub(super) fn DeviceFigures(figures: Vec<CategoryFigure>) -> impl IntoView {
    if figures.is_empty() {
        return view! {
            <p class="callout">
                "No run of this device is proven yet, so it has no place. Its results are below."
            </p>
        }
        .into_any();
    }
    let (scores, networks): (Vec<_>, Vec<_>) = figures.into_iter().partition(|figure| figure.workload.is_none());
    let scores = (!scores.is_empty()).then(|| {
        view! {
            <h3>"Whole suite"</h3>
            <p class="note">"How many times as fast as the reference run all networks train together."</p>
            <Figures figures=scores label="Whole suite" figure="Score" />
        }
    });
    let networks = (!networks.is_empty()).then(|| {
        view! {
            <h3>"Each network"</h3>
            <Figures figures=networks label="Figures" figure="Samples per second" />
        }
    });
    view! {
        {scores}
        {networks}
        <p class="note">
            "Medians of proven runs, in which each person counts once a day; half of them lie in the interval. A place is one \
             among devices, back ends and kinds of client in the same suite, network and precision."
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
                        {format!("{} suite, version {}", text::capitalised(&suite.name), suite.version)}
                    </th>
                </tr>
                {lines.iter().cloned().map(row).collect_view()}
            </tbody>
        }
    });
    view! {
        <div class="scroll" role="region" aria-label=format!("{label}, scrollable") tabindex="0">
            <table class="leaderboard" aria-label=label>
                <thead>
                    <tr>
                        <th scope="col">"Network"</th>
                        <th scope="col" class="number" title=FIGURE_MEANING>{figure}</th>
                        <th scope="col" class="number">"Place"</th>
                        <th scope="col" class="number" title=RUNS_MEANING>"Runs"</th>
                        <th scope="col">"Back end"</th>
                        <th scope="col">"Precision"</th>
                        <th scope="col">"Run in"</th>
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
        None => ("All networks".to_owned(), standing::score(&line.figure)),
    };
    let best = format!("best run: {title}, {}, {}", line.backend, text::client(line.client_kind));
    view! {
        <tr data-workload=line.workload.clone().unwrap_or_default()>
            <th scope="row">
                {title}
                <span class="explain">
                    <a href=format!("/runs/{}", line.best_run_id) aria-label=best>"best run"</a>
                </span>
            </th>
            <td class="number">{value}<span class="explain">{interval}</span></td>
            <td class="number">{format!("{} of {}", text::count(line.place), text::count(line.of))}</td>
            <td class="number">
                {text::count(line.figure.runs)}
                <span class="explain">{text::counted(line.figure.submitters, "submitter")}</span>
            </td>
            <td class="program">{line.backend}</td>
            <td class="program">{line.precision.name()}</td>
            <td class="program">{text::client(line.client_kind)}</td>
        </tr>
    }
}
