//! Training worker of the page, and the messages between the two.
//!
//! The worker runs [`engine::run`] outside the page's thread. Page and worker exchange [`ToWorker`] and [`FromWorker`]
//! as JSON text. They use the browser's `Worker` rather than gloo-worker's bridge, which hides the worker, so that it
//! could neither be terminated nor report why it crashed.

use std::collections::BTreeMap;

use engine::{EngineError, Event};
use results::api::StartedRun;
use results::{Client, FailureCause, RunRecord, RunSpec};
use serde::{Deserialize, Serialize};

#[cfg(all(target_arch = "wasm32", feature = "training"))]
mod adapter;
#[cfg(all(target_arch = "wasm32", feature = "training"))]
mod training;

#[cfg(all(target_arch = "wasm32", feature = "training"))]
pub use adapter::{Adapters, FoundAdapter, describe, property};
#[cfg(all(target_arch = "wasm32", feature = "training"))]
pub use training::start;

/// Explains that the worker only runs in a browser.
#[cfg(not(target_arch = "wasm32"))]
pub fn start() {
    eprintln!("The training worker runs in a browser: `cargo xtask run` builds and serves the page.");
    std::process::exit(2);
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToWorker {
    /// Train. Sent once to each worker, with a port to the worker of the framework that computes, if any.
    Run(Box<RunOrder>),
    /// Stop at the end of the current window.
    Cancel,
    /// The page was hidden or shown. While it is hidden, a run pauses at the end of its window.
    Hidden(bool),
    /// The worker of the framework that computes failed, with the browser's reason.
    FrameworkFailed(String),
    /// Classify an image with a network of the finished run. It has the shape of the run's examples.
    Classify { workload: String, image: Vec<u8> },
    /// Continue a text with a language model of the finished run. Another seed gives another continuation.
    Continue { workload: String, beginning: String, temperature: f64, seed: u32 },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FromWorker {
    /// Part of the worker's module was received. Sent by the loader of the Burn bundle.
    Arriving {
        bytes: u64,
    },
    /// The module cannot be downloaded or compiled.
    NotLoaded(String),
    /// The module is compiled and listening.
    Ready,
    /// Size and time of loading, from the loader of the Burn bundle or the worker of a framework.
    Loaded(Loaded),
    /// Bytes of the current data set received so far, and in total.
    Loading {
        loaded_bytes: u64,
        total_bytes: u64,
    },
    Event(Event),
    /// Value to store for the next visit.
    Keep {
        key: String,
        text: String,
    },
    /// The run ended, with any outcome.
    Finished(Box<RunRecord>),
    Failed {
        trouble: RunTrouble,
        /// Error message, in English.
        sentence: String,
        /// Workloads finished before the failure.
        so_far: Option<Box<RunRecord>>,
    },
    Crashed(String),
    /// Probability of each class for an image.
    Classified(Vec<f64>),
    /// Continuation of a text so far. Sent repeatedly while it grows.
    Continued {
        text: String,
        is_finished: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loaded {
    /// Transfer size of the files, if the browser reports it.
    pub compressed_bytes: Option<u64>,
    /// Uncompressed size of the module.
    pub bytes: u64,
    /// True if the browser had cached the files; `None` if it does not report this.
    pub cached: Option<bool>,
    /// Time from the first request until the module was listening.
    pub seconds: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunOrder {
    pub spec: RunSpec,
    pub registration: Option<StartedRun>,
    /// Start of the run, seconds since 1970 UTC.
    pub started_unix_seconds: f64,
    pub client: Client,
    /// Values that workers stored during earlier visits, by key.
    pub kept: BTreeMap<String, String>,
}

/// Kind of failure that ended a run, for translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunTrouble {
    /// A workload could not be trained, nor any following one.
    Workload(FailureCause),
    DeviceLost,
    NoAnswer,
    /// The device reports unfinished work as done.
    WorkDropped,
    Framework,
    NoAdapter,
    NoPrecision,
    Other,
}

impl From<&EngineError> for RunTrouble {
    fn from(error: &EngineError) -> Self {
        if let Some(cause) = error.failure_of_workload() {
            return Self::Workload(cause);
        }
        match error {
            EngineError::DeviceLost { .. } => Self::DeviceLost,
            EngineError::NoAnswer { .. } => Self::NoAnswer,
            EngineError::WorkDropped { .. } => Self::WorkDropped,
            EngineError::ProgramFailed { .. } | EngineError::Panicked { .. } => Self::Framework,
            EngineError::NoAdapter { .. } => Self::NoAdapter,
            EngineError::NoPrecision { .. } => Self::NoPrecision,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_messages_of_burn_loader() {
        let check = |text: &str, expected: FromWorker| {
            assert_eq!(serde_json::from_str::<FromWorker>(text).unwrap(), expected);
        };
        check(r#"{"Arriving":{"bytes":65536}}"#, FromWorker::Arriving { bytes: 65_536 });
        check(r#"{"NotLoaded":"TypeError: no"}"#, FromWorker::NotLoaded("TypeError: no".into()));
        let loaded = Loaded { compressed_bytes: None, bytes: 9, cached: Some(false), seconds: 1.5 };
        let text = r#"{"Loaded":{"compressed_bytes":null,"bytes":9,"cached":false,"seconds":1.5}}"#;
        check(text, FromWorker::Loaded(loaded));
    }
}
