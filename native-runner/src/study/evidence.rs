//! What a run that was made says about runs like it.

use results::{InputMode, WorkloadRecord};

use super::finished::{Ending, Finished};
use super::run_settings::RunSettings;

/// How fast one cell was, or a short calibration with its settings.
#[derive(Clone, Debug)]
pub(super) struct Evidence {
    pub(super) settings: RunSettings,
    pub(super) batch_size: u32,
    /// Over the whole of its training.
    pub(super) samples_per_second: f64,
    pub(super) flops_per_sample: f64,
    /// Of the process beside training and looks at the test set: starting, loading, building, checking, measuring.
    pub(super) other_seconds: f64,
    /// Of one look at the test set.
    pub(super) look_seconds: f64,
    pub(super) device_bytes: u64,
    /// Absent where the platform does not tell.
    pub(super) host_bytes: Option<u64>,
    pub(super) is_calibration: bool,
}

impl Evidence {
    /// `None` for a run without figures, and where nothing was trained.
    pub(super) fn of(finished: &Finished, is_calibration: bool) -> Option<Self> {
        let workload = finished.workload().filter(|_| finished.ending == Ending::Completed)?;
        Self::of_workload(finished.settings.run()?, finished.seconds, workload, is_calibration)
    }

    fn of_workload(
        settings: &RunSettings,
        seconds: f64,
        workload: &WorkloadRecord,
        is_calibration: bool,
    ) -> Option<Self> {
        let training_seconds: f64 = workload.windows.iter().map(|window| window.seconds).sum();
        let samples: u64 = workload.windows.iter().map(|window| window.samples).sum();
        let looks: Vec<f64> = workload.evaluations.iter().map(|look| look.seconds).collect();
        let looking_seconds: f64 = looks.iter().sum();
        (training_seconds > 0.0 && samples > 0).then(|| Self {
            settings: settings.clone(),
            batch_size: workload.settings.batch_size,
            samples_per_second: samples as f64 / training_seconds,
            flops_per_sample: workload.settings.training_flops_per_sample as f64,
            other_seconds: (seconds - training_seconds - looking_seconds).max(0.0),
            look_seconds: looking_seconds / looks.len().max(1) as f64,
            device_bytes: workload.settings.device_memory_bytes,
            host_bytes: workload.resources.resident_memory_maximum_bytes,
            is_calibration,
        })
    }

    /// Whether it computed on the same device in the same way.
    pub(super) fn is_of_device(&self, settings: &RunSettings) -> bool {
        let own = &self.settings;
        own.backend == settings.backend
            && own.adapter == settings.adapter
            && own.precision == settings.precision
            && own.threads == settings.threads
            && own.devices.unwrap_or(1) == settings.devices.unwrap_or(1)
            && own.layout == settings.layout
            && own.input.unwrap_or(InputMode::Resident) == settings.input.unwrap_or(InputMode::Resident)
    }
}
