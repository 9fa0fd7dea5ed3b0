//! Leaderboard: a tab for the score, one for each network of the suite, and one for single runs.

use leptos::prelude::*;
use results::api::{ListRuns, Standings, StandingsQuery};
use results::open_data::ExportFormat;

use super::parts::{choice, listed, load_kept};
use super::places::{STANDINGS, places, published_table, top_places};
use super::runs::runs;
use crate::documents::document;
use crate::filters::{Filters, RUNS, TAB, suite_networks};
use crate::route::{DEVICES, LEADERBOARD, SPEEDRUN, export, with_query};
use crate::{platform, t, text};

pub(super) fn leaderboard_page() -> impl IntoView {
    platform::set_title(t!(common_leaderboard));
    let chosen = RwSignal::new(Filters::from_pairs(platform::pairs(Filters::names())));
    Effect::new(move |_| chosen.with(platform::keep_filters));
    let is_runs = Memo::new(move |_| chosen.with(Filters::tab) == RUNS);
    view! {
        <section class="sheet" id="leaderboard" aria-labelledby="leaderboard-title">
            <h1 id="leaderboard-title">{t!(common_leaderboard)}</h1>
            {tabs(chosen)}
            {move || if is_runs.get() {
                runs(chosen).into_any()
            } else {
                places(chosen).into_any()
            }}
            {exports(chosen)}
            <p class="note">
                <a href=SPEEDRUN>{t!(speedrun_link)}</a>" · "<a href=DEVICES>{t!(device_which)}</a>" · "
                <a href="/moderation">{t!(moderation_log)}</a>
            </p>
        </section>
    }
}

fn tabs(chosen: RwSignal<Filters>) -> impl IntoView {
    let suite = Memo::new(move |_| chosen.with(Filters::suite));
    let shown = Memo::new(move |_| chosen.with(Filters::tab));
    let show = move |shown| chosen.update(|chosen| chosen.set(TAB, shown));
    move || {
        let networks = suite_networks(suite.get()).iter().map(|name| (*name, text::workload_title(name).into()));
        let tabs = std::iter::once(("", t!(leaderboard_score).into())).chain(networks);
        let tabs = tabs.chain([(RUNS, t!(leaderboard_runs).into())]);
        view! { <div class="tabs">{choice(t!(filters_show), "shown", tabs.collect(), move || shown.get(), show)}</div> }
    }
}

const FORMATS: [(ExportFormat, &str); 3] =
    [(ExportFormat::Csv, "CSV"), (ExportFormat::Parquet, "Parquet"), (ExportFormat::Jsonl, "JSON Lines")];

fn exports(chosen: RwSignal<Filters>) -> impl IntoView {
    let query = Memo::new(move |_| {
        chosen.with(|chosen| {
            let of_places = |network: Option<&str>| {
                let StandingsQuery { suite, precision, client, class, .. } = chosen.standings_query();
                let (workload, suite) = (network.map(str::to_owned), Some(suite));
                ListRuns { workload, suite, precision, client, class, ranked: true, ..ListRuns::default() }
            };
            match chosen.tab() {
                RUNS => chosen.run_query(),
                "" => of_places(None),
                network => of_places(Some(network)),
            }
        })
    });
    let link = move |(format, title): (ExportFormat, &'static str)| {
        view! { <li><a href=move || query.with(|query| export(format, query)) data-format=format.name()>{title}</a></li> }
    };
    let about = document("open-data").map(|of| view! { <li><a href=of.path()>{of.title.text()}</a></li> });
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

const TOP_PLACES: u32 = 5;

pub(super) fn top_five() -> impl IntoView {
    let suite = engine::SUITES[0].name;
    let query = StandingsQuery { suite: suite.to_owned(), limit: Some(TOP_PLACES), ..StandingsQuery::default() };
    let shown = move |standings: Standings| {
        let places = standings.scores.places;
        if places.is_empty() {
            let networks = &suite_networks(suite)[..1];
            view! { <p class="note">{t!(leaderboard_first)}</p> {published_table(networks)} }.into_any()
        } else {
            top_places(places).into_any()
        }
    };
    view! {
        <section class="sheet" id="leaderboard" aria-labelledby="leaderboard-title">
            <h2 id="leaderboard-title">{t!(common_leaderboard)}</h2>
            {listed(load_kept::<Standings>("top", with_query(STANDINGS, &query)), shown)}
            <p><a href=LEADERBOARD>{t!(leaderboard_see)}</a></p>
        </section>
    }
}
