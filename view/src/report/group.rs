//! Groups: runs that differ only in their seed.

use results::estimate::Estimate;
use results::statistics::median;
use results::summary::{MINIMUM_WINDOWS, MeasuredWorkload};
use results::{Departure, InputMode, Length, Outcome, Precision, RunRecord, Settings, bits_per_character};

use crate::chart::range_of;
use crate::comparison::{Figures, accuracies_by_seed};
use crate::text;

/// Text before Burn's addition to the processor's name; the number of threads is a separate setting.
const THREADS_IN_NAME: &str = " (Burn, ";
/// Backend that keeps the data set on the device by default.
const WGSL: &str = "wgsl";

/// Cost of a run with its name.
pub(crate) type RunCost = (&'static str, fn(&MeasuredWorkload<'_>) -> Option<f64>);

/// Parts of a cold start, except for loading the data, which no backend makes faster.
pub(crate) const PHASES: [RunCost; 4] = [
    ("building", |run| run.workload.cold_start.build_seconds),
    ("compiling", |run| run.workload.cold_start.compiling_seconds),
    ("tuning", |run| run.workload.cold_start.tuning_seconds),
    ("first step", |run| run.workload.cold_start.first_step_seconds),
];

/// Setting that groups may differ in, in label order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SetupField {
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

/// Returns the text of each field of a run, in label order; absent if there is nothing to report.
fn words(run: &MeasuredWorkload<'_>) -> Vec<(SetupField, Option<String>)> {
    let (record, settings) = (run.record, &run.workload.settings);
    let length = record.requested.length.map_or_else(|| "the suite's length".to_owned(), |length| length.to_string());
    let others = record.departures.iter().filter(|of| !is_told_elsewhere(of));
    let others: Vec<String> = others.map(ToString::to_string).collect();
    vec![
        (SetupField::Backend, Some(record.device.backend.clone())),
        (SetupField::Precision, Some(settings.precision.name().to_owned())),
        (SetupField::Device, Some(format!("on {}", device(record)))),
        (SetupField::Threads, settings.threads.map(|count| text::counted(count as usize, "thread"))),
        (SetupField::Devices, Some(text::counted(record.devices() as usize, "device"))),
        (SetupField::Input, Some(format!("input {}", record.input_mode().text()))),
        (SetupField::Layout, settings.layout.map(|layout| layout.name().to_uppercase())),
        (SetupField::BatchSize, Some(format!("batch {}", settings.batch_size))),
        (SetupField::LearningRate, Some(format!("rate {}", text::plain(settings.learning_rate)))),
        (SetupField::Length, Some(length)),
        (SetupField::Others, (!others.is_empty()).then(|| others.join(", "))),
    ]
}

/// Runs that differ only in their seed.
#[derive(Clone, Debug)]
pub(crate) struct Group<'a> {
    pub(crate) workload: &'a str,
    words: Vec<(SetupField, Option<String>)>,
    /// All runs, completed or not, in input order; at least one.
    pub(crate) runs: Vec<MeasuredWorkload<'a>>,
}

impl<'a> Group<'a> {
    pub(crate) fn of_records(records: impl Iterator<Item = &'a RunRecord>) -> Vec<Self> {
        let setup = |run: MeasuredWorkload<'a>| ((run.workload.workload.as_str(), words(&run)), run);
        let groups = group_by_key(records.flat_map(MeasuredWorkload::all).map(setup));
        groups.into_iter().map(|((workload, words), runs)| Self { workload, words, runs }).collect()
    }

    pub(crate) fn settings(&self) -> &'a Settings {
        &self.runs[0].workload.settings
    }

    pub(crate) fn backend(&self) -> &'a str {
        &self.runs[0].record.device.backend
    }

    /// Returns the number of devices that shared each batch.
    pub(crate) fn devices(&self) -> u32 {
        self.runs[0].record.devices()
    }

    pub(crate) fn input(&self) -> InputMode {
        self.runs[0].record.input_mode()
    }

    /// Returns the requested length, or `None` for the suite's length.
    pub(crate) fn length(&self) -> Option<Length> {
        self.runs[0].record.requested.length
    }

    /// Returns the backend, with its precision unless it is f32.
    pub(crate) fn contender(&self) -> String {
        match self.settings().precision {
            Precision::F32 => self.backend().to_owned(),
            precision => format!("{} {}", self.backend(), precision.name()),
        }
    }

    /// Returns the text of a field, or `None` if there is nothing to report.
    pub(crate) fn words(&self, field: SetupField) -> Option<&str> {
        self.words.iter().find(|(known, _)| *known == field)?.1.as_deref()
    }

    pub(crate) fn joined(&self, fields: &[SetupField], separator: &str) -> String {
        fields.iter().filter_map(|field| self.words(*field)).collect::<Vec<_>>().join(separator)
    }

    pub(crate) fn fields(&self) -> impl Iterator<Item = SetupField> {
        self.words.iter().map(|(field, _)| *field)
    }

    /// Returns the workload and the text of all except these fields.
    fn key_but(&self, fields: &[SetupField]) -> (&'a str, Vec<&(SetupField, Option<String>)>) {
        (self.workload, self.words.iter().filter(|(field, _)| !fields.contains(field)).collect())
    }

    /// Returns true if both are equal except for these fields.
    pub(crate) fn equals_but(&self, other: &Self, fields: &[SetupField]) -> bool {
        self.key_but(fields) == other.key_but(fields)
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

    /// Returns true if the network reads a text. Reports then show its test loss.
    pub(crate) fn reads_text(&self) -> bool {
        self.runs.first().is_some_and(|run| text::reads_text(run.workload))
    }

    /// Returns the mean test loss of a text, also in words with its deviation over the seeds and bits per character;
    /// `None` for other networks.
    pub(crate) fn text_loss(&self) -> Option<(f64, String)> {
        let figures = self.figures().filter(|_| self.reads_text())?;
        let loss = figures.test_loss?;
        let deviation = figures.test_loss_deviation.map(|of| format!(" ± {of:.3}")).unwrap_or_default();
        let [shown, bits] = [loss, bits_per_character(loss)].map(|value| text::figure("test_loss", value));
        Some((loss, format!("{shown}{deviation} ({bits} bits per character)")))
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
            rates => range_of(rates.iter().map(|rate| rate.value)),
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
        match self.input() {
            InputMode::Resident if self.backend() == WGSL => self.median_of(|_| Some(0.0)),
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
        self.settings().test_samples
    }
}

/// Returns the fields that differ between these groups, except those determined by the backend.
pub(crate) fn varying(groups: &[&Group<'_>]) -> Vec<SetupField> {
    let is_equal = |one: &Group<'_>, other: &Group<'_>, field| one.words(field) == other.words(field);
    let Some((first, rest)) = groups.split_first() else { return Vec::new() };
    let differs = |field: &SetupField| rest.iter().any(|group| !is_equal(group, first, *field));
    let mut fields: Vec<SetupField> = first.fields().filter(differs).collect();
    if fields.contains(&SetupField::Backend) {
        // The device of a backend need not be named if there is only one.
        let follows = |field: SetupField| {
            let pairs = groups.iter().flat_map(|one| groups.iter().map(move |other| (one, other)));
            let mut of_one_backend = pairs.filter(|(one, other)| one.backend() == other.backend());
            of_one_backend.all(|(one, other)| is_equal(one, other, field))
        };
        fields.retain(|field| {
            !matches!(field, SetupField::Device | SetupField::Threads | SetupField::Others) || !follows(*field)
        });
    }
    fields
}

/// Names a group by its distinguishing fields.
pub(crate) fn label(group: &Group<'_>, varying: &[SetupField]) -> String {
    let words = group.joined(varying, " · ");
    if words.is_empty() { group.contender() } else { words }
}

pub(crate) fn labels(groups: &[&Group<'_>]) -> Vec<String> {
    let fields = varying(groups);
    groups.iter().map(|group| label(group, &fields)).collect()
}

/// Divides groups into sets that are equal except for these fields.
pub(crate) fn equal_but<'g, 'a>(
    groups: impl IntoIterator<Item = &'g Group<'a>>,
    fields: &[SetupField],
) -> Vec<Vec<&'g Group<'a>>>
where
    'a: 'g,
{
    let sets = group_by_key(groups.into_iter().map(|group| (group.key_but(fields), group)));
    sets.into_iter().map(|(_, set)| set).collect()
}

/// Groups items with equal keys, in order of first appearance.
pub(crate) fn group_by_key<K: PartialEq, T>(items: impl IntoIterator<Item = (K, T)>) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for (key, item) in items {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, items)) => items.push(item),
            None => groups.push((key, vec![item])),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::testing::{MadeRun, with_groups};

    #[test]
    fn runs_that_differ_in_the_seed_are_one_group() {
        let made = |batch, seed| MadeRun::new("caffe-mnist").batch_size(batch).seed(seed);
        with_groups([made(64, 1), made(64, 2), made(640, 1)], |groups| {
            assert_eq!(groups.iter().map(|group| group.seeds()).collect::<Vec<_>>(), [vec![1, 2], vec![1]]);
            assert_eq!(varying(groups), [SetupField::BatchSize]);
            assert_eq!(label(groups[1], &varying(groups)), "batch 640");
            assert_eq!(label(groups[0], &[]), "burn-flex");
        });
    }

    #[test]
    fn threads_are_no_part_of_the_device_name() {
        let made = |threads: u32| {
            MadeRun::new("caffe-mnist").device(&format!("Some CPU (Burn, {threads} threads)")).threads(threads)
        };
        with_groups([made(2), made(4)], |groups| {
            assert_eq!(varying(groups), [SetupField::Threads]);
            let words = groups[0].joined(&[SetupField::Device, SetupField::Threads], ", ");
            assert_eq!(words, "on Some CPU, 2 threads");
        });
    }

    #[test]
    fn devices_that_follow_from_back_ends_are_not_named() {
        let made = |backend: &str, device: &str| MadeRun::new("caffe-mnist").backend(backend).device(device);
        let backends = [made("wgsl", "a"), made("burn-flex", "b")];
        assert_eq!(with_groups(backends, varying), [SetupField::Backend]);
        let both = [made("wgsl", "a"), made("wgsl", "b"), made("burn-flex", "b")];
        assert_eq!(with_groups(both, varying), [SetupField::Backend, SetupField::Device]);
    }

    #[test]
    fn repeated_seeds_count_once() {
        let made = |seed, accuracy| MadeRun::new("caffe-mnist").seed(seed).accuracy(accuracy);
        with_groups([made(1, 0.90), made(1, 0.92), made(2, 0.95)], |groups| {
            assert_eq!(groups[0].seeds(), [1, 2]);
            let accuracies = groups[0].accuracies();
            assert!((accuracies[0] - 0.91).abs() < 1e-12 && accuracies[1] == 0.95, "{accuracies:?}");
        });
    }
}
