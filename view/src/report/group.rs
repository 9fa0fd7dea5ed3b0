//! Groups: runs that differ only in their seed.

use results::comparison::{Figures, accuracies_by_seed};
use results::estimate::Estimate;
use results::statistics::median;
use results::summary::{MINIMUM_WINDOWS, MeasuredWorkload};
use results::{Departure, InputMode, Layout, Length, Outcome, Precision, RunRecord};

use crate::report::input::Input;
use crate::report::kernels::OnDevice;
use crate::text;

/// Text before Burn's addition to the processor's name; the number of threads is a separate setting.
const THREADS_IN_NAME: &str = " (Burn, ";
/// Backend that keeps the data set on the device by default.
const WGSL: &str = "wgsl";

/// Cost of a run with its name.
pub(crate) type Cost = (&'static str, fn(&MeasuredWorkload<'_>) -> Option<f64>);

/// Parts of a cold start, except for loading the data, which no backend makes faster.
pub(crate) const PHASES: [Cost; 4] = [
    ("building", |run| run.workload.cold_start.build_seconds),
    ("compiling", |run| run.workload.cold_start.compiling_seconds),
    ("tuning", |run| run.workload.cold_start.tuning_seconds),
    ("first step", |run| run.workload.cold_start.first_step_seconds),
];

/// Setting that groups may differ in, in label order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Backend,
    Precision,
    Device,
    Threads,
    Devices,
    Input,
    Layout,
    BatchSize,
    LearningRate,
    Length,
    Others,
}

impl Field {
    pub(crate) const ALL: [Self; 11] = [
        Self::Backend,
        Self::Precision,
        Self::Device,
        Self::Threads,
        Self::Devices,
        Self::Input,
        Self::Layout,
        Self::BatchSize,
        Self::LearningRate,
        Self::Length,
        Self::Others,
    ];
}

/// Settings of a run, without its seed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RunSetup {
    pub(crate) workload: String,
    pub(crate) backend: String,
    pub(crate) precision: Precision,
    pub(crate) device: String,
    pub(crate) threads: Option<u32>,
    /// Number of devices that shared each batch.
    pub(crate) devices: u32,
    pub(crate) input: InputMode,
    /// Layout of images in memory, if reported by an external program.
    pub(crate) layout: Option<Layout>,
    pub(crate) batch_size: u32,
    pub(crate) learning_rate: f64,
    /// Requested length; absent for the suite's length.
    pub(crate) length: Option<Length>,
    /// Text of each [`Field`] for labels; absent if there is nothing to report.
    words: [Option<String>; 11],
}

impl RunSetup {
    fn of(run: &MeasuredWorkload<'_>) -> Self {
        let settings = &run.workload.settings;
        let record = run.record;
        let others: Vec<String> =
            record.departures.iter().filter(|of| !is_told_elsewhere(of)).map(ToString::to_string).collect();
        let (backend, device, input) = (record.device.backend.clone(), device(record), record.input_mode());
        let length = record.requested.length;
        let words = Field::ALL.map(|field| match field {
            Field::Backend => Some(backend.clone()),
            Field::Precision => Some(settings.precision.name().to_owned()),
            Field::Device => Some(format!("on {device}")),
            Field::Threads => settings.threads.map(|count| text::counted(count as usize, "thread")),
            Field::Devices => Some(text::counted(record.devices() as usize, "device")),
            Field::Input => Some(format!("input {}", input.text())),
            Field::Layout => settings.layout.map(|layout| layout.name().to_uppercase()),
            Field::BatchSize => Some(format!("batch {}", settings.batch_size)),
            Field::LearningRate => Some(format!("rate {}", text::plain(settings.learning_rate))),
            Field::Length => Some(length.map_or_else(|| "the suite's length".to_owned(), |length| length.to_string())),
            Field::Others => (!others.is_empty()).then(|| others.join(", ")),
        });
        Self {
            workload: run.workload.workload.clone(),
            backend,
            precision: settings.precision,
            device,
            threads: settings.threads,
            devices: record.devices(),
            input,
            layout: settings.layout,
            batch_size: settings.batch_size,
            learning_rate: settings.learning_rate,
            length,
            words,
        }
    }

    /// Returns the backend, with its precision unless it is f32.
    pub(crate) fn contender(&self) -> String {
        match self.precision {
            Precision::F32 => self.backend.clone(),
            precision => format!("{} {}", self.backend, precision.name()),
        }
    }

    /// Returns the text of a field, or `None` if there is nothing to report.
    pub(crate) fn words(&self, field: Field) -> Option<&str> {
        self.words[field as usize].as_deref()
    }

    pub(crate) fn joined(&self, fields: &[Field], separator: &str) -> String {
        fields.iter().filter_map(|field| self.words(*field)).collect::<Vec<_>>().join(separator)
    }

    /// Returns true if both are equal except for these fields.
    pub(crate) fn equals_but(&self, other: &Self, fields: &[Field]) -> bool {
        let is_equal = |field: Field| fields.contains(&field) || self.words(field) == other.words(field);
        self.workload == other.workload && Field::ALL.into_iter().all(is_equal)
    }
}

fn device(record: &RunRecord) -> String {
    let adapter = &record.device.adapter;
    let name = record.device.claimed_name.as_ref().unwrap_or(&adapter.name);
    let name = name.split(THREADS_IN_NAME).next().unwrap_or_default().trim();
    if name.is_empty() { "an unnamed device".to_owned() } else { name.to_owned() }
}

/// Returns true if a departure is a field of the setup, or does not concern the training of this workload.
fn is_told_elsewhere(departure: &Departure) -> bool {
    // The name of the backend includes the reference and external programs.
    matches!(
        departure,
        Departure::LeftOut { .. }
            | Departure::OtherNetworks
            | Departure::BatchSize { .. }
            | Departure::LearningRate { .. }
            | Departure::Length { .. }
            | Departure::Precision { .. }
            | Departure::Reference
            | Departure::External { .. }
            | Departure::Layout { .. }
            | Departure::Input { .. }
            | Departure::Devices { .. }
    )
}

/// Runs that differ only in their seed.
#[derive(Clone, Debug)]
pub(crate) struct Group<'a> {
    pub(crate) setup: RunSetup,
    /// All runs, completed or not, in input order.
    pub(crate) runs: Vec<MeasuredWorkload<'a>>,
}

impl<'a> Group<'a> {
    pub(crate) fn of_records(records: impl Iterator<Item = &'a RunRecord>) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for run in records.flat_map(MeasuredWorkload::all) {
            let setup = RunSetup::of(&run);
            match groups.iter_mut().find(|group| group.setup == setup) {
                Some(group) => group.runs.push(run),
                None => groups.push(Self { setup, runs: vec![run] }),
            }
        }
        groups
    }

    /// Returns the completed runs; none if any run has incorrect results, as on the terminal.
    pub(crate) fn completed(&self) -> impl Iterator<Item = &MeasuredWorkload<'a>> {
        let is_wrong = self.runs.iter().any(|run| run.workload.outcome == Outcome::Incorrect);
        self.runs.iter().filter(move |run| !is_wrong && run.is_completed())
    }

    pub(crate) fn is_completed(&self) -> bool {
        self.completed().next().is_some()
    }

    pub(crate) fn seeds(&self) -> Vec<u32> {
        let mut seeds: Vec<u32> = self.completed().map(MeasuredWorkload::seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        seeds
    }

    /// Returns the last accuracy for each seed.
    pub(crate) fn accuracies(&self) -> Vec<f64> {
        accuracies_by_seed(&self.completed().collect::<Vec<_>>()).into_iter().map(|(_, accuracy)| accuracy).collect()
    }

    pub(crate) fn accuracy(&self) -> Option<f64> {
        self.figures()?.accuracy
    }

    /// Returns the standard deviation over the seeds; `None` with a single seed.
    pub(crate) fn accuracy_deviation(&self) -> Option<f64> {
        self.figures()?.accuracy_deviation
    }

    /// Returns the metrics of the completed runs, as on the terminal.
    pub(crate) fn figures(&self) -> Option<Figures> {
        Figures::of(&self.completed().collect::<Vec<_>>())
    }

    pub(crate) fn counted_windows(&self) -> usize {
        self.completed().map(|run| run.summary.measured_windows as usize).sum()
    }

    /// Returns the samples per second over counted windows, for every completed run. Returns `None` unless each run has
    /// counted windows and all of them together are enough for a finding.
    pub(crate) fn counted_rates(&self) -> Option<Vec<Estimate>> {
        if self.counted_windows() < MINIMUM_WINDOWS {
            return None;
        }
        self.completed().map(|run| run.summary.throughput()).collect()
    }

    /// Returns the lowest and highest samples per second of the completed runs, or for a single run the interval of its
    /// windows.
    pub(crate) fn rate_range(&self) -> Option<(f64, f64)> {
        let counted: Option<Vec<Estimate>> = self.completed().map(|run| run.summary.throughput()).collect();
        let of_all =
            |run: &MeasuredWorkload<'_>| Estimate::new(run.summary.samples_per_second_of_all_training(), None, None);
        match counted.or_else(|| self.completed().map(of_all).collect())?.as_slice() {
            [one] => one.interval.map(|interval| (interval.low, interval.high)),
            rates => range_of(&rates.iter().map(|rate| rate.value).collect::<Vec<f64>>()),
        }
    }

    /// Returns the median throughput of the runs, and true if it is measured over counted windows rather than the whole
    /// training.
    pub(crate) fn rate(&self) -> Option<(f64, bool)> {
        self.figures()?.throughput()
    }

    /// Returns the share of the timed seconds that devices spent waiting for exchanges.
    pub(crate) fn communication(&self) -> Option<f64> {
        self.median_of(|run| run.workload.communication_share())
    }

    /// Returns the share of the timed seconds that the device spent waiting for input; `None` if unknown, and 0 if the
    /// data set is stored on the device.
    pub(crate) fn input_share(&self) -> Option<f64> {
        match self.setup.input {
            InputMode::Resident if self.setup.backend == WGSL => self.median_of(|_| Some(0.0)),
            _ => self.median_of(|run| run.workload.input_share()),
        }
    }

    /// Returns the seconds of one pass over the training set, and true if one was finished. Otherwise it is
    /// extrapolated from counted windows.
    pub(crate) fn epoch(&self) -> Option<(f64, bool)> {
        let figures = self.figures()?;
        figures.epoch.map(|epoch| (epoch.seconds, !figures.epoch_is_projected))
    }

    /// Returns the median of a value over the completed runs that have it.
    pub(crate) fn median_of(&self, value: impl Fn(&MeasuredWorkload<'a>) -> Option<f64>) -> Option<f64> {
        median(&self.completed().filter_map(value).collect::<Vec<f64>>())
    }

    pub(crate) fn training_seconds(&self) -> Option<f64> {
        self.figures()?.training.map(|training| training.seconds)
    }

    pub(crate) fn epochs(&self) -> Option<f64> {
        self.median_of(|run| Some(run.epochs()))
    }

    /// Returns the steps until the last evaluation, if they are equal in all completed runs.
    pub(crate) fn steps(&self) -> Option<u64> {
        let mut steps = self.completed().map(MeasuredWorkload::steps);
        let first = steps.next()?;
        steps.all(|other| other == first).then_some(first)
    }

    pub(crate) fn test_samples(&self) -> u32 {
        self.runs.first().map_or(1, |run| run.workload.settings.test_samples)
    }
}

pub(crate) fn range_of(values: &[f64]) -> Option<(f64, f64)> {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (values.len() > 1).then_some((least, most))
}

/// Returns the fields that differ between these groups, except those determined by the backend.
pub(crate) fn varying(groups: &[&Group<'_>]) -> Vec<Field> {
    let is_equal = |one: &Group<'_>, other: &Group<'_>, field| one.setup.words(field) == other.setup.words(field);
    let Some((first, rest)) = groups.split_first() else { return Vec::new() };
    let differs = |field: &Field| rest.iter().any(|group| !is_equal(group, first, *field));
    let mut fields: Vec<Field> = Field::ALL.into_iter().filter(differs).collect();
    if fields.contains(&Field::Backend) {
        // The device of a backend need not be named if there is only one.
        let follows = |field: Field| {
            let pairs = groups.iter().flat_map(|one| groups.iter().map(move |other| (one, other)));
            let mut of_one_backend = pairs.filter(|(one, other)| one.setup.backend == other.setup.backend);
            of_one_backend.all(|(one, other)| is_equal(one, other, field))
        };
        fields.retain(|field| !matches!(field, Field::Device | Field::Threads | Field::Others) || !follows(*field));
    }
    fields
}

/// Names a group by its distinguishing fields.
pub(crate) fn label(group: &Group<'_>, varying: &[Field]) -> String {
    let words = group.setup.joined(varying, " · ");
    if words.is_empty() { group.setup.contender() } else { words }
}

pub(crate) fn labels(groups: &[&Group<'_>]) -> Vec<String> {
    let fields = varying(groups);
    groups.iter().map(|group| label(group, &fields)).collect()
}

/// Divides groups into sets that are equal except for these fields.
pub(crate) fn equal_but<'g, 'a>(
    groups: impl IntoIterator<Item = &'g Group<'a>>,
    fields: &[Field],
) -> Vec<Vec<&'g Group<'a>>>
where
    'a: 'g,
{
    let mut sets: Vec<Vec<&Group<'_>>> = Vec::new();
    for group in groups {
        match sets.iter_mut().find(|set| set[0].setup.equals_but(&group.setup, fields)) {
            Some(set) => set.push(group),
            None => sets.push(vec![group]),
        }
    }
    sets
}

/// Input with its runs in groups.
pub(crate) struct GatheredRuns<'a> {
    pub(crate) input: &'a Input,
    /// Groups in order of first appearance.
    pub(crate) groups: Vec<Group<'a>>,
    /// Measurements of kernels, by device.
    pub(crate) kernels: Vec<OnDevice<'a>>,
}

impl<'a> GatheredRuns<'a> {
    pub(crate) fn of(input: &'a Input) -> Self {
        let records = input.entries.iter().filter_map(|entry| entry.record.as_ref());
        Self { input, groups: Group::of_records(records), kernels: OnDevice::of_all(&input.kernels) }
    }

    /// Returns the groups of each workload, in order of first appearance.
    pub(crate) fn workloads(&self) -> Vec<(&str, Vec<&Group<'a>>)> {
        let mut workloads: Vec<(&str, Vec<&Group<'a>>)> = Vec::new();
        for group in &self.groups {
            match workloads.iter_mut().find(|(name, _)| *name == group.setup.workload) {
                Some((_, groups)) => groups.push(group),
                None => workloads.push((&group.setup.workload, vec![group])),
            }
        }
        workloads
    }

    pub(crate) fn runs(&self) -> impl Iterator<Item = &MeasuredWorkload<'a>> {
        self.groups.iter().flat_map(|group| &group.runs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::testing::{Made, groups};

    #[test]
    fn runs_that_differ_in_the_seed_are_one_group() {
        let made = |batch, seed| Made::new("caffe-mnist").batch_size(batch).seed(seed).record();
        let records = [made(64, 1), made(64, 2), made(640, 1)];
        let groups = groups(&records);
        assert_eq!(groups.iter().map(Group::seeds).collect::<Vec<_>>(), [vec![1, 2], vec![1]]);
        let all: Vec<&Group<'_>> = groups.iter().collect();
        assert_eq!(varying(&all), [Field::BatchSize]);
        assert_eq!(label(all[1], &varying(&all)), "batch 640");
        assert_eq!(label(all[0], &[]), "burn-flex");
    }

    #[test]
    fn threads_are_no_part_of_the_device_name() {
        let made = |threads: u32| {
            let made = Made::new("caffe-mnist").device(&format!("Some CPU (Burn, {threads} threads)"));
            made.threads(threads).record()
        };
        let records = [made(2), made(4)];
        let groups = groups(&records);
        assert_eq!(varying(&groups.iter().collect::<Vec<_>>()), [Field::Threads]);
        assert_eq!((groups[0].setup.device.as_str(), groups[0].setup.threads), ("Some CPU", Some(2)));
    }

    #[test]
    fn devices_that_follow_from_back_ends_are_not_named() {
        let made = |backend: &str, device: &str| Made::new("caffe-mnist").backend(backend).device(device).record();
        let of = |records: &[RunRecord]| varying(&groups(records).iter().collect::<Vec<_>>());
        assert_eq!(of(&[made("wgsl", "a"), made("burn-flex", "b")]), [Field::Backend]);
        let records = [made("wgsl", "a"), made("wgsl", "b"), made("burn-flex", "b")];
        assert_eq!(of(&records), [Field::Backend, Field::Device]);
    }

    #[test]
    fn repeated_seeds_count_once() {
        let made = |seed, accuracy| Made::new("caffe-mnist").seed(seed).accuracy(accuracy).record();
        let records = [made(1, 0.90), made(1, 0.92), made(2, 0.95)];
        let groups = groups(&records);
        assert_eq!(groups[0].seeds(), [1, 2]);
        let accuracies = groups[0].accuracies();
        assert!((accuracies[0] - 0.91).abs() < 1e-12 && accuracies[1] == 0.95, "{accuracies:?}");
    }

    #[test]
    fn workloads_have_epochs_and_cold_starts() {
        let made = Made::new("keras-mnist-mlp").batch_size(100).steps(1200);
        let record = made.cold_start([Some(9.0), Some(1.0), None, Some(0.5), None]).record();
        let run = MeasuredWorkload::all(&record).next().unwrap();
        assert_eq!((run.steps(), run.epochs(), run.epochs_of(60)), (1200, 2.0, 0.1));
        assert_eq!(run.workload.cold_start.seconds(), Some(1.5), "loading data does not count");
    }
}
