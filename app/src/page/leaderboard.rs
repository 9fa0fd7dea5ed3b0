//! Leaderboard: rankings of devices, and the runs behind them.

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use results::ClientKind;
use results::api::{
    DeviceSource, FigureOfDevice, ListRuns, RankedClass, ScoreTable, Standings, StandingsPlace, StandingsQuery,
    StandingsTable, voices_missing,
};
use results::open_data::ExportFormat;

use super::parts::{MAX_ROWS, ShowMore, answered, choice, refusal, select};
use super::runs::{Runs, run_query};
use crate::documents::document;
use crate::filters::{Filters, PRECISIONS, Shown};
use crate::platform::{self, Refusal};
use crate::route::{export, with_query};
use crate::{standing, t, text};

/// Id of the section, used as a link target.
const ID: &str = "leaderboard";

/// Rankings and runs. Both use the same filters, so switching tables keeps them.
#[component]
pub(super) fn Leaderboard(uploaded: RwSignal<Option<String>>) -> impl IntoView {
    let chosen = RwSignal::new(platform::filters_in_address());
    let section = NodeRef::<html::Section>::new();
    Effect::new(move |_| chosen.with(platform::keep_filters));
    Effect::new(move |_| {
        // A new upload is not ranked until it is proven, so show the runs.
        if uploaded.get().is_some() {
            chosen.update(|chosen| chosen.shown = Shown::Runs);
        }
    });
    Effect::new(move |_| {
        // The browser looked for the URL's fragment before this section existed.
        if let Some(section) = section.get()
            && platform::fragment() == ID
        {
            section.scroll_into_view();
        }
    });
    let shown = Memo::new(move |_| chosen.with(|chosen| chosen.shown));
    let tables = vec![(Shown::Devices, t!(filters_devices)), (Shown::Runs, t!(leaderboard_runs))];
    let show = move |shown| chosen.update(|chosen| chosen.shown = shown);
    view! {
        <section class="sheet" id=ID aria-labelledby="leaderboard-title" node_ref=section>
            <h2 id="leaderboard-title">{t!(common_leaderboard)}</h2>
            <div class="filters">
                {choice(t!(filters_show), "shown", tables, move || shown.get(), show)}
            </div>
            {move || match shown.get() {
                Shown::Devices => view! { <Places chosen /> }.into_any(),
                Shown::Runs => view! { <Runs chosen uploaded /> }.into_any(),
            }}
            <Exports chosen />
            <p class="note"><a href="/moderation">{t!(moderation_log)}</a></p>
        </section>
    }
}

const FORMATS: [(ExportFormat, &str); 3] =
    [(ExportFormat::Csv, "CSV"), (ExportFormat::Parquet, "Parquet"), (ExportFormat::Jsonl, "JSON Lines")];

/// Downloads of the selected runs, or of the runs behind the selected rankings.
#[component]
fn Exports(chosen: RwSignal<Filters>) -> impl IntoView {
    let query = Memo::new(move |_| {
        chosen.with(|chosen| match chosen.shown {
            Shown::Runs => run_query(chosen),
            Shown::Devices => ListRuns {
                suite: Some(chosen.suite.to_owned()),
                precision: Some(chosen.precision),
                client: chosen.client,
                class: Some(chosen.class),
                ranked: true,
                ..ListRuns::default()
            },
        })
    });
    let link = move |(format, title): (ExportFormat, &'static str)| {
        view! { <li><a href=move || query.with(|query| export(format, query)) data-format=format.name()>{title}</a></li> }
    };
    let about = document("open-data").map(|document| {
        view! { <li><a href=document.path()>{document.title()}</a></li> }
    });
    view! {
        <nav class="exports" aria-label=t!(exports_label)>
            <p class="note">{t!(exports_of_runs)}</p>
            <ul>
                {FORMATS.map(link).collect_view()}
                {about}
            </ul>
        </nav>
    }
}

const LINES: u32 = 50;

/// All rankings of a suite, requested again when the query changes.
#[component]
fn Places(chosen: RwSignal<Filters>) -> impl IntoView {
    let limit = RwSignal::new(LINES);
    let loaded = RwSignal::new(None::<Result<Standings, Refusal>>);
    let request = StoredValue::new(0_u32);
    let query = Memo::new(move |_| {
        chosen.with(|chosen| StandingsQuery {
            suite: chosen.suite.to_owned(),
            precision: Some(chosen.precision),
            backend: None,
            client: chosen.client,
            class: Some(chosen.class),
            limit: Some(limit.get()),
        })
    });
    Effect::new(move |_| {
        let address = query.with(|query| with_query(STANDINGS, query));
        request.update_value(|number| *number += 1);
        let number = request.get_value();
        spawn_local(async move {
            let answer = platform::get(&address).await;
            // Responses may arrive out of order, or after the user switched tables; only the last request counts.
            if request.try_get_value() == Some(number) {
                loaded.set(Some(answer));
            }
        });
    });
    let more = Memo::new(move |_| {
        loaded.with(|loaded| matches!(loaded, Some(Ok(standings)) if has_more(standings, limit.get())))
    });
    view! {
        <PlaceFilters chosen />
        {answered(
            loaded,
            |why| refusal(t!(leaderboard_not_shown, reason = why.to_string())),
            |standings| view! { <PlaceTables standings /> }.into_any(),
        )}
        <ShowMore more limit />
    }
}

pub(super) const STANDINGS: &str = "/api/v1/standings";

/// True if a table has more rows and the limit allows requesting them.
fn has_more(standings: &Standings, limit: u32) -> bool {
    let score = (standings.scores.total, standings.scores.places.len());
    let tables = standings.tables.iter().map(|table| (table.total, table.places.len()));
    let mut tables = std::iter::once(score).chain(tables);
    limit < MAX_ROWS && tables.any(|(total, here)| total > here as u64)
}

#[component]
fn PlaceFilters(chosen: RwSignal<Filters>) -> impl IntoView {
    let classes = vec![(RankedClass::Gpu, "GPUs"), (RankedClass::Processor, t!(filters_processors))];
    let clients = vec![
        (None, t!(filters_all)),
        (Some(ClientKind::Native), t!(common_program)),
        (Some(ClientKind::Browser), t!(common_browser)),
    ];
    let precisions = PRECISIONS.map(|precision| (precision, precision.name())).to_vec();
    let suites = engine::SUITES.iter().map(|suite| (suite.name, text::suite_title(suite.name))).collect();
    let (class, client, precision) = (
        move || chosen.with(|chosen| chosen.class),
        move || chosen.with(|chosen| chosen.client),
        move || chosen.with(|chosen| chosen.precision),
    );
    let suite = chosen.with_untracked(|chosen| chosen.suite);
    view! {
        <div class="filters">
            {choice(t!(filters_compute_on), "class", classes, class, move |class| {
                chosen.update(|chosen| chosen.class = class);
            })}
            {choice(t!(filters_run_in), "client", clients, client, move |client| {
                chosen.update(|chosen| chosen.client = client);
            })}
            {choice(t!(common_precision), "precision", precisions, precision, move |precision| {
                chosen.update(|chosen| chosen.precision = precision);
            })}
            {select(t!(common_suite), suites, suite, move |suite| chosen.update(|chosen| chosen.suite = suite))}
        </div>
    }
}

const COLUMNS: &str = "7";

#[component]
fn PlaceTables(standings: Standings) -> impl IntoView {
    let scores = (!standings.scores.places.is_empty()).then_some(standings.scores);
    let has_scores = scores.is_some();
    let empty = standings.tables.iter().all(|table| table.places.is_empty());
    let bodies = standings.tables.into_iter().filter(|table| !table.places.is_empty()).map(network).collect_view();
    let nothing = empty.then(|| {
        view! { <tbody><tr><td colspan=COLUMNS class="empty"><p>{t!(leaderboard_no_places)}</p></td></tr></tbody> }
    });
    view! {
        <p class="note">{t!(leaderboard_explanation)}</p>
        {scores.map(|scores| view! { <Scores scores /> })}
        {has_scores.then(|| view! { <h3>{t!(leaderboard_each_network)}</h3> })}
        <div class="scroll" role="region" aria-label=t!(common_scrollable, what = t!(common_leaderboard)) tabindex="0">
            <table class="leaderboard placed" aria-label=t!(common_leaderboard)>
                {head(t!(common_rate))}
                {bodies}
                {nothing}
            </table>
        </div>
    }
}

#[component]
fn Scores(scores: ScoreTable) -> impl IntoView {
    let ScoreTable { total, places } = scores;
    let lines = t!(leaderboard_lines, here = places.len(), total = total);
    view! {
        <h3 id="scores-title">{t!(leaderboard_whole_suite)}</h3>
        <p class="note">{format!("{} {lines}.", t!(result_score_meaning))}</p>
        <div class="scroll" role="region" aria-label=t!(common_scrollable, what = t!(leaderboard_whole_suite)) tabindex="0">
            <table class="leaderboard placed" aria-labelledby="scores-title">
                {head(standing::SCORE_TITLE)}
                <tbody>{places.into_iter().map(|place| row(place, standing::score)).collect_view()}</tbody>
            </table>
        </div>
    }
}

fn head(figure: &'static str) -> impl IntoView {
    view! {
        <thead>
            <tr>
                <th scope="col" class="number" title=t!(leaderboard_place)>"#"</th>
                <th scope="col">{t!(leaderboard_device)}</th>
                <th scope="col" class="number" title=t!(leaderboard_figure_meaning)>{figure}</th>
                <th scope="col" class="number">{t!(leaderboard_runs)}</th>
                <th scope="col" class="number" title=t!(leaderboard_finished_meaning)>{t!(leaderboard_finished)}</th>
                <th scope="col">{t!(common_backend)}</th>
                <th scope="col">{t!(filters_run_in)}</th>
            </tr>
        </thead>
    }
}

fn network(table: StandingsTable) -> impl IntoView {
    let title = text::workload_title(&table.workload);
    let lines = t!(leaderboard_lines, here = table.places.len(), total = table.total);
    view! {
        <tbody>
            <tr class="group">
                <th scope="rowgroup" colspan=COLUMNS>{title}<span class="explain">{lines}</span></th>
            </tr>
            {table.places.into_iter().map(|place| row(place, standing::rate)).collect_view()}
        </tbody>
    }
}

/// Table row of a device. `figure_text` returns a value and its interval.
fn row(line: StandingsPlace, figure_text: fn(&FigureOfDevice) -> (String, String)) -> impl IntoView {
    let figure = line.figure;
    let (value, interval) = figure_text(&figure);
    let completion = line.completion.map_or_else(
        || "–".to_owned(),
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
    let is_claimed = matches!(line.device_source, DeviceSource::Claimed);
    let claimed = is_claimed.then(|| chip((t!(leaderboard_claimed), t!(device_source_claimed))));
    let device = text::named_device(&line.device_name);
    let best = best_run(&device, &line.backend, line.client_kind);
    view! {
        <tr data-device=line.device_key.clone()>
            <td class="number">{if missing > 0 { "–".to_owned() } else { line.place.to_string() }}</td>
            <th scope="row">
                <a href=format!("/devices/{}", line.device_key)>{device}</a>
                {claimed}
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

/// Label of a link to the best run of a device or network.
pub(super) fn best_run(of: &str, backend: &str, client: ClientKind) -> String {
    format!("{}: {of}, {backend}, {}", t!(leaderboard_best), text::client(client))
}

/// Badge that explains itself in a tooltip.
pub(super) fn chip((word, meaning): (&'static str, &'static str)) -> impl IntoView {
    view! { <span class="tier" title=meaning>{word}</span> }
}
