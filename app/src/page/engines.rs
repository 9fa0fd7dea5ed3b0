//! Which back end trains.

use leptos::prelude::*;

use super::compare::CompareControls;
use super::start::StartState;
use crate::backend::{Bundle, PageBackend};
use crate::platform;
use crate::text;
use crate::wishes::Wishes;

/// Closed at first, as the networks are.
#[component]
pub(super) fn Engines(state: StartState) -> impl IntoView {
    let wishes = state.wishes;
    let known = Memo::new(move |_| wishes.get().ok());
    let summary = move || known.get().map(|wishes| wishes.backend.title());
    let bundle = platform::bundle();
    view! {
        <Show when=move || known.with(Option::is_some)>
            <details class="networks engines">
                <summary>"Engine: " {summary}</summary>
                <fieldset>
                    <legend>"What computes"</legend>
                    {PageBackend::ALL
                        .map(|backend| view! { <EngineChoice wishes backend bundle=bundle.clone() /> })
                        .collect_view()}
                </fieldset>
                <CompareControls state />
            </details>
            {move || known.get().map(|wishes| view! { <LeftOut wishes /> })}
        </Show>
    }
}

#[component]
fn EngineChoice(
    wishes: RwSignal<Result<Wishes, String>>,
    backend: PageBackend,
    bundle: Option<Bundle>,
) -> impl IntoView {
    let chosen = move || wishes.with(|wishes| wishes.as_ref().is_ok_and(|w| w.backend == backend));
    let choose = move |_| {
        if let Ok(before) = wishes.get_untracked() {
            wishes.set(Ok(before.with_backend(backend)));
        }
    };
    let missing = backend.is_burn() && bundle.is_none();
    let more = match bundle.filter(|_| backend.is_burn()) {
        Some(bundle) => format!(" {} more to fetch.", text::megabytes(bundle.compressed_bytes)),
        None if missing => " This server's page was built without it.".to_owned(),
        None => String::new(),
    };
    view! {
        <label>
            <input
                type="radio"
                name="engine"
                value=backend.name()
                disabled=missing
                prop:checked=chosen
                on:change=choose
            />
            <span>{backend.title()} <small>{backend.description()} {more}</small></span>
        </label>
    }
}

/// Networks that are chosen and that this back end cannot train.
#[component]
fn LeftOut(wishes: Wishes) -> impl IntoView {
    let left_out = wishes.left_out();
    let lines = left_out.iter().map(|(name, reason)| {
        let title = text::workload_title(name);
        view! { <li>{format!("{title} is left out: {reason}.")}</li> }
    });
    (!left_out.is_empty()).then(|| view! { <ul class="plain note">{lines.collect_view()}</ul> })
}
