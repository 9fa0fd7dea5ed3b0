//! The tables of devices: by score, and a group of lines for each network.

use leptos::prelude::*;
use results::Precision;
use results::api::{
    DeviceSource, FigureOfDevice, RankedClass, ScoreTable, Standings, StandingsPlace, StandingsTable, voices_missing,
};

use super::leaderboard::Chosen;
use crate::{standing, t, text};

const COLUMNS: &str = "7";

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
            {t!(leaderboard_explanation)}
        </p>
        {scores.map(|scores| view! { <Scores scores /> })}
        {has_scores.then(|| view! { <h3>{t!(leaderboard_each_network)}</h3> })}
        <div class="scroll" role="region" aria-label=t!(common_scrollable, what = t!(common_leaderboard)) tabindex="0">
            <table class="leaderboard placed" aria-label=t!(common_leaderboard)>
                {head(t!(leaderboard_rate))}
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
        <h3 id="scores-title">{t!(leaderboard_whole_suite)}</h3>
        <p class="note">
            {t!(leaderboard_score_explanation, reference = reference, lines = lines)}
        </p>
        <div class="scroll" role="region" aria-label=t!(common_scrollable, what = t!(leaderboard_whole_suite)) tabindex="0">
            <table class="leaderboard placed" aria-labelledby="scores-title">
                {head(t!(leaderboard_score))}
                <tbody>{places.into_iter().map(|place| row(place, standing::score)).collect_view()}</tbody>
            </table>
        </div>
    }
}

fn head(figure: &'static str) -> impl IntoView {
    view! {
        <thead>
            <tr>
                <th scope="col" class="number" title=t!(leaderboard_place_meaning)>"#"</th>
                <th scope="col">{t!(leaderboard_device)}</th>
                <th scope="col" class="number" title=t!(leaderboard_figure_meaning)>{figure}</th>
                <th scope="col" class="number" title=t!(leaderboard_runs_meaning)>{t!(leaderboard_runs)}</th>
                <th scope="col" class="number" title=t!(leaderboard_finished_meaning)>{t!(leaderboard_finished)}</th>
                <th scope="col">{t!(leaderboard_backend)}</th>
                <th scope="col">{t!(leaderboard_run_in)}</th>
            </tr>
        </thead>
    }
}

/// Why there is nothing, and how there would be something.
fn what_to_do(chosen: Chosen) -> &'static str {
    let narrowed = chosen.client.get().is_some() || chosen.precision.get() != Precision::F32;
    match (chosen.class.get(), narrowed) {
        (_, true) => t!(leaderboard_none_narrowed),
        (RankedClass::Processor, _) => t!(leaderboard_none_processor),
        (RankedClass::Gpu, _) => t!(leaderboard_none_gpu),
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
        1 => t!(leaderboard_one_line).to_owned(),
        total if total > here as u64 => t!(leaderboard_fastest_of, here = here, total = total),
        total => t!(leaderboard_all_lines, total = total),
    }
}

fn row(line: StandingsPlace, told: Told) -> impl IntoView {
    let figure = line.figure;
    let (value, interval) = told(&figure);
    let completion = line.completion.map_or_else(
        || t!(leaderboard_unknown).to_owned(),
        |completion| t!(leaderboard_of, part = completion.finished, whole = completion.announced),
    );
    let apart = match line.outlier_runs {
        0 => None,
        number => Some(t!(leaderboard_apart, number = number)),
    };
    let missing = voices_missing(figure.submitters, figure.days);
    let waits = (missing > 0).then(|| t!(leaderboard_voices_missing, number = missing));
    let guess = line.inferred.iter().map(|guess| t!(leaderboard_perhaps, device = guess));
    let notes: Vec<String> = guess.chain(apart).chain(waits).collect();
    let guessed = (t!(leaderboard_inferred), t!(leaderboard_inferred_meaning));
    let inferred = line.inferred.is_some().then_some(guessed);
    let chips = source_chip(line.device_source).into_iter().chain(inferred).map(chip);
    let device = text::named_device(&line.device_name);
    let best =
        t!(leaderboard_best_of, device = device, backend = line.backend, client = text::client(line.client_kind));
    view! {
        <tr data-device=line.device_key.clone()>
            <td class="number">{if missing > 0 { "–".to_owned() } else { line.place.to_string() }}</td>
            <th scope="row">
                <a href=format!("/devices/{}", line.device_key)>{device}</a>
                {chips.collect_view()}
                <span class="explain">
                    <a href=format!("/runs/{}", line.best_run_id) aria-label=best>{t!(leaderboard_best)}</a>
                    {notes.into_iter().map(|note| format!("; {note}")).collect::<String>()}
                </span>
            </th>
            <td class="number">{value}<span class="explain">{interval}</span></td>
            <td class="number">
                {text::count(figure.runs)}
                <span class="explain">{t!(common_submitters, number = figure.submitters)}</span>
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
        DeviceSource::Claimed => Some((t!(leaderboard_claimed), t!(leaderboard_claimed_meaning))),
    }
}

pub(super) fn chip((word, meaning): (&'static str, &'static str)) -> impl IntoView {
    view! { <span class="tier" title=meaning>{word}</span> }
}
