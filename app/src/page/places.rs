//! Leaderboard tables of devices, with published hardware as a placeholder, and the elements of their rows.

use leptos::prelude::*;
use results::api::{DeviceSource, FigureOfDevice, Standings, StandingsPlace, StandingsQuery, voices_missing};
use results::{ClientKind, VENDORS};

use super::parts::{MAX_ROWS, choice, listed, load_latest, show_more, table, text_field};
use super::runs::drop_down;
use crate::filters::{CLASS, CLIENT, Filters, List, PRECISION, RUNS, SUITE, suite_networks};
use crate::own_runs::OwnRuns;
use crate::published::{self, PublishedTime};
use crate::route::with_query;
use crate::{platform, standing, t, text};

pub(super) const STANDINGS: &str = "/api/v1/standings";
const LINES: u32 = 50;

/// Table of the selected tab. One request fetches the tables of all tabs.
pub(super) fn places(chosen: RwSignal<Filters>) -> impl IntoView {
    let limit = RwSignal::new(LINES);
    let search = RwSignal::new(String::new());
    let is_searching = Memo::new(move |_| search.with(|search| !search.is_empty()));
    let query = Memo::new(move |_| {
        let limit = Some(if is_searching.get() { MAX_ROWS } else { limit.get() });
        StandingsQuery { limit, ..chosen.with(Filters::standings_query) }
    });
    let loaded = load_latest::<Standings>(move || query.with(|query| with_query(STANDINGS, query)));
    let tab = Memo::new(move |_| Some(chosen.with(Filters::tab)).filter(|tab| *tab != RUNS).unwrap_or_default());
    let lines = Memo::new(move |_| {
        loaded.with(|loaded| Some(lines(loaded.as_ref()?.as_ref().ok()?, tab.get()))).unwrap_or_default()
    });
    let more = Memo::new(move |_| {
        let (here, total) = lines.get();
        limit.get() < MAX_ROWS && !is_searching.get() && here < total
    });
    // On an empty leaderboard, filters are useless. Once shown, they stay.
    let has_lines = |of: &Standings| of.scores.total > 0 || of.tables.iter().any(|table| table.total > 0);
    let has_filters = Memo::new(move |before: Option<&bool>| {
        before == Some(&true)
            || chosen.with(Filters::any_of_places)
            || loaded.with(|loaded| matches!(loaded, Some(Ok(standings)) if has_lines(standings)))
    });
    view! {
        <Show when=move || has_filters.get()>{place_filters(chosen)}</Show>
        <Show when=move || { lines.get().1 > 0 }>
            {text_field(t!(leaderboard_search), "search", None, search, |text| text.trim().to_lowercase())}
        </Show>
        {listed(loaded, move |of| of_tab(of, tab.get(), chosen.with_untracked(Filters::any_of_places), search))}
        {show_more(more, limit)}
    }
}

/// Number of loaded lines in a tab's table, and of all.
fn lines(standings: &Standings, tab: &str) -> (u64, u64) {
    if tab.is_empty() {
        return (standings.scores.places.len() as u64, standings.scores.total);
    }
    let table = standings.tables.iter().find(|table| table.workload == tab);
    table.map_or((0, 0), |table| (table.places.len() as u64, table.total))
}

fn place_filters(chosen: RwSignal<Filters>) -> impl IntoView {
    let summary = move || {
        chosen.with(|chosen| {
            let title = |list: &List| {
                let value = list.chosen(chosen);
                let title = (list.values)().into_iter().find(|(known, _)| *known == value);
                title.filter(|(value, _)| !value.is_empty()).map(|(_, title)| title)
            };
            let titles: Vec<_> = [SUITE, CLASS, PRECISION, CLIENT].iter().filter_map(title).collect();
            t!(leaderboard_filters, filters = titles.join(", "))
        })
    };
    let segments = |list: List| {
        let now = move || chosen.with(|chosen| list.chosen(chosen));
        let choose = move |value| chosen.update(|chosen| chosen.set(list.name, value));
        choice(list.title.text(), list.name, (list.values)(), now, choose)
    };
    view! {
        <details class="more-filters">
            <summary>{summary}</summary>
            <div class="filters">{[CLASS, CLIENT, PRECISION].map(segments)} {drop_down(chosen, SUITE)}</div>
        </details>
    }
}

fn of_tab(standings: Standings, tab: &'static str, is_filtered: bool, search: RwSignal<String>) -> AnyView {
    let (_, total) = lines(&standings, tab);
    let Standings { suite, scores, tables } = standings;
    let (head, meaning, figure_text, places): (_, _, fn(f64) -> String, _) = if tab.is_empty() {
        (standing::SCORE_TITLE, Some(t!(result_score_meaning)), text::score, scores.places)
    } else {
        let table = tables.into_iter().find(|table| table.workload == tab);
        (t!(common_rate), None, text::rate, table.map(|table| table.places).unwrap_or_default())
    };
    if places.is_empty() {
        return match tab {
            _ if is_filtered => view! { <p class="callout">{t!(leaderboard_no_places)}</p> }.into_any(),
            "" => no_places(suite_networks(&suite.name).to_vec()).into_any(),
            network => no_places(vec![network]).into_any(),
        };
    }
    let counted = t!(leaderboard_lines, here = text::count(places.len()), total = text::count(total));
    let names: Vec<String> = places.iter().map(|line| name_of(line).to_lowercase()).collect();
    let finds_none = move || search.with(|search| !names.iter().any(|name| name.contains(search)));
    let largest = largest(&places);
    let ranks = standing::ranks(&places, total);
    let runs = platform::own_runs();
    let rows = places.into_iter().zip(ranks).map(|(line, rank)| row(line, rank, figure_text, largest, &runs, search));
    let rows = view! { <tbody>{rows.collect_view()}</tbody> };
    let heads = view! {
        <th scope="col" class="number" title=t!(leaderboard_place)>"#"</th>
        <th scope="col">{t!(leaderboard_device)}</th>
        <th scope="col" class="number" title=t!(leaderboard_figure_meaning)>{head}</th>
        <th scope="col" class="number">{t!(leaderboard_runs)}</th>
        <th scope="col" class="number" title=t!(leaderboard_finished_meaning)>{t!(leaderboard_finished)}</th>
        <th scope="col">{t!(common_backend)}</th>
        <th scope="col">{t!(filters_run_in)}</th>
    };
    view! {
        <p class="note">{meaning}" "{counted}". "{t!(leaderboard_explanation)}</p>
        <p class="note" aria-live="polite">{move || finds_none().then_some(t!(leaderboard_none_found))}</p>
        {table("leaderboard placed", t!(common_leaderboard), heads, rows)}
    }
    .into_any()
}

fn name_of(line: &StandingsPlace) -> String {
    text::named_device(&line.device_name)
}

pub(super) fn largest(places: &[StandingsPlace]) -> f64 {
    places.iter().map(|line| line.figure.upper_quartile).fold(f64::MIN_POSITIVE, f64::max)
}

pub(super) fn bar_of(figure: &FigureOfDevice, largest: f64) -> impl IntoView + use<> {
    let (low, high) = (figure.lower_quartile / largest, figure.upper_quartile / largest);
    bar(figure.median / largest, (low < high).then_some((low, high)))
}

/// Name of a device, linked to its page and marked if it is the visitor's.
pub(super) fn device(line: &StandingsPlace, runs: &OwnRuns, described_by: Option<String>) -> impl IntoView + use<> {
    let name = name_of(line);
    // Many devices share a masked name.
    let is_named = !matches!(line.device_source, DeviceSource::Masked);
    let own = own(runs, &line.best_run_id, is_named.then_some(name.as_str()));
    view! {
        <a href=format!("/devices/{}", line.device_key) aria-describedby=described_by>{name}</a>
        {own}
    }
}

fn place(line: &StandingsPlace) -> String {
    match voices_missing(line.figure.submitters, line.figure.days) {
        0 => line.place.to_string(),
        _ => "–".to_owned(),
    }
}

fn row(
    line: StandingsPlace,
    rank: Option<String>,
    figure_text: fn(f64) -> String,
    largest: f64,
    runs: &OwnRuns,
    search: RwSignal<String>,
) -> impl IntoView + use<> {
    let figure = line.figure;
    let (value, interval) = standing::with_interval(&figure, figure_text);
    let completion = line
        .completion
        .map(|of| t!(leaderboard_of, part = text::count(of.finished), whole = text::count(of.announced)));
    let completion = completion.unwrap_or_else(|| "–".to_owned());
    let outliers = (line.outlier_runs > 0).then(|| t!(leaderboard_apart, number = line.outlier_runs));
    let missing = voices_missing(figure.submitters, figure.days);
    let waits = (missing > 0).then(|| t!(leaderboard_voices_missing, number = missing));
    let guess = line.inferred.iter().map(|guess| t!(leaderboard_perhaps, device = guess));
    let notes: Vec<String> = guess.chain(outliers).chain(waits).collect();
    let is_claimed = matches!(line.device_source, DeviceSource::Claimed);
    let claimed = is_claimed.then(|| chip((t!(leaderboard_claimed), t!(device_source_claimed))));
    let name = name_of(&line);
    let best = best_run(&name, &line.backend, line.client_kind, &line.best_run_id);
    let id = format!("rank-{}-{}-{}", line.device_key, line.backend, line.client_kind.name());
    let device = device(&line, runs, rank.is_some().then(|| id.clone()));
    let vendor = vendor(line.vendor.as_deref(), &name);
    let lower_case = name.to_lowercase();
    let title = rank.clone();
    let is_hidden = move || search.with(|search| !lower_case.contains(search));
    view! {
        <tr data-device=line.device_key.clone() title=title hidden=is_hidden>
            <td class="number">
                {place(&line)}
                {rank.map(|rank| view! { <span class="rank" id=id>{rank}</span> })}
            </td>
            <th scope="row">
                {device}
                {claimed}
                <span class="explain">
                    {vendor}
                    {best}
                    {notes.into_iter().map(|note| format!("; {note}")).collect::<String>()}
                </span>
            </th>
            <td class="number">{value}{bar_of(&figure, largest)}<span class="explain">{interval}</span></td>
            {runs_and_submitters(&figure)}
            <td class="number">{completion}</td>
            <td class="program">{line.backend}</td>
            <td class="program">{client(line.client_kind)}</td>
        </tr>
    }
}

pub(super) fn top_places(places: Vec<StandingsPlace>) -> impl IntoView {
    let runs = platform::own_runs();
    let largest = largest(&places);
    let rows = places.into_iter().map(|line| {
        view! {
            <tr>
                <td class="number">{place(&line)}</td>
                <th scope="row">
                    {device(&line, &runs, None)}
                    <span class="explain">{client(line.client_kind)}</span>
                </th>
                <td class="number">{text::score(line.figure.median)}{bar_of(&line.figure, largest)}</td>
            </tr>
        }
    });
    view! {
        <table class="leaderboard placed compact" aria-label=t!(common_leaderboard)>
            <thead>
                <tr>
                    <th scope="col" class="number" title=t!(leaderboard_place)>"#"</th>
                    <th scope="col">{t!(leaderboard_device)}</th>
                    <th scope="col" class="number">{standing::SCORE_TITLE}</th>
                </tr>
            </thead>
            <tbody>{rows.collect_view()}</tbody>
        </table>
    }
}

pub(super) fn no_places(networks: Vec<&'static str>) -> impl IntoView {
    view! {
        <p class="note">{t!(leaderboard_first)}" "{t!(leaderboard_explanation)}</p>
        <p><a class="button quiet" href="/">{t!(leaderboard_be_first)}</a></p>
        {published_table(&networks)}
    }
}

const MAX_PUBLISHED: usize = 3;

pub(super) fn published_table(networks: &[&'static str]) -> impl IntoView + use<> {
    let bodies = networks.iter().filter_map(|network| {
        let published = published::of_network(network);
        let fastest = published.first()?.seconds_per_epoch;
        let rows = published.into_iter().take(MAX_PUBLISHED).map(|of| published_row(of, fastest)).collect_view();
        let title = text::workload_title(network);
        Some(view! {
            <tbody>
                <tr class="group"><th scope="rowgroup" colspan="2">{title}</th></tr>
                {rows}
            </tbody>
        })
    });
    let bodies = bodies.collect_view();
    let time = results::metric("seconds_per_epoch").map(text::metric_title);
    view! {
        <table class="leaderboard compact" aria-label=t!(leaderboard_published)>
            <thead>
                <tr>
                    <th scope="col">{t!(leaderboard_published)}</th>
                    <th scope="col" class="number">{time}</th>
                </tr>
            </thead>
            {bodies}
        </table>
    }
}

fn published_row(of: &'static PublishedTime, fastest: f64) -> impl IntoView {
    view! {
        <tr>
            <th scope="row">
                {of.device.as_str()}
                <span class="tier">{t!(chart_published)}</span>
                <span class="explain">
                    {vendor(None, &of.device)}
                    {format!("{}; {}", of.framework, of.citation)}
                </span>
            </th>
            <td class="number">{text::seconds(of.seconds_per_epoch)}{bar(fastest / of.seconds_per_epoch, None)}</td>
        </tr>
    }
}

pub(super) fn chip((word, meaning): (&'static str, &'static str)) -> impl IntoView {
    view! { <span class="tier" title=meaning>{word}</span> }
}

/// Bar for a value, with a line over its interval. Both are shares of the largest value in the table.
pub(super) fn bar(value: f64, interval: Option<(f64, f64)>) -> impl IntoView {
    let percent = |share: f64| format!("{:.2}%", 100.0 * share.clamp(0.0, 1.0));
    let line = interval.map(|(low, high)| view! { <line x1=percent(low) x2=percent(high) y1="50%" y2="50%" /> });
    view! {
        <svg class="rate-bar" aria-hidden="true">
            <rect width=percent(value) y="12.5%" height="75%" rx="2" />
            {line}
        </svg>
    }
}

/// SVG paths in a 12 × 12 view box, in the order of [`VENDORS`].
const OUTLINES: [&str; VENDORS.len()] = [
    "M6 1 11 11H1z",
    "M6 1a5 5 0 1 0 .01 0z",
    "M6 .5 11.5 4.6 9.4 11H2.6L.5 4.6z",
    "M4.5 1h3v3.5H11v3H7.5V11h-3V7.5H1v-3h3.5z",
    "M1.5 1.5h9v9h-9z",
    "M6 .5 11 3.2v5.6L6 11.5 1 8.8V3.2z",
    "M6 .5 11.5 6 6 11.5.5 6z",
    "M1 1h10L6 11z",
];

/// Icon and name of the vendor that the API reports or, without one, that the device's name contains.
pub(super) fn vendor(named: Option<&str>, device: &str) -> impl IntoView + use<> {
    let is_word_of = |vendor: &str| device.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == vendor);
    let place = VENDORS.iter().position(|vendor| named.map_or_else(|| is_word_of(vendor), |named| named == *vendor));
    place.map(|place| {
        view! {
            <span class="vendor">
                <svg class="shape" viewBox="0 0 12 12" aria-hidden="true"><path d=OUTLINES[place] /></svg>
                {VENDORS[place]}
            </span>
        }
    })
}

pub(super) fn client(kind: ClientKind) -> impl IntoView {
    let (outline, word) = match kind {
        ClientKind::Browser => ("M1 2h10v8H1zM1 4.5h10", t!(leaderboard_in_browser)),
        ClientKind::Native => ("M1.5 3l3 3-3 3M6 9.5h4.5", t!(leaderboard_native)),
    };
    view! {
        <span class="client">
            <svg class="outline" viewBox="0 0 12 12" aria-hidden="true"><path d=outline /></svg>
            {word}
        </span>
    }
}

pub(super) fn own(runs: &OwnRuns, best_run_id: &str, name: Option<&str>) -> Option<impl IntoView + use<>> {
    let is_own =
        runs.has_run(best_run_id) || name.is_some_and(|name| runs.0.iter().any(|run| run.device.text() == name));
    is_own.then(|| view! { <span class="tier">{t!(leaderboard_you)}</span> })
}

pub(super) fn best_run(of: &str, backend: &str, client: ClientKind, run_id: &str) -> impl IntoView + use<> {
    let label = format!("{}: {of}, {backend}, {}", t!(leaderboard_best), text::client(client));
    view! { <a href=format!("/runs/{run_id}") aria-label=label>{t!(leaderboard_best)}</a> }
}

pub(super) fn runs_and_submitters(figure: &FigureOfDevice) -> impl IntoView + use<> {
    let submitters = t!(common_submitters, number = figure.submitters);
    view! { <td class="number">{text::count(figure.runs)}<span class="explain">{submitters}</span></td> }
}
