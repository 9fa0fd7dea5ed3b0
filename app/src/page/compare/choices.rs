//! Which back ends are compared, and from how many seeds.

use leptos::prelude::*;

use super::{contenders, obstacle};
use crate::backend::PageBackend;
use crate::page::select::select;
use crate::page::state::StartState;
use crate::t;
use crate::text;

/// From how many seeds everybody trains; one has no spread, and ten take an hour on a phone.
const SEEDS: [u32; 5] = [1, 2, 3, 5, 10];

#[component]
pub(super) fn Contenders(state: StartState) -> impl IntoView {
    let seeds_before = state.options.with_untracked(|options| options.as_ref().ok().and_then(|options| options.seeds));
    let seeds = RwSignal::new(seeds_before.unwrap_or(1));
    Effect::new(move |before: Option<u32>| {
        let now = seeds.get();
        if before.is_some_and(|before| before != now) {
            state.change(|options| crate::options::RunOptions { seeds: Some(now), ..options });
        }
        now
    });
    let mut offered = SEEDS.to_vec();
    offered.extend(seeds_before.filter(|seeds| !SEEDS.contains(seeds)));
    offered.sort_unstable();
    let offered = offered.into_iter().map(|seeds| (seeds, t!(common_seeds, number = u64::from(seeds)))).collect();
    view! {
        <div class="networks">
            <fieldset class="columns">
                <legend>{t!(compare_what)}</legend>
                {PageBackend::ALL.map(|backend| view! { <Contender state backend /> }).collect_view()}
            </fieldset>
            <p class="note">{t!(settings_no_onnx)}</p>
        </div>
        <div class="filters">{select(t!(compare_seeds), offered, seeds)}</div>
    }
}

#[component]
fn Contender(state: StartState, backend: PageBackend) -> impl IntoView {
    let chosen = Memo::new(move |_| contenders(state).contains(&backend));
    let obstacle = Memo::new(move |_| obstacle(state, backend));
    let choose = move |event| {
        let (checked, before) = (event_target_checked(&event), untrack(|| contenders(state)));
        state.change(|options| options.with_contender(backend, checked, &before));
    };
    let size = Memo::new(move |_| {
        state.benchmark.supplies.with(|supplies| supplies.bundle(backend).map(|bundle| bundle.compressed_bytes))
    });
    let more = move || match (obstacle.get(), size.get()) {
        (Some(why), _) => t!(backend_obstacle_it, why = why),
        (None, Some(bytes)) => t!(backend_to_fetch, size = text::megabytes(bytes)),
        (None, None) => t!(backend_part_of_page).to_owned(),
    };
    view! {
        <label>
            <input
                type="checkbox"
                value=backend.name()
                // What an address chose can be taken away.
                disabled=move || obstacle.with(Option::is_some) && !chosen.get()
                prop:checked=move || chosen.get()
                on:change=choose
            />
            <span>{backend.title()} <small>{more}</small></span>
        </label>
    }
}
