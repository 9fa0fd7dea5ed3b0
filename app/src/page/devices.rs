//! The page for buyers: which device trains a network fastest.

use leptos::prelude::*;
use results::api::{Standings, StandingsPlace, StandingsQuery};

use super::marks::{best_run, client, vendor};
use super::parts::{listed, load_latest, select, table};
use super::places::{STANDINGS, bar_of, device, largest, no_places};
use crate::filters::{network, networks};
use crate::own_runs::OwnRuns;
use crate::route::{LEADERBOARD, with_query};
use crate::{platform, standing, t, text};

const NETWORK: &str = "network";
const MAX_LINES: u32 = 200;

/// Returns the suite whose runs count for a network.
fn suite_of(network: &str) -> Option<&'static engine::SuiteDefinition> {
    engine::SUITES.iter().find(|suite| suite.workloads.contains(&network))
}

pub(super) fn devices_page() -> impl IntoView {
    platform::set_title(t!(device_which));
    let ranked = |name: &&'static str| suite_of(name).is_some();
    let requested = platform::parameter(NETWORK).and_then(|name| network(&name)).filter(ranked);
    let first = requested.unwrap_or(engine::SUITES[0].workloads[0]);
    let chosen = RwSignal::new(first);
    let options = networks().filter(ranked).map(|name| (name, text::workload_title(name))).collect();
    let choose = move |name| {
        platform::put_in_address(NETWORK, name);
        chosen.set(name);
    };
    let suite = Memo::new(move |_| suite_of(chosen.get()).map(|suite| suite.name).unwrap_or_default());
    let loaded = load_latest::<Standings>(move || {
        let suite = suite.get().to_owned();
        with_query(STANDINGS, &StandingsQuery { suite, limit: Some(MAX_LINES), ..StandingsQuery::default() })
    });
    view! {
        <section class="sheet" aria-labelledby="devices-title">
            <h1 id="devices-title">{t!(device_which)}</h1>
            {select(t!(common_network), options, first, choose)}
            {listed(loaded, move |standings| {
                let mut tables = standings.tables.into_iter();
                let table = tables.find(|table| table.workload == chosen.get());
                match table.map(|table| standing::soonest(table.places)) {
                    // The selected suite is still loading.
                    None if standings.suite.name != suite.get() => ().into_any(),
                    Some(places) if !places.is_empty() => devices(places).into_any(),
                    _ => no_places(vec![chosen.get()]).into_any(),
                }
            })}
            <p><a href=LEADERBOARD>{t!(leaderboard_see)}</a></p>
        </section>
    }
}

fn devices(places: Vec<StandingsPlace>) -> impl IntoView {
    let runs = platform::own_runs();
    let largest = largest(&places);
    let rows = places.into_iter().map(|line| row(line, largest, &runs)).collect_view();
    let time = results::metric("seconds_to_target");
    let heads = view! {
        <th scope="col">{t!(leaderboard_device)}</th>
        <th scope="col" class="number" title=time.map(text::metric_description)>{time.map(text::metric_title)}</th>
        <th scope="col" class="number" title=t!(leaderboard_figure_meaning)>{t!(common_rate)}</th>
        <th scope="col">{t!(common_backend)}</th>
        <th scope="col">{t!(filters_run_in)}</th>
    };
    view! {
        <p class="note">{t!(device_which_note)}</p>
        {table("leaderboard", t!(filters_devices), heads, view! { <tbody>{rows}</tbody> })}
    }
}

fn row(line: StandingsPlace, largest: f64, runs: &OwnRuns) -> impl IntoView + use<> {
    let (value, interval) = standing::rate(&line.figure);
    let name = text::named_device(&line.device_name);
    let best = best_run(&name, &line.backend, line.client_kind, &line.best_run_id);
    view! {
        <tr data-device=line.device_key.clone()>
            <th scope="row">
                {device(&line, runs, None)}
                <span class="explain">{vendor(line.vendor.as_deref(), &name)}{best}</span>
            </th>
            <td class="number">{line.seconds_to_target.map_or_else(|| "–".to_owned(), text::seconds)}</td>
            <td class="number">{value}{bar_of(&line.figure, largest)}<span class="explain">{interval}</span></td>
            <td class="program">{line.backend}</td>
            <td class="program">{client(line.client_kind)}</td>
        </tr>
    }
}
