//! What was uploaded: the places of devices, and all runs behind them.

use leptos::html;
use leptos::prelude::*;
use results::api::RankedClass;
use results::{ClientKind, Precision};

use super::choice::choice;
use super::exports::Exports;
use super::linked::{LINKS, linked};
use super::places::Places;
use super::runs::Runs;
use crate::filters::columns::Columns;
use crate::filters::runs::RunFilters;
use crate::filters::{Filters, Shown};
use crate::platform;
use crate::t;

/// The part of the page that links lead to.
const ID: &str = "leaderboard";

/// What is chosen, a signal for each choice. They live as long as the page, so that nothing is forgotten when one goes from
/// one table to the other and back.
#[derive(Clone, Copy)]
pub(super) struct Chosen {
    pub(super) shown: RwSignal<Shown>,
    pub(super) suite: RwSignal<&'static str>,
    pub(super) class: RwSignal<RankedClass>,
    pub(super) client: RwSignal<Option<ClientKind>>,
    pub(super) precision: RwSignal<Precision>,
    pub(super) network: RwSignal<Option<&'static str>>,
    pub(super) backend: RwSignal<Option<&'static str>>,
    pub(super) runs: RwSignal<RunFilters>,
    pub(super) columns: RwSignal<Columns>,
}

impl Chosen {
    fn new(filters: Filters) -> Self {
        Self {
            shown: RwSignal::new(filters.shown),
            suite: RwSignal::new(filters.suite),
            class: RwSignal::new(filters.class),
            client: RwSignal::new(filters.client),
            precision: RwSignal::new(filters.precision),
            network: RwSignal::new(filters.network),
            backend: RwSignal::new(filters.backend),
            runs: RwSignal::new(filters.runs),
            columns: RwSignal::new(filters.columns),
        }
    }

    fn filters(self) -> Filters {
        Filters {
            shown: self.shown.get(),
            suite: self.suite.get(),
            class: self.class.get(),
            client: self.client.get(),
            precision: self.precision.get(),
            network: self.network.get(),
            backend: self.backend.get(),
            runs: self.runs.get(),
            columns: self.columns.get(),
        }
    }
}

#[component]
pub(super) fn Leaderboard(uploaded: RwSignal<Option<String>>) -> impl IntoView {
    let chosen = Chosen::new(platform::filters_in_address());
    let section = NodeRef::<html::Section>::new();
    Effect::new(move |_| platform::keep_filters(&chosen.filters()));
    Effect::new(move |_| {
        // A run that was just uploaded has no place before it is proven.
        if uploaded.get().is_some() {
            chosen.shown.set(Shown::Runs);
        }
    });
    Effect::new(move |_| {
        // The browser looked for the place that the address names before there was one.
        if let Some(section) = section.get()
            && platform::fragment() == ID
        {
            section.scroll_into_view();
        }
    });
    let shown = vec![(Shown::Devices, t!(filters_devices)), (Shown::Runs, t!(filters_all_runs))];
    view! {
        <section class="sheet" id=ID aria-labelledby="leaderboard-title" node_ref=section>
            <h2 id="leaderboard-title">{t!(common_leaderboard)}</h2>
            <div class="filters">
                {choice(t!(filters_show), "shown", shown, chosen.shown)}
            </div>
            {move || match chosen.shown.get() {
                Shown::Devices => view! { <Places chosen /> }.into_any(),
                Shown::Runs => view! { <Runs chosen uploaded /> }.into_any(),
            }}
            <Exports chosen />
            <p class="note">
                {linked(
                    &t!(leaderboard_log_and_data, log = LINKS[0]),
                    [("/moderation".to_owned(), t!(tier_log_link).to_owned())],
                )}
            </p>
        </section>
    }
}
