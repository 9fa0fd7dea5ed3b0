//! What to train: a suite, or single networks.

use engine::{SUITES, SuiteDefinition, WORKLOADS};
use leptos::prelude::*;
use web_sys::{Event, HtmlInputElement};

use super::supplies::MISSING_DATA;
use crate::options::RunOptions;
use crate::supplies::Supplies;
use crate::t;
use crate::text;
use crate::words::network;

/// Closed at first: one click on the main button is enough for most people.
#[component]
pub(super) fn Networks(options: RwSignal<Result<RunOptions, String>>, supplies: RwSignal<Supplies>) -> impl IntoView {
    let known = Memo::new(move |_| options.get().ok());
    let summary = move || known.get().map(|options| options.summary());
    view! {
        <Show when=move || known.with(Option::is_some)>
            <details class="networks">
                <summary>{t!(settings_networks)}" " {summary}</summary>
                <fieldset>
                    <legend>{t!(settings_suite)}</legend>
                    {SUITES.iter().map(|suite| view! { <SuiteChoice options supplies suite /> }).collect_view()}
                </fieldset>
                <fieldset class="columns">
                    <legend>{t!(settings_one_by_one)}</legend>
                    {WORKLOADS
                        .iter()
                        .map(|make| make().name)
                        .map(|name| view! { <NetworkChoice options supplies name /> })
                        .collect_view()}
                </fieldset>
            </details>
        </Show>
    }
}

#[component]
fn SuiteChoice(
    options: RwSignal<Result<RunOptions, String>>,
    supplies: RwSignal<Supplies>,
    suite: &'static SuiteDefinition,
) -> impl IntoView {
    let chosen = move || {
        options.with(|options| {
            options.as_ref().is_ok_and(|options| options.workloads.is_empty() && options.suite().name == suite.name)
        })
    };
    let choose = move |_| change(options, |options| options.with_suite(suite));
    let lacking = Memo::new(move |_| supplies.with(|supplies| supplies.lacking_for_suite(suite)));
    view! {
        <label>
            <input
                type="radio"
                name="suite"
                value=suite.name
                disabled=move || lacking.with(Option::is_some)
                prop:checked=chosen
                on:change=choose
            />
            <span>{text::suite_title(suite)} <small>{network::suite_description(suite)} {move || lacking.get().map(|why| format!(" {why}"))}</small></span>
        </label>
    }
}

#[component]
fn NetworkChoice(
    options: RwSignal<Result<RunOptions, String>>,
    supplies: RwSignal<Supplies>,
    name: &'static str,
) -> impl IntoView {
    let chosen = move || {
        options.with(|options| {
            options.as_ref().is_ok_and(|options| options.networks().iter().any(|network| network == name))
        })
    };
    // One that is chosen, by the page's address, can still be taken away.
    let lacking = Memo::new(move |_| supplies.with(|supplies| supplies.missing_for(name).is_some()));
    let choose = move |event: Event| {
        let checked = event_target_checked(&event);
        change(options, |options| options.with_network(name, checked));
        // The last one stays, whatever the box shows by now.
        event_target::<HtmlInputElement>(&event).set_checked(chosen());
    };
    view! {
        <label>
            <input
                type="checkbox"
                value=name
                disabled=move || lacking.get() && !chosen()
                aria-describedby=move || lacking.get().then_some(MISSING_DATA)
                prop:checked=chosen
                on:change=choose
            />
            <span>
                {text::workload_title(name)}
                {move || lacking.get().then(|| view! { <small>{t!(supplies_data_missing)}</small> })}
            </span>
        </label>
    }
}

fn change(options: RwSignal<Result<RunOptions, String>>, choose: impl FnOnce(RunOptions) -> RunOptions) {
    if let Ok(before) = options.get_untracked() {
        options.set(Ok(choose(before)));
    }
}
