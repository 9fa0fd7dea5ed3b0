use results::{Adapter, Evaluation, Resources, Warning, WorkloadRecord};
use serde::{Deserialize, Serialize};

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
    Warned {
        warning: Warning,
    },
    WorkloadFinished {
        record: Box<WorkloadRecord>,
    },
}

/// The parts of a workload's run, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    LoadingData,
    Building,
    Checking,
    Training,
    /// More windows after training, until the figure has settled.
    Measuring,
}

impl Phase {
    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            Self::LoadingData => "loading the data",
            Self::Building => "compiling kernels",
            Self::Checking => "checking results",
            Self::Training => "training",
            Self::Measuring => "measuring",
        }
    }
}

/// Receives events; knows nothing of what the engine does, as the engine knows nothing of screens.
pub trait Observer {
    fn event(&mut self, event: &Event);

    /// Asked between windows and evaluations; true ends the run as cancelled.
    fn cancelled(&self) -> bool {
        false
    }
}

/// Measures the use of the machine around the training of one workload.
pub trait ResourceMeter {
    fn start(&mut self);
    /// Called after every window, never inside one.
    fn sample(&mut self);
    fn finish(&mut self) -> Resources;
}

/// A platform that offers no figures.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMeter;

impl ResourceMeter for NoMeter {
    fn start(&mut self) {}
    fn sample(&mut self) {}
    fn finish(&mut self) -> Resources {
        Resources::default()
    }
}
