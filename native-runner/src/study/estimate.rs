//! How long cells will take and how much memory, from what was measured before: an estimate always says from what.

use engine::backends::{BURN_FLEX, REFERENCE};
use engine::{BatchPlan, SUITES, Workload};
use results::kernels::Suite;
use results::{InputMode, WorkloadRecord};
use serde::Serialize;

use crate::study::cell::{KernelSettings, Length, RunSettings, Settings};
use crate::study::finished::{Ending, Finished};

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
            Settings::Kernels(kernels) => estimate(&self.kernels, kernels),
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

/// An entry takes what it may where it is slow, and ends before that where it is not, or is left out …
const OF_BUDGETS: f64 = 4.0;
/// … those of another suite have other sizes, and are checked against other plain sums …
const OF_ANOTHER_SUITE: f64 = 3.0;
/// … and beside its buffers a device keeps the kernels that measure the peak.
const OF_BUFFERS: f64 = 1.5;
/// Three windows of a tenth of a second and the peaks beside them are made whatever the budget.
const SHORTEST_ENTRY_SECONDS: f64 = 0.6;
/// About what finding the best variant of a peak and measuring it takes.
const PEAK_SECONDS: f64 = 2.0;
/// Of the process, to open the device.
const START_SECONDS: f64 = 1.0;

/// How long the cell of a suite took.
#[derive(Clone, Debug)]
pub(super) struct KernelEvidence {
    settings: KernelSettings,
    seconds: f64,
}

impl KernelEvidence {
    /// `None` where nothing was measured.
    pub(super) fn of(finished: &Finished) -> Option<Self> {
        finished.kernels().filter(|_| finished.ending == Ending::Completed)?;
        let crate::study::cell::Settings::Kernels(settings) = &finished.settings else { return None };
        Some(Self { settings: settings.clone(), seconds: finished.seconds })
    }

    /// The seconds of each entry, without start and peaks; absent where there are no entries.
    fn seconds_each(&self) -> Option<f64> {
        let outline = outline(self.settings.suite, self.settings.budget_bytes())?;
        let of_entries = (self.seconds - START_SECONDS - PEAK_SECONDS * outline.peaks as f64).max(0.0);
        (outline.entries > 0).then(|| of_entries / outline.entries as f64)
    }
}

/// What there is to measure.
struct Outline {
    peaks: usize,
    entries: usize,
    most_bytes: u64,
}

#[cfg(feature = "wgsl")]
fn outline(suite: Suite, budget_bytes: u64) -> Option<Outline> {
    let outline = engine::backends::wgsl::microbenchmarks::outline(suite, budget_bytes);
    Some(Outline { peaks: outline.peaks, entries: outline.entries, most_bytes: outline.most_bytes })
}

/// A program without our kernels cannot measure them either.
#[cfg(not(feature = "wgsl"))]
fn outline(_suite: Suite, _budget_bytes: u64) -> Option<Outline> {
    None
}

/// `None` in a program without our kernels.
pub(super) fn estimate(evidence: &[KernelEvidence], settings: &KernelSettings) -> Option<Estimate> {
    let outline = outline(settings.suite, settings.budget_bytes())?;
    let memory_bytes = Guess::within(outline.most_bytes as f64, OF_BUFFERS, Source::Budgets);
    let seconds = Some(seconds(evidence, settings, &outline));
    Some(Estimate { flops: None, seconds, memory_bytes, memory_of: MemoryOf::Device })
}

fn seconds(evidence: &[KernelEvidence], settings: &KernelSettings, outline: &Outline) -> Guess {
    if let Some(same) = evidence.iter().rev().find(|of| of.settings == *settings) {
        return Guess::within(same.seconds, OF_THE_SAME, Source::Cell);
    }
    let besides = START_SECONDS + PEAK_SECONDS * outline.peaks as f64;
    let of_entries = |each: f64| besides + each * outline.entries as f64;
    let is_alike = |of: &&KernelEvidence| {
        let KernelSettings { adapter, budget_seconds, budget_mib, .. } = &of.settings;
        (adapter, budget_seconds, budget_mib) == (&settings.adapter, &settings.budget_seconds, &settings.budget_mib)
    };
    let others: Vec<f64> = evidence.iter().filter(is_alike).filter_map(KernelEvidence::seconds_each).collect();
    match results::statistics::median(&others) {
        Some(each) => Guess::within(of_entries(each), OF_ANOTHER_SUITE, Source::OtherSuites),
        None => {
            let each = settings.budget_seconds.max(SHORTEST_ENTRY_SECONDS);
            Guess::within(of_entries(each), OF_BUDGETS, Source::Budgets)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use super::*;
    use crate::study::testing::run_settings as settings;

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

#[cfg(all(test, feature = "wgsl"))]
mod tests_2 {
    use super::*;
    use crate::study::testing::kernel_settings;

    fn took(suite: Suite, seconds: f64) -> KernelEvidence {
        KernelEvidence { settings: kernel_settings(suite), seconds }
    }

    fn of(evidence: &[KernelEvidence], settings: &KernelSettings) -> Guess {
        estimate(evidence, settings).unwrap().seconds.unwrap()
    }

    #[test]
    fn nothing_measured_is_as_many_entries_as_fit_times_what_each_may_take() {
        let gemm = kernel_settings(Suite::Gemm);
        let entries = outline(Suite::Gemm, gemm.budget_bytes()).unwrap().entries as f64;
        let guess = of(&[], &gemm);
        assert_eq!((guess.value, guess.source), (1.0 + 2.0 + 2.0 * entries, Source::Budgets));
        assert!(guess.low < guess.value && guess.high > guess.value);
        let short = of(&[], &KernelSettings { budget_seconds: 0.02, ..gemm.clone() });
        assert!(short.value < guess.value && short.value > 0.5 * entries, "windows are made whatever the budget");
        let small = KernelSettings { budget_mib: 64, ..gemm.clone() };
        assert!(of(&[], &small).value < guess.value, "what does not fit takes no time");
        let memory = |settings: &KernelSettings| estimate(&[], settings).unwrap().memory_bytes.value;
        assert!(memory(&small) <= f64::from(64 << 20) && memory(&gemm) > memory(&small));
    }

    #[test]
    fn a_finished_cell_says_more_than_another_suite_and_that_more_than_budgets() {
        let gemm = kernel_settings(Suite::Gemm);
        let other = of(&[took(Suite::Conv, 100.0)], &gemm);
        assert_eq!(other.source, Source::OtherSuites);
        let both = [took(Suite::Gemm, 30.0), took(Suite::Conv, 100.0)];
        assert_eq!((of(&both, &gemm).value, of(&both, &gemm).source), (30.0, Source::Cell));
        let elsewhere = KernelSettings { adapter: "cpu".to_owned(), ..gemm };
        assert_eq!(of(&both, &elsewhere).source, Source::Budgets);
        assert_eq!(of(&[took(Suite::Launch, 100.0)], &elsewhere).source, Source::Budgets);
    }
}
