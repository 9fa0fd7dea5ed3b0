use std::collections::BTreeMap;

use engine::Event;
use engine::backends::Feature;
use results::{Client, Precision, RunRecord};
use serde::{Deserialize, Serialize};

use crate::Trouble;

/// What the page tells the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToWorker {
    /// Train; sent once in a worker's life. A port comes with it where a framework computes: its worker is at the other end.
    Run(Box<Order>),
    /// Stop at the end of the current window.
    Cancel,
    /// Whether the page is hidden: then the run waits at the end of the current window until it is shown.
    Hidden(bool),
    /// The worker of the framework that computes has failed, with the browser's reason.
    FrameworkFailed(String),
}

/// What the worker tells the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FromWorker {
    /// A part of the worker's own module has come; the loader of the bundle with Burn says so.
    Arriving {
        /// So far, unpacked.
        bytes: u64,
    },
    /// The module cannot be fetched or compiled.
    NotLoaded(String),
    /// The module is compiled and listens.
    Ready,
    /// What it took to get there; the loader of the bundle with Burn says so, and the worker of a framework.
    Loaded(Loaded),
    /// A data file is on its way.
    Loading {
        file: String,
        loaded_bytes: u64,
        total_bytes: u64,
    },
    Event(Event),
    /// Something to keep for the next visit.
    Keep {
        key: String,
        text: String,
    },
    /// The run came to its end, whatever its outcome.
    Finished(Box<RunRecord>),
    /// The run could not go on.
    Failed {
        trouble: Trouble,
        /// For people, in English.
        sentence: String,
        /// The workloads that were finished before, where there are any.
        so_far: Option<Box<RunRecord>>,
    },
    /// The worker itself is broken.
    Crashed(String),
}

/// How a worker's module was fetched and started.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loaded {
    /// As the files were sent, where the browser tells.
    pub compressed_bytes: Option<u64>,
    /// Of the module, unpacked.
    pub bytes: u64,
    /// Whether the browser had the files already, where it tells.
    pub cached: Option<bool>,
    /// From the first request until the module listened.
    pub seconds: f64,
}

/// Everything that the page decides about a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// Name of a back end in [`engine::BACKENDS`], or of the framework's.
    pub backend: String,
    pub precision: Precision,
    /// What our kernels do without although the device has it; other back ends are not asked to.
    pub without: Vec<Feature>,
    /// Name of a suite in [`engine::SUITES`].
    pub suite: String,
    /// Names of workloads; empty for all of the suite.
    pub workloads: Vec<String>,
    /// Seed of weights, shuffles and dropout.
    pub seed: u32,
    pub batch_size: Option<u32>,
    pub learning_rate: Option<f64>,
    pub limit: Option<Limit>,
    pub registration: Option<Registration>,
    /// Start of the run, seconds since 1970 UTC.
    pub started_unix_seconds: f64,
    pub client: Client,
    pub claimed_name: Option<String>,
    /// What workers wanted to be kept at earlier visits, by its key.
    pub kept: BTreeMap<String, String>,
}

/// How long to train, where the suite's own length is not wanted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Limit {
    Epochs(u32),
    Steps(u64),
    Seconds(f64),
}

impl From<Limit> for engine::Limit {
    fn from(limit: Limit) -> Self {
        match limit {
            Limit::Epochs(epochs) => Self::Epochs(epochs),
            Limit::Steps(steps) => Self::Steps(steps),
            Limit::Seconds(seconds) => Self::Seconds(seconds),
        }
    }
}

/// What the leaderboard gave a run that it knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registration {
    pub run_id: String,
    pub nonce: String,
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
