//! The queue of runs whose proof is verified, on separate threads. It is a table of the database, so that it survives
//! restarts and servers share it. A thread holds one run, one data set and one network in memory.

mod examination;
mod judgement;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use engine::{DataSet, data_set};
use results::RunRecord;
use tokio::runtime::Handle;
use tokio::sync::Notify;

use crate::config::ServerClock;
use crate::counted_event::CountedEvent;
use crate::metrics::Metrics;
use crate::proof::ServerKey;
use crate::storage::{Database, Own, StorageError, Verification};
use examination::{Examination, Examined};
use judgement::judge;

/// Time after which an unfinished verification counts as abandoned. The complete suite takes up to an hour.
const TAKEN_SECONDS: f64 = 4.0 * 3600.0;
/// Interval between checks for runs of other servers that share the database.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// Wakes the verifying threads. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Verifiers {
    news: Arc<Notify>,
    stopping: Arc<AtomicBool>,
}

#[derive(Clone)]
pub(crate) struct Tools {
    pub(crate) storage: Database,
    pub(crate) clock: ServerClock,
    pub(crate) key: ServerKey,
    pub(crate) samples: VerificationSamples,
    pub(crate) metrics: Metrics,
    /// Address of the server, which identifies it in the queue.
    pub(crate) server: String,
    pub(crate) runtime: Handle,
}

impl Verifiers {
    pub(crate) fn wake(&self) {
        self.news.notify_one();
    }

    /// Starts this number of threads. They work as long as the server runs.
    pub(crate) fn start(&self, threads: usize, tools: &Tools) -> Vec<JoinHandle<()>> {
        let start = |number| {
            let (verifiers, tools) = (self.clone(), tools.clone());
            let builder = std::thread::Builder::new().name(format!("verifier {number}"));
            builder.spawn(move || verifiers.work(&tools)).expect("the operating system starts threads")
        };
        (0..threads).map(start).collect()
    }

    /// Lets every thread end at its next opportunity.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        self.news.notify_waiters();
        self.news.notify_one();
    }

    fn stops(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    fn work(&self, tools: &Tools) {
        while !self.stops() {
            match tools.take(None) {
                Ok(Some(verification)) => {
                    if let Err(cause) = verify(tools, &verification, &|| self.stops()) {
                        tracing::error!(cause = &cause as &dyn std::error::Error, "cannot verify a run");
                    }
                    continue;
                }
                Ok(None) => {}
                Err(cause) => tracing::warn!(cause = &cause as &dyn std::error::Error, "cannot read the queue"),
            }
            if !self.stops() {
                // The queue decides, regardless of the wake-up's cause.
                let news = async { tokio::time::timeout(LOOK_EVERY, self.news.notified()).await.is_ok() };
                tools.runtime.block_on(news);
            }
        }
        // Lets the next thread end as well.
        self.news.notify_one();
    }
}

#[derive(Clone)]
pub(crate) struct VerificationSamples {
    folder: Option<PathBuf>,
    /// The latest data set. Runs of a suite use few.
    latest: Arc<Mutex<Option<NamedDataSet>>>,
}

type NamedDataSet = (String, Arc<DataSet>);

impl VerificationSamples {
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, latest: Arc::default() }
    }

    /// Returns the data set of this name. The error is a part of a sentence.
    pub(crate) fn of(&self, name: &str) -> Result<Arc<DataSet>, String> {
        // The value is complete even after a panic.
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, set)) = latest.as_ref().filter(|(of, _)| of == name) {
            return Ok(Arc::clone(set));
        }
        // Frees the memory of the previous one first.
        *latest = None;
        let set = Arc::new(self.read(name)?);
        *latest = Some((name.to_owned(), Arc::clone(&set)));
        Ok(set)
    }

    fn read(&self, name: &str) -> Result<DataSet, String> {
        let definition = data_set(name).ok_or_else(|| format!("it has no data set named {name}"))?;
        if let Some(generated) = DataSet::generated(definition) {
            return Ok(generated);
        }
        let files = definition.file_names().ok_or("its data set has no files")?;
        let folder = self.folder.as_ref().ok_or("it has no data sets")?;
        let read =
            |file: &str| std::fs::read(folder.join(file)).map_err(|cause| format!("it cannot read {file}: {cause}"));
        let [train, test] = files.map(read);
        DataSet::from_files(definition, train?, test?).map_err(|cause| cause.to_string())
    }
}

const MAX_ATTEMPTS: u32 = 3;

/// Recomputes the available parts of a run, and stores the conclusion.
pub(super) fn verify(tools: &Tools, of: &Verification, stops: &dyn Fn() -> bool) -> Result<(), StorageError> {
    let begin = Instant::now();
    let examined = if of.attempts > MAX_ATTEMPTS {
        Some(Examined::GivenUp)
    } else if let Some(reason) = find_other_suite(&of.record) {
        Some(Examined::Nothing(reason))
    } else {
        // A few remaining states would prove nothing about the rest.
        let seen = if of.in_part { None } else { Some(tools.runtime.block_on(tools.storage.seen(&of.run_id))?) };
        Examination { tools, run: of, seen: seen.as_deref(), stops }.perform()?
    };
    // The server releases the run after it has stopped.
    let Some(examined) = examined else { return Ok(()) };
    let conclude = |own: &Own, in_part| judge(own, &examined, in_part, &of.record);
    let now = tools.clock.unix_seconds();
    let concluded = tools.runtime.block_on(tools.storage.conclude_verification(of, now, conclude))?;
    if let Some(own) = concluded {
        let seconds = begin.elapsed().as_secs_f64();
        tracing::info!(run = of.run_id, tier = own.tier.name(), in_part = of.in_part, seconds, "verified");
        tools.metrics.count(CountedEvent::Verified(own.tier));
    }
    Ok(())
}

/// Verifies this run, unless it is not queued or is taken. Blocks the thread.
pub(crate) fn verify_here(tools: &Tools, run_id: &str) -> Result<(), StorageError> {
    tools.take(Some(run_id))?.map_or(Ok(()), |verification| verify(tools, &verification, &|| false))
}

impl Tools {
    fn take(&self, run_id: Option<&str>) -> Result<Option<Verification>, StorageError> {
        let now = self.clock.unix_seconds();
        self.runtime.block_on(self.storage.take_verification(run_id, &self.server, now, now + TAKEN_SECONDS))
    }
}

/// Returns a sentence if the run is of another version of its suite, which was other work.
fn find_other_suite(record: &RunRecord) -> Option<String> {
    let suite = &record.suite;
    let known = engine::suite(&suite.name)?;
    (known.version != suite.version).then(|| {
        let results::Suite { name, version } = suite;
        format!("This leaderboard has version {} of the suite {name}, not version {version}.", known.version)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_suite_versions_may_have_other_work() {
        let mut record = crate::devices::testing::native("Example GPU 9000", "");
        record.suite = results::Suite { name: engine::SUITES[0].name.to_owned(), version: engine::SUITES[0].version };
        assert_eq!(find_other_suite(&record), None);
        record.suite.version += 1;
        assert!(find_other_suite(&record).unwrap().contains(", not version"));
    }
}
