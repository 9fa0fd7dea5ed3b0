//! Asks the server what it has for runs, and says what is on its way or missing.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::benchmark::Benchmark;
use crate::bundle::BurnState;
use crate::platform;
use crate::supplies::MissingData;
use crate::t;

/// While Burn is being built, which takes minutes.
const ASK_FOR_BURN_AGAIN: Duration = Duration::from_secs(3);
/// While data is missing, which may be for good.
const ASK_FOR_DATA_AGAIN: Duration = Duration::from_secs(30);
/// Id of what is said of missing data, which describes what cannot be chosen for want of it.
pub(super) const MISSING_DATA: &str = "missing-data";

/// Keeps [`Benchmark::supplies`] up to date while something may still come, but asks nothing while anything is measured.
#[derive(Clone, Copy)]
pub(super) struct Watch {
    pub(super) benchmark: Benchmark,
    /// Whether nothing runs.
    pub(super) at_rest: Memo<bool>,
}

impl Watch {
    pub(super) fn start(self) {
        self.ask_for_burn();
        self.ask_for_data();
        spawn_local(async move {
            let frameworks = platform::frameworks().await;
            self.benchmark.supplies.update(|supplies| supplies.frameworks = frameworks);
        });
    }

    fn ask_for_burn(self) {
        let again = move || self.ask_for_burn();
        if !self.at_rest.get_untracked() {
            return set_timeout(again, ASK_FOR_BURN_AGAIN);
        }
        spawn_local(async move {
            let supplies = self.benchmark.supplies;
            let before = supplies.with_untracked(|supplies| supplies.burn.clone());
            let now = match (platform::burn().await, &before) {
                (Ok(now), _) => now,
                (Err(refusal), BurnState::Asking) => BurnState::missing(refusal.to_string()),
                // A server that starts again while Burn is being built.
                (Err(_), _) => before.clone(),
            };
            let building = matches!(now, BurnState::Building { .. });
            if now != before {
                supplies.update(|supplies| supplies.burn = now);
            }
            if building {
                set_timeout(again, ASK_FOR_BURN_AGAIN);
            }
        });
    }

    fn ask_for_data(self) {
        let again = move || self.ask_for_data();
        if !self.at_rest.get_untracked() {
            return set_timeout(again, ASK_FOR_DATA_AGAIN);
        }
        spawn_local(async move {
            let supplies = self.benchmark.supplies;
            // Without an answer nothing is known, and a run says by itself what it cannot fetch.
            if let Ok(list) = platform::data_sets().await {
                let before = supplies.get_untracked();
                let now = before.clone().with_data_sets(list);
                if now != before {
                    supplies.set(now);
                }
            }
            if supplies.with_untracked(|supplies| !supplies.missing_data().is_empty()) {
                set_timeout(again, ASK_FOR_DATA_AGAIN);
            }
        });
    }
}

/// The data sets that are missing, and what cannot be trained without them.
#[component]
pub(super) fn MissingDataSets(benchmark: Benchmark) -> impl IntoView {
    let sentences = Memo::new(move |_| {
        let of = |supplies: &crate::supplies::Supplies| {
            supplies.missing_data().iter().map(MissingData::sentences).collect::<Vec<_>>()
        };
        benchmark.supplies.with(of)
    });
    view! {
        <div class="callout" id=MISSING_DATA aria-live="polite" hidden=move || sentences.with(Vec::is_empty)>
            {move || sentences.get().into_iter().map(|sentence| view! { <p>{sentence}</p> }).collect_view()}
        </div>
    }
}

/// Says while Burn is being built what is going on, and how it ended.
#[component]
pub(super) fn BurnOnItsWay(benchmark: Benchmark) -> impl IntoView {
    let burn = Memo::new(move |_| benchmark.supplies.with(|supplies| supplies.burn.clone()));
    let was_built =
        Memo::new(move |before| before == Some(&true) || burn.with(|burn| matches!(burn, BurnState::Building { .. })));
    // Its words change every few seconds, which nobody wants to hear read out.
    let going_on = move || {
        let why = burn.with(|burn| matches!(burn, BurnState::Building { .. }).then(|| burn.obstacle()))??;
        Some(view! { <p class="note" data-burn="building">{t!(supplies_burn_building, why = why)}</p> })
    };
    let ended = move || match (was_built.get(), burn.get()) {
        (true, BurnState::Ready(_)) => t!(supplies_burn_ready).to_owned(),
        (true, missing @ BurnState::Missing { .. }) => {
            t!(supplies_burn_missing, why = missing.obstacle().unwrap_or_default())
        }
        _ => String::new(),
    };
    view! {
        {going_on}
        <p class="note" aria-live="polite">{ended}</p>
    }
}
