//! Options before a run: backend, networks, settings, and the backends to compare.

use engine::{SUITES, SuiteDefinition, WORKLOADS};
use leptos::prelude::*;
use results::Precision;
use web_sys::{Event, HtmlInputElement};

use super::parts::{claimed_name, list_items, select};
use super::state::{MISSING_DATA, StartState, burn_progress};
use crate::backend::PageBackend;
use crate::options::RunOptions;
use crate::platform::BrowserGpu;
use crate::route::COMPARE;
use crate::{platform, t, text};

/// A way on from an address that cannot be read, which the note of the main button explains.
pub(super) fn wrong_address(state: StartState) -> impl IntoView {
    // The settings that can be parsed.
    let query = || RunOptions::from_right_pairs(platform::pairs(RunOptions::NAMES)).query();
    view! {
        <Show when=move || state.options.with(Result::is_err)>
            <p><a class="button quiet" href=platform::path() + &query()>{t!(settings_use_default)}</a></p>
        </Show>
    }
}

/// Every choice of a run, closed at first. `compares` is true if several backends are chosen elsewhere.
pub(super) fn options(state: StartState, compares: bool) -> impl IntoView {
    let known = Memo::new(move |_| state.options.with(Result::is_ok));
    let has_gpu = move || matches!(state.gpu.get(), BrowserGpu::Found(gpu) if !gpu.software);
    let summary = move || {
        let of = |options: &RunOptions| {
            let backend = (!compares).then(|| options.backend.title().to_owned());
            let departures = Some(options.departures().join(", ")).filter(|departures| !departures.is_empty());
            [Some(options.summary()), backend, departures].into_iter().flatten().collect::<Vec<_>>().join(" · ")
        };
        state.options.with(|options| options.as_ref().map(of).unwrap_or_default())
    };
    view! {
        <Show when=move || known.get()>
            <details class="networks options">
                <summary>{t!(settings_options)}": " {summary}</summary>
                {networks(state)}
                {(!compares).then(|| engines(state))}
                {settings(state)}
                <Show when=move || !compares && has_gpu()>{claimed_name(state.claimed)}</Show>
            </details>
            {(!compares).then(|| burn_progress(state.benchmark))}
            {(!compares).then(|| left_out(move || state.options.get().ok().into_iter().collect()))}
            <p class="refusal" role="alert">{move || state.first_wrong()}</p>
        </Show>
    }
}

fn engines(state: StartState) -> impl IntoView {
    let compare = move || {
        let asked = state.options.get().ok();
        let asked = asked.map(|of| RunOptions { autostart: false, ..of.with_backend(PageBackend::default()) });
        format!("{COMPARE}{}", asked.map(|options| options.query()).unwrap_or_default())
    };
    view! {
        <fieldset class="engines">
            <legend>{t!(common_backend)}</legend>
            {PageBackend::ALL.map(|backend| engine_choice(state, backend)).collect_view()}
        </fieldset>
        <p><a href=compare>{t!(settings_compare)}</a></p>
    }
}

fn engine_choice(state: StartState, backend: PageBackend) -> impl IntoView {
    let supplies = state.benchmark.supplies;
    let chosen = move || state.chosen(|options| options.backend == backend);
    let choose = move || state.change(|options| options.with_backend(backend));
    let obstacle = Memo::new(move |_| supplies.read().obstacle(backend));
    let more = remark(state, backend, obstacle);
    view! {
        <label>
            {radio("engine", backend.name(), Signal::derive(move || obstacle.with(Option::is_some)), chosen, choose)}
            <span>{backend.title()} <small>{backend.description()}" "{more}</small></span>
        </label>
    }
}

fn radio(
    name: &'static str,
    value: &'static str,
    disabled: Signal<bool>,
    chosen: impl Fn() -> bool + Send + 'static,
    choose: impl Fn() + 'static,
) -> impl IntoView {
    view! {
        <input type="radio" name=name value=value disabled=disabled prop:checked=chosen on:change=move |_| choose() />
    }
}

/// Selected networks that the selected backends cannot train. `chosen` has options for each of these backends.
pub(super) fn left_out(chosen: impl Fn() -> Vec<RunOptions> + Send + Sync + 'static) -> impl IntoView {
    let sentences = Memo::new(move |_| chosen().iter().flat_map(RunOptions::left_out_sentences).collect::<Vec<_>>());
    view! {
        <Show when=move || !sentences.with(Vec::is_empty)>
            <ul class="plain note" data-figure="left-out">{move || list_items(sentences.get())}</ul>
        </Show>
    }
}

/// Remark on a backend in a list: why it cannot be chosen, or what it fetches, and how much it can train.
fn remark(state: StartState, backend: PageBackend, obstacle: Memo<Option<String>>) -> impl Fn() -> String + Send {
    let size = Memo::new(move |_| state.benchmark.supplies.read().bundle(backend).map(|of| of.compressed_bytes));
    let trains = Memo::new(move |_| {
        let options = state.options.get().ok()?.with_backend(backend);
        let (all, left_out) = (options.networks().len(), options.left_out().len());
        (left_out > 0).then(|| t!(backend_trains_some, some = text::count(all - left_out), all = text::count(all)))
    });
    move || {
        let fetched = || size.get().map(|bytes| t!(backend_to_fetch, size = text::megabytes(bytes)));
        let first = obstacle.get().map(|why| t!(backend_obstacle_it, why)).or_else(fetched);
        [first, trains.get()].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

fn networks(state: StartState) -> impl IntoView {
    view! {
        <fieldset>
            <legend>{t!(common_suite)}</legend>
            {SUITES.iter().map(|suite| suite_choice(state, suite)).collect_view()}
        </fieldset>
        <fieldset class="columns">
            <legend>{t!(settings_networks)}</legend>
            {WORKLOADS.iter().map(|make| make().name).map(|name| network_choice(state, name)).collect_view()}
        </fieldset>
    }
}

fn suite_choice(state: StartState, suite: &'static SuiteDefinition) -> impl IntoView {
    let chosen = move || state.chosen(|options| options.workloads.is_empty() && options.suite().name == suite.name);
    let choose = move || state.change(|options| options.with_suite(suite));
    let lacking = Memo::new(move |_| state.benchmark.supplies.read().lacking_for_suite(suite));
    view! {
        <label>
            {radio("suite", suite.name, Signal::derive(move || lacking.with(Option::is_some)), chosen, choose)}
            <span>{text::suite_title(suite.name)} <small>{text::suite_description(suite)} {move || lacking.get().map(|why| format!(" {why}"))}</small></span>
        </label>
    }
}

fn network_choice(state: StartState, name: &'static str) -> impl IntoView {
    let chosen = move || state.chosen(|options| options.networks().iter().any(|network| network == name));
    let lacking = Memo::new(move |_| state.benchmark.supplies.read().missing_for(name).is_some());
    let choose = move |event: Event| {
        let checked = event_target_checked(&event);
        state.change(|options| options.with_network(name, checked));
        // The last network cannot be deselected, so the checkbox may have to be reset.
        event_target::<HtmlInputElement>(&event).set_checked(chosen());
    };
    view! {
        <label>
            <input
                type="checkbox"
                value=name
                // A network selected by the URL can still be deselected.
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

fn settings(state: StartState) -> impl IntoView {
    view! {
        <fieldset class="columns settings">
            <legend>{t!(settings_empty)}</legend>
            {precision_choice(state)}
            {setting(state, "batch", t!(common_batch_size))}
            {setting(state, "learning-rate", t!(settings_title_rate))}
            {setting(state, "seconds", t!(settings_title_seconds))}
            {setting(state, "seed", t!(common_seed))}
        </fieldset>
    }
}

fn setting(state: StartState, name: &'static str, title: &'static str) -> impl IntoView {
    let value = move |options: &RunOptions| options.pairs().into_iter().find(|(known, _)| *known == name);
    let shown = move || state.option(value).map(|(_, value)| value).unwrap_or_default();
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

fn precision_choice(state: StartState) -> impl IntoView {
    let now = untrack(|| state.option(|options| options.precision)).unwrap_or(Precision::F32);
    let offered = [Precision::F32, Precision::F16].map(|precision| (precision, precision.name().to_owned()));
    select(t!(common_precision), offered.into(), now, move |chosen| set(state, "precision", chosen.name()))
}

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

/// Selectable numbers of seeds. A single seed has no spread; ten take an hour on a phone.
const SEEDS: [u32; 5] = [1, 2, 3, 5, 10];

pub(super) fn contender_choices(state: StartState) -> impl IntoView {
    let seeds_before = untrack(|| state.option(|options| options.seeds));
    let choose = move |seeds| state.change(|options| RunOptions { seeds: Some(seeds), ..options });
    let mut offered = SEEDS.to_vec();
    offered.extend(seeds_before.filter(|seeds| !SEEDS.contains(seeds)));
    offered.sort_unstable();
    let offered = offered.into_iter().map(|seeds| (seeds, t!(common_seeds, number = u64::from(seeds)))).collect();
    view! {
        <div class="networks">
            <fieldset class="columns">
                <legend>{t!(compare_what)}</legend>
                {PageBackend::ALL.map(|backend| contender_choice(state, backend)).collect_view()}
            </fieldset>
        </div>
        <div class="filters">{select(t!(compare_seeds), offered, seeds_before.unwrap_or(1), choose)}</div>
    }
}

fn contender_choice(state: StartState, backend: PageBackend) -> impl IntoView {
    let chosen = Memo::new(move |_| state.contenders().contains(&backend));
    let obstacle = Memo::new(move |_| state.obstacle(backend));
    let choose = move |event| {
        let (checked, before) = (event_target_checked(&event), untrack(|| state.contenders()));
        state.change(|options| options.with_contender(backend, checked, &before));
    };
    let more = remark(state, backend, obstacle);
    view! {
        <label>
            <input
                type="checkbox"
                value=backend.name()
                // A backend selected by the URL can still be deselected.
                disabled=move || obstacle.with(Option::is_some) && !chosen.get()
                prop:checked=move || chosen.get()
                on:change=choose
            />
            <span>{backend.title()} <small>{more}</small></span>
        </label>
    }
}
