//! By what single runs are chosen: the network first, and whatever else beneath.

use leptos::prelude::*;
use results::Date;

use super::leaderboard::Chosen;
use super::linked::{LINKS, linked};
use super::select::select;
use crate::filters::runs::{LISTS, List, RunFilters};
use crate::{filters, t, text};

#[component]
pub(super) fn Filters(chosen: Chosen) -> impl IntoView {
    let networks = filters::networks().map(|name| (Some(name), text::workload_title(name)));
    let networks = std::iter::once((None, t!(filters_all_networks).to_owned())).chain(networks).collect();
    let backends = engine::KNOWN_BACKENDS.iter().map(|known| (Some(known.name), known.name.to_owned()));
    let backends = std::iter::once((None, t!(filters_all_backends).to_owned())).chain(backends).collect();
    // Whoever followed a link sees what it chose.
    let open = chosen.runs.with_untracked(RunFilters::any);
    let lists = LISTS.iter().enumerate().map(|(place, list)| one_of(*list, place, chosen.runs)).collect_view();
    view! {
        <div class="filters">
            {select(t!(filters_network), networks, chosen.network)}
            {select(t!(filters_backend), backends, chosen.backend)}
        </div>
        <details class="more-filters" open=open>
            <summary>{t!(filters_more)}</summary>
            <div class="filters">
                {lists}
                {day(t!(filters_from), chosen.runs, |runs| &mut runs.since)}
                {day(t!(filters_until), chosen.runs, |runs| &mut runs.until)}
            </div>
        </details>
    }
}

/// A list to choose one from, or all.
fn one_of(list: List, place: usize, runs: RwSignal<RunFilters>) -> impl IntoView {
    let options = list.values().into_iter().map(|(value, title)| (Some(value), title.into_owned()));
    let options = std::iter::once((None, list.all.text().to_owned())).chain(options).collect();
    let chosen = RwSignal::new(runs.with_untracked(|runs| runs.chosen[place]));
    Effect::new(move |_| {
        let value = chosen.get();
        if runs.with_untracked(|runs| runs.chosen[place] != value) {
            runs.update(|runs| runs.chosen[place] = value);
        }
    });
    select(list.title.text(), options, chosen)
}

/// A day, or none.
fn day(label: &'static str, runs: RwSignal<RunFilters>, of: fn(&mut RunFilters) -> &mut Option<Date>) -> impl IntoView {
    let now = runs.with_untracked(|runs| *of(&mut runs.clone())).map(Date::iso).unwrap_or_default();
    let choose = move |event| runs.update(|runs| *of(runs) = Date::from_iso(&event_target_value(&event)));
    view! {
        <label class="select">
            <span>{label}</span>
            <input type="date" value=now on:change=choose />
        </label>
    }
}

/// Says that only one device's runs are shown, and ends that.
#[component]
pub(super) fn OneDevice(chosen: Chosen) -> impl IntoView {
    let device = Memo::new(move |_| chosen.runs.with(|runs| runs.device.clone()));
    let all = move |_| chosen.runs.update(|runs| runs.device = None);
    move || {
        device.get().map(|key| {
            let page = format!("/devices/{key}");
            view! {
                <div class="row">
                    <p class="note">{linked(&t!(filters_only_device, device = LINKS[0]), [(page, key)])}</p>
                    <button class="button quiet" type="button" on:click=all>{t!(common_all_devices)}</button>
                </div>
            }
        })
    }
}
