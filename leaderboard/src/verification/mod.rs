//! The queue of runs whose proof is computed again, on threads of their own.
//!
//! It is a table of the data base, so that it survives restarts and several servers share it. A thread takes one run at a
//! time and holds one data set and one network in memory; when more runs come than can be verified, they wait.

mod accuracy;
mod examination;
mod judgement;
mod one;
mod samples;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::Notify;

use crate::clock::Clock;
use crate::metrics::Metrics;
use crate::proof::Key;
use crate::storage::Storage;
use one::verify;
pub(crate) use one::verify_here;
pub(crate) use samples::Samples as VerificationSamples;
use samples::Samples;

/// Time after which a server that has not finished a verification is considered dead. The plain loops need up to an
/// hour for the complete suite.
const TAKEN_SECONDS: f64 = 4.0 * 3600.0;
/// Runs of other servers that shared the data base are looked for so often.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// Wakes the threads that verify; cloning shares them.
#[derive(Clone, Default)]
pub(crate) struct Verifiers(Arc<Shared>);

#[derive(Default)]
struct Shared {
    news: Notify,
    stopping: AtomicBool,
}

/// What the threads need.
#[derive(Clone)]
pub(crate) struct Tools {
    pub(crate) storage: Storage,
    pub(crate) clock: Clock,
    pub(crate) key: Key,
    pub(crate) samples: Samples,
    pub(crate) metrics: Metrics,
    /// Address of the server, as the name under which it takes runs.
    pub(crate) server: String,
}

impl Verifiers {
    /// Says that a run waits.
    pub(crate) fn wake(&self) {
        self.0.news.notify_one();
    }

    /// Starts so many threads. They work for as long as the server runs.
    pub(crate) fn start(&self, threads: usize, tools: &Tools) -> Vec<JoinHandle<()>> {
        let runtime = Handle::current();
        let start = |number| {
            let (verifiers, tools, runtime) = (self.clone(), tools.clone(), runtime.clone());
            let builder = std::thread::Builder::new().name(format!("verifier {number}"));
            builder.spawn(move || verifiers.work(&tools, &runtime)).expect("the operating system starts threads")
        };
        (0..threads).map(start).collect()
    }

    /// Lets every thread end at its next opportunity.
    pub(crate) fn stop(&self) {
        self.0.stopping.store(true, Ordering::SeqCst);
        self.0.news.notify_waiters();
        self.0.news.notify_one();
    }

    fn stops(&self) -> bool {
        self.0.stopping.load(Ordering::SeqCst)
    }

    fn work(&self, tools: &Tools, runtime: &Handle) {
        while !self.stops() {
            let now = tools.clock.unix_seconds();
            match runtime.block_on(tools.storage.take_verification(&tools.server, now, now + TAKEN_SECONDS)) {
                Ok(Some(verification)) => {
                    if let Err(cause) = verify(tools, runtime, &verification, &|| self.stops()) {
                        tracing::error!(cause = &cause as &dyn std::error::Error, "a run could not be verified");
                    }
                    continue;
                }
                Ok(None) => {}
                Err(cause) => tracing::warn!(cause = &cause as &dyn std::error::Error, "the queue cannot be read"),
            }
            if !self.stops() {
                // Whatever it was that woke this thread, the queue says what there is to do.
                let news = async { tokio::time::timeout(LOOK_EVERY, self.0.news.notified()).await.is_ok() };
                runtime.block_on(news);
            }
        }
        // The next one ends as well.
        self.0.news.notify_one();
    }
}
