//! Single runs, of whatever tier: what is asked for, and when.

use leptos::prelude::*;
use leptos::task::spawn_local;
use results::api::{ListRuns, RunList};

use super::leaderboard::Chosen;
use super::more::{MOST_ROWS, ShowMore};
use super::run_table::{First, RunTable};
use super::select::select;
use crate::{filters, platform, text};

/// Rows at first.
const ROWS: u32 = 25;

#[derive(Clone, Debug, PartialEq)]
enum Loaded {
    NotYet,
    Rows {
        list: RunList,
        /// Whether they are of one network, fastest first.
        of_network: bool,
    },
    Refused(String),
}

#[component]
pub(super) fn Runs(chosen: Chosen, uploaded: RwSignal<Option<String>>) -> impl IntoView {
    let limit = RwSignal::new(ROWS);
    let loaded = RwSignal::new(Loaded::NotYet);
    let request = StoredValue::new(0_u32);
    Effect::new(move |_| {
        let query = query(chosen, limit.get());
        uploaded.track();
        request.update_value(|number| *number += 1);
        let number = request.get_value();
        spawn_local(async move {
            let answer = match platform::list(&query).await {
                Ok(list) => Loaded::Rows { list, of_network: query.workload.is_some() },
                Err(refusal) => Loaded::Refused(format!("The results cannot be shown: {refusal}.")),
            };
            // Answers may overtake each other, or come when other tables are shown; only the last question counts.
            if request.try_get_value() == Some(number) {
                loaded.set(answer);
            }
        });
    });
    let more = Memo::new(move |_| {
        loaded.with(|loaded| matches!(loaded, Loaded::Rows { list, .. } if has_more(list, limit.get())))
    });
    view! {
        <Filters chosen />
        {move || match loaded.get() {
            Loaded::NotYet => view! { <p class="note">"Loading …"</p> }.into_any(),
            Loaded::Refused(sentence) => view! { <p class="refusal">{sentence}</p> }.into_any(),
            Loaded::Rows { list, of_network } => view! { <Listed list of_network own=uploaded.get() /> }.into_any(),
        }}
        <ShowMore more limit />
    }
}

/// Rates of different networks cannot be compared, so that all networks together are a list of what is new, which knows no
/// back ends.
fn query(chosen: Chosen, limit: u32) -> ListRuns {
    let network = chosen.network.get();
    let backend = chosen.backend.get().filter(|_| network.is_some());
    ListRuns {
        workload: network.map(str::to_owned),
        backend: backend.map(str::to_owned),
        limit: Some(limit),
        ..ListRuns::default()
    }
}

fn has_more(list: &RunList, limit: u32) -> bool {
    limit < MOST_ROWS && list.total > list.rows.len() as u64
}

#[component]
fn Filters(chosen: Chosen) -> impl IntoView {
    let networks = filters::networks().map(|name| (Some(name), text::workload_title(name)));
    let networks = std::iter::once((None, "All networks".to_owned())).chain(networks).collect();
    let backends = engine::KNOWN_BACKENDS.iter().map(|known| (Some(known.name), known.name.to_owned()));
    let backends: Vec<_> = std::iter::once((None, "All back ends".to_owned())).chain(backends).collect();
    let of_network = Memo::new(move |_| chosen.network.get().is_some());
    view! {
        <div class="filters">
            {select("Network", networks, chosen.network)}
            <Show when=move || of_network.get()>{select("Back end", backends.clone(), chosen.backend)}</Show>
        </div>
    }
}

#[component]
fn Listed(list: RunList, of_network: bool, own: Option<String>) -> impl IntoView {
    let results = text::results_listed(list.total, list.more_than_total);
    let (order, first) =
        if of_network { ("fastest first", First::Device) } else { ("newest first", First::DeviceAndNetwork) };
    view! {
        <p class="note">{format!("{results}, {order}. Places belong to devices and are under “Devices”.")}</p>
        <RunTable rows=list.rows first label="Leaderboard" own />
    }
}
