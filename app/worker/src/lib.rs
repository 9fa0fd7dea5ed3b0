//! The page's training worker, and the messages between it and the page.
//!
//! The worker runs [`engine::run`] outside of the page's thread. Page and worker exchange [`ToWorker`] and [`FromWorker`] as
//! JSON text, one message each. They use the browser's own `Worker` rather than gloo-worker's bridge, because that bridge
//! hides the worker: it could neither be stopped by force nor report why it crashed.

use std::collections::BTreeMap;

use engine::{EngineError, Event};
use results::{Client, FailureCause, RunRecord, RunSpec};
use serde::{Deserialize, Serialize};

#[cfg(all(target_arch = "wasm32", feature = "training"))]
mod training;

#[cfg(all(target_arch = "wasm32", feature = "training"))]
pub use training::start;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToWorker {
    /// Train; sent once to each worker, with a port to the worker of the framework that computes, if any.
    Run(Box<Order>),
    /// Stop at the end of the current window.
    Cancel,
    /// The page is hidden, or shown. A run waits at the end of its window while it is hidden.
    Hidden(bool),
    /// The worker of the framework that computes has failed, with the browser's reason.
    FrameworkFailed(String),
    /// Classify an image with a network of the finished run. It has the shape of the run's examples.
    Classify { workload: String, image: Vec<u8> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FromWorker {
    /// A part of the worker's module was received. The loader of the bundle with Burn sends this.
    Arriving {
        bytes: u64,
    },
    /// The module cannot be fetched or compiled.
    NotLoaded(String),
    /// The module is compiled and listens.
    Ready,
    /// Size and time of loading, from the loader of the bundle with Burn, or the worker of a framework.
    Loaded(Loaded),
    Loading {
        file: String,
        loaded_bytes: u64,
        total_bytes: u64,
    },
    Event(Event),
    /// A value to store for the next visit.
    Keep {
        key: String,
        text: String,
    },
    /// The run ended, with any outcome.
    Finished(Box<RunRecord>),
    Failed {
        trouble: Trouble,
        /// For people, in English.
        sentence: String,
        /// Workloads that were finished before.
        so_far: Option<Box<RunRecord>>,
    },
    Crashed(String),
    /// Probability of each class for an image.
    Classified(Vec<f64>),
}

/// Size and time of loading a worker's module.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loaded {
    /// Size of the files as they were sent, if the browser tells.
    pub compressed_bytes: Option<u64>,
    /// Size of the module, unpacked.
    pub bytes: u64,
    /// True if the browser had the files already; `None` if it does not tell.
    pub cached: Option<bool>,
    /// Time from the first request until the module listened.
    pub seconds: f64,
}

/// Order of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    pub spec: RunSpec,
    pub registration: Option<Registration>,
    /// Start of the run, seconds since 1970 UTC.
    pub started_unix_seconds: f64,
    pub client: Client,
    pub claimed_name: Option<String>,
    /// Values that workers stored at earlier visits, by their keys.
    pub kept: BTreeMap<String, String>,
}

/// Id and nonce of a registered run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registration {
    pub run_id: String,
    pub nonce: String,
}

/// Kind of failure that ended a run, for translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trouble {
    /// A workload could not be trained, nor any after it.
    Workload(FailureCause),
    DeviceLost,
    /// The device does not answer.
    NoAnswer,
    /// The device reports work as done that is not.
    WorkDropped,
    /// A framework other than ours gave up.
    Framework,
    /// The browser has no suitable device.
    NoAdapter,
    /// The device lacks the requested precision.
    NoPrecision,
    Other,
}

impl From<&EngineError> for Trouble {
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
    fn an_event_of_the_engine_arrives_as_it_was_sent() {
        let event = Event::Progress {
            workload: "keras-mnist-mlp".to_owned(),
            run_fraction: 0.1,
            step: 7,
            epochs: 0.015,
            training_seconds: 1.0 / 3.0,
            loss: 2.0 / 7.0,
            training_accuracy: 0.1,
            samples_per_second: 1234.5,
        };
        let message = FromWorker::Event(event);
        let text = serde_json::to_string(&message).unwrap();
        assert_eq!(serde_json::from_str::<FromWorker>(&text).unwrap(), message);
    }

    #[test]
    fn what_the_loader_of_burn_writes_is_understood() {
        let check = |text: &str, expected: FromWorker| {
            assert_eq!(serde_json::from_str::<FromWorker>(text).unwrap(), expected);
        };
        check(r#"{"Arriving":{"bytes":65536}}"#, FromWorker::Arriving { bytes: 65_536 });
        check(
            r#"{"NotLoaded":"TypeError: Failed to fetch"}"#,
            FromWorker::NotLoaded("TypeError: Failed to fetch".into()),
        );
        let loaded = Loaded { compressed_bytes: None, bytes: 9, cached: Some(false), seconds: 1.5 };
        let text = r#"{"Loaded":{"compressed_bytes":null,"bytes":9,"cached":false,"seconds":1.5}}"#;
        check(text, FromWorker::Loaded(loaded));
    }
}
