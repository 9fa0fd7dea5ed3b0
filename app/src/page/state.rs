//! What the parts of the start page share.

use leptos::prelude::*;
use results::api::AcceptedRun;

use super::comparing::Comparing;
use crate::benchmark::Benchmark;
use crate::options::RunOptions;
use crate::own_runs::{OwnRuns, Uploaded};
use crate::platform::{self, Gpu};
use crate::words;

/// Signals, so that each part is drawn again when what it shows changes.
#[derive(Clone, Copy)]
pub(super) struct StartState {
    pub(super) benchmark: Benchmark,
    pub(super) comparing: Comparing,
    pub(super) gpu: RwSignal<Gpu>,
    /// What the person says the GPU is.
    pub(super) claimed: RwSignal<String>,
    /// What is chosen, at first by the address, or what is wrong with it.
    pub(super) options: RwSignal<Result<RunOptions, String>>,
    /// Set to the id of an uploaded run, so that the leaderboard loads again and shows it.
    pub(super) uploaded: RwSignal<Option<String>>,
    /// Settings that cannot be understood, by name, with a sentence each.
    pub(super) wrong: RwSignal<Vec<(&'static str, String)>>,
    /// What this browser keeps.
    pub(super) own_runs: RwSignal<OwnRuns>,
}

impl StartState {
    /// With what the address asks for.
    pub(super) fn new() -> Self {
        let benchmark = Benchmark::new();
        Self {
            benchmark,
            comparing: Comparing::new(benchmark),
            gpu: RwSignal::new(Gpu::Asking),
            claimed: RwSignal::new(String::new()),
            options: RwSignal::new(platform::options_in_address()),
            uploaded: RwSignal::new(None),
            wrong: RwSignal::new(Vec::new()),
            own_runs: RwSignal::new(platform::own_runs()),
        }
    }

    /// Says what is wrong with the address in the language that is spoken now.
    pub(super) fn say_again(self) {
        if self.options.with_untracked(Result::is_err) {
            self.options.set(platform::options_in_address());
        }
    }

    /// The English sentence that says what is wrong with the address, with which nothing can start.
    pub(super) fn wrong_address(self) -> Option<String> {
        self.options.with(Result::is_err).then(|| words::in_english(platform::options_in_address).err()).flatten()
    }

    /// Changes what is chosen, where the address has nothing wrong in it.
    pub(super) fn change(self, change: impl FnOnce(RunOptions) -> RunOptions) {
        if let Ok(before) = self.options.get_untracked() {
            self.options.set(Ok(change(before)));
        }
    }

    /// Notes in this browser that the leaderboard has a run of this key, and shows it there.
    pub(super) fn is_uploaded(self, key: &str, accepted: &AcceptedRun) {
        platform::keep_secret(&accepted.run_id, &accepted.deletion_secret);
        let place = Uploaded { run_id: accepted.run_id.clone(), deletion_link: accepted.deletion_link.clone() };
        self.own_runs.set(platform::change_own_runs(|runs| runs.uploaded(key, place)));
        self.uploaded.set(Some(accepted.run_id.clone()));
    }

    /// Where the address says so, starts once by itself: as soon as the browser has said whether it has a GPU, and `ready`.
    pub(super) fn start_by_itself(self, ready: impl Fn() -> bool + Send + Sync + 'static, start: impl Fn() + 'static) {
        let wanted = self.options.with_untracked(|options| options.as_ref().is_ok_and(|options| options.autostart));
        if !wanted {
            return;
        }
        Effect::new(move |_| {
            let asked = self.options.with(|options| options.as_ref().is_ok_and(|options| options.autostart));
            if asked && !self.gpu.with(|gpu| matches!(gpu, Gpu::Asking)) && ready() {
                self.change(|options| RunOptions { autostart: false, ..options });
                start();
            }
        });
    }
}
