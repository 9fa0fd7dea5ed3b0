//! Asks what else to put beside a result or a device: found by its name, or by its link.

use leptos::prelude::*;
use leptos::task::spawn_local;
use results::api::{ListRuns, RankedClass, RunSort, StandingsQuery};

use super::more::MOST_ROWS;
use super::side_by_side::Compared;
use crate::candidates::{self, Candidate, MOST};
use crate::platform::{self, Refusal};
use crate::route::{SIDE_BY_SIDE, device_in, run_in};
use crate::t;

/// No id, and no key of a device, has fewer letters.
const SHORTEST_ID: usize = 12;

/// Asked for when somebody begins to look.
#[derive(Clone, Copy)]
struct Search {
    all: RwSignal<Vec<Candidate>>,
    chosen: RwSignal<Vec<Candidate>>,
    typed: RwSignal<String>,
    /// Why nothing can be looked for, or compared.
    refused: RwSignal<String>,
    asked: RwSignal<bool>,
}

impl Search {
    fn new() -> Self {
        Self {
            all: RwSignal::new(Vec::new()),
            chosen: RwSignal::new(Vec::new()),
            typed: RwSignal::new(String::new()),
            refused: RwSignal::new(String::new()),
            asked: RwSignal::new(false),
        }
    }

    fn begin(self, kind: Compared, network: Option<String>) {
        if self.asked.get_untracked() {
            return;
        }
        self.asked.set(true);
        spawn_local(async move {
            match ask(kind, network).await {
                // The page may show something else by now.
                Ok(found) => {
                    let _ = self.all.try_set(found);
                }
                Err(refusal) => {
                    let _ = self.refused.try_set(t!(candidates_refused, reason = refusal.to_string()));
                    let _ = self.asked.try_set(false);
                }
            }
        });
    }

    fn toggle(self, candidate: &Candidate) {
        self.chosen.update(|chosen| match chosen.iter().position(|of| of == candidate) {
            Some(place) => drop(chosen.remove(place)),
            None if chosen.len() < MOST => chosen.push(candidate.clone()),
            None => {}
        });
    }

    /// What is chosen, or linked to.
    fn others(self, own: &str, kind: Compared) -> Result<Vec<String>, &'static str> {
        let chosen = self.chosen.get_untracked();
        if !chosen.is_empty() {
            return Ok(chosen.into_iter().map(|candidate| candidate.id).collect());
        }
        let text = self.typed.get_untracked();
        match if kind == Compared::Runs { run_in(&text) } else { device_in(&text) } {
            Some(other) if other == own => Err(kind.say(t!(candidates_run_itself), t!(candidates_device_itself))),
            // A word of a name reads like an id as well, and is shorter.
            Some(other) if text.contains('/') || other.len() >= SHORTEST_ID => Ok(vec![other]),
            _ => Err(kind.say(t!(candidates_no_run), t!(candidates_no_device))),
        }
    }
}

/// Results of the network, the fastest first, or devices that have a place in a suite.
async fn ask(kind: Compared, network: Option<String>) -> Result<Vec<Candidate>, Refusal> {
    if kind == Compared::Runs {
        let sort = network.is_some().then_some(RunSort::Fastest);
        let query = ListRuns { workload: network, sort, limit: Some(MOST_ROWS), ..ListRuns::default() };
        return Ok(candidates::of_runs(&platform::list(&query).await?.rows));
    }
    let mut tables = Vec::new();
    for suite in engine::SUITES {
        for class in [RankedClass::Gpu, RankedClass::Processor] {
            let query = StandingsQuery {
                suite: suite.name.to_owned(),
                class: Some(class),
                limit: Some(MOST_ROWS),
                ..StandingsQuery::default()
            };
            tables.push(platform::standings(&query).await?);
        }
    }
    Ok(candidates::of_devices(&tables))
}

#[component]
pub(super) fn CompareWith(
    /// Id of the result, or key of the device.
    own: String,
    kind: Compared,
    /// The network by which other results are found.
    #[prop(optional_no_strip)]
    network: Option<String>,
) -> impl IntoView {
    let search = Search::new();
    let this = own.clone();
    let compare = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        match search.others(&this, kind) {
            Ok(others) => platform::go_to(&format!("{SIDE_BY_SIDE}?{}={this},{}", kind.name(), others.join(","))),
            Err(sentence) => search.refused.set(sentence.to_owned()),
        }
    };
    view! {
        <form class="compare-with" on:submit=compare>
            <div class="go">
                <label class="claim">
                    <span>{kind.say(t!(candidates_find_run), t!(candidates_find_device))}</span>
                    <input
                        type="text"
                        autocomplete="off"
                        spellcheck="false"
                        prop:value=move || search.typed.get()
                        on:focus=move |_| search.begin(kind, network.clone())
                        on:input=move |event| search.typed.set(event_target_value(&event))
                    />
                </label>
                <button class="button quiet" type="submit">{t!(common_compare)}</button>
            </div>
            <Found search own />
            <p class="refusal" role="alert">{search.refused}</p>
        </form>
    }
}

#[component]
fn Found(search: Search, own: String) -> impl IntoView {
    let found = move || {
        let (all, chosen, typed) = (search.all.get(), search.chosen.get(), search.typed.get());
        // A link is no name.
        let typed = if typed.contains('/') { String::new() } else { typed };
        let found = candidates::found(&all, &own, &chosen, &typed);
        found.into_iter().cloned().collect::<Vec<_>>()
    };
    let one = move |candidate: Candidate| {
        let Candidate { name, about, .. } = candidate.clone();
        let tick = candidate.clone();
        let is_chosen = move || search.chosen.with(|chosen| chosen.contains(&candidate));
        let is_full = {
            let is_chosen = is_chosen.clone();
            move || !is_chosen() && search.chosen.with(Vec::len) >= MOST
        };
        view! {
            <li>
                <label class="tick">
                    <input
                        type="checkbox"
                        prop:checked=is_chosen
                        disabled=is_full
                        on:change=move |_| search.toggle(&tick)
                    />
                    <span>{name}{(!about.is_empty()).then(|| view! { <span class="explain">{about}</span> })}</span>
                </label>
            </li>
        }
    };
    view! {
        <ul class="found" aria-label=t!(candidates_found)>
            {move || found().into_iter().map(one).collect_view()}
        </ul>
    }
}
