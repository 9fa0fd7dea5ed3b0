//! What was uploaded: the places of devices, and all runs behind them.

use leptos::prelude::*;

use super::choice::choice;
use super::places::Places;
use super::runs::Runs;

/// Which of the two tables is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Devices,
    Runs,
}

#[component]
pub(super) fn Leaderboard(uploaded: RwSignal<Option<String>>) -> impl IntoView {
    let shown = RwSignal::new(Shown::Devices);
    Effect::new(move |_| {
        // A run that was just uploaded has no place before it is proven.
        if uploaded.get().is_some() {
            shown.set(Shown::Runs);
        }
    });
    view! {
        <section class="sheet" id="leaderboard" aria-labelledby="leaderboard-title">
            <h2 id="leaderboard-title">"Leaderboard"</h2>
            <div class="filters">
                {choice("Show", "shown", vec![(Shown::Devices, "Devices"), (Shown::Runs, "All runs")], shown)}
            </div>
            {move || match shown.get() {
                Shown::Devices => view! { <Places /> }.into_any(),
                Shown::Runs => view! { <Runs uploaded /> }.into_any(),
            }}
        </section>
    }
}
