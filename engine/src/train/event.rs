use results::{Adapter, Evaluation, Warning, WorkloadRecord};
use serde::{Deserialize, Serialize};

use crate::measure::Phase;

/// What a run announces while it goes on. Serialisable, so that a worker can post it to its page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    RunStarted {
        workloads: Vec<String>,
        backend: String,
        adapter: Adapter,
        seed: u32,
    },
    WorkloadStarted {
        workload: String,
        /// From 0, of `count`.
        index: u32,
        count: u32,
        batch_size: u32,
        steps_per_epoch: u32,
        target_accuracy: f64,
    },
    PhaseStarted {
        workload: String,
        phase: Phase,
    },
    /// After every window, about once a second while training.
    Progress {
        workload: String,
        /// Share of the whole run that is done, 0 to 1, never falling.
        run_fraction: f64,
        step: u64,
        /// Passes over the training set so far, such as 1.25.
        epochs: f64,
        training_seconds: f64,
        /// Mean over the window.
        loss: f64,
        /// Share of the window's samples that were classified rightly.
        training_accuracy: f64,
        samples_per_second: f64,
    },
    Evaluated {
        workload: String,
        evaluation: Evaluation,
    },
    /// A few test images of the workload, where the observer wants to see what the network answers on them: once before the
    /// first step.
    Examples {
        workload: String,
        height: u32,
        width: u32,
        channels: u32,
        /// Samples, rows, columns, channels in row-major order; one byte each.
        images: Vec<u8>,
        labels: Vec<u16>,
    },
    /// The class that the network gives each of the examples: before the first step, and at each look at the test set.
    Answered {
        workload: String,
        answers: Vec<u16>,
    },
    Warned {
        warning: Warning,
    },
    /// A workload cannot be trained; its record follows.
    WorkloadFailed {
        workload: String,
        /// All of the reason. The record, which may be published, names no folder of this machine.
        message: String,
    },
    WorkloadFinished {
        record: Box<WorkloadRecord>,
    },
}
