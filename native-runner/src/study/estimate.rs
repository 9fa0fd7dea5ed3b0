//! How long cells will take and how much memory, from what was measured before: an estimate always says from what.

use engine::backends::{BURN_FLEX, REFERENCE};
use engine::{BatchPlan, SUITES, Workload};
use serde::Serialize;

use super::cell::Settings;
use super::evidence::Evidence;
use super::finished::Finished;
use super::kernel_estimate::{self, KernelEvidence};
use super::length::Length;
use super::run_settings::RunSettings;

/// A run with the same settings but for seed, learning rate and length takes as long, give or take this factor …
pub(super) const OF_THE_SAME: f64 = 1.2;
/// … a short one, whose clocks have not settled, tells less …
const OF_A_CALIBRATION: f64 = 1.4;
/// … another batch size changes the throughput, by at most this factor for each doubling …
const OF_A_DOUBLED_BATCH: f64 = 1.3;
/// … and another network reaches another share of the device's arithmetic.
const OF_ANOTHER_NETWORK: f64 = 5.0;
/// What was never measured is not believed beyond this.
const MOST_UNCERTAIN: f64 = 5.0;
/// Memory by the layers leaves out what a back end needs for itself, and what it saves by sharing buffers.
const OF_LAYERS: f64 = 3.0;
/// A run that was asked for epochs is measured on until it has windows enough: about so long altogether.
const MEASURED_SECONDS: f64 = 8.0;

/// What one cell will take.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Estimate {
    /// Arithmetic of the training, from shapes; absent where its length is in seconds, and where kernels are measured.
    pub(crate) flops: Option<f64>,
    /// Of its process; absent where nothing was measured that says anything about it.
    pub(crate) seconds: Option<Guess>,
    pub(crate) memory_bytes: Guess,
    pub(crate) memory_of: MemoryOf,
}

/// Whose memory an estimate is about: what a back end of the processor allocates is not told apart from the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MemoryOf {
    Device,
    Process,
}

impl MemoryOf {
    fn of(backend: &str) -> Self {
        if [BURN_FLEX, REFERENCE].contains(&backend) { Self::Process } else { Self::Device }
    }
}

/// A number that was not measured, and how far off it may be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Guess {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) source: Source,
}

/// What a guess is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Source {
    /// A finished cell of the same network, back end, device and batch size.
    Cell,
    /// A short run of the same.
    Calibration,
    /// One of another batch size.
    OtherBatchSize,
    /// Finished cells of other networks, by their arithmetic.
    OtherNetworks,
    /// Finished cells of other suites of kernels, by the number of their entries.
    OtherSuites,
    /// The network's layers alone.
    Layers,
    /// What each entry of kernels may take and use.
    Budgets,
}

impl Source {
    /// For people.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Cell => "a finished cell",
            Self::Calibration => "a calibration",
            Self::OtherBatchSize => "another batch size",
            Self::OtherNetworks => "other networks' arithmetic",
            Self::OtherSuites => "other suites' entries",
            Self::Layers => "the layers",
            Self::Budgets => "the entries' budgets",
        }
    }
}

impl Guess {
    pub(super) fn within(value: f64, factor: f64, source: Source) -> Self {
        let factor = factor.min(MOST_UNCERTAIN);
        Self { value, low: value / factor, high: value * factor, source }
    }

    /// All of them together, as uncertain as the worst; `None` of nothing.
    pub(crate) fn sum(guesses: impl Iterator<Item = Self>) -> Option<Self> {
        guesses.reduce(|one, other| Self {
            value: one.value + other.value,
            low: one.low + other.low,
            high: one.high + other.high,
            source: one.source.max(other.source),
        })
    }
}

/// Knows what was measured, and guesses what was not.
#[derive(Default)]
pub(crate) struct Estimator {
    runs: Vec<Evidence>,
    kernels: Vec<KernelEvidence>,
}

impl Estimator {
    /// Knows what these cells say.
    pub(crate) fn of(finished: &[Finished]) -> Self {
        let mut estimator = Self::default();
        finished.iter().for_each(|finished| estimator.learn(finished));
        estimator
    }

    pub(crate) fn learn(&mut self, finished: &Finished) {
        self.runs.extend(Evidence::of(finished, false));
        self.kernels.extend(KernelEvidence::of(finished));
    }

    /// From a short run, which says less.
    pub(crate) fn learn_calibration(&mut self, finished: &Finished) {
        self.runs.extend(Evidence::of(finished, true));
    }

    /// `None` for a workload that does not exist, which no plan has, or whose file has changed.
    pub(crate) fn estimate(&self, settings: &Settings) -> Option<Estimate> {
        match settings {
            Settings::Run(run) => self.of_run(run),
            Settings::Kernels(kernels) => kernel_estimate::estimate(&self.kernels, kernels),
        }
    }

    fn of_run(&self, settings: &RunSettings) -> Option<Estimate> {
        let work = Work::of(settings)?;
        let same = self.nearest(settings, work.batch_size);
        let layers = work.workload.bytes_of_layers(work.batch_size).ok()? as f64;
        let measured = same.filter(|evidence| evidence.batch_size == work.batch_size);
        let memory_of = MemoryOf::of(&settings.backend);
        let bytes = |evidence: &Evidence| match memory_of {
            MemoryOf::Device => Some(evidence.device_bytes).filter(|bytes| *bytes > 0),
            MemoryOf::Process => evidence.host_bytes,
        };
        let of_measured = |evidence: &Evidence| {
            let source = if evidence.is_calibration { Source::Calibration } else { Source::Cell };
            Some(Guess::within(bytes(evidence)? as f64, OF_THE_SAME, source))
        };
        Some(Estimate {
            flops: work.samples.map(|samples| samples * work.flops_per_sample),
            seconds: self.seconds(settings, &work, same),
            memory_bytes: measured
                .and_then(of_measured)
                .unwrap_or_else(|| Guess::within(layers, OF_LAYERS, Source::Layers)),
            memory_of,
        })
    }

    /// What was measured of the same network on the same device, with the batch size that is nearest; of several, the last.
    fn nearest(&self, settings: &RunSettings, batch_size: u32) -> Option<&Evidence> {
        let same = self.runs.iter().rev();
        let same = same.filter(|of| of.settings.workload == settings.workload && of.is_of_device(settings));
        let distance = |of: &Evidence| (f64::from(of.batch_size) / f64::from(batch_size)).ln().abs();
        // A whole cell says more than a calibration.
        same.min_by(|one, other| {
            (distance(one), one.is_calibration)
                .partial_cmp(&(distance(other), other.is_calibration))
                .expect("batches are no zeros")
        })
    }

    fn seconds(&self, settings: &RunSettings, work: &Work, same: Option<&Evidence>) -> Option<Guess> {
        if let Some(evidence) = same {
            let seconds = work.seconds(evidence.samples_per_second, evidence.other_seconds, evidence.look_seconds);
            let doublings = (f64::from(evidence.batch_size) / f64::from(work.batch_size)).log2().abs();
            let own = if evidence.is_calibration { OF_A_CALIBRATION } else { OF_THE_SAME };
            let source = match (doublings > 0.0, evidence.is_calibration) {
                (true, _) => Source::OtherBatchSize,
                (false, true) => Source::Calibration,
                (false, false) => Source::Cell,
            };
            return Some(Guess::within(seconds, own * OF_A_DOUBLED_BATCH.powf(doublings), source));
        }
        let others: Vec<&Evidence> = self.runs.iter().filter(|evidence| evidence.is_of_device(settings)).collect();
        let median = |figure: &dyn Fn(&Evidence) -> f64| {
            results::statistics::median(&others.iter().map(|evidence| figure(evidence)).collect::<Vec<_>>())
        };
        let flops_per_second = median(&|evidence| evidence.samples_per_second * evidence.flops_per_sample)?;
        let rate = flops_per_second / work.flops_per_sample;
        let seconds = work.seconds(rate, median(&|of| of.other_seconds)?, median(&|of| of.look_seconds)?);
        Some(Guess::within(seconds, OF_ANOTHER_NETWORK, Source::OtherNetworks))
    }
}

/// What a cell has to do.
struct Work {
    workload: Workload,
    batch_size: u32,
    batches: BatchPlan,
    flops_per_sample: f64,
    length: Option<Length>,
    /// Of the training; absent where its length is in seconds.
    samples: Option<f64>,
}

impl Work {
    fn of(settings: &RunSettings) -> Option<Self> {
        let workload = settings.network().ok()?;
        let batch_size = settings.batch_size.unwrap_or(workload.batch_size);
        let data = engine::data_set(workload.data_set)?;
        let batches = workload.batches(data.train.samples, batch_size, settings.seed).ok()?;
        let flops_per_sample = workload.model.operations().ok()?.training_flops() as f64;
        let of_steps = |steps: u64| batches.samples_of_steps(steps) as f64;
        let samples = match settings.limit {
            Some(Length::Epochs(epochs)) => Some(of_steps(batches.steps_of_epochs(epochs.get()))),
            Some(Length::Steps(steps)) => Some(of_steps(steps.get())),
            Some(Length::Seconds(_)) => None,
            None => Some(of_steps(batches.steps_of_epochs(SUITES[0].epochs))),
        };
        Some(Self { workload, batch_size, batches, flops_per_sample, length: settings.limit, samples })
    }

    /// Of the whole process, at this throughput.
    fn seconds(&self, samples_per_second: f64, other_seconds: f64, look_seconds: f64) -> f64 {
        let of_samples = self.samples.map(|samples| samples / samples_per_second);
        let (training, measuring) = match (self.length, of_samples) {
            (Some(Length::Seconds(seconds)), _) => (seconds.0, 0.0),
            (Some(Length::Steps(_)), training) => (training.unwrap_or_default(), 0.0),
            (Some(Length::Epochs(_)), training) => {
                let training = training.unwrap_or_default();
                (training, (MEASURED_SECONDS - training).max(0.0))
            }
            (None, training) => {
                let training = training.unwrap_or_default().min(SUITES[0].training_seconds);
                (training, (MEASURED_SECONDS - training).max(0.0))
            }
        };
        let epochs = training * samples_per_second / f64::from(self.batches.samples.max(1));
        let looks = (epochs * f64::from(self.workload.evaluations_per_epoch)).ceil().max(1.0);
        other_seconds + training + measuring + looks * look_seconds
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use super::super::testing::run_settings as settings;
    use super::*;

    fn evidence(settings: RunSettings, batch_size: u32) -> Evidence {
        Evidence {
            settings,
            batch_size,
            samples_per_second: 1000.0,
            flops_per_sample: 13_182_000.0,
            other_seconds: 2.0,
            look_seconds: 0.5,
            device_bytes: 10,
            host_bytes: Some(1000),
            is_calibration: false,
        }
    }

    fn knowing<const COUNT: usize>(runs: [Evidence; COUNT]) -> Estimator {
        Estimator { runs: runs.into(), ..Estimator::default() }
    }

    fn cell(batch_size: u32, epochs: u32) -> RunSettings {
        let limit = NonZero::new(epochs).map(Length::Epochs);
        RunSettings { batch_size: Some(batch_size), limit, ..settings("caffe-mnist") }
    }

    #[test]
    fn nothing_measured_says_nothing_about_time_and_layers_about_memory() {
        let estimate = Estimator::default().of_run(&cell(64, 1)).unwrap();
        assert_eq!(estimate.seconds, None);
        assert_eq!((estimate.memory_bytes.source, estimate.memory_of), (Source::Layers, MemoryOf::Process));
        // Batches run on into the next epoch: 938 of 64.
        assert_eq!(estimate.flops, Some(938.0 * 64.0 * 13_182_000.0));
    }

    #[test]
    fn a_finished_cell_gives_its_time_and_memory_to_one_of_another_length() {
        let estimator = knowing([evidence(cell(64, 1), 64)]);
        let estimate = estimator.of_run(&cell(64, 2)).unwrap();
        let seconds = estimate.seconds.unwrap();
        // Two epochs at 1000 samples a second, four looks, and 2 s beside.
        let looks = f64::from(engine::workload("caffe-mnist").unwrap().evaluations_per_epoch) * 2.0;
        assert!((seconds.value - (120.0 + 2.0 + 0.5 * looks)).abs() < 1.0, "{seconds:?}");
        assert!(seconds.low < seconds.value && seconds.high < 1.5 * seconds.value && seconds.source == Source::Cell);
        assert_eq!((estimate.memory_bytes.value, estimate.memory_bytes.source), (1000.0, Source::Cell));
    }

    #[test]
    fn another_batch_size_is_less_certain_and_another_network_least() {
        let estimator = knowing([evidence(cell(64, 1), 64)]);
        let other_batch = estimator.of_run(&cell(640, 1)).unwrap().seconds.unwrap();
        assert_eq!(other_batch.source, Source::OtherBatchSize);
        let other = RunSettings { workload: "torch-mnist".to_owned(), ..cell(64, 1) };
        let other_network = estimator.of_run(&other).unwrap().seconds.unwrap();
        assert_eq!(other_network.source, Source::OtherNetworks);
        let width = |guess: Guess| guess.high / guess.low;
        assert!(width(other_network) > width(other_batch) && width(other_batch) > 1.5);
        let elsewhere = RunSettings { backend: "wgsl".to_owned(), ..cell(64, 1) };
        assert_eq!(estimator.of_run(&elsewhere).unwrap().seconds, None);
    }

    #[test]
    fn a_cell_says_more_than_a_calibration_and_a_near_batch_more_than_a_far_one() {
        let calibration = Evidence { is_calibration: true, ..evidence(cell(64, 1), 64) };
        let estimator = knowing([calibration.clone(), evidence(cell(6400, 1), 6400)]);
        let source = |of: &Estimator| of.of_run(&cell(64, 1)).unwrap().seconds.unwrap().source;
        assert_eq!(source(&estimator), Source::Calibration);
        assert_eq!(source(&knowing([evidence(cell(64, 1), 64), calibration])), Source::Cell);
    }

    #[test]
    fn a_sum_is_as_uncertain_as_its_parts() {
        let part = |value, source| Guess::within(value, 2.0, source);
        let sum = Guess::sum([part(2.0, Source::Cell), part(4.0, Source::OtherNetworks)].into_iter()).unwrap();
        assert_eq!((sum.value, sum.low, sum.high, sum.source), (6.0, 3.0, 12.0, Source::OtherNetworks));
        assert_eq!(Guess::sum(std::iter::empty()), None);
    }
}
