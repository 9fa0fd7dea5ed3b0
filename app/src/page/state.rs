//! What the parts of the start page share.

use leptos::prelude::*;

use super::comparing::Comparing;
use crate::benchmark::Benchmark;
use crate::options::RunOptions;
use crate::platform::Gpu;

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
}
