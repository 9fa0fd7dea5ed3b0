//! Worker side: provides the engine with data, clock and observer, and runs it.

mod data;
mod framework;
mod scope;
mod witness;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Poll, Waker};

use engine::backends::{Keeper, Opening};
use engine::{
    AdapterChoice, Classifier, Edges, EngineError, Event, NoMeter, Observer, RunRequest, WantedTexts, Witness, Writer,
};
use futures_channel::mpsc;
use results::{Feature, Provenance, RunRecord, Warning};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::{MessageEvent, MessagePort, PromiseRejectionEvent};

use crate::adapter::{Adapters, describe};
use crate::{FromWorker, RunOrder, RunTrouble, ToWorker};
use data::ServedData;
use framework::FrameworkPort;
use scope::{WorkerClock, post, scope};
use witness::PageWitness;

/// Clock resolution that triggers a warning: a thousandth of the shortest window.
const COARSE_SECONDS: f64 = results::summary::MINIMUM_WINDOW_SECONDS / 1000.0;

/// Listens to the page. The worker's `main` only calls this.
pub fn start() {
    report_crashes();
    #[cfg(feature = "burn")]
    console::start();
    let requests = Rc::new(PageRequests::default());
    let (sender, answers) = mpsc::unbounded();
    let mut answers = Some(answers);
    let networks = TrainedNetworks::default();
    listen(move |message, port| match message {
        ToWorker::Run(order) => {
            let reporter = Reporter { requests: Rc::clone(&requests), networks: Rc::clone(&networks) };
            let answers = answers.take();
            let framework =
                port.zip(answers).map(|(port, answers)| FrameworkPort { port, sender: sender.clone(), answers });
            spawn_local(async move {
                post(&train(&order, framework, reporter).await.unwrap_or_else(|error| failed(&error, None)));
            });
        }
        ToWorker::Cancel => requests.set(&requests.cancelled, true),
        ToWorker::Hidden(hidden) => requests.set(&requests.hidden, hidden),
        // Fails only after the run.
        ToWorker::FrameworkFailed(reason) => drop(sender.unbounded_send(Err(reason))),
        ToWorker::Classify { workload, image } => {
            if let Some(network) = networks.borrow_mut().classifiers.get_mut(&workload) {
                post(&FromWorker::Classified(network.probabilities(image)));
            }
        }
        ToWorker::Continue { workload, beginning, temperature, seed } => {
            if let Some(writer) = networks.borrow_mut().writers.get_mut(&workload) {
                continue_text(writer, &beginning, temperature, seed);
            }
        }
    });
    post(&FromWorker::Ready);
}

/// Runs the order to its end, or as far as the device allows.
async fn train(
    order: &RunOrder,
    framework: Option<FrameworkPort>,
    mut reporter: Reporter,
) -> Result<FromWorker, EngineError> {
    let spec = &order.spec;
    let clock = Rc::new(WorkerClock::new());
    let resolution_seconds = clock.resolution_seconds();
    let opening = Opening {
        without: spec.without.clone(),
        keeper: Some(Arc::new(PageKeeper { kept: order.kept.clone() })),
        ..Opening::new(spec.precision, &AdapterChoice::Browser)
    }
    .suited_to(&spec.backend);
    let adapters = Adapters::of_browser(opening.without.contains(&Feature::Core)).map(Rc::new);
    if let Some(adapters) = &adapters {
        adapters.install();
    }
    let backend = match framework {
        Some(port) => framework::open(&spec.backend, port, clock.clone(), spec.precision).await?,
        None => engine::backends::open_with(&spec.backend, &opening, clock.clone()).await?,
    };
    let request = request(order);
    let mut witness = order.registration.clone().map(|registration| PageWitness { registration, answered: None });
    let mut edges = Edges {
        data: &mut ServedData::default(),
        observer: &mut reporter,
        clock: clock.as_ref(),
        meter: &mut NoMeter,
        witness: witness.as_mut().map(|witness| witness as &mut dyn Witness),
    };
    Ok(match engine::run(&request, backend.as_ref(), &mut edges).await {
        Ok(record) => FromWorker::Finished(Box::new(complete(record, adapters.as_deref(), resolution_seconds).await)),
        Err(stopped) => {
            let so_far = match stopped.so_far {
                Some(record) => Some(Box::new(complete(*record, adapters.as_deref(), resolution_seconds).await)),
                None => None,
            };
            failed(&stopped.error, so_far)
        }
    })
}

fn failed(error: &EngineError, so_far: Option<Box<RunRecord>>) -> FromWorker {
    FromWorker::Failed { trouble: RunTrouble::from(error), sentence: error.to_string(), so_far }
}

async fn complete(mut record: RunRecord, adapters: Option<&Adapters>, resolution_seconds: f64) -> RunRecord {
    if let Some(adapters) = adapters.filter(|_| record.device.adapter.api == "WebGPU") {
        describe_adapter(&mut record, adapters).await;
    }
    if resolution_seconds > COARSE_SECONDS {
        record.warnings.push(Warning::CoarseTimer { resolution_seconds });
    }
    record
}

fn request(order: &RunOrder) -> RunRequest {
    let spec = &order.spec;
    let suite = engine::suite(&spec.suite).expect("the page only offers known suites");
    let asked: Vec<&str> = spec.workloads.iter().map(String::as_str).collect();
    let names = if asked.is_empty() { suite.workloads } else { asked.as_slice() };
    let workload = |name: &&str| engine::workload(name).expect("the page only offers known networks");
    RunRequest {
        spec: spec.clone(),
        suite,
        workloads: names.iter().map(workload).collect(),
        registration: order.registration.clone().map(|r| engine::Registration { run_id: r.run_id, nonce: r.nonce }),
        provenance: Provenance {
            engine_version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: env!("GRADMARK_COMMIT").to_owned(),
            started_unix_seconds: order.started_unix_seconds,
            wall_seconds: 0.0,
            client: order.client.clone(),
        },
        // The page adds it to the record.
        claimed_name: None,
    }
}

/// Access to the page's storage, which workers lack.
#[derive(Debug)]
struct PageKeeper {
    kept: BTreeMap<String, String>,
}

impl Keeper for PageKeeper {
    fn recall(&self, key: &str) -> Option<String> {
        self.kept.get(key).cloned()
    }

    fn keep(&self, key: &str, text: &str) {
        post(&FromWorker::Keep { key: key.to_owned(), text: text.to_owned() });
    }
}

type TrainedNetworks = Rc<RefCell<NetworksByName>>;

#[derive(Default)]
struct NetworksByName {
    classifiers: BTreeMap<String, Classifier<f32>>,
    writers: BTreeMap<String, Writer>,
}

/// Characters of a continuation, and between two posts of it.
const CONTINUATION_CHARACTERS: usize = 400;
const POSTED_CHARACTERS: usize = 10;

fn continue_text(writer: &mut Writer, beginning: &str, temperature: f64, seed: u32) {
    let mut text = String::new();
    let characters = writer.continuation(beginning, temperature, seed).take(CONTINUATION_CHARACTERS);
    for (count, character) in (1..).zip(characters) {
        text.push(character);
        let is_finished = count == CONTINUATION_CHARACTERS;
        if is_finished || count % POSTED_CHARACTERS == 0 {
            post(&FromWorker::Continued { text: text.clone(), is_finished });
        }
    }
}

/// Posts events of the engine to the page, and keeps the trained networks.
struct Reporter {
    requests: Rc<PageRequests>,
    networks: TrainedNetworks,
}

impl Observer<Event> for Reporter {
    fn event(&mut self, event: &Event) {
        post(&FromWorker::Event(event.clone()));
    }

    fn cancelled(&self) -> bool {
        self.requests.cancelled.get()
    }

    fn wants_examples(&self) -> bool {
        true
    }

    fn trained(&mut self, workload: &str, network: Classifier<f32>) {
        self.networks.borrow_mut().classifiers.insert(workload.to_owned(), network);
    }

    fn wants_texts(&self) -> WantedTexts {
        WantedTexts::AtIntervals
    }

    fn trained_writer(&mut self, workload: &str, writer: Writer) {
        self.networks.borrow_mut().writers.insert(workload.to_owned(), writer);
    }

    fn pause(&self) -> Option<Pin<Box<dyn Future<Output = ()>>>> {
        self.requests.paused().then(|| Box::pin(Rc::clone(&self.requests).resumed()) as _)
    }
}

/// Adds the browser's description of its GPU to the record, which wgpu does not pass on: usually only vendor and
/// architecture, such as `nvidia` and `ampere`; and the mode of the device.
async fn describe_adapter(record: &mut RunRecord, adapters: &Adapters) {
    let Some(found) = adapters.find().await else { return };
    let adapter = &mut record.device.adapter;
    adapter.compatibility = found.compatibility;
    adapter.vendor = found.word("vendor");
    adapter.architecture = found.word("architecture");
    let described = found.word("description");
    let masked = format!("{} {}", adapter.vendor, adapter.architecture);
    let name = if described.is_empty() { masked.trim().to_owned() } else { described };
    if name.is_empty() {
        return;
    }
    adapter.name.clone_from(&name);
    for warning in &mut record.warnings {
        if let Warning::SoftwareAdapter { name: named } = warning {
            named.clone_from(&name);
        }
    }
}

/// Calls `handle` with every message from the page, and the port sent with it.
fn listen(mut handle: impl FnMut(ToWorker, Option<MessagePort>) + 'static) {
    let closure = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        let text = event.data().as_string().unwrap_or_default();
        match serde_json::from_str(&text) {
            Ok(message) => handle(message, event.ports().get(0).dyn_into().ok()),
            Err(error) => post(&FromWorker::Crashed(format!(
                "the page sent a message that its worker does not know ({error}); reload the page"
            ))),
        }
    });
    scope().set_onmessage(Some(closure.as_ref().unchecked_ref()));
    // The worker listens until it is terminated.
    closure.forget();
}

fn report_crashes() {
    std::panic::set_hook(Box::new(|info| {
        let text = info.to_string();
        web_sys::console::error_1(&JsValue::from_str(&text));
        post(&FromWorker::Crashed(text));
    }));
    let closure = Closure::<dyn FnMut(PromiseRejectionEvent)>::new(|event: PromiseRejectionEvent| {
        post(&FromWorker::Crashed(describe(&event.reason())));
    });
    let listening = scope().add_event_listener_with_callback("unhandledrejection", closure.as_ref().unchecked_ref());
    listening.expect("every worker can listen");
    closure.forget();
}

/// Requests from the page during a run. Messages arrive whenever the engine waits for the device.
#[derive(Default)]
struct PageRequests {
    cancelled: Cell<bool>,
    hidden: Cell<bool>,
    /// Waker of the engine while it waits for the page to be shown.
    waiting: RefCell<Option<Waker>>,
}

impl PageRequests {
    /// True if the run has to pause.
    fn paused(&self) -> bool {
        self.hidden.get() && !self.cancelled.get()
    }

    /// Completes when the page is shown or the run is cancelled.
    pub(super) fn resumed(self: Rc<Self>) -> impl Future<Output = ()> {
        poll_fn(move |context| {
            if self.paused() {
                *self.waiting.borrow_mut() = Some(context.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(())
        })
    }

    /// Changes a request, and wakes the engine.
    fn set(&self, request: &Cell<bool>, value: bool) {
        request.set(value);
        self.waiting.take().into_iter().for_each(Waker::wake);
    }
}

/// Console output for errors that Burn logs instead of returning.
#[cfg(feature = "burn")]
mod console {
    use log::{LevelFilter, Log, Metadata, Record};
    use wasm_bindgen::JsValue;

    struct Console;

    impl Log for Console {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn log(&self, record: &Record<'_>) {
            web_sys::console::error_1(&JsValue::from_str(&record.args().to_string()));
        }

        fn flush(&self) {}
    }

    /// Writes errors to the console. In a browser, Burn cannot block on shader compilation: it logs rejected kernels
    /// and continues without them, and the comparison with the reference then fails.
    pub(super) fn start() {
        // This module has no other logger.
        if log::set_logger(&Console).is_ok() {
            log::set_max_level(LevelFilter::Error);
        }
    }
}
