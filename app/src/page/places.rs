//! The places of devices, from all proven runs: what is asked for, and when.

use leptos::prelude::*;
use leptos::task::spawn_local;
use results::ClientKind;
use results::api::{ListRuns, RankedClass, Standings, StandingsQuery};

use super::choice::choice;
use super::leaderboard::Chosen;
use super::more::{MOST_ROWS, ShowMore};
use super::place_tables::PlaceTables;
use super::select::select;
use crate::filters::PRECISIONS;
use crate::{platform, t, text};

/// Lines of each table at first.
const LINES: u32 = 50;

#[derive(Clone, Debug, PartialEq)]
enum Loaded {
    NotYet,
    Standings(Standings),
    Refused(String),
}

/// All tables of a suite, with one request for each change of what is asked for.
#[component]
pub(super) fn Places(chosen: Chosen) -> impl IntoView {
    let limit = RwSignal::new(LINES);
    let loaded = RwSignal::new(Loaded::NotYet);
    let request = StoredValue::new(0_u32);
    Effect::new(move |_| {
        let query = query(chosen, limit.get());
        request.update_value(|number| *number += 1);
        let number = request.get_value();
        spawn_local(async move {
            let answer = match platform::standings(&query).await {
                Ok(standings) => Loaded::Standings(standings),
                Err(refusal) => Loaded::Refused(t!(leaderboard_places_not_shown, reason = refusal.to_string())),
            };
            // Answers may overtake each other, or come when other tables are shown; only the last question counts.
            if request.try_get_value() == Some(number) {
                loaded.set(answer);
            }
        });
    });
    let more =
        Memo::new(move |_| loaded.with(|loaded| matches!(loaded, Loaded::Standings(s) if has_more(s, limit.get()))));
    view! {
        <Filters chosen />
        {move || match loaded.get() {
            Loaded::NotYet => view! { <p class="note">{t!(common_loading)}</p> }.into_any(),
            Loaded::Refused(sentence) => view! { <p class="refusal">{sentence}</p> }.into_any(),
            Loaded::Standings(standings) => view! { <PlaceTables standings chosen /> }.into_any(),
        }}
        <ShowMore more limit />
    }
}

fn query(chosen: Chosen, limit: u32) -> StandingsQuery {
    StandingsQuery {
        suite: chosen.suite.get().to_owned(),
        precision: Some(chosen.precision.get()),
        backend: None,
        client: chosen.client.get(),
        class: Some(chosen.class.get()),
        limit: Some(limit),
    }
}

/// The runs that the places come from.
pub(super) fn runs_behind(chosen: Chosen) -> ListRuns {
    ListRuns {
        suite: Some(chosen.suite.get().to_owned()),
        precision: Some(chosen.precision.get()),
        client: chosen.client.get(),
        class: Some(chosen.class.get()),
        ranked: true,
        ..ListRuns::default()
    }
}

/// Whether some table has lines that are not here and may be asked for.
fn has_more(standings: &Standings, limit: u32) -> bool {
    let score = standings.scores.iter().map(|table| (table.total, table.places.len()));
    let mut tables = score.chain(standings.tables.iter().map(|table| (table.total, table.places.len())));
    limit < MOST_ROWS && tables.any(|(total, here)| total > here as u64)
}

#[component]
fn Filters(chosen: Chosen) -> impl IntoView {
    let classes = vec![(RankedClass::Gpu, t!(filters_gpus)), (RankedClass::Processor, t!(filters_processors))];
    let clients = vec![
        (None, t!(filters_all)),
        (Some(ClientKind::Native), t!(filters_programs)),
        (Some(ClientKind::Browser), t!(filters_browsers)),
    ];
    let precisions = PRECISIONS.map(|precision| (precision, precision.name())).to_vec();
    let suites = engine::SUITES.iter().map(|suite| (suite.name, text::suite_title(suite))).collect();
    view! {
        <div class="filters">
            {choice(t!(filters_compute_on), "class", classes, chosen.class)}
            {choice(t!(filters_run_in), "client", clients, chosen.client)}
            {choice(t!(filters_precision), "precision", precisions, chosen.precision)}
            {select(t!(filters_suite), suites, chosen.suite)}
        </div>
    }
}
