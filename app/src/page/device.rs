//! Page of one device, and the page for buyers: which device trains a network fastest.

use leptos::prelude::*;
use results::api::{
    BrowserTaxOfDevice, CategoryFigure, DeviceHistory, DeviceSource, DeviceSummary, HistoryCategory, HistoryLine,
    Standings, StandingsPlace, StandingsQuery, Tier, voices_missing,
};

use super::parts::{answered, listed, load, load_kept, load_latest, network_choice, notice, table};
use super::places::{self, STANDINGS, bar_of, best_run, chip, client, largest, no_places, runs_and_submitters, vendor};
use super::runs::{NETWORK, run_table};
use super::side_by_side::compare_with;
use crate::filters::{DEVICE, RunColumn, networks};
use crate::own_runs::OwnRuns;
use crate::route::{DEVICES, LEADERBOARD, StoredKind, with_query};
use crate::text::{self, capitalised};
use crate::words::leaderboard::fact;
use crate::{platform, standing, t};

pub(super) fn device_page(key: String) -> impl IntoView {
    answered(
        load_kept::<DeviceSummary>("device", format!("/api/v1/devices/{key}")),
        |refusal| notice(t!(device_not_shown), refusal.to_string(), DEVICES, t!(common_all_devices)),
        move |device| sheet(device, key.clone()).into_any(),
    )
}

fn sheet(device: DeviceSummary, key: String) -> impl IntoView {
    let DeviceSummary { merged_keys, device_name, vendor, inferred, figures, recent, .. } = device;
    let proven = recent.iter().find(|row| row.tier == Tier::Proven);
    let without_place = match proven.and_then(standing::ranking) {
        Some(reason) => t!(device_not_ranked, reason),
        None => t!(device_no_place).to_owned(),
    };
    let merged = (!merged_keys.is_empty()).then(|| {
        let sentence = t!(device_merged, keys = merged_keys.join(", "));
        view! { <p>{sentence}" "<a href="/moderation">{t!(moderation_log)}</a></p> }
    });
    let device_name = text::named_device(&device_name);
    platform::set_title(&device_name);
    let maker = vendor.filter(|vendor| !device_name.contains(vendor.as_str()));
    let maker = maker.map(|maker| format!(" {}: {maker}.", t!(filters_vendor)));
    let (word, meaning) = match device.device_source {
        DeviceSource::Reported => (t!(leaderboard_reported), t!(device_source_reported)),
        DeviceSource::Claimed => (t!(leaderboard_claimed), t!(device_source_claimed)),
        DeviceSource::Masked => (t!(leaderboard_masked), t!(device_source_masked)),
    };
    let guess = inferred.map(|guess| view! { <p>{t!(device_guess, guess)}</p> });
    view! {
        <section class="sheet" id="device">
            <h1>{device_name}</h1>
            <p class="lead small">{chip((word, meaning))}" "{meaning}{maker}</p>
            {guess}
            {merged}
            <h2>{t!(device_figures)}</h2>
            {device_figures(figures, without_place)}
            {tax_list(&device.browser_taxes)}
            {listed(load(format!("/api/v1/devices/{key}/history")), |found| history_table(found).into_any())}
            <h3>{t!(device_latest)}</h3>
            {run_table(recent, &[NETWORK], t!(device_latest), t!(leaderboard_none), RunColumn::usual())}
            {compare_with(key.clone(), StoredKind::Device, None)}
            <div class="row">
                <a class="button quiet" href=format!("{LEADERBOARD}?leaderboard=runs&{DEVICE}={key}")>
                    {t!(device_all_runs)}
                </a>
                <a class="button quiet" href=DEVICES>{t!(common_all_devices)}</a>
            </div>
        </section>
    }
}

fn tax_list(taxes: &[BrowserTaxOfDevice]) -> impl IntoView + use<> {
    let lines = taxes.iter().map(|tax| {
        let suite = text::suite_title(&tax.suite.name);
        let suite = t!(network_suite_version, suite, version = text::count(tax.suite.version));
        let (precision, submitters) = (tax.precision.name(), standing::tax_submitters(tax));
        let category = format!("{suite}; {}, {precision}; {submitters}", tax.backend);
        let sentence = format!("{}: {}.", text::workload_title(&tax.workload), standing::browser_tax(tax));
        view! { <li>{sentence}<span class="explain">{category}</span></li> }
    });
    let lines = lines.collect_view();
    (!taxes.is_empty()).then(|| {
        view! {
            <h3>{t!(device_tax_title)}</h3>
            <p class="note">{t!(device_tax_note)}</p>
            <ul class="plain" data-part="browser-taxes">{lines}</ul>
        }
    })
}

const COLUMNS: &str = "7";

fn device_figures(figures: Vec<CategoryFigure>, without_place: String) -> impl IntoView {
    if figures.is_empty() {
        return view! { <p class="callout">{without_place}</p> }.into_any();
    }
    let (scores, networks): (Vec<_>, Vec<_>) = figures.into_iter().partition(|figure| figure.workload.is_none());
    let scores = (!scores.is_empty()).then(|| {
        view! {
            <h3>{t!(leaderboard_whole_suite)}</h3>
            <p class="note">{t!(result_score_meaning)}</p>
            {figures_table(scores, t!(leaderboard_whole_suite), standing::SCORE_TITLE)}
        }
    });
    let networks = (!networks.is_empty()).then(|| {
        view! {
            <h3>{t!(leaderboard_each_network)}</h3>
            {figures_table(networks, t!(device_figures), t!(common_rate))}
        }
    });
    view! {
        {scores}
        {networks}
        <p class="note">{t!(device_figures_note)}</p>
    }
    .into_any()
}

fn figures_table(figures: Vec<CategoryFigure>, label: &'static str, figure: &'static str) -> impl IntoView {
    let bodies = figures.chunk_by(|a, b| a.suite == b.suite).map(|lines| {
        let suite = &lines[0].suite;
        let (suite, version) = (text::suite_title(&suite.name), text::count(suite.version));
        view! {
            <tbody>
                <tr class="group">
                    <th scope="rowgroup" colspan=COLUMNS>
                        {t!(network_suite_version, suite, version)}
                    </th>
                </tr>
                {lines.iter().cloned().map(row).collect_view()}
            </tbody>
        }
    });
    let heads = view! {
        <th scope="col">{t!(common_network)}</th>
        <th scope="col" class="number" title=t!(leaderboard_figure_meaning)>{figure}</th>
        <th scope="col" class="number">{t!(leaderboard_place)}</th>
        <th scope="col" class="number">{t!(leaderboard_runs)}</th>
        <th scope="col">{t!(common_backend)}</th>
        <th scope="col">{t!(common_precision)}</th>
        <th scope="col">{t!(filters_run_in)}</th>
    };
    table("leaderboard", label, heads, bodies.collect_view())
}

fn row(line: CategoryFigure) -> impl IntoView {
    let (title, (value, interval)) = match &line.workload {
        Some(workload) => (text::workload_title(workload), standing::with_interval(&line.figure, text::rate)),
        None => (t!(common_all_networks).to_owned(), standing::with_interval(&line.figure, text::score)),
    };
    let place = match voices_missing(line.figure.submitters, line.figure.days) {
        0 => t!(leaderboard_of, part = text::count(line.place), whole = text::count(line.of)),
        missing => t!(leaderboard_voices_missing, number = missing),
    };
    let best = best_run(&title, &line.backend, line.client_kind, &line.best_run_id);
    view! {
        <tr data-workload=line.workload.clone().unwrap_or_default()>
            <th scope="row">
                {title}
                <span class="explain">{best}</span>
            </th>
            <td class="number">{value}<span class="explain">{interval}</span></td>
            <td class="number">{place}</td>
            {runs_and_submitters(&line.figure)}
            <td class="program">{line.backend}</td>
            <td class="program">{line.precision.name()}</td>
            <td class="program">{client(line.client_kind)}</td>
        </tr>
    }
}

/// History of the category with the most runs on this device; empty if no run is proven.
fn history_table(history: DeviceHistory) -> impl IntoView {
    let DeviceHistory { category, results, engine_versions, drivers, months, .. } = history;
    category.map(|category| {
        let HistoryCategory { suite, workload, backend, precision, client_kind } = category;
        let suite =
            t!(network_suite_version, suite = text::suite_inside(&suite.name), version = text::count(suite.version));
        let (workload, client) = (text::workload_title(&workload), text::client(client_kind));
        let what = format!("{workload}, {suite}; {backend}, {}, {client}", precision.name());
        let results = t!(common_proven_results, number = results);
        let what = t!(device_history_of, what, results);
        let heads = view! {
            <th scope="col">{t!(device_version_or_month)}</th>
            <th scope="col" class="number" title=t!(leaderboard_figure_meaning)>{t!(common_rate)}</th>
            <th scope="col" class="number">{t!(leaderboard_runs)}</th>
            <th scope="col">{t!(device_first_and_last)}</th>
        };
        let groups = [
            (capitalised(&fact("engine_version")), engine_versions),
            (capitalised(&fact("driver")), drivers),
            (t!(device_month).to_owned(), months),
        ];
        let bodies = groups.map(|(title, lines)| group(title, lines));
        view! {
            <h3>{t!(device_history)}</h3>
            <p class="note">{what}</p>
            {table("leaderboard narrow", t!(device_history), heads, bodies)}
        }
    })
}

fn group(title: String, lines: Vec<HistoryLine>) -> impl IntoView {
    let row = |line: HistoryLine| {
        let (value, interval) = standing::with_interval(&line.figure, text::rate);
        view! {
            <tr>
                <th scope="row">{line.label}</th>
                <td class="number">{value}<span class="explain">{interval}</span></td>
                {runs_and_submitters(&line.figure)}
                <td class="day">
                    {text::day(line.first_unix_seconds)}
                    <span class="explain">{text::day(line.last_unix_seconds)}</span>
                </td>
            </tr>
        }
    };
    (!lines.is_empty()).then(|| {
        view! {
            <tbody>
                <tr class="group"><th scope="rowgroup" colspan="4">{title}</th></tr>
                {lines.into_iter().map(row).collect_view()}
            </tbody>
        }
    })
}

const MAX_LINES: u32 = 200;

pub(super) fn suite_of(network: &str) -> Option<&'static engine::SuiteDefinition> {
    engine::SUITES.iter().find(|suite| suite.workloads.contains(&network))
}

pub(super) fn devices_page() -> impl IntoView {
    platform::set_title(t!(device_which));
    let ranked = networks().filter(|name| suite_of(name).is_some());
    let (chosen, choice) = network_choice(ranked.collect(), engine::SUITES[0].workloads[0]);
    let suite = Memo::new(move |_| suite_of(chosen.get()).map(|suite| suite.name).unwrap_or_default());
    let loaded = load_latest::<Standings>(move || {
        let suite = suite.get().to_owned();
        with_query(STANDINGS, &StandingsQuery { suite, limit: Some(MAX_LINES), ..StandingsQuery::default() })
    });
    view! {
        <section class="sheet" aria-labelledby="devices-title">
            <h1 id="devices-title">{t!(device_which)}</h1>
            {choice}
            {listed(loaded, move |standings| {
                let mut tables = standings.tables.into_iter();
                let table = tables.find(|table| table.workload == chosen.get());
                match table.map(|table| standing::soonest(table.places)) {
                    // The selected suite is still loading.
                    None if standings.suite.name != suite.get() => ().into_any(),
                    Some(places) if !places.is_empty() => device_table(places).into_any(),
                    _ => no_places(vec![chosen.get()]).into_any(),
                }
            })}
            <p><a href=LEADERBOARD>{t!(leaderboard_see)}</a></p>
        </section>
    }
}

fn device_table(places: Vec<StandingsPlace>) -> impl IntoView {
    let runs = platform::own_runs();
    let largest = largest(&places);
    let rows = places.into_iter().map(|line| place_row(line, largest, &runs)).collect_view();
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

fn place_row(line: StandingsPlace, largest: f64, runs: &OwnRuns) -> impl IntoView + use<> {
    let (value, interval) = standing::with_interval(&line.figure, text::rate);
    let name = text::named_device(&line.device_name);
    let best = best_run(&name, &line.backend, line.client_kind, &line.best_run_id);
    view! {
        <tr data-device=line.device_key.clone()>
            <th scope="row">
                {places::device(&line, runs, None)}
                <span class="explain">{vendor(line.vendor.as_deref(), &name)}{best}</span>
            </th>
            <td class="number">{line.seconds_to_target.map_or_else(|| "–".to_owned(), text::seconds)}</td>
            <td class="number">{value}{bar_of(&line.figure, largest)}<span class="explain">{interval}</span></td>
            <td class="program">{line.backend}</td>
            <td class="program">{client(line.client_kind)}</td>
        </tr>
    }
}
