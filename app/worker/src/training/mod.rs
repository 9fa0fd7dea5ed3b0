//! The worker's side: brings the engine its data, clock and observer, and runs it.

mod adapter;
mod clock;
#[cfg(feature = "burn")]
mod console;
mod data;
mod framework;
mod port;
mod wishes;
mod witness;

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use engine::backends::{Keeper, Opening};
use engine::{AdapterChoice, Edges, EngineError, Event, NoMeter, Observer, RunRequest, Witness};
use results::{Provenance, RunRecord, Warning};
use wasm_bindgen_futures::spawn_local;
use web_sys::MessagePort;

use crate::Trouble;
use crate::messages::{FromWorker, Order, ToWorker};
use clock::WorkerClock;
use data::ServedData;
use framework::Waiting;
use wishes::Wishes;
use witness::PageWitness;

/// A clock that moves in steps of more than a thousandth of the shortest window is worth a warning.
const COARSE_SECONDS: f64 = results::summary::MINIMUM_WINDOW_SECONDS / 1000.0;

/// Listens to the page. This is all that the worker's `main` does.
pub fn start() {
    port::report_crashes();
    #[cfg(feature = "burn")]
    console::start();
    let wishes = Rc::new(Wishes::default());
    let waiting = Waiting::default();
    port::listen(move |message, port| match message {
        ToWorker::Run(order) => {
            let wishes = Rc::clone(&wishes);
            let framework = port.map(|port| (port, waiting.clone()));
            spawn_local(async move {
                port::post(&train(&order, framework, wishes).await.unwrap_or_else(|error| failed(&error, None)));
            });
        }
        ToWorker::Cancel => wishes.cancel(),
        ToWorker::Hidden(hidden) => wishes.hidden(hidden),
        ToWorker::FrameworkFailed(reason) => waiting.fail(reason),
    });
    port::post(&FromWorker::Ready);
}

/// Runs the order to its end, or as far as the device goes.
async fn train(
    order: &Order,
    framework: Option<(MessagePort, Waiting)>,
    wishes: Rc<Wishes>,
) -> Result<FromWorker, EngineError> {
    let clock = Rc::new(WorkerClock::new());
    let resolution_seconds = clock.resolution_seconds();
    let keeper: Arc<dyn Keeper> = Arc::new(PageKeeper { kept: order.kept.clone() });
    let opening = Opening {
        without: order.without.clone(),
        keeper: Some(keeper),
        ..Opening::new(order.precision, &AdapterChoice::Browser)
    };
    let opening = opening.suited_to(&order.backend);
    let backend = match framework {
        Some((port, waiting)) => framework::open(&order.backend, port, waiting, clock.clone(), order.precision).await?,
        None => engine::backends::open_with(&order.backend, &opening, clock.clone()).await?,
    };
    let request = request(order)?;
    let mut witness = order.registration.clone().map(PageWitness::new);
    let mut edges = Edges {
        data: &mut ServedData::default(),
        observer: &mut Reporter { wishes },
        clock: clock.as_ref(),
        meter: &mut NoMeter,
        witness: witness.as_mut().map(|witness| witness as &mut dyn Witness),
    };
    Ok(match engine::run(&request, backend.as_ref(), &mut edges).await {
        Ok(record) => FromWorker::Finished(Box::new(complete(record, resolution_seconds).await)),
        Err(stopped) => {
            let so_far = match stopped.so_far {
                Some(record) => Some(Box::new(complete(*record, resolution_seconds).await)),
                None => None,
            };
            failed(&stopped.error, so_far)
        }
    })
}

fn failed(error: &EngineError, so_far: Option<Box<RunRecord>>) -> FromWorker {
    FromWorker::Failed { trouble: Trouble::from(error), sentence: error.to_string(), so_far }
}

/// Adds what only the worker knows.
async fn complete(mut record: RunRecord, resolution_seconds: f64) -> RunRecord {
    adapter::complete(&mut record).await;
    if resolution_seconds > COARSE_SECONDS {
        record.warnings.push(Warning::CoarseTimer { resolution_seconds });
    }
    record
}

fn request(order: &Order) -> Result<RunRequest, EngineError> {
    let suite = engine::suite(&order.suite).ok_or_else(|| EngineError::UnknownSuite {
        name: order.suite.clone(),
        known: engine::SUITES.iter().map(|suite| suite.name.to_owned()).collect(),
    })?;
    let all = || suite.workloads.iter().map(|&name| name.to_owned()).collect();
    let names: Vec<String> = if order.workloads.is_empty() { all() } else { order.workloads.clone() };
    let known = || engine::WORKLOADS.iter().map(|make| make().name.to_owned()).collect();
    let workload = |name: &String| {
        engine::workload(name).ok_or(EngineError::UnknownWorkload { name: name.clone(), known: known() })
    };
    Ok(RunRequest {
        suite,
        workloads: names.iter().map(workload).collect::<Result<_, _>>()?,
        seed: order.seed,
        batch_size: order.batch_size,
        learning_rate: order.learning_rate,
        limit: order.limit.map(Into::into),
        target_accuracy: None,
        registration: order.registration.clone().map(|r| engine::Registration { run_id: r.run_id, nonce: r.nonce }),
        provenance: Provenance {
            engine_version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: env!("GRADMARK_COMMIT").to_owned(),
            started_unix_seconds: order.started_unix_seconds,
            wall_seconds: 0.0,
            client: order.client.clone(),
        },
        requested_adapter: AdapterChoice::Browser.to_string(),
        requested_backend: order.backend.clone(),
        claimed_name: order.claimed_name.clone(),
    })
}

/// The page's storage, which no worker reaches itself.
#[derive(Debug)]
struct PageKeeper {
    kept: BTreeMap<String, String>,
}

impl Keeper for PageKeeper {
    fn recall(&self, key: &str) -> Option<String> {
        self.kept.get(key).cloned()
    }

    fn keep(&self, key: &str, text: &str) {
        port::post(&FromWorker::Keep { key: key.to_owned(), text: text.to_owned() });
    }
}

/// Posts what the engine announces to the page.
struct Reporter {
    wishes: Rc<Wishes>,
}

impl Observer<Event> for Reporter {
    fn event(&mut self, event: &Event) {
        port::post(&FromWorker::Event(event.clone()));
    }

    fn cancelled(&self) -> bool {
        self.wishes.cancelled()
    }

    fn wants_examples(&self) -> bool {
        true
    }

    fn pause(&self) -> Option<Pin<Box<dyn Future<Output = ()>>>> {
        self.wishes.paused().then(|| Box::pin(Rc::clone(&self.wishes).resumed()) as _)
    }
}
