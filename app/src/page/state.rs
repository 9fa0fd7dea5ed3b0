//! State that the start page and the comparison share, and what the server has for runs.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;
use results::api::AcceptedRun;

use super::comparing::Comparing;
use crate::benchmark::Benchmark;
use crate::options::RunOptions;
use crate::own_runs::{OwnRuns, Uploaded};
use crate::platform::{self, Gpu};
use crate::supplies::{Availability, MissingData};
use crate::{t, words};

/// Signals that the parts of both pages show and change.
#[derive(Clone, Copy)]
pub(super) struct StartState {
    pub(super) benchmark: Benchmark,
    pub(super) comparing: Comparing,
    pub(super) gpu: RwSignal<Gpu>,
    /// The GPU as its owner names it.
    pub(super) claimed: RwSignal<String>,
    /// Chosen options, initially those of the URL, or the error in it.
    pub(super) options: RwSignal<Result<RunOptions, String>>,
    /// Settings that cannot be parsed, by name, with a sentence each.
    pub(super) wrong: RwSignal<Vec<(&'static str, String)>>,
    pub(super) own_runs: RwSignal<OwnRuns>,
    /// True while no run and no comparison goes on.
    pub(super) at_rest: Memo<bool>,
}

impl StartState {
    /// Reads the address, and asks the browser for a GPU and the server for its supplies.
    pub(super) fn new() -> Self {
        let benchmark = Benchmark::new();
        let comparing = Comparing::new(benchmark);
        let state = Self {
            benchmark,
            comparing,
            gpu: RwSignal::new(Gpu::Asking),
            claimed: RwSignal::new(String::new()),
            options: RwSignal::new(platform::options_in_address()),
            wrong: RwSignal::new(Vec::new()),
            own_runs: RwSignal::new(platform::own_runs()),
            at_rest: Memo::new(move |_| !benchmark.is_running() && comparing.present().is_none()),
        };
        state.ask_for_burn();
        state.ask_for_data();
        spawn_local(async move {
            let frameworks = platform::availability("frameworks.json", t!(backend_built_without)).await;
            let frameworks = frameworks.unwrap_or_else(|refusal| Availability::missing(refusal.to_string()));
            benchmark.supplies.update(|supplies| supplies.frameworks = frameworks);
        });
        spawn_local(async move { state.gpu.set(platform::probe().await) });
        state
    }

    /// Reads the address again if it is wrong, to report that in the present language.
    pub(super) fn say_again(self) {
        if self.options.with_untracked(Result::is_err) {
            self.options.set(platform::options_in_address());
        }
    }

    /// Returns an English sentence on what is wrong with the address, with which nothing can start.
    pub(super) fn wrong_address(self) -> Option<String> {
        self.options.with(Result::is_err).then(|| words::in_english(platform::options_in_address).err()).flatten()
    }

    /// Changes the options, unless the address is wrong.
    pub(super) fn change(self, change: impl FnOnce(RunOptions) -> RunOptions) {
        if let Ok(before) = self.options.get_untracked() {
            self.options.set(Ok(change(before)));
        }
    }

    /// True if the options are valid and fulfill a condition.
    pub(super) fn chosen(self, is_chosen: impl Fn(&RunOptions) -> bool) -> bool {
        self.options.with(|options| options.as_ref().is_ok_and(is_chosen))
    }

    /// Notes in this browser that the run with this key was uploaded.
    pub(super) fn is_uploaded(self, key: &str, accepted: &AcceptedRun) {
        platform::keep_secret(&accepted.run_id, &accepted.deletion_secret);
        let place = Uploaded { run_id: accepted.run_id.clone(), deletion_link: accepted.deletion_link.clone() };
        self.own_runs.set(platform::change_own_runs(|runs| runs.uploaded(key, place)));
    }

    /// Starts once without a click if the address says so: as soon as the GPU is known, and `ready`.
    pub(super) fn start_by_itself(self, ready: impl Fn() -> bool + Send + Sync + 'static, start: impl Fn() + 'static) {
        if !untrack(|| self.chosen(|options| options.autostart)) {
            return;
        }
        Effect::new(move |_| {
            if self.chosen(|options| options.autostart) && !self.gpu.with(|gpu| matches!(gpu, Gpu::Asking)) && ready() {
                self.change(|options| RunOptions { autostart: false, ..options });
                start();
            }
        });
    }
}

/// Polling interval while Burn is being built, which takes minutes.
const BURN_INTERVAL: Duration = Duration::from_secs(3);
/// Polling interval while data is missing, perhaps for good.
const DATA_INTERVAL: Duration = Duration::from_secs(30);
/// Id of the note on missing data, which describes disabled choices.
pub(super) const MISSING_DATA: &str = "missing-data";

/// Polling of [`Benchmark::supplies`] while something may still come, except during a run.
impl StartState {
    fn ask_for_burn(self) {
        let again = move || self.ask_for_burn();
        if !self.at_rest.get_untracked() {
            return set_timeout(again, BURN_INTERVAL);
        }
        spawn_local(async move {
            let supplies = self.benchmark.supplies;
            let before = supplies.with_untracked(|supplies| supplies.burn.clone());
            let now = match (platform::availability("burn.json", t!(backend_built_without)).await, &before) {
                (Ok(now), _) => now,
                (Err(refusal), Availability::Asking) => Availability::missing(refusal.to_string()),
                // A server that starts again while Burn is being built.
                (Err(_), _) => before.clone(),
            };
            let building = matches!(now, Availability::Building { .. });
            if now != before {
                supplies.update(|supplies| supplies.burn = now);
            }
            if building {
                set_timeout(again, BURN_INTERVAL);
            }
        });
    }

    fn ask_for_data(self) {
        let again = move || self.ask_for_data();
        if !self.at_rest.get_untracked() {
            return set_timeout(again, DATA_INTERVAL);
        }
        spawn_local(async move {
            let supplies = self.benchmark.supplies;
            // Without an answer nothing is known, and a run reports what it cannot fetch.
            if let Ok(list) = platform::get("/api/v1/data-sets").await {
                let before = supplies.get_untracked();
                let now = before.clone().with_data_sets(list);
                if now != before {
                    supplies.set(now);
                }
            }
            if supplies.with_untracked(|supplies| !supplies.missing_data.is_empty()) {
                set_timeout(again, DATA_INTERVAL);
            }
        });
    }
}

/// Missing data sets, and what cannot be trained without them.
#[component]
pub(super) fn MissingDataSets(benchmark: Benchmark) -> impl IntoView {
    let sentences = Memo::new(move |_| {
        let missing = benchmark.supplies.read();
        missing.missing_data.iter().map(MissingData::sentences).collect::<Vec<_>>()
    });
    view! {
        <div class="callout" id=MISSING_DATA aria-live="polite" hidden=move || sentences.with(Vec::is_empty)>
            {move || sentences.get().into_iter().map(|sentence| view! { <p>{sentence}</p> }).collect_view()}
        </div>
    }
}

/// Progress of the build of Burn, and its outcome.
#[component]
pub(super) fn BurnOnItsWay(benchmark: Benchmark) -> impl IntoView {
    let burn = Memo::new(move |_| benchmark.supplies.with(|supplies| supplies.burn.clone()));
    let was_built = Memo::new(move |before| {
        before == Some(&true) || burn.with(|burn| matches!(burn, Availability::Building { .. }))
    });
    // Not a live region: its words change every few seconds.
    let going_on = move || {
        let why = burn.with(|burn| matches!(burn, Availability::Building { .. }).then(|| burn.obstacle()))??;
        Some(view! { <p class="note" data-burn="building">{t!(backend_obstacle, backend = "Burn", why = why)}</p> })
    };
    let ended = move || match (was_built.get(), burn.get()) {
        (true, Availability::Ready(_)) => t!(supplies_burn_ready).to_owned(),
        (true, missing @ Availability::Missing { .. }) => {
            t!(backend_obstacle, backend = "Burn", why = missing.obstacle().unwrap_or_default())
        }
        _ => String::new(),
    };
    view! {
        {going_on}
        <p class="note" aria-live="polite">{ended}</p>
    }
}
