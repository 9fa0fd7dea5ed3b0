//! How a device's figures changed.

use leptos::prelude::*;
use leptos::task::spawn_local;
use results::api::{DeviceHistory, HistoryCategory, HistoryLine};

use super::place_tables::{FIGURE_MEANING, RUNS_MEANING};
use crate::platform::{self, Refusal};
use crate::{standing, text};

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
            view! { <p class="refusal">{format!("The history cannot be shown: {refusal}.")}</p> }.into_any()
        }
        Some(Ok(history)) => view! { <Told history /> }.into_any(),
    }
}

#[component]
fn Told(history: DeviceHistory) -> impl IntoView {
    let DeviceHistory { category, results, older_left_out, engine_versions, drivers, months, .. } = history;
    category.map(|category| {
        let what = told_category(&category);
        let latest = if older_left_out { "the latest " } else { "" };
        view! {
            <h3>"History"</h3>
            <p class="note">{format!("{what}. From {latest}{}.", text::counted(results, "proven result"))}</p>
            <div class="scroll" role="region" aria-label="History, scrollable" tabindex="0">
                <table class="leaderboard narrow" aria-label="History">
                    <thead>
                        <tr>
                            <th scope="col">"Version or month"</th>
                            <th scope="col" class="number" title=FIGURE_MEANING>"Samples per second"</th>
                            <th scope="col" class="number" title=RUNS_MEANING>"Runs"</th>
                            <th scope="col">"First and last"</th>
                        </tr>
                    </thead>
                    {group("Engine", engine_versions)}
                    {group("Driver", drivers)}
                    {group("Month", months)}
                </table>
            </div>
        }
    })
}

fn told_category(category: &HistoryCategory) -> String {
    let HistoryCategory { suite, workload, backend, precision, client_kind } = category;
    format!(
        "{}, {} suite, version {}; {backend} in {}, {}",
        text::workload_title(workload),
        suite.name,
        suite.version,
        precision.name(),
        text::client(*client_kind)
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
                    <span class="explain">{text::counted(line.figure.submitters, "submitter")}</span>
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
