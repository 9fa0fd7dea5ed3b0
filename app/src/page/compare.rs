//! Back ends side by side on this device: what is compared, the comparison, and what came of it.

mod choices;
pub(super) mod outcome;
mod share;

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::go::Go;
use super::language::kept;
use super::networks::Networks;
use super::running::Running;
use super::settings::Settings;
use super::start::{OnBattery, Pressed, UnknownInAddress};
use super::state::StartState;
use super::supplies::{BurnOnItsWay, MissingDataSets, Watch};
use crate::backend::PageBackend;
use crate::benchmark::Stage;
use crate::platform::{self, Automation, Gpu, TaskState, Told};
use crate::{t, words};
use choices::Contenders;
use outcome::{Gathered, Outcome};

#[component]
pub(super) fn ComparePage() -> impl IntoView {
    let (state, at_rest) = kept("compare", || {
        let state = StartState::new();
        spawn_local(async move { state.gpu.set(platform::probe().await) });
        let at_rest = Memo::new(move |_| !state.benchmark.is_running() && state.comparing.present().is_none());
        Watch { benchmark: state.benchmark, at_rest }.start();
        Automation::start("comparison", move || told(state));
        (state, at_rest)
    });
    state.say_again();
    let stage = state.benchmark.stage;
    platform::set_title(t!(compare_page_title));
    let status = move || {
        let of_the_run = match stage.get() {
            Stage::Running => state.benchmark.live.with(crate::live::Live::status),
            Stage::Cancelling => t!(common_cancelling).to_owned(),
            Stage::Failed(failure) => failure.sentence(),
            Stage::Ready | Stage::Cancelled | Stage::Finished => String::new(),
        };
        state.comparing.status(&of_the_run).unwrap_or_default()
    };
    view! {
        <section class="sheet" aria-labelledby="compare-title">
            <h1 id="compare-title">{t!(compare_title)}</h1>
            <p class="lead small">
                {t!(compare_lead)}
            </p>
            <p class="note">{move || device(&state.gpu.get())}</p>
            <Show when=move || at_rest.get()>
                <Controls state />
            </Show>
            <p class="status" role="status" aria-live="polite">{status}</p>
        </section>
        <Show when=move || !at_rest.get()>
            <Running benchmark=state.benchmark />
        </Show>
        <Outcome state />
    }
}

/// What scripts are told of the comparison. Back ends that failed are in it, each with the reason.
fn told(state: StartState) -> Told {
    let comparing = state.comparing;
    let (state, sentence) = match (comparing.state(), state.wrong_address()) {
        (TaskState::Ready, Some(sentence)) => (TaskState::Failed, sentence),
        (state, _) => (state, String::new()),
    };
    let ended = matches!(state, TaskState::Finished | TaskState::Cancelled);
    Told { state, sentence, outcome: ended.then(|| words::in_english(|| Gathered::of(comparing).json())) }
}

fn device(gpu: &Gpu) -> String {
    match gpu {
        Gpu::Asking => t!(compare_asking).to_owned(),
        Gpu::Missing(obstacle) => t!(compare_no_gpu, why = obstacle.sentence()),
        Gpu::Found(gpu) if gpu.software => t!(compare_gpu_software, name = gpu.name()),
        Gpu::Found(gpu) => t!(compare_gpu, name = gpu.name()),
    }
}

/// Whether a back end could train now.
fn can_train(state: StartState, backend: PageBackend) -> bool {
    obstacle(state, backend).is_none()
}

/// Why a back end cannot train now, to follow its title.
fn obstacle(state: StartState, backend: PageBackend) -> Option<String> {
    let needs = backend.uses_webgpu() && state.gpu.with(|gpu| matches!(gpu, Gpu::Missing(_)));
    let needs = needs.then(|| t!(compare_needs_webgpu).to_owned());
    needs.or_else(|| state.benchmark.supplies.with(|supplies| supplies.obstacle(backend)))
}

/// The back ends that are chosen, or chosen for who has not chosen.
fn contenders(state: StartState) -> Vec<PageBackend> {
    state.options.with(|options| {
        options.as_ref().map(|options| options.contenders(|backend| can_train(state, backend))).unwrap_or_default()
    })
}

#[component]
fn Controls(state: StartState) -> impl IntoView {
    let button = NodeRef::<html::Button>::new();
    Effect::new(move |_| {
        if let (Some(button), Stage::Cancelled) = (button.get(), state.benchmark.stage.get_untracked()) {
            drop(button.focus());
        }
    });
    let reason = move || {
        let wrong = state.wrong.with(|wrong| wrong.first().map(|(_, sentence)| sentence.clone()));
        let of_options = state.options.with(|options| match options {
            Err(sentence) => Some(sentence.clone()),
            Ok(options) => state.benchmark.supplies.with(|supplies| options.lacking_data(supplies)),
        });
        let contenders = contenders(state);
        let coming = state.benchmark.supplies.with(|supplies| {
            let coming = contenders.iter().find(|backend| supplies.is_coming(**backend))?;
            Some(t!(backend_obstacle, backend = coming.title(), why = supplies.obstacle(*coming)?))
        });
        let too_few = (contenders.len() < 2).then(|| t!(compare_choose_two).to_owned());
        wrong.or(of_options).or(coming).or(too_few)
    };
    let note = move || {
        let (seeds, limited) = state.options.with(|options| {
            let options = options.as_ref().ok();
            (options.and_then(|options| options.seeds).unwrap_or(1), options.is_some_and(|of| of.limit.is_some()))
        });
        let length = if limited { t!(compare_as_settings) } else { t!(compare_one_pass) };
        let contenders = contenders(state).len();
        if seeds == 1 {
            t!(compare_note, contenders = contenders, length = length)
        } else {
            t!(compare_note_seeds, contenders = contenders, seeds = seeds, length = length)
        }
    };
    let compare = move || {
        if let Ok(options) = state.options.get_untracked() {
            state.comparing.start(options, untrack(|| contenders(state)));
        }
    };
    state.start_by_itself(move || reason().is_none(), compare);
    view! {
        <UnknownInAddress />
        <OnBattery />
        <Pressed />
        <Contenders state />
        <Networks options=state.options supplies=state.benchmark.supplies />
        <Settings state />
        <MissingDataSets benchmark=state.benchmark />
        <BurnOnItsWay benchmark=state.benchmark />
        <Go button note_id="compare-note" label=t!(compare_compare) reason note go=compare />
    }
}
