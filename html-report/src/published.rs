//! What papers and articles say of the same networks: `reference/published-results.json`.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::group::Group;

/// Trainings whose lengths differ by less are of one length.
const SAME_LENGTH: f64 = 0.05;

/// One row of a published table, or one figure of a text.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Published {
    source: String,
    #[serde(default)]
    table: Option<String>,
    workload: String,
    #[serde(default)]
    hardware: Option<String>,
    pub(crate) framework: String,
    /// Libraries, and whatever else its source says about how it was computed.
    #[serde(default)]
    pub(crate) backend: Option<String>,
    #[serde(default)]
    pub(crate) batch_size: Option<u32>,
    #[serde(default)]
    pub(crate) epochs: Option<f64>,
    #[serde(default)]
    pub(crate) learning_rate: Option<f64>,
    #[serde(default)]
    pub(crate) training_time_s: Option<f64>,
    #[serde(default)]
    seconds_per_epoch: Option<f64>,
    #[serde(default)]
    pub(crate) accuracy_percent: Option<f64>,
    #[serde(default)]
    pub(crate) memory_max_mb: Option<f64>,
    #[serde(default)]
    pub(crate) gpus: Option<u32>,
    #[serde(default)]
    pub(crate) threads: Option<u32>,
    #[serde(default)]
    pub(crate) note: Option<String>,
    /// What was said of single epochs.
    #[cfg(test)]
    #[serde(default)]
    curve: Option<PublishedCurve>,
}

/// Accuracies by epoch, from 1.
#[cfg(test)]
#[derive(Clone, Debug, Deserialize)]
struct PublishedCurve {
    /// `train` or `test`.
    split: String,
    epoch: Vec<Option<u32>>,
    accuracy_percent: Option<Vec<f64>>,
}

/// The workload of a source, the framework that it was trained with where that matters, and what it is called here.
///
/// What is not in this list has no counterpart: ImageNet, other networks of airbench, and networks of the Keras examples
/// that nobody compared.
const COUNTERPARTS: &[(&str, Option<&str>, &str)] = &[
    ("MNIST", Some("TensorFlow"), "tensorflow-mnist"),
    ("MNIST", Some("Caffe"), "caffe-mnist"),
    ("MNIST", Some("Torch"), "torch-mnist"),
    ("MNIST", Some("Theano"), "theano-mnist"),
    ("CIFAR-10", Some("TensorFlow"), "tensorflow-cifar10"),
    ("CIFAR-10", Some("Caffe"), "caffe-cifar10"),
    ("CIFAR-10", Some("Torch"), "torch-cifar10"),
    ("CIFAR-10", Some("Theano"), "theano-cifar10"),
    ("CIFAR-10 (TensorFlow tutorial net)", None, "tensorflow-cifar10"),
    ("keras_mnist_mlp", None, "keras-mnist-mlp"),
    ("keras_mnist_cnn", None, "keras-mnist-cnn"),
    ("keras_cifar10_cnn", None, "keras-cifar10-cnn"),
    ("keras_mnist_hierarchical_rnn", None, "keras-mnist-hrnn"),
    ("keras_babi_rnn", None, "keras-babi-rnn"),
    ("CIFAR-10 legacy/airbench94.py", None, "airbench94"),
    ("CIFAR-10 legacy/airbench94_compiled.py", None, "airbench94"),
];

/// How a source begins, what it is called beside figures, and its year.
const SOURCES: &[(&str, &str, u16)] = &[
    ("GTDLBench", "GTDLBench", 2018),
    ("Bhatia", "Bhatia, article", 2017),
    ("jasmeetsb/", "Bhatia, notebooks", 2017),
    ("extra: GTDLBench models/cifar10/tensorflow", "TensorFlow's tutorial", 2015),
    ("extra: keras-team/keras", "Keras' examples", 2017),
    ("extra: KellerJordan/cifar10-airbench", "airbench", 2024),
    ("benchmarker", "benchmarker", 2017),
];

/// The example trains another network here, of gated recurrent units.
const OF_ANOTHER_NETWORK: &str = "examples/babi_rnn.py";

static ALL: LazyLock<Vec<Published>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../reference/published-results.json")).expect("the file is checked in")
});

/// Every published figure of this workload, in the order of the file.
pub(crate) fn of_workload(name: &str) -> Vec<&'static Published> {
    ALL.iter().filter(|row| row.counterpart() == Some(name)).collect()
}

/// The names of the workloads that have published figures.
pub fn workload_names() -> impl Iterator<Item = &'static str> {
    COUNTERPARTS.iter().map(|counterpart| counterpart.2)
}

impl Published {
    fn counterpart(&self) -> Option<&'static str> {
        let is_it = |(workload, framework, _): &&(&str, Option<&str>, &str)| {
            *workload == self.workload && framework.is_none_or(|framework| framework == self.framework)
        };
        let found = COUNTERPARTS.iter().find(is_it).map(|counterpart| counterpart.2);
        found.filter(|_| !self.source.contains(OF_ANOTHER_NETWORK))
    }

    fn named_source(&self) -> Option<&'static (&'static str, &'static str, u16)> {
        SOURCES.iter().find(|source| self.source.starts_with(source.0))
    }

    /// Who published it, where, and when: `GTDLBench, Table VI(a), 2018`.
    pub(crate) fn citation(&self) -> String {
        let (name, year) = self.named_source().map_or((self.source.as_str(), None), |known| (known.1, Some(known.2)));
        let place = match self.table.as_deref() {
            Some(table) if table.starts_with(|first: char| first.is_ascii_uppercase()) => {
                Some(format!("Table {table}"))
            }
            Some(_) => Some("text".to_owned()),
            None => None,
        };
        [Some(name.to_owned()), place, year.map(|year| year.to_string())]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Short name of the device, with any doubt that the source expresses.
    pub(crate) fn device(&self) -> String {
        let Some(hardware) = &self.hardware else { return "hardware not stated".to_owned() };
        let machine = hardware.split_once(": ").map_or(hardware.as_str(), |(_, machine)| machine);
        if let Some((name, doubt)) = machine.split_once([',', ';', '('])
            && ["probably", "not recorded", "unspecified"].iter().any(|word| doubt.contains(word))
        {
            let doubt = doubt.split('(').next().unwrap_or(doubt).trim_matches([' ', ')']);
            return format!("{} ({doubt})", name.trim());
        }
        let machine = machine.split(['(', ',']).next().unwrap_or(machine).trim();
        machine.strip_prefix("1x ").unwrap_or(machine).to_owned()
    }

    /// Returns true if its number of epochs is known and within 5 % of a group's.
    pub(crate) fn trained_as_long_as(&self, group: &Group<'_>) -> bool {
        self.epochs.zip(group.epochs()).is_some_and(|(theirs, ours)| (ours / theirs - 1.0).abs() <= SAME_LENGTH)
    }

    /// As its source has it, or the whole time over the epochs.
    pub(crate) fn epoch_seconds(&self) -> Option<f64> {
        let of_whole = || Some(self.training_time_s? / self.epochs.filter(|epochs| *epochs > 0.0)?);
        self.seconds_per_epoch.or_else(of_whole)
    }

    /// The whole time as its source has it, or the epochs of which it has the time of one.
    pub(crate) fn training_seconds(&self) -> Option<f64> {
        self.training_time_s.or_else(|| Some(self.seconds_per_epoch? * self.epochs?))
    }

    pub(crate) fn accuracy(&self) -> Option<f64> {
        self.accuracy_percent.map(|percent| percent / 100.0)
    }

    /// Whether a single device computed it.
    pub(crate) fn is_of_one_device(&self) -> bool {
        self.gpus.is_none_or(|count| count <= 1)
    }

    /// Whether it says the same as another row: papers repeat themselves.
    pub(crate) fn repeats(&self, other: &Self) -> bool {
        let figures =
            |row: &Self| (row.epoch_seconds(), row.training_seconds(), row.accuracy_percent, row.memory_max_mb);
        let settings = |row: &Self| (row.batch_size, row.epochs, row.learning_rate, row.gpus);
        figures(self) == figures(other)
            && settings(self) == settings(other)
            && self.device() == other.device()
            && self.framework == other.framework
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::*;

    #[test]
    fn the_file_is_whole_and_every_row_has_a_source_with_a_year() {
        assert_eq!(ALL.len(), 230);
        for row in ALL.iter() {
            assert!(row.named_source().is_some(), "{}", row.source);
            let figures = [row.training_time_s, row.seconds_per_epoch, row.accuracy_percent, row.memory_max_mb];
            assert!(figures.into_iter().flatten().all(|figure| figure > 0.0), "{row:?}");
        }
    }

    #[test]
    fn every_counterpart_has_rows_and_those_without_are_known() {
        for name in workload_names() {
            assert!(!of_workload(name).is_empty(), "{name}");
        }
        let left_out: Vec<&str> =
            ALL.iter().filter(|row| row.counterpart().is_none()).map(|row| row.workload.as_str()).collect();
        assert_eq!(left_out.len(), 3 + 1 + 1 + 4 + 1, "{left_out:?}");
    }

    #[test]
    fn a_row_says_who_when_where_and_on_what() {
        let row = of_workload("caffe-mnist").into_iter().find(|row| row.gpus == Some(1)).unwrap();
        assert_eq!(row.citation(), "GTDLBench, Table VI(a), 2018");
        assert_eq!(row.device(), "NVIDIA GeForce GTX 1080 Ti 11 GB");
        assert!((row.epoch_seconds().unwrap() - 97.02 / 10.67).abs() < 1e-9);
        let row = of_workload("keras-mnist-mlp")[0];
        assert_eq!((row.citation().as_str(), row.device().as_str()), ("Bhatia, article, 2017", "NVIDIA Tesla K80 GPU"));
        assert_eq!(row.training_seconds(), Some(28.0));
    }

    #[test]
    fn devices_keep_what_their_source_doubts() {
        let devices: Vec<String> = ALL.iter().map(Published::device).collect();
        let doubted =
            ["Azure VM (probably CPU)", "Azure VM (device of this early run not recorded)", "CPU (unspecified)"];
        for expected in doubted {
            assert!(devices.iter().any(|device| device == expected), "{expected}");
        }
    }

    /// A line of `app/published.json`, which the page shows beside a result.
    #[derive(Serialize)]
    struct Line {
        workload: &'static str,
        batch_size: u32,
        seconds_per_epoch: f64,
        device: String,
        framework: &'static str,
        citation: String,
    }

    /// The fastest figure of each single device and batch size of a workload.
    fn lines(workload: &'static str) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        let known =
            |row: &&&Published| row.is_of_one_device() && row.hardware.is_some() && !row.device().contains("VM");
        for row in of_workload(workload).iter().filter(known) {
            let (Some(seconds), Some(batch_size)) = (row.epoch_seconds(), row.batch_size) else { continue };
            let line = Line {
                workload,
                batch_size,
                seconds_per_epoch: (seconds * 1000.0).round() / 1000.0,
                device: row.device(),
                framework: &row.framework,
                citation: row.citation(),
            };
            match lines.iter_mut().find(|other| other.device == line.device && other.batch_size == batch_size) {
                Some(other) if other.seconds_per_epoch <= line.seconds_per_epoch => {}
                Some(other) => *other = line,
                None => lines.push(line),
            }
        }
        lines.sort_by(|one, other| {
            let by_batch = one.batch_size.cmp(&other.batch_size);
            let by_time = one.seconds_per_epoch.total_cmp(&other.seconds_per_epoch);
            by_batch.then(by_time).then_with(|| one.device.cmp(&other.device))
        });
        lines
    }

    #[test]
    fn the_page_shows_the_fastest_of_each_device_and_batch_size() {
        let mut names: Vec<&'static str> = Vec::new();
        workload_names().for_each(|name| {
            if !names.contains(&name) {
                names.push(name);
            }
        });
        let lines: Vec<serde_json::Value> =
            names.into_iter().flat_map(lines).map(|line| serde_json::to_value(line).unwrap()).collect();
        let file = include_str!("../../app/published.json");
        let of_page: Vec<serde_json::Value> = serde_json::from_str(file).unwrap();
        assert_eq!(of_page, lines);
    }

    /// A line of `app/published-accuracies.json`, which the page shows beside a run that goes on.
    #[derive(Serialize)]
    struct Accuracies {
        workload: &'static str,
        batch_size: u32,
        learning_rate: f64,
        epochs: f64,
        /// Of the test set, after all epochs.
        #[serde(skip_serializing_if = "Option::is_none")]
        accuracy: Option<f64>,
        /// Of the training set, after each epoch, where all of them are known.
        #[serde(skip_serializing_if = "Option::is_none")]
        curve: Option<Vec<f64>>,
        device: String,
        framework: &'static str,
        citation: String,
    }

    impl Published {
        fn training_curve(&self) -> Option<Vec<f64>> {
            let curve = self.curve.as_ref().filter(|curve| curve.split == "train")?;
            let last = self.epochs? + 0.5;
            let whole = (1..).take_while(|&epoch| f64::from(epoch) < last).map(Some);
            let percent = curve.accuracy_percent.as_ref()?;
            whole.eq(curve.epoch.iter().copied()).then(|| percent.iter().map(|p| (p * 10.0).round() / 1000.0).collect())
        }

        fn accuracies(&'static self, workload: &'static str) -> Option<Accuracies> {
            // Each of several repetitions began where the last one had ended.
            let went_on = self.note.as_ref().is_some_and(|note| note.contains("Repeated runs continue"));
            let accuracy = self.accuracy_percent.map(|percent| (percent * 100.0).round() / 10_000.0);
            let curve = self.training_curve();
            (self.is_of_one_device() && !went_on && (accuracy.is_some() || curve.is_some())).then_some(Accuracies {
                workload,
                batch_size: self.batch_size?,
                learning_rate: self.learning_rate?,
                epochs: self.epochs?,
                accuracy,
                curve,
                device: self.device(),
                framework: &self.framework,
                citation: self.citation(),
            })
        }
    }

    /// One for each batch size, learning rate and number of epochs: that with a curve, or with the best accuracy.
    fn accuracies(workload: &'static str) -> Vec<Accuracies> {
        let mut lines: Vec<Accuracies> = Vec::new();
        let recipe = |of: &Accuracies| (of.batch_size, of.learning_rate, of.epochs);
        let worth = |of: &Accuracies| (of.curve.is_some(), of.accuracy.unwrap_or_default());
        for line in of_workload(workload).iter().filter_map(|row| row.accuracies(workload)) {
            match lines.iter_mut().find(|other| recipe(other) == recipe(&line)) {
                Some(other) if worth(other) >= worth(&line) => {}
                Some(other) => *other = line,
                None => lines.push(line),
            }
        }
        lines.sort_by(|one, other| recipe(one).partial_cmp(&recipe(other)).expect("no number is missing"));
        lines
    }

    #[test]
    fn the_page_shows_the_accuracies_of_each_recipe() {
        let mut names: Vec<&'static str> = Vec::new();
        workload_names().for_each(|name| {
            if !names.contains(&name) {
                names.push(name);
            }
        });
        let lines: Vec<serde_json::Value> =
            names.into_iter().flat_map(accuracies).map(|line| serde_json::to_value(line).unwrap()).collect();
        let file = include_str!("../../app/published-accuracies.json");
        let of_page: Vec<serde_json::Value> = serde_json::from_str(file).unwrap();
        assert_eq!(of_page, lines);
    }

    #[test]
    fn rows_that_papers_repeat_are_known() {
        let rows = of_workload("caffe-mnist");
        let default: Vec<&&Published> = rows.iter().filter(|row| row.training_time_s == Some(97.02)).collect();
        assert!(default.len() > 1 && default[0].repeats(default[1]) && !default[0].repeats(rows[0]));
    }
}
