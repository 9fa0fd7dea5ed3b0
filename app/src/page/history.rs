//! How a device's figures changed.

use leptos::prelude::*;
use leptos::task::spawn_local;
use results::api::{DeviceHistory, HistoryCategory, HistoryLine};

use crate::platform::{self, Refusal};
use crate::words::network;
use crate::{standing, t, text};

/// In the category in which the device has most runs; nothing where none of them is proven.
#[component]
pub(super) fn History(
    /// Of the device, as it is written in an address.
    key: String,
) -> impl IntoView {
    let loaded = RwSignal::new(None::<Result<DeviceHistory, Refusal>>);
    spawn_local(async move { loaded.set(Some(platform::history(&key).await)) });
    move || match loaded.get() {
        None => ().into_any(),
        Some(Err(refusal)) => {
            view! { <p class="refusal">{t!(device_history_not_shown, reason = refusal.to_string())}</p> }.into_any()
        }
        Some(Ok(history)) => view! { <Told history /> }.into_any(),
    }
}

#[component]
fn Told(history: DeviceHistory) -> impl IntoView {
    let DeviceHistory { category, results, older_left_out, engine_versions, drivers, months, .. } = history;
    category.map(|category| {
        let what = told_category(&category);
        let results = t!(common_proven_results, number = results);
        let what = if older_left_out {
            t!(device_history_of_latest, what = what, results = results)
        } else {
            t!(device_history_of, what = what, results = results)
        };
        view! {
            <h3>{t!(device_history)}</h3>
            <p class="note">{what}</p>
            <div class="scroll" role="region" aria-label=t!(common_scrollable, what = t!(device_history)) tabindex="0">
                <table class="leaderboard narrow" aria-label=t!(device_history)>
                    <thead>
                        <tr>
                            <th scope="col">{t!(device_version_or_month)}</th>
                            <th scope="col" class="number" title=t!(leaderboard_figure_meaning)>{t!(leaderboard_rate)}</th>
                            <th scope="col" class="number" title=t!(leaderboard_runs_meaning)>{t!(leaderboard_runs)}</th>
                            <th scope="col">{t!(device_first_and_last)}</th>
                        </tr>
                    </thead>
                    {group(t!(device_engine), engine_versions)}
                    {group(t!(device_driver), drivers)}
                    {group(t!(device_month), months)}
                </table>
            </div>
        }
    })
}

fn told_category(category: &HistoryCategory) -> String {
    let HistoryCategory { suite, workload, backend, precision, client_kind } = category;
    let name = network::suite_inside(&suite.name);
    t!(
        device_history_category,
        workload = text::workload_title(workload),
        suite = t!(network_suite_version, suite = name, version = suite.version),
        backend = backend,
        precision = precision.name(),
        client = text::client(*client_kind)
    )
}

fn group(title: &'static str, lines: Vec<HistoryLine>) -> impl IntoView {
    let row = |line: HistoryLine| {
        let (value, interval) = standing::rate(&line.figure);
        view! {
            <tr>
                <th scope="row">{line.label}</th>
                <td class="number">{value}<span class="explain">{interval}</span></td>
                <td class="number">
                    {text::count(line.figure.runs)}
                    <span class="explain">{t!(common_submitters, number = line.figure.submitters)}</span>
                </td>
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
