//! Start page: introduction with an animation (`browser-tests/examples/miniature.rs`), run, and leaderboard.

use std::sync::LazyLock;

use gloo_timers::callback::Interval;
use leptos::html;
use leptos::prelude::*;
use results::Feature;
use serde::Deserialize;

use super::choices::{options, wrong_address};
use super::language::kept;
use super::leaderboard::top_five;
use super::parts::{focus, go, list_items, set_later};
use super::run::{finished_run, own_runs};
use super::running::running;
use super::state::{MISSING_DATA, StartState, missing_data_sets};
use crate::benchmark::{DEMONSTRATED, FinishedRun, RunKind, RunStage};
use crate::browser::{GpuObstacle, advice, advice_on_integrated, advice_on_software, is_integrated};
use crate::options::RunOptions;
use crate::platform::{self, BrowserGpu, PressureWatch, TaskReport, automate};
use crate::{json, t, text, words};

pub(super) fn start_page() -> impl IntoView {
    let state = kept("start", || {
        let state = StartState::new();
        automate("record", move || task_report(state));
        state
    });
    let stage = state.benchmark.stage;
    let has_result =
        Memo::new(move |_| state.benchmark.finished.with(|run| run.as_ref().is_some_and(FinishedRun::is_shown)));
    view! {
        <p class="status" class:sr-only=move || stage.get() == RunStage::Finished role="status" aria-live="polite">
            {move || status(state)}
        </p>
        <Show when=move || !state.is_idle.get()>
            <h1 class="sr-only">{t!(start_title)}</h1>
            {running(state.benchmark)}
        </Show>
        {finished_run(state)}
        <Show when=move || state.is_idle.get()>
            <section class="hero" class:compact=has_result>
                <div class="hero-words">
                    {move || if has_result.get() {
                        view! { <h2>{t!(start_again)}</h2> }.into_any()
                    } else {
                        view! { <h1>{t!(start_title)}</h1><p class="lead">{t!(start_lead)}</p> }.into_any()
                    }}
                </div>
                <div class="controls">
                    {start_controls(state)}
                    {device(state)}
                    {options(state, false)}
                </div>
                <Show when=move || !has_result.get()>{miniature()}</Show>
            </section>
            {move || match state.gpu.get() {
                BrowserGpu::Missing(obstacle) => Some(no_gpu(state, obstacle)),
                _ => None,
            }}
            {own_runs(state)}
            {top_five()}
        </Show>
    }
}

fn task_report(state: StartState) -> TaskReport {
    let benchmark = state.benchmark;
    let (state, sentence) = match benchmark.stage.get() {
        RunStage::Ready => state.wrong_address().map_or(("ready", None), |sentence| ("failed", Some(sentence))),
        RunStage::Running | RunStage::Cancelling => ("running", None),
        RunStage::Finished => ("finished", None),
        RunStage::Cancelled => ("cancelled", None),
        RunStage::Failed(failure) => ("failed", Some(words::in_english(|| failure.text().to_owned()))),
    };
    let outcome = benchmark.finished.with_untracked(|finished| Some(json::compact(&finished.as_ref()?.record)));
    TaskReport { state, sentence, outcome }
}

pub(super) fn status(state: StartState) -> String {
    match state.benchmark.stage.get() {
        RunStage::Ready => String::new(),
        RunStage::Running => state.benchmark.live.with(crate::live::Live::status),
        RunStage::Cancelling => t!(common_cancelling).to_owned(),
        RunStage::Cancelled => t!(start_cancelled).to_owned(),
        RunStage::Failed(failure) => failure.text().to_owned(),
        RunStage::Finished => state
            .benchmark
            .finished
            .with(|finished| finished.as_ref().map(|f| words::outcome::headline(&f.record)).unwrap_or_default()),
    }
}

fn start_controls(state: StartState) -> impl IntoView {
    let button = NodeRef::<html::Button>::new();
    let stage = state.benchmark.stage;
    // The button comes back after a run was cancelled or failed; restore its keyboard focus.
    focus(button, move || matches!(stage.get_untracked(), RunStage::Cancelled | RunStage::Failed(_)));
    let reason = move || match (state.options.get(), state.gpu.get()) {
        (Err(sentence), _) => Some(sentence.text().to_owned()),
        (Ok(options), gpu) => {
            let of_supplies = || state.benchmark.supplies.with(|supplies| options.obstacle(supplies));
            state.first_wrong().or_else(of_supplies).or_else(|| match gpu {
                BrowserGpu::Missing(obstacle) if options.backend.uses_webgpu() => Some(obstacle.sentence().to_owned()),
                _ => None,
            })
        }
    };
    let start = move || {
        if let Ok(options) = state.options.get_untracked() {
            state.benchmark.start(RunKind::Benchmark, options);
        }
    };
    state.start_from_link(move || reason().is_none(), start);
    let cost = move || {
        let Ok(options) = state.options.get() else { return String::new() };
        let bundle = state.benchmark.supplies.with(|supplies| supplies.bundle(options.backend).cloned());
        state.own_runs.with(|runs| options.cost(bundle.as_ref(), runs))
    };
    let consequence = Memo::new(move |_| state.option(RunOptions::consequence));
    view! {
        {go(
            button,
            ["main", "benchmark-note", t!(start_benchmark)],
            Signal::derive(move || reason().is_some()),
            Signal::derive(move || reason().unwrap_or_else(cost)),
            start,
        )}
        {wrong_address(state)}
        {move || consequence.get().map(|sentence| view! { <p class="callout">{sentence}</p> })}
        {notes_before_run()}
        {missing_data_sets(state.benchmark)}
    }
}

fn on_battery() -> RwSignal<bool> {
    let on_battery = RwSignal::new(false);
    set_later(on_battery, async { platform::on_battery().await.unwrap_or(false) });
    on_battery
}

const PRESSURE_MILLISECONDS: u32 = 3000;
/// Minimum share of samples under pressure that triggers the warning.
const PRESSED_SHARE: f64 = 0.5;

/// Warnings about unknown settings in the URL, and about what distorts the results: the battery, and other tabs or
/// programs that use the processor, while there is still time to close them.
pub(super) fn notes_before_run() -> impl IntoView {
    let query = platform::query();
    let unknown = RunOptions::unknown(&query);
    let unknown = (!unknown.is_empty())
        .then(|| t!(settings_unknown, names = unknown.join(", "), known = RunOptions::NAMES.join(", ")));
    let on_battery = on_battery();
    let pressed = RwSignal::new(false);
    let looking = PressureWatch::start().map(|watch| {
        let look = move || {
            if let Some(share) = watch.pressed_share() {
                pressed.set(share >= PRESSED_SHARE);
            }
        };
        Interval::new(PRESSURE_MILLISECONDS, look)
    });
    // It ends with the view.
    StoredValue::new_local(looking);
    view! {
        {unknown.map(|sentence| view! { <p class="callout" data-figure="unknown">{sentence}</p> })}
        <Show when=move || on_battery.get()><p class="callout" data-figure="battery">{t!(start_battery)}</p></Show>
        <Show when=move || pressed.get()><p class="callout" data-figure="pressed">{t!(start_pressed)}</p></Show>
    }
}

fn device(state: StartState) -> impl IntoView {
    let gpu = move || match state.gpu.get() {
        BrowserGpu::Asking => t!(common_loading).to_owned(),
        BrowserGpu::Missing(_) => t!(start_no_webgpu).to_owned(),
        BrowserGpu::Found(gpu) => text::device_name(&gpu, None),
    };
    let software = move || matches!(state.gpu.get(), BrowserGpu::Found(gpu) if gpu.software);
    let compatibility = move || {
        let is_withheld = state.chosen(|options| options.without.contains(&Feature::Core));
        !is_withheld && matches!(state.gpu.get(), BrowserGpu::Found(gpu) if gpu.compatibility)
    };
    // A device on battery power is a laptop.
    let is_laptop = on_battery();
    let integrated = Memo::new(move |_| match state.gpu.get() {
        BrowserGpu::Found(gpu) if !gpu.software => {
            is_integrated(&platform::browser(), &gpu.vendor, &gpu.architecture, is_laptop.get())
        }
        _ => false,
    });
    view! {
        <div class="device">
            <p>
                <span data-figure="gpu">{gpu}</span>
                " · "
                <span data-figure="browser">{platform::browser().title()}</span>
            </p>
            {move || software().then(|| view! { <p class="note">{t!(start_software)}</p> })}
            {move || compatibility().then(|| view! { <p class="note">{t!(start_compatibility)}</p> })}
            <Show when=move || software() || integrated.get()>
                <details data-figure=move || integrated.get().then_some("integrated")>
                    <summary>{t!(start_integrated_question)}</summary>
                    <ul class="advice">
                        {if software() {
                            list_items(advice_on_software(&platform::browser()))
                        } else {
                            list_items(advice_on_integrated(&platform::browser()))
                        }}
                    </ul>
                </details>
            </Show>
        </div>
    }
}

fn no_gpu(state: StartState, obstacle: GpuObstacle) -> impl IntoView {
    let steps = advice(&platform::browser(), obstacle);
    let lacks_data =
        Memo::new(move |_| state.benchmark.supplies.with(|supplies| supplies.missing_for(DEMONSTRATED).is_some()));
    let demonstrate = move |_| state.benchmark.start(RunKind::Demonstration, RunOptions::default());
    view! {
        <section class="sheet" aria-labelledby="no-gpu">
            <h2 id="no-gpu">{t!(start_no_webgpu)}</h2>
            <p>{obstacle.sentence()}</p>
            <ol class="advice">{list_items(steps)}</ol>
            <Show when=move || !state.benchmark.is_running()>
                <div class="go">
                    <button
                        class="button quiet"
                        type="button"
                        disabled=move || lacks_data.get()
                        aria-describedby=MISSING_DATA
                        on:click=demonstrate
                    >
                        {t!(start_demonstrate)}
                    </button>
                    <p class="note">{t!(start_demonstration)}</p>
                </div>
            </Show>
        </section>
    }
}

/// Sprite with the test digits side by side.
const DIGITS: &[u8] = include_bytes!("../../miniature.png");
const FRAME_MILLISECONDS: u32 = 450;
/// Number of extra frames that show the last answers before the animation repeats.
const REST_FRAMES: usize = 8;

#[derive(Deserialize)]
struct RecordedRun {
    labels: Vec<u16>,
    /// Answers to all digits, one list per frame.
    answers: Vec<Vec<u16>>,
    /// Score of a standard run, in GFLOP/s.
    score: f64,
    device: String,
}

static RECORDING: LazyLock<RecordedRun> =
    LazyLock::new(|| json::parse(include_str!("../../miniature.json")).expect("the file is checked in"));

/// Animation, or its last frame for visitors who prefer reduced motion.
pub(super) fn miniature() -> impl IntoView {
    let RecordedRun { labels, answers, score, device } = &*RECORDING;
    let last = answers.len() - 1;
    let frame = RwSignal::new(last);
    if !platform::prefers_less_motion() {
        frame.set(0);
        let next = move || frame.update(|frame| *frame = (*frame + 1) % (answers.len() + REST_FRAMES));
        // It ends with the view.
        StoredValue::new_local(Interval::new(FRAME_MILLISECONDS, next));
    }
    let now = move || &answers[frame.get().min(last)];
    // Set by script: the page's policy forbids style attributes.
    let sprite = format!("url({})", platform::data_address("image/png", DIGITS));
    let digit = |(place, label): (usize, &'static u16)| {
        let is_right = move || now()[place] == *label;
        let offset = format!("{}%", 100 * place / (labels.len() - 1).max(1));
        view! {
            <li class:right=is_right class:wrong=move || !is_right()>
                <span class="digit" style:background-image=sprite.clone() style:background-position-x=offset></span>
                <span><b>{move || if is_right() { "✓" } else { "✗" }}</b>" "{move || now()[place]}</span>
            </li>
        }
    };
    let right = move || text::count(now().iter().zip(labels).filter(|(answer, label)| answer == label).count());
    view! {
        <figure class="miniature examples">
            <ul aria-hidden="true">{labels.iter().enumerate().map(digit).collect_view()}</ul>
            <figcaption>
                <span aria-hidden="true">
                    {move || t!(start_right, right = right(), all = text::count(labels.len()))}
                </span>
                <span class="note">{t!(start_sample, score = text::score(*score), device)}</span>
            </figcaption>
        </figure>
    }
}
