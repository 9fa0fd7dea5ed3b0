//! Runs a comparison on the page: the backends take turns training the selected networks from the same seeds.

use std::num::NonZero;
use std::time::Duration;

use engine::measure::Schedule;
use leptos::prelude::*;
use results::comparison::{Contender, Refused};
use results::{Length, Precision, RunRecord};

use crate::backend::PageBackend;
use crate::benchmark::{Benchmark, RunKind, RunStage};
use crate::options::RunOptions;
use crate::platform::{self, TaskState};
use crate::route::COMPARE;
use crate::supplies::Arrival;
use crate::t;
use crate::words::Said;

/// Default length of training: one epoch, the same work for all.
pub(super) const USUAL_LENGTH: Length = Length::Epochs(NonZero::<u32>::MIN);

#[derive(Clone)]
pub(super) struct ComparisonTask {
    pub(super) options: RunOptions,
    pub(super) contenders: Vec<PageBackend>,
    pub(super) seeds: Vec<u32>,
}

impl ComparisonTask {
    /// URL that repeats the comparison with the same seeds.
    pub(super) fn address(&self) -> String {
        let options = RunOptions {
            compared: self.contenders.clone(),
            seeds: Some(self.seeds.len()).filter(|seeds| *seeds > 1).and_then(|seeds| u32::try_from(seeds).ok()),
            seed: self.seeds.first().copied(),
            length: self.options.length.filter(|length| *length != USUAL_LENGTH),
            backend: PageBackend::default(),
            autostart: false,
            ..self.options.clone()
        };
        format!("{COMPARE}{}", options.query())
    }
}

#[derive(Clone, Copy, Default)]
pub(super) struct ComparisonRun {
    benchmark: Benchmark,
    /// `None` before the first comparison.
    pub(super) task: RwSignal<Option<ComparisonTask>>,
    /// Empty when nothing runs.
    schedule: RwSignal<Schedule>,
    pub(super) records: RwSignal<Vec<RunRecord>>,
    /// Backends that did not train, with the reasons.
    gave_up: RwSignal<Vec<(Contender, Said)>>,
    /// Download of each bundle on its backend's first turn. Later turns load it from the browser cache.
    pub(super) fetched: RwSignal<Vec<(PageBackend, Arrival)>>,
}

impl ComparisonRun {
    pub(super) fn new(benchmark: Benchmark) -> Self {
        let comparing = Self { benchmark, ..Self::default() };
        Effect::new(move |_| comparing.follow(&benchmark.stage.get()));
        comparing
    }

    pub(super) fn present(self) -> Option<PageBackend> {
        let turn = self.schedule.with(Schedule::present)?;
        self.task.with(|task| task.as_ref().map(|task| task.contenders[turn.contender]))
    }

    /// Text of the status region, during and after a comparison.
    pub(super) fn status(self, of_the_run: &str) -> String {
        if let Some(backend) = self.present() {
            let (number, count) = self.schedule.with(|schedule| (schedule.number(), schedule.count()));
            let turn = t!(leaderboard_of, part = number, whole = count);
            return format!("{} ({turn}): {of_the_run}", backend.title());
        }
        if self.is_empty() { String::new() } else { t!(compare_below).to_owned() }
    }

    /// True until the first backend finishes or fails.
    pub(super) fn is_empty(self) -> bool {
        self.records.with(Vec::is_empty) && self.gave_up.with(Vec::is_empty)
    }

    pub(super) fn refused(self) -> Vec<Refused> {
        let refused = |(contender, why): (Contender, Said)| Refused { contender, reason: why.text().to_owned() };
        self.gave_up.get().into_iter().map(refused).collect()
    }

    /// State of the comparison. A failed backend does not end it.
    pub(super) fn state(self) -> TaskState {
        if self.present().is_some() {
            TaskState::Running
        } else if self.benchmark.stage.with(|stage| matches!(stage, RunStage::Cancelled)) {
            TaskState::Cancelled
        } else if self.is_empty() {
            TaskState::Ready
        } else {
            TaskState::Finished
        }
    }

    pub(super) fn forget(self) {
        self.task.set(None);
        self.schedule.set(Schedule::default());
        self.records.set(Vec::new());
        self.gave_up.set(Vec::new());
        self.fetched.set(Vec::new());
    }

    pub(super) fn start(self, options: RunOptions, contenders: Vec<PageBackend>) {
        self.forget();
        let length = options.length.or(Some(USUAL_LENGTH));
        let seeds = options.seeds_from(options.seed.unwrap_or_else(platform::random_seed));
        let task = ComparisonTask { seeds, contenders, options: RunOptions { length, ..options } };
        self.schedule.set(Schedule::new(task.seeds.len(), task.contenders.len()));
        self.task.set(Some(task));
        self.begin_turn();
    }

    /// Starts the current turn, or records why its backend cannot train and moves on to the next one.
    fn begin_turn(self) {
        let (Some(turn), Some(task)) = (self.schedule.with_untracked(Schedule::present), self.task.get_untracked())
        else {
            return;
        };
        let (backend, seed) = (task.contenders[turn.contender], task.seeds[turn.seed]);
        let options = task.options.with_backend(backend);
        let obstacle = || self.benchmark.supplies.with_untracked(|supplies| options.obstacle(supplies));
        match obstacle() {
            Some(_) => self.refuse(Said::new(|| obstacle().unwrap_or_default())),
            // Let the worker of the previous run stop first.
            None => {
                let begin = move || {
                    if untrack(|| self.present()).is_some() {
                        self.benchmark.start(RunKind::Comparison { seed }, options);
                    }
                };
                set_timeout(begin, Duration::ZERO);
            }
        }
    }

    /// Records why the current backend cannot train, and skips its turns.
    fn refuse(self, why: Said) {
        let Some(backend) = untrack(|| self.present()) else { return };
        let precision = self.task.with_untracked(|task| task.as_ref()?.options.precision).unwrap_or(Precision::F32);
        let contender = Contender { backend: backend.name().to_owned(), precision };
        self.gave_up.update(|all| all.push((contender, why)));
        self.schedule.update(Schedule::give_up);
        self.begin_turn();
    }

    /// Stores the record when a backend's run ends, and starts the next run.
    fn follow(self, stage: &RunStage) {
        if untrack(|| self.present()).is_none() {
            return;
        }
        match stage {
            RunStage::Finished => {
                if let Some(finished) = self.benchmark.finished.get_untracked() {
                    let fetched = untrack(|| self.present()).zip(finished.bundle);
                    let is_known =
                        |backend| self.fetched.with_untracked(|of| of.iter().any(|(known, _)| *known == backend));
                    if let Some(new) = fetched.filter(|(backend, _)| !is_known(*backend)) {
                        self.fetched.update(|fetched| fetched.push(new));
                    }
                    self.records.update(|records| records.push(finished.record));
                }
                self.schedule.update(Schedule::go_on);
                self.begin_turn();
            }
            RunStage::Failed(failure) => self.refuse(Said::new(|| failure.sentence())),
            RunStage::Cancelled => self.schedule.update(Schedule::end),
            RunStage::Ready | RunStage::Running | RunStage::Cancelling => {}
        }
    }
}
