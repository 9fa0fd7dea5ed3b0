//! Forecasts of a cell's time and memory. Time comes only from measured cells and calibrations.

use engine::SUITES;
use engine::backends::{BURN_FLEX, REFERENCE};
use results::{InputMode, Length, RunSpec};
use serde::Serialize;

use crate::study::cell::{KernelSettings, RunSettings, Settings};
use crate::study::folder::{Ending, Finished};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Estimate {
    /// Operations of the training, from shapes; absent for kernels, and if the length is in seconds.
    pub(crate) flops: Option<f64>,
    /// Time of the cell's process; absent until the same settings were measured.
    pub(crate) seconds: Option<Forecast>,
    pub(crate) memory_bytes: Forecast,
    memory_of: MemoryOf,
}

/// Owner of the estimated memory. Allocations of a backend on the processor cannot be separated from the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum MemoryOf {
    Device,
    Process,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Forecast {
    pub(crate) value: f64,
    pub(crate) source: Source,
}

impl Forecast {
    /// Returns the sum with the least certain source; `None` if there are no forecasts.
    pub(crate) fn sum(forecasts: impl Iterator<Item = Self>) -> Option<Self> {
        forecasts.reduce(|one, other| Self { value: one.value + other.value, source: one.source.max(other.source) })
    }
}

/// Source of a forecast, the most certain first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Source {
    /// A finished cell of the same network, backend, device and batch size.
    Cell,
    /// A short run with the same settings.
    Calibration,
    /// The layers of the network alone.
    Layers,
    /// Limits of each kernel entry.
    Budgets,
}

impl Source {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Cell => "a finished cell",
            Self::Calibration => "a calibration",
            Self::Layers => "the layers",
            Self::Budgets => "the entries' budgets",
        }
    }
}

/// A measured run that forecasts runs of the same shape.
#[derive(Clone, Debug)]
struct Measured {
    shape: RunSettings,
    source: Source,
    samples_per_second: f64,
    /// Time of the process outside training and evaluation.
    other_seconds: f64,
    seconds_per_evaluation: f64,
    device_bytes: u64,
    /// Absent if the platform does not report it.
    host_bytes: Option<u64>,
}

impl Measured {
    /// Returns `None` if no workload was trained to its end.
    fn from_finished(finished: &Finished, source: Source) -> Option<Self> {
        let workload = finished.workload().filter(|_| finished.ending == Ending::Completed)?;
        let training_seconds: f64 = workload.windows.iter().map(|window| window.seconds).sum();
        let samples: u64 = workload.windows.iter().map(|window| window.samples).sum();
        let evaluation_seconds: f64 = workload.evaluations.iter().map(|evaluation| evaluation.seconds).sum();
        let shape = shape(finished.settings.run()?, workload.settings.batch_size);
        (training_seconds > 0.0 && samples > 0).then(|| Self {
            shape,
            source,
            samples_per_second: samples as f64 / training_seconds,
            other_seconds: (finished.seconds - training_seconds - evaluation_seconds).max(0.0),
            seconds_per_evaluation: evaluation_seconds / workload.evaluations.len().max(1) as f64,
            device_bytes: workload.settings.device_memory_bytes,
            host_bytes: workload.resources.resident_memory_maximum_bytes,
        })
    }
}

/// Returns only the settings that affect the time and memory of a step.
fn shape(settings: &RunSettings, batch_size: u32) -> RunSettings {
    let spec = RunSpec {
        batch_size: Some(batch_size),
        learning_rate: None,
        length: None,
        seed: 0,
        devices: settings.spec.devices.filter(|devices| devices.get() > 1),
        input: settings.spec.input.filter(|mode| *mode != InputMode::Resident),
        ..settings.spec.clone()
    };
    RunSettings { spec, file: settings.file.clone() }
}

#[derive(Default)]
pub(crate) struct Estimator {
    measured: Vec<Measured>,
}

impl Estimator {
    pub(crate) fn new(finished: &[Finished]) -> Self {
        Self { measured: finished.iter().filter_map(|one| Measured::from_finished(one, Source::Cell)).collect() }
    }

    pub(crate) fn learn(&mut self, finished: &Finished, source: Source) {
        self.measured.extend(Measured::from_finished(finished, source));
    }

    /// Returns `None` for a workload with a changed file, and for kernels in a program without them.
    pub(crate) fn estimate(&self, settings: &Settings) -> Option<Estimate> {
        match settings {
            Settings::Run(run) => self.estimate_run(run),
            Settings::Kernels(kernels) => estimate_kernels(kernels),
        }
    }

    fn estimate_run(&self, settings: &RunSettings) -> Option<Estimate> {
        let workload = settings.network().ok()?;
        let batch_size = settings.spec.batch_size.unwrap_or(workload.batch_size);
        let samples = engine::data_set(workload.data_set)?.train.samples;
        let batches = workload.batches(samples, batch_size).ok()?;
        let steps = match settings.spec.length {
            Some(Length::Epochs(epochs)) => Some(batches.steps_of_epochs(epochs.get())),
            Some(Length::Steps(steps)) => Some(steps.get()),
            Some(Length::Seconds(_)) => None,
            None => Some(batches.steps_of_epochs(SUITES[0].epochs)),
        };
        let samples = steps.map(|steps| batches.samples_of_steps(steps) as f64);
        let flops_per_sample = workload.model.operations().ok()?.training_flops() as f64;

        let shape = shape(settings, batch_size);
        // Uses the last of the finished cells, or a calibration if there are none.
        let same = self.measured.iter().rev().filter(|one| one.shape == shape).min_by_key(|one| one.source);
        let seconds = same.map(|same| {
            let most_seconds = match settings.spec.length {
                Some(Length::Seconds(seconds)) => seconds.get(),
                Some(Length::Epochs(_) | Length::Steps(_)) => f64::INFINITY,
                None => SUITES[0].training_seconds,
            };
            let of_samples = samples.map_or(f64::INFINITY, |samples| samples / same.samples_per_second);
            let training = of_samples.min(most_seconds);
            let epochs = training * same.samples_per_second / f64::from(batches.samples.max(1));
            let evaluations = (epochs * f64::from(workload.evaluations_per_epoch)).ceil().max(1.0);
            let value = same.other_seconds + training + evaluations * same.seconds_per_evaluation;
            Forecast { value, source: same.source }
        });

        let is_on_processor = [BURN_FLEX, REFERENCE].contains(&settings.spec.backend.as_str());
        let memory_of = if is_on_processor { MemoryOf::Process } else { MemoryOf::Device };
        let measured_bytes = |same: &Measured| {
            let bytes = match memory_of {
                MemoryOf::Device => Some(same.device_bytes).filter(|bytes| *bytes > 0),
                MemoryOf::Process => same.host_bytes,
            };
            Some(Forecast { value: bytes? as f64, source: same.source })
        };
        let bytes_of_layers = workload.bytes_of_layers(batch_size).ok()? as f64;
        let of_layers = Forecast { value: bytes_of_layers, source: Source::Layers };
        Some(Estimate {
            flops: samples.map(|samples| samples * flops_per_sample),
            seconds,
            memory_bytes: same.and_then(measured_bytes).unwrap_or(of_layers),
            memory_of,
        })
    }
}

/// Returns the upper bound from the budgets of the entries.
#[cfg(feature = "wgsl")]
fn estimate_kernels(settings: &KernelSettings) -> Option<Estimate> {
    let outline =
        engine::backends::wgsl::microbenchmarks::outline(settings.suite, u64::from(settings.budget_mib) << 20);
    let allowed = |value: f64| Forecast { value, source: Source::Budgets };
    Some(Estimate {
        flops: None,
        seconds: Some(allowed(outline.entries as f64 * settings.budget_seconds)),
        memory_bytes: allowed(outline.most_bytes as f64),
        memory_of: MemoryOf::Device,
    })
}

#[cfg(not(feature = "wgsl"))]
fn estimate_kernels(_settings: &KernelSettings) -> Option<Estimate> {
    None
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use super::*;
    use crate::study::cell::tests::run_settings;

    fn cell(batch_size: u32, epochs: u32) -> RunSettings {
        let mut settings = run_settings("caffe-mnist");
        settings.spec.batch_size = Some(batch_size);
        settings.spec.length = NonZero::new(epochs).map(Length::Epochs);
        settings
    }

    fn measured(batch_size: u32, source: Source) -> Measured {
        Measured {
            shape: shape(&cell(batch_size, 1), batch_size),
            source,
            samples_per_second: 1000.0,
            other_seconds: 2.0,
            seconds_per_evaluation: 0.5,
            device_bytes: 10,
            host_bytes: Some(1000),
        }
    }

    fn estimate(measured: &[Measured], settings: &RunSettings) -> Estimate {
        Estimator { measured: measured.to_vec() }.estimate_run(settings).unwrap()
    }

    #[test]
    fn duration_is_unknown_until_the_same_was_measured() {
        let mut other_device = cell(64, 1);
        other_device.spec.backend = "wgsl".to_owned();
        let mut other_network = cell(64, 1);
        other_network.spec.workloads = vec!["torch-mnist".to_owned()];
        for settings in [cell(640, 1), other_device, other_network] {
            let estimate = estimate(&[measured(64, Source::Cell)], &settings);
            assert_eq!((estimate.seconds, estimate.memory_bytes.source), (None, Source::Layers), "{settings:?}");
        }
        // Batches continue into the next epoch: 938 of 64.
        assert_eq!(estimate(&[], &cell(64, 1)).flops, Some(938.0 * 64.0 * 13_182_000.0));
    }

    #[test]
    fn finished_cell_forecasts_another_length() {
        let estimate = estimate(&[measured(64, Source::Cell)], &cell(64, 2));
        let seconds = estimate.seconds.unwrap();
        // Two epochs at 1000 samples per second, their evaluations, and 2 s for the rest.
        let evaluations = f64::from(engine::workload("caffe-mnist").unwrap().evaluations_per_epoch) * 2.0;
        assert!((seconds.value - (120.0 + 2.0 + 0.5 * evaluations)).abs() < 1.0, "{seconds:?}");
        assert_eq!(estimate.memory_bytes, Forecast { value: 1000.0, source: Source::Cell });
        assert_eq!(estimate.memory_of, MemoryOf::Process);
    }

    #[test]
    fn finished_cell_takes_precedence_over_a_calibration() {
        let source = |measured: &[Measured]| estimate(measured, &cell(64, 1)).seconds.unwrap().source;
        let [own, calibration] = [Source::Cell, Source::Calibration].map(|source| measured(64, source));
        assert_eq!(source(std::slice::from_ref(&calibration)), Source::Calibration);
        assert_eq!(source(&[own, calibration]), Source::Cell);
    }

    #[test]
    fn sum_has_the_least_certain_source() {
        let part = |value, source| Forecast { value, source };
        let sum = Forecast::sum([part(2.0, Source::Cell), part(4.0, Source::Calibration)].into_iter());
        assert_eq!(sum, Some(part(6.0, Source::Calibration)));
        assert_eq!(Forecast::sum(std::iter::empty()), None);
    }
}
