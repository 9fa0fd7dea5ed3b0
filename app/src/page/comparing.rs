//! Runs a comparison on the page: the backends take turns training the selected networks from the same seeds.

use std::num::NonZero;
use std::time::Duration;

use engine::measure::Schedule;
use leptos::prelude::*;
use results::{Contender, Length, Precision, Refused, RunRecord};

use crate::backend::PageBackend;
use crate::benchmark::{Benchmark, FinishedRun, RunKind, RunStage};
use crate::options::RunOptions;
use crate::platform;
use crate::route::COMPARE;
use crate::supplies::Arrival;
use crate::words::Said;
use crate::{t, text};

/// Default length of training: one epoch, the same work for all.
pub(super) const USUAL_LENGTH: Length = Length::Epochs(NonZero::<u32>::MIN);

/// A comparison and its results so far. The default is none.
#[derive(Clone, Default)]
pub(super) struct ComparisonTask {
    pub(super) options: RunOptions,
    contenders: Vec<PageBackend>,
    pub(super) seeds: Vec<u32>,
    /// Empty when nothing runs.
    schedule: Schedule,
    pub(super) records: Vec<RunRecord>,
    /// Backends that did not train, with the reasons.
    gave_up: Vec<(Contender, Said)>,
    /// Download of each bundle on its backend's first turn. Later turns load it from the browser cache.
    pub(super) fetched: Vec<(PageBackend, Arrival)>,
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

    pub(super) fn present(&self) -> Option<PageBackend> {
        Some(self.contenders[self.schedule.present()?.contender])
    }

    /// True until the first backend finishes or fails.
    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty() && self.gave_up.is_empty()
    }

    pub(super) fn refused(&self) -> Vec<Refused> {
        let refused = |(contender, why): &(Contender, Said)| Refused {
            contender: contender.clone(),
            reason: why.text().to_owned(),
        };
        self.gave_up.iter().map(refused).collect()
    }

    /// Text of the status region, during and after a comparison.
    pub(super) fn status(&self, of_the_run: &str) -> String {
        if let Some(backend) = self.present() {
            let (part, whole) = (text::count(self.schedule.number()), text::count(self.schedule.count()));
            let turn = t!(leaderboard_of, part, whole);
            return format!("{} ({turn}): {of_the_run}", backend.title());
        }
        if self.is_empty() { String::new() } else { t!(compare_below).to_owned() }
    }

    /// Records why the current backend cannot train, and skips its turns.
    fn refuse(&mut self, why: Said) {
        let Some(backend) = self.present() else { return };
        let precision = self.options.precision.unwrap_or(Precision::F32);
        self.gave_up.push((Contender { backend: backend.name().to_owned(), precision }, why));
        self.schedule.give_up();
    }

    /// Stores the result of the current backend's run, and ends its turn.
    fn finish(&mut self, benchmark: Benchmark) {
        if let Some(FinishedRun { record, .. }) = benchmark.finished.get_untracked() {
            let bundle = benchmark.live.with_untracked(|live| live.bundle);
            let fetched = self.present().zip(bundle);
            let is_new = |(backend, _): &(PageBackend, _)| self.fetched.iter().all(|(known, _)| known != backend);
            self.fetched.extend(fetched.filter(is_new));
            self.records.push(record);
        }
        self.schedule.go_on();
    }
}

#[derive(Clone, Copy, Default)]
pub(super) struct ComparisonRun {
    benchmark: Benchmark,
    pub(super) task: RwSignal<ComparisonTask>,
}

impl ComparisonRun {
    pub(super) fn new(benchmark: Benchmark) -> Self {
        let comparing = Self { benchmark, ..Self::default() };
        Effect::new(move |_| comparing.follow(&benchmark.stage.get()));
        comparing
    }

    pub(super) fn present(self) -> Option<PageBackend> {
        self.task.with(ComparisonTask::present)
    }

    pub(super) fn start(self, options: RunOptions, contenders: Vec<PageBackend>) {
        let length = options.length.or(Some(USUAL_LENGTH));
        let seeds = options.seeds_from(options.seed.unwrap_or_else(platform::random_seed));
        let schedule = Schedule::new(seeds.len(), contenders.len());
        let options = RunOptions { length, ..options };
        self.task.set(ComparisonTask { options, contenders, seeds, schedule, ..ComparisonTask::default() });
        self.begin_turn();
    }

    /// Starts the current turn, or records why its backend cannot train and moves on to the next one.
    fn begin_turn(self) {
        let turn = self.task.with_untracked(|task| {
            let turn = task.schedule.present()?;
            Some((task.options.clone().with_backend(task.contenders[turn.contender]), task.seeds[turn.seed]))
        });
        let Some((options, seed)) = turn else { return };
        let obstacle = || self.benchmark.supplies.with_untracked(|supplies| options.obstacle(supplies));
        if obstacle().is_some() {
            self.task.update(|task| task.refuse(Said::new(|| obstacle().unwrap_or_default())));
            return self.begin_turn();
        }
        // Let the worker of the previous run stop first.
        let begin = move || {
            if untrack(|| self.present()).is_some() {
                self.benchmark.start(RunKind::Comparison { seed }, options);
            }
        };
        set_timeout(begin, Duration::ZERO);
    }

    /// Stores the result when a backend's run ends, also if it failed, and starts the next run.
    fn follow(self, stage: &RunStage) {
        if untrack(|| self.present()).is_none() {
            return;
        }
        match stage {
            RunStage::Finished => self.task.update(|task| task.finish(self.benchmark)),
            RunStage::Failed(failure) => self.task.update(|task| task.refuse(failure.clone())),
            RunStage::Cancelled => return self.task.update(|task| task.schedule.end()),
            RunStage::Ready | RunStage::Running | RunStage::Cancelling => return,
        }
        self.begin_turn();
    }
}
