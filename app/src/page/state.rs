//! State shared by the start page and the comparison, and the data sets and frameworks available on the server.

use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use leptos::task::spawn_local;
use results::Feature;
use results::api::AcceptedRun;

use super::comparing::ComparisonRun;
use super::parts::set_later;
use crate::backend::PageBackend;
use crate::benchmark::Benchmark;
use crate::options::RunOptions;
use crate::own_runs::{OwnRuns, UploadedRun};
use crate::platform::{self, BrowserGpu};
use crate::supplies::{BundleState, Supplies, describe_missing};
use crate::t;
use crate::words::{self, Said};

/// Signals shared by the components of both pages.
#[derive(Clone, Copy)]
pub(super) struct StartState {
    pub(super) benchmark: Benchmark,
    pub(super) comparing: ComparisonRun,
    pub(super) gpu: RwSignal<BrowserGpu>,
    /// GPU name entered by its owner.
    pub(super) claimed: RwSignal<String>,
    /// Selected options, initially from the URL, or the error in the URL.
    pub(super) options: RwSignal<Result<RunOptions, Said>>,
    /// Names of settings that cannot be parsed, each with an error message.
    pub(super) wrong: RwSignal<Vec<(&'static str, String)>>,
    pub(super) own_runs: RwSignal<OwnRuns>,
    pub(super) is_idle: Memo<bool>,
}

impl StartState {
    /// Reads the URL, and asks the browser for a GPU and the server for its supplies.
    pub(super) fn new() -> Self {
        let benchmark = Benchmark::default();
        let comparing = ComparisonRun::new(benchmark);
        let address = platform::pairs(RunOptions::NAMES);
        let parse = || RunOptions::from_pairs(address.iter().map(|(name, value)| (*name, value)));
        let options = parse().map_err(|_| Said::new(|| parse().err().unwrap_or_default()));
        let state = Self {
            benchmark,
            comparing,
            gpu: RwSignal::new(BrowserGpu::Asking),
            claimed: RwSignal::new(String::new()),
            options: RwSignal::new(options),
            wrong: RwSignal::new(Vec::new()),
            own_runs: RwSignal::new(platform::own_runs()),
            is_idle: Memo::new(move |_| !benchmark.is_running() && comparing.present().is_none()),
        };
        state.poll(BUILD_MILLISECONDS, move || state.ask_for_bundles("burn.json", |supplies| &mut supplies.burn));
        state.poll(BUILD_MILLISECONDS, move || {
            state.ask_for_bundles("frameworks.json", |supplies| &mut supplies.frameworks)
        });
        state.poll(DATA_MILLISECONDS, move || state.ask_for_data());
        let without_core = state.chosen(|options| options.without.contains(&Feature::Core));
        set_later(state.gpu, platform::probe(without_core));
        state
    }

    /// Returns the error in the URL in English. No run can start from an invalid URL.
    pub(super) fn wrong_address(self) -> Option<String> {
        words::in_english(|| self.options.with(|options| Some(options.as_ref().err()?.text().to_owned())))
    }

    pub(super) fn change(self, change: impl FnOnce(RunOptions) -> RunOptions) {
        if let Ok(before) = self.options.get_untracked() {
            self.options.set(Ok(change(before)));
        }
    }

    pub(super) fn chosen(self, is_chosen: impl Fn(&RunOptions) -> bool) -> bool {
        self.options.with(|options| options.as_ref().is_ok_and(is_chosen))
    }

    pub(super) fn option<T>(self, value: impl Fn(&RunOptions) -> Option<T>) -> Option<T> {
        self.options.with(|options| options.as_ref().ok().and_then(value))
    }

    pub(super) fn first_wrong(self) -> Option<String> {
        self.wrong.with(|wrong| wrong.first().map(|(_, sentence)| sentence.clone()))
    }

    /// Returns the reason a backend cannot train now, to follow its title.
    pub(super) fn obstacle(self, backend: PageBackend) -> Option<String> {
        let needs = backend.uses_webgpu() && self.gpu.with(|gpu| matches!(gpu, BrowserGpu::Missing(_)));
        let needs = needs.then(|| t!(compare_needs_webgpu).to_owned());
        needs.or_else(|| self.benchmark.supplies.with(|supplies| supplies.obstacle(backend)))
    }

    pub(super) fn contenders(self) -> Vec<PageBackend> {
        let can_train = |backend| self.obstacle(backend).is_none();
        self.options.with(|options| options.as_ref().map(|options| options.contenders(can_train)).unwrap_or_default())
    }

    /// Records in this browser that the run with this key was uploaded.
    pub(super) fn is_uploaded(self, key: &str, accepted: &AcceptedRun) {
        platform::keep(&platform::secret_of(&accepted.run_id), &accepted.deletion_secret);
        let place = UploadedRun { run_id: accepted.run_id.clone(), deletion_link: accepted.deletion_link.clone() };
        self.own_runs.set(platform::change_own_runs(|runs| runs.uploaded(key, place)));
    }

    /// Starts once without a click if the URL requests it, when the GPU is known and `ready` returns true.
    pub(super) fn start_from_link(self, ready: impl Fn() -> bool + Send + Sync + 'static, start: impl Fn() + 'static) {
        if !untrack(|| self.chosen(|options| options.autostart)) {
            return;
        }
        Effect::new(move |_| {
            if self.chosen(|options| options.autostart)
                && !self.gpu.with(|gpu| matches!(gpu, BrowserGpu::Asking))
                && ready()
            {
                self.change(|options| RunOptions { autostart: false, ..options });
                start();
            }
        });
    }
}

/// Polling interval while Burn is being built, which takes minutes.
const BUILD_MILLISECONDS: u32 = 3000;
/// Polling interval while data sets are missing, possibly for good.
const DATA_MILLISECONDS: u32 = 30_000;
/// Id of the note on missing data, which describes disabled options.
pub(super) const MISSING_DATA: &str = "missing-data";

/// Polling of [`Benchmark::supplies`] while more may become available.
impl StartState {
    /// Asks until the answer is false, except during a run.
    fn poll<F: Future<Output = bool>>(self, milliseconds: u32, ask: impl Fn() -> F + 'static) {
        spawn_local(async move {
            while !self.is_idle.get_untracked() || ask().await {
                TimeoutFuture::new(milliseconds).await;
            }
        });
    }

    /// Returns true while the bundles are being built.
    async fn ask_for_bundles(self, file: &'static str, part: fn(&mut Supplies) -> &mut BundleState) -> bool {
        let answer = platform::availability(file, t!(backend_built_without)).await;
        let mut now = self.benchmark.supplies.get_untracked();
        let state = part(&mut now);
        match answer {
            Ok(answer) => *state = answer,
            Err(refusal) if *state == BundleState::Asking => {
                *state = BundleState::Missing { note: refusal.to_string() }
            }
            // The server may be restarting while Burn is being built.
            Err(_) => {}
        }
        let is_building = matches!(state, BundleState::Building { .. });
        self.show(now);
        is_building
    }

    async fn ask_for_data(self) -> bool {
        // Ignore errors: a run reports the data that it cannot fetch.
        let list = platform::get("/api/v1/data-sets").await;
        let mut now = self.benchmark.supplies.get_untracked();
        if let Ok(list) = list {
            now = now.with_data_sets(list);
        }
        let is_missing = !now.missing_data.is_empty();
        self.show(now);
        is_missing
    }

    fn show(self, now: Supplies) {
        if self.benchmark.supplies.with_untracked(|before| *before != now) {
            self.benchmark.supplies.set(now);
        }
    }
}

pub(super) fn missing_data_sets(benchmark: Benchmark) -> impl IntoView {
    let sentences = Memo::new(move |_| {
        let missing = benchmark.supplies.read();
        missing.missing_data.iter().map(describe_missing).collect::<Vec<_>>()
    });
    view! {
        <div class="callout" id=MISSING_DATA aria-live="polite" hidden=move || sentences.with(Vec::is_empty)>
            {move || sentences.get().into_iter().map(|sentence| view! { <p>{sentence}</p> }).collect_view()}
        </div>
    }
}

pub(super) fn burn_progress(benchmark: Benchmark) -> impl IntoView {
    let burn = Memo::new(move |_| benchmark.supplies.with(|supplies| supplies.burn.clone()));
    let is_building = move || burn.with(|burn| matches!(burn, BundleState::Building { .. }));
    let was_built = Memo::new(move |before| before == Some(&true) || is_building());
    // Not a live region: the text changes every few seconds.
    let going_on = move || {
        let why = is_building().then(|| burn.with(BundleState::obstacle))??;
        Some(view! { <p class="note" data-burn="building">{t!(backend_obstacle, backend = "Burn", why)}</p> })
    };
    let ended = move || match (was_built.get(), burn.get()) {
        (true, BundleState::Ready { .. }) => t!(supplies_burn_ready).to_owned(),
        (true, missing @ BundleState::Missing { .. }) => {
            t!(backend_obstacle, backend = "Burn", why = missing.obstacle().unwrap_or_default())
        }
        _ => String::new(),
    };
    view! {
        {going_on}
        <p class="note" aria-live="polite">{ended}</p>
    }
}
