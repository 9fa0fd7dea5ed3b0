//! Published results of the same networks: `reference/published-results.json`.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::report::group::Group;

/// Largest relative difference of lengths that count as equal.
const SAME_LENGTH: f64 = 0.05;

/// One row of a published table, or one result from a text.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Published {
    source: String,
    #[serde(default)]
    table: Option<String>,
    workload: String,
    #[serde(default)]
    hardware: Option<String>,
    pub(crate) framework: String,
    /// Libraries and other details of the computation.
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
    /// Accuracies of single epochs.
    #[cfg(test)]
    #[serde(default)]
    curve: Option<PublishedCurve>,
}

/// Accuracies by epoch, starting at 1.
#[cfg(test)]
#[derive(Clone, Debug, Deserialize)]
struct PublishedCurve {
    /// `train` or `test`.
    split: String,
    epoch: Vec<Option<u32>>,
    accuracy_percent: Option<Vec<f64>>,
}

/// Workload of a source, its framework if relevant, and the workload here. Others have no counterpart: ImageNet, other
/// networks of airbench, and Keras examples that were not compared.
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

/// Prefix of a source, its name in citations, and its year.
const SOURCES: &[(&str, &str, u16)] = &[
    ("GTDLBench", "GTDLBench", 2018),
    ("Bhatia", "Bhatia, article", 2017),
    ("jasmeetsb/", "Bhatia, notebooks", 2017),
    ("extra: GTDLBench models/cifar10/tensorflow", "TensorFlow's tutorial", 2015),
    ("extra: keras-team/keras", "Keras' examples", 2017),
    ("extra: KellerJordan/cifar10-airbench", "airbench", 2024),
    ("benchmarker", "benchmarker", 2017),
];

/// Source of a different network, with gated recurrent units.
const OTHER_NETWORK: &str = "examples/babi_rnn.py";

static ALL: LazyLock<Vec<Published>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../reference/published-results.json")).expect("the file is checked in")
});

pub(crate) fn find_by_workload(name: &str) -> Vec<&'static Published> {
    ALL.iter().filter(|row| row.counterpart() == Some(name)).collect()
}

pub fn published_workloads() -> impl Iterator<Item = &'static str> {
    COUNTERPARTS.iter().map(|counterpart| counterpart.2)
}

impl Published {
    fn counterpart(&self) -> Option<&'static str> {
        let is_it = |(workload, framework, _): &&(&str, Option<&str>, &str)| {
            *workload == self.workload && framework.is_none_or(|framework| framework == self.framework)
        };
        let found = COUNTERPARTS.iter().find(is_it).map(|counterpart| counterpart.2);
        found.filter(|_| !self.source.contains(OTHER_NETWORK))
    }

    fn named_source(&self) -> Option<&'static (&'static str, &'static str, u16)> {
        SOURCES.iter().find(|source| self.source.starts_with(source.0))
    }

    /// Returns publisher, place and year: `GTDLBench, Table VI(a), 2018`.
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

    /// Returns the short name of the device, with any doubt stated by the source.
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

    /// Returns the published time of an epoch, or the total time over the epochs.
    pub(crate) fn epoch_seconds(&self) -> Option<f64> {
        let of_whole = || Some(self.training_time_s? / self.epochs.filter(|epochs| *epochs > 0.0)?);
        self.seconds_per_epoch.or_else(of_whole)
    }

    /// Returns the published total time, or the time of an epoch times the epochs.
    pub(crate) fn training_seconds(&self) -> Option<f64> {
        self.training_time_s.or_else(|| Some(self.seconds_per_epoch? * self.epochs?))
    }

    pub(crate) fn accuracy(&self) -> Option<f64> {
        self.accuracy_percent.map(|percent| percent / 100.0)
    }

    pub(crate) fn is_of_one_device(&self) -> bool {
        self.gpus.is_none_or(|count| count <= 1)
    }

    /// Returns true if it equals another row, because papers repeat themselves.
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
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn every_row_has_a_source_and_positive_values() {
        assert_eq!(ALL.len(), 230);
        for row in ALL.iter() {
            assert!(row.named_source().is_some(), "{}", row.source);
            let figures = [row.training_time_s, row.seconds_per_epoch, row.accuracy_percent, row.memory_max_mb];
            assert!(figures.into_iter().flatten().all(|figure| figure > 0.0), "{row:?}");
        }
    }

    #[test]
    fn every_counterpart_has_rows() {
        for name in published_workloads() {
            assert!(!find_by_workload(name).is_empty(), "{name}");
        }
        let left_out: Vec<&str> =
            ALL.iter().filter(|row| row.counterpart().is_none()).map(|row| row.workload.as_str()).collect();
        assert_eq!(left_out.len(), 3 + 1 + 1 + 4 + 1, "{left_out:?}");
    }

    #[test]
    fn rows_have_citations_and_devices() {
        let row = find_by_workload("caffe-mnist").into_iter().find(|row| row.gpus == Some(1)).unwrap();
        assert_eq!(row.citation(), "GTDLBench, Table VI(a), 2018");
        assert_eq!(row.device(), "NVIDIA GeForce GTX 1080 Ti 11 GB");
        assert!((row.epoch_seconds().unwrap() - 97.02 / 10.67).abs() < 1e-9);
        let row = find_by_workload("keras-mnist-mlp")[0];
        assert_eq!((row.citation().as_str(), row.device().as_str()), ("Bhatia, article, 2017", "NVIDIA Tesla K80 GPU"));
        assert_eq!(row.training_seconds(), Some(28.0));
    }

    #[test]
    fn devices_keep_the_doubts_of_their_source() {
        let devices: Vec<String> = ALL.iter().map(Published::device).collect();
        let doubted =
            ["Azure VM (probably CPU)", "Azure VM (device of this early run not recorded)", "CPU (unspecified)"];
        for expected in doubted {
            assert!(devices.iter().any(|device| device == expected), "{expected}");
        }
    }

    /// Returns the lines of `app/published.json`, which the page shows next to a result: the fastest result of each
    /// single device and batch size of a workload.
    fn lines(workload: &'static str) -> Vec<Value> {
        let is_known =
            |row: &&&Published| row.is_of_one_device() && row.hardware.is_some() && !row.device().contains("VM");
        let mut fastest: BTreeMap<(u32, String), (f64, &Published)> = BTreeMap::new();
        for row in find_by_workload(workload).iter().filter(is_known) {
            let (Some(seconds), Some(batch_size)) = (row.epoch_seconds(), row.batch_size) else { continue };
            let seconds = (seconds * 1000.0).round() / 1000.0;
            let known = fastest.entry((batch_size, row.device())).or_insert((seconds, *row));
            if seconds < known.0 {
                *known = (seconds, *row);
            }
        }
        let mut fastest: Vec<_> = fastest.into_iter().collect();
        fastest.sort_by(|((one, _), (own, _)), ((other, _), (theirs, _))| one.cmp(other).then(own.total_cmp(theirs)));
        let line = |((batch_size, device), (seconds, row)): ((u32, String), (f64, &Published))| {
            json!({
                "workload": workload,
                "batch_size": batch_size,
                "seconds_per_epoch": seconds,
                "device": device,
                "framework": row.framework,
                "citation": row.citation(),
            })
        };
        fastest.into_iter().map(line).collect()
    }

    /// Compares a file of the page with the lines of each workload.
    fn check_page(file: &str, lines: fn(&'static str) -> Vec<Value>) {
        let mut names: Vec<&'static str> = Vec::new();
        published_workloads().for_each(|name| {
            if !names.contains(&name) {
                names.push(name);
            }
        });
        let lines: Vec<Value> = names.into_iter().flat_map(lines).collect();
        assert_eq!(serde_json::from_str::<Vec<Value>>(file).unwrap(), lines);
    }

    #[test]
    fn page_has_the_fastest_result_of_each_device() {
        check_page(include_str!("../../../app/published.json"), lines);
    }

    /// Returns the training accuracies after each epoch, if all of them are known.
    fn training_curve(row: &Published) -> Option<Vec<f64>> {
        let curve = row.curve.as_ref().filter(|curve| curve.split == "train")?;
        let last = row.epochs? + 0.5;
        let whole = (1..).take_while(|&epoch| f64::from(epoch) < last).map(Some);
        let percent = curve.accuracy_percent.as_ref()?;
        whole.eq(curve.epoch.iter().copied()).then(|| percent.iter().map(|p| (p * 10.0).round() / 1000.0).collect())
    }

    type Recipe = (u32, f64, f64);
    /// Recipe with its test accuracy and its curve.
    type Line = (Recipe, Option<f64>, Option<Vec<f64>>, &'static Published);

    /// Returns the lines of `app/published-accuracies.json`, which the page shows next to a current run: one per
    /// recipe, with a curve or else with the best test accuracy.
    fn accuracies(workload: &'static str) -> Vec<Value> {
        let mut lines: Vec<Line> = Vec::new();
        for row in find_by_workload(workload) {
            // Each repetition continued the previous one.
            let is_continued = row.note.as_ref().is_some_and(|note| note.contains("Repeated runs continue"));
            let accuracy = row.accuracy_percent.map(|percent| (percent * 100.0).round() / 10_000.0);
            let curve = training_curve(row);
            let recipe = row.batch_size.zip(row.learning_rate).zip(row.epochs);
            let Some(((batch_size, rate), epochs)) = recipe.filter(|_| accuracy.is_some() || curve.is_some()) else {
                continue;
            };
            if !row.is_of_one_device() || is_continued {
                continue;
            }
            let worth = (curve.is_some(), accuracy.unwrap_or_default());
            let line = ((batch_size, rate, epochs), accuracy, curve, row);
            match lines.iter_mut().find(|other| other.0 == line.0) {
                Some(other) if (other.2.is_some(), other.1.unwrap_or_default()) >= worth => {}
                Some(other) => *other = line,
                None => lines.push(line),
            }
        }
        lines.sort_by(|one, other| one.0.partial_cmp(&other.0).expect("no number is missing"));
        let line = |((batch_size, rate, epochs), accuracy, curve, row): Line| {
            let mut line = json!({
                "workload": workload,
                "batch_size": batch_size,
                "learning_rate": rate,
                "epochs": epochs,
                "accuracy": accuracy,
                "curve": curve,
                "device": row.device(),
                "framework": row.framework,
                "citation": row.citation(),
            });
            line.as_object_mut().expect("an object").retain(|_, value| !value.is_null());
            line
        };
        lines.into_iter().map(line).collect()
    }

    #[test]
    fn page_has_the_accuracies_of_each_recipe() {
        check_page(include_str!("../../../app/published-accuracies.json"), accuracies);
    }

    #[test]
    fn repeated_rows_are_recognized() {
        let rows = find_by_workload("caffe-mnist");
        let default: Vec<&&Published> = rows.iter().filter(|row| row.training_time_s == Some(97.02)).collect();
        assert!(default.len() > 1 && default[0].repeats(default[1]) && !default[0].repeats(rows[0]));
    }
}
