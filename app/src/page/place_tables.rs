//! The tables of devices: by score, and a group of lines for each network.

use leptos::prelude::*;
use results::Precision;
use results::api::{DeviceSource, FigureOfDevice, RankedClass, ScoreTable, Standings, StandingsPlace, StandingsTable};

use super::leaderboard::Chosen;
use crate::{standing, text};

const COLUMNS: &str = "7";
const PLACE_MEANING: &str = "Place; those that cannot be told apart share one";
pub(super) const FIGURE_MEANING: &str = "Median over submitters, each once a day; half of them lie in the interval";
pub(super) const RUNS_MEANING: &str = "Proven runs, and by how many people: each counts once a day";
const FINISHED_MEANING: &str =
    "Of the runs that these people announced. Where few finished, those that did are a lucky choice";

/// A figure and its interval, as texts.
type Told = fn(&FigureOfDevice) -> (String, String);

#[component]
pub(super) fn PlaceTables(standings: Standings, chosen: Chosen) -> impl IntoView {
    let scores = standings.scores.filter(|scores| !scores.places.is_empty());
    let has_scores = scores.is_some();
    let empty = standings.tables.iter().all(|table| table.places.is_empty());
    let bodies = standings.tables.into_iter().filter(|table| !table.places.is_empty()).map(network).collect_view();
    let nothing = move || {
        empty.then(|| {
            view! { <tbody><tr><td colspan=COLUMNS class="empty"><p>{what_to_do(chosen)}</p></td></tr></tbody> }
        })
    };
    view! {
        <p class="note">
            "A place comes from all proven runs of a device, in which each person counts once a day. Devices that cannot \
             be told apart share one."
        </p>
        {scores.map(|scores| view! { <Scores scores /> })}
        {has_scores.then(|| view! { <h3>"Each network"</h3> })}
        <div class="scroll" role="region" aria-label="Leaderboard, scrollable" tabindex="0">
            <table class="leaderboard placed" aria-label="Leaderboard">
                {head("Samples per second")}
                {bodies}
                {nothing}
            </table>
        </div>
    }
}

#[component]
fn Scores(scores: ScoreTable) -> impl IntoView {
    let ScoreTable { reference, total, places } = scores;
    let lines = shown_of_total(places.len(), total);
    view! {
        <h3 id="scores-title">"Whole suite"</h3>
        <p class="note">
            {format!("The score says how many times as fast all networks train together; 1.00 is {reference}. {lines}.")}
        </p>
        <div class="scroll" role="region" aria-label="Whole suite, scrollable" tabindex="0">
            <table class="leaderboard placed" aria-labelledby="scores-title">
                {head("Score")}
                <tbody>{places.into_iter().map(|place| row(place, standing::score)).collect_view()}</tbody>
            </table>
        </div>
    }
}

fn head(figure: &'static str) -> impl IntoView {
    view! {
        <thead>
            <tr>
                <th scope="col" class="number" title=PLACE_MEANING>"#"</th>
                <th scope="col">"Device"</th>
                <th scope="col" class="number" title=FIGURE_MEANING>{figure}</th>
                <th scope="col" class="number" title=RUNS_MEANING>"Runs"</th>
                <th scope="col" class="number" title=FINISHED_MEANING>"Finished"</th>
                <th scope="col">"Back end"</th>
                <th scope="col">"Run in"</th>
            </tr>
        </thead>
    }
}

/// Why there is nothing, and how there would be something.
fn what_to_do(chosen: Chosen) -> &'static str {
    let narrowed = chosen.client.get().is_some() || chosen.precision.get() != Precision::F32;
    match (chosen.class.get(), narrowed) {
        (_, true) => {
            "No device has a place in this choice yet. Choose “All” and f32 to see more, or upload a run like it."
        }
        (RankedClass::Processor, _) => {
            "No processor has a place yet. Choose the Burn back end for the processor, run the suite and upload it."
        }
        (RankedClass::Gpu, _) => {
            "No GPU has a place yet. Run this suite as it is and upload it: it gets one once it is proven. “All runs” \
             shows everything that was uploaded."
        }
    }
}

fn network(table: StandingsTable) -> impl IntoView {
    let title = text::workload_title(&table.workload);
    let lines = shown_of_total(table.places.len(), table.total);
    view! {
        <tbody>
            <tr class="group">
                <th scope="rowgroup" colspan=COLUMNS>{title}<span class="explain">{lines}</span></th>
            </tr>
            {table.places.into_iter().map(|place| row(place, standing::rate)).collect_view()}
        </tbody>
    }
}

/// How many lines a table has, and how many of them are here.
fn shown_of_total(here: usize, total: u64) -> String {
    match total {
        1 => "1 device and back end".to_owned(),
        total if total > here as u64 => {
            format!("The fastest {} of {} devices and back ends", text::count(here as u64), text::count(total))
        }
        total => format!("{} devices and back ends, fastest first", text::count(total)),
    }
}

fn row(line: StandingsPlace, told: Told) -> impl IntoView {
    let figure = line.figure;
    let (value, interval) = told(&figure);
    let completion = line.completion.map_or_else(
        || "unknown".to_owned(),
        |completion| format!("{} of {}", text::count(completion.finished), text::count(completion.announced)),
    );
    let apart = match line.outlier_runs {
        0 => None,
        1 => Some("1 run stands apart".to_owned()),
        number => Some(format!("{} runs stand apart", text::count(number))),
    };
    let notes: Vec<String> = line.inferred.iter().map(|guess| format!("perhaps {guess}")).chain(apart).collect();
    let guessed = ("inferred", "What it may be follows from its measured peak, and decides nothing");
    let inferred = line.inferred.is_some().then_some(guessed);
    let chips = source_chip(line.device_source).into_iter().chain(inferred).map(chip);
    let best = format!("best run of {}, {}, {}", line.device_name, line.backend, text::client(line.client_kind));
    view! {
        <tr data-device=line.device_key.clone()>
            <td class="number">{line.place}</td>
            <th scope="row">
                <a href=format!("/devices/{}", line.device_key)>{line.device_name}</a>
                {chips.collect_view()}
                <span class="explain">
                    <a href=format!("/runs/{}", line.best_run_id) aria-label=best>"best run"</a>
                    {notes.into_iter().map(|note| format!("; {note}")).collect::<String>()}
                </span>
            </th>
            <td class="number">{value}<span class="explain">{interval}</span></td>
            <td class="number">
                {text::count(figure.runs)}
                <span class="explain">{text::counted(figure.submitters, "submitter")}</span>
            </td>
            <td class="number">{completion}</td>
            <td class="program">{line.backend}</td>
            <td class="program">{text::client(line.client_kind)}</td>
        </tr>
    }
}

/// A word and its meaning, where a name is less than what the platform says.
pub(super) fn source_chip(source: DeviceSource) -> Option<(&'static str, &'static str)> {
    match source {
        DeviceSource::Reported | DeviceSource::Masked => None,
        DeviceSource::Claimed => Some(("claimed", "Its owner says so; the browser hides the name")),
    }
}

pub(super) fn chip((word, meaning): (&'static str, &'static str)) -> impl IntoView {
    view! { <span class="tier" title=meaning>{word}</span> }
}
