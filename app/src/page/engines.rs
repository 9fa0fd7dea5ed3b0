//! Which back end trains.

use leptos::prelude::*;

use super::state::StartState;
use super::supplies::BurnOnItsWay;
use crate::backend::PageBackend;
use crate::options::RunOptions;
use crate::route::COMPARE;
use crate::t;
use crate::text;

/// Closed at first, as the networks are.
#[component]
pub(super) fn Engines(state: StartState) -> impl IntoView {
    let options = state.options;
    let known = Memo::new(move |_| options.get().ok());
    let summary = move || known.get().map(|options| options.backend.title());
    let compare = move || {
        let asked =
            known.get().map(|options| RunOptions { autostart: false, ..options.with_backend(PageBackend::default()) });
        format!("{COMPARE}{}", asked.map(|options| options.query()).unwrap_or_default())
    };
    view! {
        <Show when=move || known.with(Option::is_some)>
            <details class="networks engines">
                <summary>{t!(settings_engine)}" " {summary}</summary>
                <fieldset>
                    <legend>{t!(settings_what_computes)}</legend>
                    {PageBackend::ALL.map(|backend| view! { <EngineChoice state backend /> }).collect_view()}
                    <p class="note">{t!(settings_no_onnx)}</p>
                </fieldset>
                <div class="go">
                    <a class="button quiet" href=compare>{t!(settings_compare)}</a>
                    <p class="note">{t!(settings_compare_note)}</p>
                </div>
            </details>
            <BurnOnItsWay benchmark=state.benchmark />
            {move || known.get().map(|options| view! { <LeftOut options /> })}
        </Show>
    }
}

#[component]
fn EngineChoice(state: StartState, backend: PageBackend) -> impl IntoView {
    let (options, supplies) = (state.options, state.benchmark.supplies);
    let chosen = move || options.with(|options| options.as_ref().is_ok_and(|options| options.backend == backend));
    let choose = move |_| {
        if let Ok(before) = options.get_untracked() {
            options.set(Ok(before.with_backend(backend)));
        }
    };
    let obstacle = Memo::new(move |_| supplies.with(|supplies| supplies.obstacle(backend)));
    let size =
        Memo::new(move |_| supplies.with(|supplies| supplies.bundle(backend).map(|bundle| bundle.compressed_bytes)));
    let more = move || match (obstacle.get(), size.get()) {
        (Some(why), _) => t!(backend_obstacle_it, why = why),
        (None, Some(bytes)) => t!(backend_more_to_fetch, size = text::megabytes(bytes)),
        (None, None) => String::new(),
    };
    view! {
        <label>
            <input
                type="radio"
                name="engine"
                value=backend.name()
                disabled=move || obstacle.with(Option::is_some)
                prop:checked=chosen
                on:change=choose
            />
            <span>{backend.title()} <small>{backend.description()}" "{more}</small></span>
        </label>
    }
}

/// Networks that are chosen and that this back end cannot train.
#[component]
fn LeftOut(options: RunOptions) -> impl IntoView {
    let left_out = options.left_out();
    let lines = left_out.iter().map(|(name, reason)| {
        let title = text::workload_title(name);
        view! { <li>{t!(backend_left_out, workload = title, reason = reason)}</li> }
    });
    (!left_out.is_empty()).then(|| view! { <ul class="plain note">{lines.collect_view()}</ul> })
}
