//! The start page: what this is, the button, the run, the leaderboard.

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::claimed_name::ClaimedName;
use super::compare::ComparisonTable;
use super::comparing::Comparing;
use super::engines::Engines;
use super::finished::FinishedRun;
use super::leaderboard::Leaderboard;
use super::networks::Networks;
use super::running::Running;
use super::state::StartState;
use super::supplies::{MISSING_DATA, MissingDataSets, Watch};
use crate::advice::{Obstacle, advice, advice_on_software};
use crate::benchmark::{Benchmark, Kind, Stage};
use crate::options::RunOptions;
use crate::platform::{self, Gpu};
use crate::text;

#[component]
pub(super) fn Start() -> impl IntoView {
    let benchmark = Benchmark::new();
    let state = StartState {
        benchmark,
        comparing: Comparing::new(benchmark),
        gpu: RwSignal::new(Gpu::Asking),
        claimed: RwSignal::new(String::new()),
        options: RwSignal::new(platform::options_in_address()),
        uploaded: RwSignal::new(None),
    };
    spawn_local(async move { state.gpu.set(platform::probe().await) });
    let stage = state.benchmark.stage;
    let at_rest = Memo::new(move |_| !state.benchmark.is_running() && state.comparing.present().is_none());
    Watch { benchmark, at_rest }.start();
    view! {
        <section class="hero" class:compact=move || matches!(stage.get(), Stage::Running | Stage::Cancelling | Stage::Finished)>
            <div class="hero-words">
                <h1>"How fast does your GPU learn?"</h1>
                <p class="lead">
                    "One click trains real neural networks on real data, on your own GPU, in this tab – and \
                     shows how fast and how well they learn."
                </p>
            </div>
            <Device state />
            <div class="controls">
                <Show when=move || at_rest.get()>
                    <StartControls state />
                </Show>
                <p class="status" role="status" aria-live="polite">{move || status(state)}</p>
            </div>
        </section>
        {move || match state.gpu.get() {
            Gpu::Missing(obstacle) => Some(view! { <NoGpu state obstacle /> }),
            _ => None,
        }}
        <Show when=move || !at_rest.get()>
            <Running benchmark=state.benchmark />
        </Show>
        <ComparisonTable state />
        <FinishedRun state />
        <Leaderboard uploaded=state.uploaded />
    }
}

/// The sentence of the status region.
fn status(state: StartState) -> String {
    let of_the_run = match state.benchmark.stage.get() {
        Stage::Ready => String::new(),
        Stage::Running => state.benchmark.live.with(crate::live::Live::status),
        Stage::Cancelling => "Cancelling …".to_owned(),
        Stage::Cancelled => "Cancelled. Nothing was kept and nothing was uploaded.".to_owned(),
        Stage::Failed(sentence) => sentence,
        Stage::Finished => state
            .benchmark
            .finished
            .with(|finished| finished.as_ref().map(|f| text::headline(&f.record)).unwrap_or_default()),
    };
    state.comparing.status(&of_the_run).unwrap_or(of_the_run)
}

/// The button, why it may not be pressed, and what the address asks for.
#[component]
fn StartControls(state: StartState) -> impl IntoView {
    let button = NodeRef::<html::Button>::new();
    let stage = state.benchmark.stage;
    // The button comes back after a run was cancelled; the keyboard should be where it was.
    Effect::new(move |_| {
        if let (Some(button), Stage::Cancelled | Stage::Failed(_)) = (button.get(), stage.get_untracked()) {
            drop(button.focus());
        }
    });
    let reason = move || match (state.options.get(), state.gpu.get()) {
        (Err(sentence), _) => Some(sentence),
        (Ok(options), gpu) => state.benchmark.supplies.with(|supplies| options.obstacle(supplies)).or(match gpu {
            Gpu::Missing(obstacle) if options.backend.uses_webgpu() => Some(obstacle.sentence().to_owned()),
            _ => None,
        }),
    };
    let start = move |_| {
        if let Ok(options) = state.options.get_untracked() {
            state.comparing.forget();
            state.benchmark.start(Kind::Benchmark, options);
        }
    };
    let cost = move || {
        let Ok(options) = state.options.get() else { return String::new() };
        state.benchmark.supplies.with(|supplies| options.cost(supplies.bundle(options.backend)))
    };
    let asked = platform::options_in_address().ok().filter(RunOptions::non_standard);
    view! {
        <div class="go">
            <button
                class="button main"
                type="button"
                node_ref=button
                disabled=move || reason().is_some()
                aria-describedby="benchmark-note"
                on:click=start
            >
                "Benchmark"
            </button>
            <p class="note" id="benchmark-note">
                {move || reason().unwrap_or_else(cost)}
            </p>
        </div>
        {asked.map(|options| view! { <Asked options /> })}
        <Networks options=state.options supplies=state.benchmark.supplies />
        <MissingDataSets benchmark=state.benchmark />
        <Engines state />
    }
}

/// What the page's address asks for.
#[component]
fn Asked(options: RunOptions) -> impl IntoView {
    use training_worker::Limit;
    let mut parts = Vec::new();
    parts.extend(options.batch_size.map(|size| format!("batch size {size}")));
    parts.extend(options.precision.map(|precision| format!("precision {}", precision.name())));
    parts.extend((!options.without.is_empty()).then(|| {
        let names: Vec<_> = options.without.iter().map(|feature| feature.name()).collect();
        format!("no use of {}", names.join(" and "))
    }));
    parts.extend((!options.is_whole_suite()).then(|| "networks that are not a whole suite".to_owned()));
    parts.extend(options.limit.map(|limit| match limit {
        Limit::Epochs(epochs) => format!("{epochs} epochs"),
        Limit::Steps(steps) => format!("{steps} steps"),
        Limit::Seconds(seconds) => format!("{seconds} s of training"),
    }));
    let consequence = "This makes the run non-standard: it is shown, but never ranked.";
    view! { <p class="callout">{format!("The address asks for {}. {consequence}", parts.join(", "))}</p> }
}

/// The GPU and the browser, as far as they are known.
#[component]
fn Device(state: StartState) -> impl IntoView {
    let gpu = move || match state.gpu.get() {
        Gpu::Asking => "Asking the browser …".to_owned(),
        Gpu::Missing(_) => "Not available to this page".to_owned(),
        Gpu::Found { name, .. } => name,
    };
    let software = move || matches!(state.gpu.get(), Gpu::Found { software: true, .. });
    let found = Memo::new(move |_| matches!(state.gpu.get(), Gpu::Found { .. }));
    view! {
        <div class="device">
            <h2>"Your device"</h2>
            <dl>
                <div><dt>"GPU"</dt><dd data-figure="gpu">{gpu}</dd></div>
                <div><dt>"Browser"</dt><dd data-figure="browser">{platform::browser().title()}</dd></div>
            </dl>
            {move || software().then(|| view! {
                <p class="callout">
                    "This is a software adapter: your processor pretends to be a GPU. It trains correctly but \
                     slowly, and its result is shown but not ranked."
                </p>
                <details>
                    <summary>"There is a GPU in this machine?"</summary>
                    <ul class="advice">
                        {advice_on_software(&platform::browser())
                            .into_iter()
                            .map(|step| view! { <li>{step}</li> })
                            .collect_view()}
                    </ul>
                </details>
            })}
            <Show when=move || found.get()>
                <ClaimedName claimed=state.claimed />
            </Show>
        </div>
    }
}

/// What to do without WebGPU, and the demonstration that needs none.
#[component]
fn NoGpu(state: StartState, obstacle: Obstacle) -> impl IntoView {
    let browser = platform::browser();
    let steps = advice(&browser, obstacle);
    let lacks_data = Memo::new(move |_| {
        state.benchmark.supplies.with(|supplies| supplies.missing_for(Kind::DEMONSTRATED).is_some())
    });
    let demonstrate = move |_| {
        state.comparing.forget();
        state.benchmark.start(Kind::Demonstration, RunOptions::default());
    };
    view! {
        <section class="sheet" aria-labelledby="no-gpu">
            <h2 id="no-gpu">"WebGPU is missing"</h2>
            <p>{format!("You are using {}. {}", browser.title(), obstacle.sentence())}</p>
            <ol class="advice">{steps.into_iter().map(|step| view! { <li>{step}</li> }).collect_view()}</ol>
            <Show when=move || !state.benchmark.is_running()>
                <div class="go">
                    <button
                        class="button quiet"
                        type="button"
                        disabled=move || lacks_data.get()
                        aria-describedby=MISSING_DATA
                        on:click=demonstrate
                    >
                        "Demonstrate on the processor"
                    </button>
                    <p class="note">
                        "Trains the same network with plain loops on one processor core for some seconds. It is not \
                         a benchmark and is not uploaded."
                    </p>
                </div>
            </Show>
        </section>
    }
}
