//! Drives a run on the page: registers it, starts the worker, collects its messages, and completes the record.

use std::time::Duration;

use gloo_events::EventListener;
use gloo_timers::callback::Interval;
use leptos::prelude::*;
use leptos::task::spawn_local;
use results::{Length, Outcome, Positive, Precision, RunRecord, SeedSource, Suite, Warning};
use training_worker::{FromWorker, RunOrder, ToWorker};

use crate::backend::{Maker, PageBackend};
use crate::forecast::Forecast;
use crate::live::Live;
use crate::options::RunOptions;
use crate::platform::{self, CallOnDrop, HiddenTimer, PressureWatch, TrainingWorker};
use crate::supplies::{Arrival, Bundle, Supplies};
use crate::t;
use crate::trained::TrainedNetworks;
use crate::words::remarks::{SEED_BY_HAND, failure_of_run, failure_of_workload};
use crate::words::{self, Said};

/// Interval between redraws. More frequent ones would compete with training for the GPU.
const DRAW_EVERY_MILLISECONDS: u32 = 250;
/// Time after a cancel request at which the worker is terminated.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(3);
/// Time without progress after which a worker that has not started is assumed to have failed.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// Minimum hidden time that triggers a warning, unless the run was paused.
const HIDDEN_SECONDS: f64 = 0.5;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum RunStage {
    #[default]
    Ready,
    Running,
    Cancelling,
    Cancelled,
    Finished,
    Failed(Said),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunKind {
    /// On the GPU; may be uploaded.
    Benchmark,
    /// A few steps on the processor, for browsers without WebGPU; never uploaded.
    Demonstration,
    /// One of several backends trained from the same seed; not uploaded as a run.
    Comparison { seed: u32 },
}

pub(crate) const DEMONSTRATED: &str = "keras-mnist-mlp";

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FinishedRun {
    pub(crate) record: RunRecord,
    pub(crate) kind: RunKind,
}

impl FinishedRun {
    /// True unless the run belongs to a comparison, whose table shows it.
    pub(crate) fn is_shown(&self) -> bool {
        !matches!(self.kind, RunKind::Comparison { .. })
    }
}

/// The page's one run at a time.
#[derive(Clone, Copy, Default)]
pub(crate) struct Benchmark {
    pub(crate) stage: RwSignal<RunStage>,
    /// State of the run, updated with every event. Notifies at most four times a second.
    pub(crate) live: RwSignal<Live>,
    pub(crate) finished: RwSignal<Option<FinishedRun>>,
    pub(crate) supplies: RwSignal<Supplies>,
    /// The finished run's best networks.
    pub(crate) trained: TrainedNetworks,
    session: StoredValue<Option<RunSession>, LocalStorage>,
    /// Start of the run, seconds since 1970 UTC.
    began: StoredValue<f64>,
    /// Counter of runs, which identifies late responses to an earlier run.
    attempt: StoredValue<u32>,
}

/// Resources of a run, released when it ends.
struct RunSession {
    worker: TrainingWorker,
    kind: RunKind,
    hidden: HiddenTimer,
    _turn: CallOnDrop,
    screen: Option<CallOnDrop>,
    /// `None` for a demonstration.
    _leave_prompt: Option<EventListener>,
    pressure: Option<PressureWatch>,
    on_battery: bool,
    /// Reason the run is not registered with the leaderboard.
    unregistered: Option<String>,
    _drawing: Interval,
}

impl Benchmark {
    pub(crate) fn is_running(self) -> bool {
        matches!(self.stage.get(), RunStage::Running | RunStage::Cancelling)
    }

    /// Seconds since the start of the run, excluding time while the page was hidden.
    fn seconds(self) -> f64 {
        let hidden = self.session.with_value(|session| session.as_ref().map_or(0.0, |of| of.hidden.seconds()));
        // The clock may be set back.
        (platform::unix_seconds() - self.began.get_value() - hidden).max(0.0)
    }

    pub(crate) fn start(self, kind: RunKind, options: RunOptions) {
        if matches!(self.stage.get_untracked(), RunStage::Running | RunStage::Cancelling) {
            return;
        }
        self.trained.release();
        self.attempt.update_value(|attempt| *attempt += 1);
        let attempt = self.attempt.get_value();
        let bundle = self.supplies.with_untracked(|supplies| supplies.bundle(options.backend).cloned());
        let bundle = bundle.filter(|_| kind != RunKind::Demonstration);
        let fetched = options.backend.maker().fetched();
        let networks = options.networks();
        let durations = platform::own_runs().durations(&networks, &options.pace());
        let forecast = Forecast::new(networks, options.limits(), durations);
        let live = Live::new(bundle.as_ref().and_then(|bundle| Some(Arrival::begin(fetched?, bundle.bytes))), forecast);
        self.began.set_value(platform::unix_seconds());
        self.live.set(live);
        self.finished.set(None);
        self.stage.set(RunStage::Running);
        spawn_local(async move {
            let Some(turn) = platform::lock_runs().await else {
                if self.is_current(attempt) {
                    self.fail(|| t!(running_another_tab).to_owned());
                }
                return;
            };
            if let Err(reason) = self.open(attempt, kind, &options, bundle, turn).await {
                self.fail(|| t!(running_not_loaded, reason));
            }
        });
    }

    /// Asks the worker to stop, and terminates it if it does not.
    pub(crate) fn cancel(self) {
        self.stage.set(RunStage::Cancelling);
        if self.send(&ToWorker::Cancel).is_none() {
            return self.end(RunStage::Cancelled);
        }
        let attempt = self.attempt.get_value();
        let stop = move || {
            if self.is_current(attempt) && self.stage.get_untracked() == RunStage::Cancelling {
                self.end(RunStage::Cancelled);
            }
        };
        set_timeout(stop, CANCEL_TIMEOUT);
    }

    async fn open(
        self,
        attempt: u32,
        kind: RunKind,
        options: &RunOptions,
        bundle: Option<Bundle>,
        turn: CallOnDrop,
    ) -> Result<(), String> {
        let (order, unregistered) = order(kind, options).await;
        let screen = platform::keep_screen_on().await;
        let on_battery = platform::on_battery().await.unwrap_or(false);
        if !self.is_current(attempt) {
            return Ok(());
        }
        let worker = TrainingWorker::start(loaders(options.backend.maker(), bundle)?, order, move |message| {
            if self.is_current(attempt) {
                self.receive(message);
            } else if self.attempt.get_value() == attempt {
                self.trained.receive(message);
            }
        })?;
        self.session.set_value(Some(RunSession {
            worker,
            kind,
            hidden: HiddenTimer::start(move |hidden| {
                if self.is_current(attempt) {
                    self.send(&ToWorker::Hidden(hidden));
                }
            }),
            _turn: turn,
            screen,
            _leave_prompt: (kind != RunKind::Demonstration).then(platform::ask_before_leaving),
            pressure: PressureWatch::start(),
            on_battery,
            unregistered,
            _drawing: Interval::new(DRAW_EVERY_MILLISECONDS, move || self.draw()),
        }));
        self.watch_for_start(attempt);
        Ok(())
    }

    fn send(self, message: &ToWorker) -> Option<()> {
        self.session.with_value(|session| session.as_ref().map(|session| session.worker.send(message)))
    }

    /// Ends the run if its worker does not start in time, but keeps waiting while its bundle is still downloading.
    fn watch_for_start(self, attempt: u32) {
        let known = self.live.with_untracked(|live| live.bundle);
        let look = move || {
            let (started, bundle) = self.live.with_untracked(|live| (live.is_started, live.bundle));
            if !self.is_current(attempt) || started {
                return;
            }
            if bundle == known {
                return self.fail(|| t!(running_not_started).to_owned());
            }
            self.watch_for_start(attempt);
        };
        set_timeout(look, START_TIMEOUT);
    }

    /// True if run number `attempt` is the current one and has not ended.
    fn is_current(self, attempt: u32) -> bool {
        self.attempt.get_value() == attempt
            && matches!(self.stage.get_untracked(), RunStage::Running | RunStage::Cancelling)
    }

    fn receive(self, message: FromWorker) {
        match message {
            FromWorker::Arriving { bytes } => {
                self.live.update_untracked(|live| live.bundle.iter_mut().for_each(|of| of.bytes = bytes.max(of.bytes)))
            }
            FromWorker::Loaded(size) => {
                self.live.update_untracked(|live| live.bundle.iter_mut().for_each(|of| of.loaded = Some(size)))
            }
            // Messages sent before the worker was listening are lost.
            FromWorker::Ready => self.session.with_value(|session| {
                if let Some(session) = session.as_ref().filter(|session| session.hidden.is_hidden()) {
                    session.worker.send(&ToWorker::Hidden(true));
                }
            }),
            FromWorker::NotLoaded(reason) => self.fail(|| t!(running_not_loaded, reason)),
            FromWorker::Loading { loaded_bytes, total_bytes } => {
                let share = loaded_bytes as f64 / total_bytes.max(1) as f64;
                self.live.update_untracked(|live| live.forecast.loaded = Some(share));
            }
            FromWorker::Keep { key, text } => platform::keep_tuning(key, text),
            FromWorker::Event(event) => {
                let seconds = self.seconds();
                self.live.update_untracked(|live| {
                    live.tick(seconds);
                    live.event(&event);
                });
            }
            FromWorker::Finished(record) => self.finish(*record),
            FromWorker::Failed { trouble, sentence, so_far } => {
                if let Some(record) = so_far {
                    self.keep(*record);
                }
                self.fail(|| t!(running_failed, reason = failure_of_run(trouble, &sentence)));
            }
            FromWorker::Crashed(reason) => self.fail(|| t!(running_crashed, reason)),
            FromWorker::Classified(_) | FromWorker::Continued { .. } => {}
        }
    }

    fn draw(self) {
        let seconds = self.seconds();
        self.live.update(|live| live.tick(seconds));
    }

    fn finish(self, record: RunRecord) {
        if record.workloads.iter().any(|workload| workload.outcome == Outcome::Cancelled) {
            return self.end(RunStage::Cancelled);
        }
        if let Some((cause, reason)) = words::outcome::nothing_trained(&record) {
            return self.fail(|| t!(running_failed, reason = failure_of_workload(cause, &reason)));
        }
        self.live.update_untracked(|live| live.fraction = 1.0);
        self.keep(record);
        self.end(RunStage::Finished);
    }

    /// Adds the page's warnings to a record, and displays the record.
    fn keep(self, mut record: RunRecord) {
        let kind = self.session.with_value(|session| {
            let session = session.as_ref()?;
            let (paused, software) = (record.paused_seconds(), record.device.adapter.software);
            record.warnings.extend(session.warnings(paused, software));
            record.warnings.extend(results::software::perhaps_software(&record));
            Some(session.kind)
        });
        self.finished.set(kind.map(|kind| FinishedRun { record, kind }));
    }

    fn fail(self, say: impl Fn() -> String) {
        self.end(RunStage::Failed(Said::new(say)));
    }

    fn end(self, stage: RunStage) {
        self.draw();
        let stage = if self.stage.get_untracked() == RunStage::Cancelling { RunStage::Cancelled } else { stage };
        if stage == RunStage::Cancelled {
            // The run may have finished at the same moment.
            self.finished.set(None);
        }
        let is_tried = stage == RunStage::Finished && self.can_be_tried();
        let (network, writer) = self.live.with_untracked(|live| {
            (live.best_network().filter(|_| is_tried).cloned(), live.best_writer().filter(|_| is_tried).cloned())
        });
        self.stage.set(stage);
        let session = self.session.try_update_value(Option::take).flatten();
        self.trained.keep(session.map(|session| session.worker), network, writer);
    }

    /// True if the worker stays after the run. Those of frameworks and of Burn would hold the GPU's memory.
    fn can_be_tried(self) -> bool {
        let is_asked = |finished: &FinishedRun| {
            let backend = PageBackend::named(&finished.record.device.backend);
            finished.is_shown() && backend.is_none_or(|backend| backend.maker() == Maker::Ours)
        };
        self.finished.with_untracked(|finished| finished.as_ref().is_some_and(is_asked))
    }
}

/// Minimum share of samples under processor pressure that triggers a warning.
const PRESSED_SHARE: f64 = 0.2;

impl RunSession {
    /// Warnings that only the page can detect. A software adapter causes processor pressure itself.
    fn warnings(&self, paused_seconds: f64, software: bool) -> Vec<Warning> {
        let seconds = self.hidden.seconds();
        let counts = seconds >= HIDDEN_SECONDS || paused_seconds > 0.0;
        let hidden = counts.then_some(Warning::TabHidden { seconds, paused_seconds });
        let isolated = (!platform::is_isolated()).then_some(Warning::NotIsolated);
        let dimmed = self.screen.is_none().then_some(Warning::NoWakeLock);
        let unregistered = self.unregistered.clone().map(|reason| Warning::Unregistered { reason });
        let battery = self.on_battery.then_some(Warning::OnBattery);
        let share = self.pressure.as_ref().and_then(PressureWatch::pressed_share);
        let pressed = share.filter(|&share| !software && share >= PRESSED_SHARE);
        let pressed = pressed.map(|share| Warning::ProcessorPressed { share });
        [hidden, isolated, dimmed, battery, pressed, unregistered].into_iter().flatten().collect()
    }
}

/// Returns the loaders of a run's workers. A bundle replaces the training worker, or adds the worker of a framework.
fn loaders(maker: Maker, bundle: Option<Bundle>) -> Result<(String, Option<String>), String> {
    match (maker, bundle.map(|bundle| bundle.loader())) {
        (Maker::Framework(_), framework) => Ok((platform::worker_loader()?, framework)),
        (_, Some(training)) => Ok((training, None)),
        (_, None) => Ok((platform::worker_loader()?, None)),
    }
}

/// Creates the order of a run. The second value is the reason the run is not registered, if so.
async fn order(kind: RunKind, options: &RunOptions) -> (RunOrder, Option<String>) {
    let mut order = RunOrder {
        spec: options.spec(platform::random_seed),
        registration: None,
        started_unix_seconds: platform::unix_seconds(),
        client: platform::browser().client(platform::logical_processors(), platform::has_battery().await),
        kept: platform::kept_tuning(),
    };
    match kind {
        RunKind::Demonstration => {
            let spec = &mut order.spec;
            spec.backend = engine::backends::REFERENCE.to_owned();
            spec.precision = Precision::F32;
            spec.workloads = vec![DEMONSTRATED.to_owned()];
            spec.batch_size = spec.batch_size.or(Some(16));
            spec.length = spec.length.or(Positive::new(10.0).map(Length::Seconds));
        }
        RunKind::Comparison { seed } => order.spec.seed = seed,
        RunKind::Benchmark if !options.backend.is_provable() => {}
        RunKind::Benchmark if options.seed.is_some() => return (order, Some(SEED_BY_HAND.to_owned())),
        RunKind::Benchmark => {
            let suite = options.suite();
            match platform::register(Suite { name: suite.name.to_owned(), version: suite.version }).await {
                Ok(started) => {
                    order.spec.seed = started.seed;
                    order.spec.seed_source = SeedSource::Leaderboard;
                    order.registration = Some(started);
                }
                Err(refusal) => return (order, Some(words::in_english(|| refusal.to_string()))),
            }
        }
    }
    (order, None)
}
