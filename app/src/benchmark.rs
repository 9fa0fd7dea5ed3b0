//! A run as the page drives it: registers it, starts the worker, collects what it says, completes its record.

use std::time::Duration;

use leptos::leptos_dom::helpers::IntervalHandle;
use leptos::prelude::*;
use leptos::task::spawn_local;
use results::{Length, Outcome, Positive, Precision, RunRecord, SeedSource, Suite, Warning};
use training_worker::{FromWorker, Order, Registration, Trouble};

use crate::backend::Maker;
use crate::live::Live;
use crate::options::RunOptions;
use crate::platform::{self, HiddenTimer, LeavePrompt, Loaders, PressureWatch, TrainingWorker, Turn, WakeLock};
use crate::supplies::{Arrival, Bundle, Supplies};
use crate::words::remarks::{Failure, SEED_BY_HAND};
use crate::{text, words};

/// Charts drawn more often would compete with the training for the GPU.
const DRAW_EVERY: Duration = Duration::from_millis(250);
/// A worker that has not stopped by then is terminated.
const CANCEL_PATIENCE: Duration = Duration::from_secs(3);
/// A worker that has not started, and has not been heard from for this long, will not start.
const START_PATIENCE: Duration = Duration::from_secs(60);
/// Shorter hiding is not worth a warning, unless the run waited.
const HIDDEN_SECONDS: f64 = 0.5;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Ready,
    Running,
    Cancelling,
    Cancelled,
    Finished,
    Failed(Failure),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunKind {
    /// On the GPU; may be uploaded.
    Benchmark,
    /// A few steps on the processor, for people without WebGPU; never uploaded.
    Demonstration,
    /// One of several back ends that train from the same seed; stays here.
    Comparison { seed: u32 },
}

impl RunKind {
    pub(crate) const DEMONSTRATED: &str = "keras-mnist-mlp";
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finished {
    pub(crate) record: RunRecord,
    pub(crate) kind: RunKind,
    /// Arrival of a bundle other than the page's own.
    pub(crate) bundle: Option<Arrival>,
}

/// The page's one run at a time.
#[derive(Clone, Copy)]
pub(crate) struct Benchmark {
    pub(crate) stage: RwSignal<Stage>,
    /// State of the run. It changes with every event, and notifies at most four times a second.
    pub(crate) live: RwSignal<Live>,
    pub(crate) finished: RwSignal<Option<Finished>>,
    pub(crate) supplies: RwSignal<Supplies>,
    /// True if `live` changed since it last notified.
    changed: StoredValue<bool>,
    session: StoredValue<Option<RunSession>, LocalStorage>,
    /// Start of the run, seconds since 1970 UTC.
    began: StoredValue<f64>,
    /// Number of runs, by which late answers of an earlier run are recognized.
    attempt: StoredValue<u32>,
}

/// Resources of a run, released when it ends.
struct RunSession {
    worker: TrainingWorker,
    kind: RunKind,
    hidden: HiddenTimer,
    _turn: Turn,
    wake_lock: Option<WakeLock>,
    /// None for a demonstration.
    _leave_prompt: Option<LeavePrompt>,
    pressure: Option<PressureWatch>,
    on_battery: bool,
    /// Reason why the leaderboard does not know this run.
    unregistered: Option<String>,
    _drawing: Ticker,
}

struct Ticker(IntervalHandle);

impl Drop for Ticker {
    fn drop(&mut self) {
        self.0.clear();
    }
}

impl Benchmark {
    pub(crate) fn new() -> Self {
        Self {
            stage: RwSignal::new(Stage::Ready),
            live: RwSignal::new(Live::default()),
            finished: RwSignal::new(None),
            supplies: RwSignal::new(Supplies::default()),
            changed: StoredValue::new(false),
            session: StoredValue::new_local(None),
            began: StoredValue::new(0.0),
            attempt: StoredValue::new(0),
        }
    }

    pub(crate) fn is_running(self) -> bool {
        matches!(self.stage.get(), Stage::Running | Stage::Cancelling)
    }

    /// Estimated seconds left, without the time while the page is hidden; none if the clock was set back.
    pub(crate) fn seconds_left(self) -> Option<f64> {
        let hidden =
            self.session.with_value(|session| session.as_ref().map_or(0.0, |session| session.hidden.seconds()));
        let so_far = platform::unix_seconds() - self.began.get_value() - hidden;
        self.live.with(|live| live.seconds_left(so_far)).filter(|left| *left >= 0.0)
    }

    /// Starts a run. Nothing happens while one is running.
    pub(crate) fn start(self, kind: RunKind, options: RunOptions) {
        if matches!(self.stage.get_untracked(), Stage::Running | Stage::Cancelling) {
            return;
        }
        self.attempt.update_value(|attempt| *attempt += 1);
        let attempt = self.attempt.get_value();
        let bundle = self.supplies.with_untracked(|supplies| supplies.bundle(options.backend).cloned());
        let bundle = bundle.filter(|_| kind != RunKind::Demonstration);
        let fetched = options.backend.maker().fetched();
        let live = Live::new(bundle.as_ref().and_then(|bundle| Some(Arrival::begin(fetched?, bundle.bytes))));
        self.began.set_value(platform::unix_seconds());
        self.live.set(live);
        self.finished.set(None);
        self.stage.set(Stage::Running);
        spawn_local(async move {
            let Some(turn) = Turn::take().await else {
                if self.goes_on(attempt) {
                    self.end(Stage::Failed(Failure::AnotherTab));
                }
                return;
            };
            if let Err(reason) = self.open(attempt, kind, &options, bundle, turn).await {
                self.end(Stage::Failed(Failure::NotOpened { reason }));
            }
        });
    }

    /// Asks the worker to stop, and makes it stop if it does not.
    pub(crate) fn cancel(self) {
        self.stage.set(Stage::Cancelling);
        let asked = self.session.with_value(|session| session.as_ref().map(|s| s.worker.cancel()));
        if asked.is_none() {
            return self.end(Stage::Cancelled);
        }
        let attempt = self.attempt.get_value();
        let stop = move || {
            if self.goes_on(attempt) && self.stage.get_untracked() == Stage::Cancelling {
                self.end(Stage::Cancelled);
            }
        };
        set_timeout(stop, CANCEL_PATIENCE);
    }

    async fn open(
        self,
        attempt: u32,
        kind: RunKind,
        options: &RunOptions,
        bundle: Option<Bundle>,
        turn: Turn,
    ) -> Result<(), String> {
        let (order, unregistered) = order(kind, options).await;
        let wake_lock = WakeLock::request().await;
        let on_battery = platform::on_battery().await.unwrap_or(false);
        if !self.goes_on(attempt) {
            return Ok(());
        }
        let worker = TrainingWorker::start(&loaders(options.backend.maker(), bundle)?, order, move |message| {
            if self.goes_on(attempt) {
                self.receive(message);
            }
        })?;
        let drawing = set_interval_with_handle(move || self.draw(), DRAW_EVERY).map_err(|_| "no timer".to_owned())?;
        self.session.set_value(Some(RunSession {
            worker,
            kind,
            hidden: HiddenTimer::start(move |hidden| self.tell_hidden(attempt, hidden)),
            _turn: turn,
            wake_lock,
            _leave_prompt: (kind != RunKind::Demonstration).then(LeavePrompt::start),
            pressure: PressureWatch::start(),
            on_battery,
            unregistered,
            _drawing: Ticker(drawing),
        }));
        self.expect_a_sign(attempt);
        Ok(())
    }

    fn tell_hidden(self, attempt: u32, hidden: bool) {
        if self.goes_on(attempt) {
            self.session.with_value(|session| session.as_ref().map(|session| session.worker.hidden(hidden)));
        }
    }

    /// Gives up on a worker that does not start in time, but waits for one whose bundle is still arriving.
    fn expect_a_sign(self, attempt: u32) {
        let known = self.live.with_untracked(|live| live.bundle);
        let look = move || {
            let (started, bundle) = self.live.with_untracked(|live| (live.adapter.is_some(), live.bundle));
            if !self.goes_on(attempt) || started {
                return;
            }
            if bundle == known {
                return self.end(Stage::Failed(Failure::NotStarted));
            }
            self.expect_a_sign(attempt);
        };
        set_timeout(look, START_PATIENCE);
    }

    /// True if run number `attempt` is the present one and has not ended.
    fn goes_on(self, attempt: u32) -> bool {
        self.attempt.get_value() == attempt && matches!(self.stage.get_untracked(), Stage::Running | Stage::Cancelling)
    }

    fn receive(self, message: FromWorker) {
        match message {
            FromWorker::Arriving { bytes } => self.change(|live| live.arriving(bytes)),
            FromWorker::Loaded(loaded) => self.change(|live| live.loaded(loaded)),
            // Messages sent before it listened are lost.
            FromWorker::Ready => self.session.with_value(|session| {
                if let Some(session) = session.as_ref().filter(|session| session.hidden.is_hidden()) {
                    session.worker.hidden(true);
                }
            }),
            FromWorker::NotLoaded(reason) => self.end(Stage::Failed(Failure::NotLoaded { reason })),
            FromWorker::Loading { loaded_bytes, total_bytes, .. } => {
                self.change(|live| live.loading(loaded_bytes, total_bytes));
            }
            FromWorker::Keep { key, text } => platform::keep_tuning(key, text),
            FromWorker::Event(event) => self.change(|live| live.event(&event)),
            FromWorker::Finished(record) => self.finish(*record),
            FromWorker::Failed { trouble, sentence, so_far } => {
                if let Some(record) = so_far {
                    self.keep(*record);
                }
                self.end(Stage::Failed(Failure::Failed { trouble, reason: sentence }));
            }
            FromWorker::Crashed(reason) => self.end(Stage::Failed(Failure::Crashed { reason })),
        }
    }

    fn change(self, change: impl FnOnce(&mut Live)) {
        self.live.update_untracked(change);
        self.changed.set_value(true);
    }

    fn draw(self) {
        if self.changed.get_value() {
            self.changed.set_value(false);
            self.live.notify();
        }
    }

    fn finish(self, record: RunRecord) {
        if record.workloads.iter().any(|workload| workload.outcome == Outcome::Cancelled) {
            return self.end(Stage::Cancelled);
        }
        if let Some((cause, reason)) = text::nothing_trained(&record) {
            let trouble = Trouble::Workload(cause);
            return self.end(Stage::Failed(Failure::Failed { trouble, reason }));
        }
        self.change(Live::finish);
        self.keep(record);
        self.end(Stage::Finished);
    }

    /// Adds the warnings of the page to a record, and shows it.
    fn keep(self, mut record: RunRecord) {
        let kind = self.session.with_value(|session| {
            session.as_ref().map(|session| {
                let (paused, software) = (record.paused_seconds(), record.device.adapter.software);
                record.warnings.extend(session.warnings(paused, software));
                record.warnings.extend(results::software::perhaps_software(&record));
                session.kind
            })
        });
        let bundle = self.live.with_untracked(|live| live.bundle);
        self.finished.set(kind.map(|kind| Finished { record, kind, bundle }));
    }

    fn end(self, stage: Stage) {
        self.draw();
        let stage = if self.stage.get_untracked() == Stage::Cancelling { Stage::Cancelled } else { stage };
        if stage == Stage::Cancelled {
            // The run may have come to its end at the same moment.
            self.finished.set(None);
        }
        self.stage.set(stage);
        // The worker's own callback may be running, so it is dropped after it has returned.
        let session = self.session.try_update_value(Option::take).flatten();
        set_timeout(move || drop(session), Duration::ZERO);
    }
}

/// Share of a run under processor pressure from which a warning is recorded.
const PRESSED_SHARE: f64 = 0.2;

impl RunSession {
    /// Warnings that only the page can give. A software adapter causes processor pressure itself.
    fn warnings(&self, paused_seconds: f64, software: bool) -> Vec<Warning> {
        let seconds = self.hidden.seconds();
        let counts = seconds >= HIDDEN_SECONDS || paused_seconds > 0.0;
        let hidden = counts.then_some(Warning::TabHidden { seconds, paused_seconds });
        let isolated = (!platform::is_isolated()).then_some(Warning::NotIsolated);
        let dimmed = self.wake_lock.is_none().then_some(Warning::NoWakeLock);
        let unregistered = self.unregistered.clone().map(|reason| Warning::Unregistered { reason });
        let battery = self.on_battery.then_some(Warning::OnBattery);
        let share = self.pressure.as_ref().and_then(PressureWatch::pressed_share);
        let pressed = share.filter(|&share| !software && share >= PRESSED_SHARE);
        let pressed = pressed.map(|share| Warning::ProcessorPressed { share });
        [hidden, isolated, dimmed, battery, pressed, unregistered].into_iter().flatten().collect()
    }
}

/// Loaders of a run's workers: its bundle is the training worker, or that of a framework next to the page's own.
fn loaders(maker: Maker, bundle: Option<Bundle>) -> Result<Loaders, String> {
    let bundle = bundle.map(|bundle| bundle.loader());
    Ok(match (maker, bundle) {
        (Maker::Framework(_), framework) => Loaders { training: platform::worker_loader()?, framework },
        (_, Some(training)) => Loaders { training, framework: None },
        (_, None) => Loaders { training: platform::worker_loader()?, framework: None },
    })
}

/// Makes the order of a run, with the reason if it is not registered.
async fn order(kind: RunKind, options: &RunOptions) -> (Order, Option<String>) {
    let suite = options.suite();
    let started_unix_seconds = platform::unix_seconds();
    let mut order = Order {
        spec: options.spec(platform::random_seed),
        registration: None,
        started_unix_seconds,
        client: platform::browser().client(platform::logical_processors()),
        claimed_name: None,
        kept: platform::kept_tuning(),
    };
    match kind {
        RunKind::Demonstration => {
            let spec = &mut order.spec;
            spec.backend = engine::backends::REFERENCE.to_owned();
            spec.precision = Precision::F32;
            spec.workloads = vec![RunKind::DEMONSTRATED.to_owned()];
            spec.batch_size = spec.batch_size.or(Some(16));
            spec.length = spec.length.or(Positive::new(10.0).map(Length::Seconds));
        }
        RunKind::Comparison { seed } => order.spec.seed = seed,
        RunKind::Benchmark if !options.backend.is_provable() => {}
        RunKind::Benchmark if options.seed.is_some() => return (order, Some(SEED_BY_HAND.to_owned())),
        RunKind::Benchmark => {
            match platform::register(Suite { name: suite.name.to_owned(), version: suite.version }).await {
                Ok(started) => {
                    order.spec.seed = started.seed;
                    order.spec.seed_source = SeedSource::Leaderboard;
                    order.registration = Some(Registration { run_id: started.run_id, nonce: started.nonce });
                }
                Err(refusal) => return (order, Some(words::in_english(|| refusal.to_string()))),
            }
        }
    }
    (order, None)
}
