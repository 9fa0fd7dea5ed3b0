//! Runs that differ in nothing but their seed, and how groups of them differ from each other.

use results::comparison::Figures;
use results::estimate::Estimate;
use results::statistics::{mean, median, variance};
use results::summary::MINIMUM_WINDOWS;
use results::{InputMode, Outcome, Precision, RunRecord, Summary, WorkloadRecord};

use crate::run::Run;
use crate::text;

/// What Burn on the processor adds to the processor's name; the number of threads is a setting of its own.
const THREADS_IN_NAME: &str = " (Burn, ";
/// The back end on whose device the data set lies unless something else is asked for.
const WGSL: &str = "wgsl";

/// How long was trained, as it was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Length {
    Epochs(u32),
    Steps(u64),
    Seconds(f64),
    /// As long as the suite trains.
    Suite,
}

/// Everything that one run is made with but its seed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Setup {
    pub(crate) workload: String,
    pub(crate) backend: String,
    pub(crate) precision: Precision,
    pub(crate) device: String,
    pub(crate) threads: Option<u32>,
    /// How many shared each batch.
    pub(crate) devices: u32,
    /// How batches came to the device.
    pub(crate) input: InputMode,
    /// How images lie, where a program has told.
    pub(crate) layout: Option<String>,
    pub(crate) batch_size: u32,
    pub(crate) learning_rate: f64,
    pub(crate) length: Length,
    /// What else is not as the suite has it.
    pub(crate) others: Vec<String>,
}

/// A field of a [`Setup`] in which groups may differ.
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
    /// In the order in which labels say them.
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

impl Setup {
    pub(crate) fn of(run: &Run<'_>) -> Self {
        let settings = &run.workload.settings;
        Self {
            workload: run.workload.workload.clone(),
            backend: run.record.device.backend.clone(),
            precision: settings.precision,
            device: device(run.record),
            threads: settings.threads(),
            devices: run.record.devices(),
            input: run.record.input_mode(),
            layout: settings.layout().map(str::to_owned),
            batch_size: settings.batch_size,
            learning_rate: settings.learning_rate,
            length: length(&run.record.non_standard),
            others: run.record.non_standard.iter().filter(|term| !is_told_elsewhere(term)).cloned().collect(),
        }
    }

    /// The back end, with its precision where that is not the usual one.
    pub(crate) fn contender(&self) -> String {
        match self.precision {
            Precision::F32 => self.backend.clone(),
            precision => format!("{} {}", self.backend, precision.name()),
        }
    }

    /// What one field is, in words that can stand beside others; nothing where there is nothing to say.
    pub(crate) fn words(&self, field: Field) -> Option<String> {
        match field {
            Field::Backend => Some(self.backend.clone()),
            Field::Precision => Some(self.precision.name().to_owned()),
            Field::Device => Some(format!("on {}", self.device)),
            Field::Threads => self.threads.map(|count| text::counted(count as usize, "thread")),
            Field::Devices => Some(text::counted(self.devices as usize, "device")),
            Field::Input => Some(format!("input {}", self.input.text())),
            Field::Layout => self.layout.as_ref().map(|layout| layout.to_uppercase()),
            Field::BatchSize => Some(format!("batch {}", self.batch_size)),
            Field::LearningRate => Some(format!("rate {}", text::plain(self.learning_rate))),
            Field::Length => Some(match self.length {
                Length::Epochs(count) => text::counted(count as usize, "epoch"),
                Length::Steps(count) => format!("{count} step{}", if count == 1 { "" } else { "s" }),
                Length::Seconds(seconds) => format!("{} s", text::plain(seconds)),
                Length::Suite => "the suite's length".to_owned(),
            }),
            Field::Others => (!self.others.is_empty()).then(|| self.others.join(", ")),
        }
    }

    /// Whether both are alike in everything but these fields.
    pub(crate) fn equals_but(&self, other: &Self, fields: &[Field]) -> bool {
        let alike = |field: Field| match field {
            Field::Backend => self.backend == other.backend,
            Field::Precision => self.precision == other.precision,
            Field::Device => self.device == other.device,
            Field::Threads => self.threads == other.threads,
            Field::Devices => self.devices == other.devices,
            Field::Input => self.input == other.input,
            Field::Layout => self.layout == other.layout,
            Field::BatchSize => self.batch_size == other.batch_size,
            Field::LearningRate => self.learning_rate == other.learning_rate,
            Field::Length => self.length == other.length,
            Field::Others => self.others == other.others,
        };
        self.workload == other.workload && Field::ALL.into_iter().all(|field| fields.contains(&field) || alike(field))
    }
}

fn device(record: &RunRecord) -> String {
    let adapter = &record.device.adapter;
    let name = record.device.claimed_name.as_ref().unwrap_or(&adapter.name);
    let name = name.split(THREADS_IN_NAME).next().unwrap_or_default().trim();
    if name.is_empty() { "a device without a name".to_owned() } else { name.to_owned() }
}

/// The limit that a record names among what is not standard.
fn length(non_standard: &[String]) -> Length {
    let of = |term: &String| {
        let (number, what) = term.split_once(' ')?;
        match what {
            "epochs" => number.parse().ok().map(Length::Epochs),
            "steps" => number.parse().ok().map(Length::Steps),
            "s of training" => number.parse().ok().map(Length::Seconds),
            _ => None,
        }
    };
    non_standard.iter().find_map(of).unwrap_or(Length::Suite)
}

/// Whether a term is a field of its own, or says nothing of how this workload was trained.
fn is_told_elsewhere(term: &str) -> bool {
    let told = ["batch size ", "learning rate ", "computed in ", "layout "].iter().any(|start| term.starts_with(start));
    let of_suite = term.contains(" of the suite's ") || term == "networks that are not of the suite";
    let of_length = !matches!(length(&[term.to_owned()]), Length::Suite);
    let of_devices = term.split_once(" devices").is_some_and(|(count, _)| count.parse::<u32>().is_ok());
    let of_input = InputMode::ALL.iter().any(|mode| term.strip_prefix("input ") == Some(mode.text()));
    // The back end's name says it already.
    let of_backend = ["the reference back end judges", "trained by the external program "]
        .iter()
        .any(|start| term.starts_with(start));
    told || of_devices || of_input || of_suite || of_length || of_backend
}

/// Runs that differ in nothing but their seed.
#[derive(Clone, Debug)]
pub(crate) struct Group<'a> {
    pub(crate) setup: Setup,
    /// All of them, however they ended, in the order in which they were found.
    pub(crate) runs: Vec<Run<'a>>,
}

impl<'a> Group<'a> {
    pub(crate) fn of_all(runs: impl Iterator<Item = Run<'a>>) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for run in runs {
            let setup = Setup::of(&run);
            match groups.iter_mut().find(|group| group.setup == setup) {
                Some(group) => group.runs.push(run),
                None => groups.push(Self { setup, runs: vec![run] }),
            }
        }
        groups
    }

    /// Completed runs; none if any run computed incorrect results, because the terminal then shows no numbers either.
    pub(crate) fn completed(&self) -> impl Iterator<Item = &Run<'a>> {
        let is_wrong = self.runs.iter().any(|run| run.workload.outcome == Outcome::Incorrect);
        self.runs.iter().filter(move |run| !is_wrong && run.is_completed())
    }

    pub(crate) fn is_completed(&self) -> bool {
        self.completed().next().is_some()
    }

    /// The seeds of completed runs, in order.
    pub(crate) fn seeds(&self) -> Vec<u32> {
        let mut seeds: Vec<u32> = self.completed().map(Run::seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        seeds
    }

    /// The last accuracy from each seed. A seed that was trained from twice tells nothing new the second time.
    pub(crate) fn accuracies(&self) -> Vec<f64> {
        let of_seed = |seed: u32| {
            let own = self.completed().filter(|run| run.seed() == seed);
            mean(&own.filter_map(|run| run.summary.accuracy).collect::<Vec<f64>>())
        };
        self.seeds().into_iter().filter_map(of_seed).collect()
    }

    pub(crate) fn accuracy(&self) -> Option<f64> {
        mean(&self.accuracies())
    }

    /// Standard deviation over the seeds; absent with one.
    pub(crate) fn accuracy_deviation(&self) -> Option<f64> {
        variance(&self.accuracies()).map(f64::sqrt)
    }

    /// Figures of the completed runs, as the terminal shows them.
    pub(crate) fn figures(&self) -> Option<Figures> {
        let runs: Vec<(u32, &WorkloadRecord, &Summary)> =
            self.completed().map(|run| (run.seed(), run.workload, &run.summary)).collect();
        Figures::of(&runs)
    }

    /// Windows that count, of all completed runs.
    pub(crate) fn counted_windows(&self) -> usize {
        self.completed().map(|run| run.summary.measured_windows as usize).sum()
    }

    /// Samples per second of every completed run, over windows that count. Absent unless every run has some, and all of them
    /// together as many as a finding takes.
    pub(crate) fn counted_rates(&self) -> Option<Vec<Estimate>> {
        if self.counted_windows() < MINIMUM_WINDOWS {
            return None;
        }
        self.completed().map(|run| run.summary.throughput()).collect()
    }

    /// Samples per second of every completed run, of the kind that [`Group::rate`] is the median of.
    pub(crate) fn rates(&self) -> Option<Vec<Estimate>> {
        let counted: Option<Vec<Estimate>> = self.completed().map(|run| run.summary.throughput()).collect();
        let of_all = |run: &Run<'_>| Estimate::new(run.summary.samples_per_second_of_all_training(), None, None);
        counted.or_else(|| self.completed().map(of_all).collect())
    }

    /// The least and the most of [`Group::rates`]; of a single run, the interval of its windows.
    pub(crate) fn rate_range(&self) -> Option<(f64, f64)> {
        match self.rates()?.as_slice() {
            [one] => one.interval.map(|of| (of.low, of.high)),
            rates => range_of(&rates.iter().map(|rate| rate.value).collect::<Vec<f64>>()),
        }
    }

    /// The median over the runs, and whether it is of windows that count and not of all training.
    pub(crate) fn rate(&self) -> Option<(f64, bool)> {
        self.figures()?.throughput()
    }

    /// Share of the timed seconds in which several devices told each other what they found.
    pub(crate) fn communication(&self) -> Option<f64> {
        self.median_of(|run| run.workload.communication_share())
    }

    /// Share of the timed seconds in which the device waited for its input; absent where nobody can tell. Where the data set
    /// lies on the device, nothing has to come there.
    pub(crate) fn input_share(&self) -> Option<f64> {
        match self.setup.input {
            InputMode::Resident if self.setup.backend == WGSL => self.median_of(|_| Some(0.0)),
            _ => self.median_of(|run| run.workload.input_share()),
        }
    }

    /// Seconds for one pass over the training set, and whether one was finished; otherwise it is extrapolated from the
    /// windows that count.
    pub(crate) fn epoch(&self) -> Option<(f64, bool)> {
        let figures = self.figures()?;
        figures.epoch.map(|epoch| (epoch.seconds, !figures.epoch_is_projected))
    }

    /// The median over the completed runs of something that they have.
    pub(crate) fn median_of(&self, value: impl Fn(&Run<'a>) -> Option<f64>) -> Option<f64> {
        median(&self.completed().filter_map(value).collect::<Vec<f64>>())
    }

    pub(crate) fn training_seconds(&self) -> Option<f64> {
        self.figures()?.training.map(|training| training.seconds)
    }

    pub(crate) fn epochs(&self) -> Option<f64> {
        self.median_of(|run| Some(run.epochs()))
    }

    /// Steps until the last look at the test set, where all completed runs made as many.
    pub(crate) fn steps(&self) -> Option<u64> {
        let mut steps = self.completed().map(Run::steps);
        let first = steps.next()?;
        steps.all(|other| other == first).then_some(first)
    }

    pub(crate) fn test_samples(&self) -> u32 {
        self.runs.first().map_or(1, |run| run.workload.settings.test_samples)
    }
}

/// The least and the most of several.
pub(crate) fn range_of(values: &[f64]) -> Option<(f64, f64)> {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (values.len() > 1).then_some((least, most))
}

/// The fields in which some of these groups differ, without those that follow from the back end.
pub(crate) fn varying(groups: &[&Group<'_>]) -> Vec<Field> {
    let Some((first, rest)) = groups.split_first() else { return Vec::new() };
    let differs = |field: &Field| rest.iter().any(|group| !is_alike(group, first, *field));
    let mut fields: Vec<Field> = Field::ALL.into_iter().filter(differs).collect();
    if fields.contains(&Field::Backend) {
        // A back end on a device of its own need not be told by the device as well.
        let follows = |field: Field| {
            let pairs = groups.iter().flat_map(|one| groups.iter().map(move |other| (one, other)));
            let mut of_one_backend = pairs.filter(|(one, other)| one.setup.backend == other.setup.backend);
            of_one_backend.all(|(one, other)| is_alike(one, other, field))
        };
        fields.retain(|field| !matches!(field, Field::Device | Field::Threads | Field::Others) || !follows(*field));
    }
    fields
}

/// Whether two groups are alike in this field.
pub(crate) fn is_alike(one: &Group<'_>, other: &Group<'_>, field: Field) -> bool {
    let others: Vec<Field> = Field::ALL.into_iter().filter(|known| *known != field).collect();
    one.setup.equals_but(&other.setup, &others)
}

/// What tells a group from the others, in words.
pub(crate) fn label(group: &Group<'_>, varying: &[Field]) -> String {
    let words: Vec<String> = varying.iter().filter_map(|field| group.setup.words(*field)).collect();
    if words.is_empty() { group.setup.contender() } else { words.join(" · ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Made, groups};

    #[test]
    fn runs_of_several_seeds_are_one_group_and_other_settings_another() {
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
    fn threads_are_a_setting_and_no_part_of_the_processors_name() {
        let made = |threads: u32| {
            let name = format!("Some CPU (Burn, {threads} threads)");
            Made::new("caffe-mnist")
                .device(&name)
                .variants(&[&format!("burn-flex: rustc, threads: {threads}")])
                .record()
        };
        let records = [made(2), made(4)];
        let groups = groups(&records);
        assert_eq!(varying(&groups.iter().collect::<Vec<_>>()), [Field::Threads]);
        assert_eq!((groups[0].setup.device.as_str(), groups[0].setup.threads), ("Some CPU", Some(2)));
    }

    #[test]
    fn a_back_end_on_a_device_of_its_own_is_told_by_its_name_alone() {
        let made = |backend: &str, device: &str| Made::new("caffe-mnist").backend(backend).device(device).record();
        let of = |records: &[RunRecord]| varying(&groups(records).iter().collect::<Vec<_>>());
        assert_eq!(of(&[made("wgsl", "a"), made("burn-flex", "b")]), [Field::Backend]);
        let records = [made("wgsl", "a"), made("wgsl", "b"), made("burn-flex", "b")];
        assert_eq!(of(&records), [Field::Backend, Field::Device]);
    }

    #[test]
    fn the_length_is_what_was_asked_for() {
        let of = |terms: &[&str]| length(&terms.iter().map(|&term| term.to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["batch size 64", "12 epochs"]), Length::Epochs(12));
        assert_eq!(of(&["20000 steps"]), Length::Steps(20_000));
        assert_eq!(of(&["2.5 s of training"]), Length::Seconds(2.5));
        assert_eq!(of(&["1 of the suite's 2 networks"]), Length::Suite);
    }

    #[test]
    fn a_seed_that_was_trained_from_twice_counts_once() {
        let made = |seed, accuracy| Made::new("caffe-mnist").seed(seed).accuracy(accuracy).record();
        let records = [made(1, 0.90), made(1, 0.92), made(2, 0.95)];
        let groups = groups(&records);
        assert_eq!(groups[0].seeds(), [1, 2]);
        let accuracies = groups[0].accuracies();
        assert!((accuracies[0] - 0.91).abs() < 1e-12 && accuracies[1] == 0.95, "{accuracies:?}");
    }
}
