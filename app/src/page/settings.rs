//! How a run trains, where somebody wants it otherwise than the suite has it.

use leptos::prelude::*;
use results::Precision;

use super::state::StartState;
use crate::options::RunOptions;
use crate::t;

/// Closed at first, as the networks are.
#[component]
pub(super) fn Settings(state: StartState) -> impl IntoView {
    let known = Memo::new(move |_| state.options.with(Result::is_ok));
    let departures = move || {
        let departures = state.options.with(|options| options.as_ref().map(RunOptions::departures).unwrap_or_default());
        if departures.is_empty() { t!(settings_as_suite).to_owned() } else { departures.join(", ") }
    };
    view! {
        <Show when=move || known.get()>
            <details class="networks settings">
                <summary>{t!(settings_settings)}" " {departures}</summary>
                <fieldset class="columns">
                    <legend>{t!(settings_empty)}</legend>
                    <PrecisionChoice state />
                    <Setting state name="batch" title=t!(settings_title_batch) value=|of| of.batch_size.map(|size| size.to_string()) />
                    <Setting
                        state
                        name="learning-rate"
                        title=t!(settings_title_rate)
                        value=|of| of.learning_rate.map(|rate| rate.to_string())
                    />
                    <Setting state name="seconds" title=t!(settings_title_seconds) value=seconds />
                    <Setting state name="seed" title=t!(settings_title_seed) value=|of| of.seed.map(|seed| seed.to_string()) />
                </fieldset>
            </details>
            <p class="refusal" role="alert">
                {move || state.wrong.with(|wrong| wrong.first().map(|(_, sentence)| sentence.clone()))}
            </p>
        </Show>
    }
}

fn seconds(options: &RunOptions) -> Option<String> {
    match options.limit {
        Some(training_worker::Limit::Seconds(seconds)) => Some(seconds.to_string()),
        _ => None,
    }
}

/// A number that may be left out.
#[component]
fn Setting(
    state: StartState,
    name: &'static str,
    title: &'static str,
    value: fn(&RunOptions) -> Option<String>,
) -> impl IntoView {
    let shown = move || state.options.with(|options| options.as_ref().ok().and_then(value)).unwrap_or_default();
    let is_wrong = move || state.wrong.with(|wrong| wrong.iter().any(|(of, _)| *of == name));
    view! {
        <label class="claim">
            <span>{title}</span>
            <input
                type="text"
                inputmode="decimal"
                autocomplete="off"
                name=name
                aria-invalid=move || is_wrong().then_some("true")
                prop:value=shown
                on:change=move |event| set(state, name, &event_target_value(&event))
            />
        </label>
    }
}

#[component]
fn PrecisionChoice(state: StartState) -> impl IntoView {
    let now = state.options.with_untracked(|options| options.as_ref().ok().and_then(|options| options.precision));
    let option = |precision: Precision, title: &'static str| {
        let chosen = now.unwrap_or(Precision::F32) == precision;
        view! { <option value=precision.name() selected=chosen>{title}</option> }
    };
    view! {
        <label class="select">
            <span>{t!(settings_title_precision)}</span>
            <select name="precision" on:change=move |event| set(state, "precision", &event_target_value(&event))>
                {option(Precision::F32, "f32")}
                {option(Precision::F16, t!(settings_f16))}
            </select>
        </label>
    }
}

/// Takes a setting over, or keeps what is wrong with it, and with nothing else.
fn set(state: StartState, name: &'static str, value: &str) {
    let Ok(before) = state.options.get_untracked() else { return };
    let changed = before.with_setting(name, value);
    state.wrong.update(|wrong| {
        wrong.retain(|(of, _)| *of != name);
        wrong.extend(changed.as_ref().err().map(|sentence| (name, sentence.clone())));
    });
    if let Ok(options) = changed {
        state.options.set(Ok(options));
    }
}
