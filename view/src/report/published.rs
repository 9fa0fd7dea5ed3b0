//! Published results of the same networks: `reference/published-results.json`.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::report::group::Group;

/// Largest relative difference of lengths that count as equal.
const SAME_LENGTH: f64 = 0.05;

/// One row of a published table, or one result from a text.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Published {
    /// Workload here; absent for ImageNet, other networks, and Keras examples that were not compared.
    counterpart: Option<String>,
    /// Publisher, place and year: `GTDLBench, Table VI(a), 2018`.
    pub(crate) citation: String,
    /// Short name of the device, with any doubt stated by the source.
    device: Option<String>,
    pub(crate) framework: String,
    /// Libraries and other details of the computation.
    pub(crate) backend: Option<String>,
    pub(crate) batch_size: Option<u32>,
    pub(crate) epochs: Option<f64>,
    pub(crate) learning_rate: Option<f64>,
    pub(crate) training_time_s: Option<f64>,
    seconds_per_epoch: Option<f64>,
    accuracy_percent: Option<f64>,
    pub(crate) memory_max_mb: Option<f64>,
    pub(crate) gpus: Option<u32>,
    pub(crate) threads: Option<u32>,
    pub(crate) note: Option<String>,
    /// Accuracies of single epochs.
    #[cfg(test)]
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

static ALL: LazyLock<Vec<Published>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../reference/published-results.json")).expect("the file is checked in")
});

pub(crate) fn find_by_workload(name: &str) -> Vec<&'static Published> {
    ALL.iter().filter(|row| row.counterpart.as_deref() == Some(name)).collect()
}

/// Returns the workload of each row.
pub fn published_workloads() -> impl Iterator<Item = &'static str> {
    ALL.iter().filter_map(|row| row.counterpart.as_deref())
}

impl Published {
    pub(crate) fn device(&self) -> &str {
        self.device.as_deref().unwrap_or("hardware not stated")
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
    use std::collections::{BTreeMap, BTreeSet};

    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn published_rows_have_citations_devices_and_positive_values() {
        for row in ALL.iter() {
            let figures = [row.training_time_s, row.seconds_per_epoch, row.accuracy_percent, row.memory_max_mb];
            assert!(figures.into_iter().flatten().all(|figure| figure > 0.0), "{row:?}");
        }
        let row = find_by_workload("caffe-mnist").into_iter().find(|row| row.gpus == Some(1)).unwrap();
        assert_eq!(row.citation, "GTDLBench, Table VI(a), 2018");
        assert_eq!(row.device(), "NVIDIA GeForce GTX 1080 Ti 11 GB");
        assert!((row.epoch_seconds().unwrap() - 97.02 / 10.67).abs() < 1e-9);
        assert_eq!(find_by_workload("keras-mnist-mlp")[0].training_seconds(), Some(28.0));
    }

    /// Returns a line of the page with these values, except for absent ones.
    fn line(row: &Published, values: Value) -> Value {
        let mut line = json!({
            "workload": row.counterpart,
            "device": row.device,
            "framework": row.framework,
            "citation": row.citation,
        });
        let (Some(object), Value::Object(values)) = (line.as_object_mut(), values) else { panic!("objects") };
        object.extend(values.into_iter().filter(|(_, value)| !value.is_null()));
        line
    }

    /// Returns the lines of `app/published.json`, which the page shows next to a result: the fastest result of each
    /// single device and batch size of a workload.
    fn lines(workload: &'static str) -> Vec<Value> {
        let mut fastest: BTreeMap<(u32, &str), (f64, &Published)> = BTreeMap::new();
        for row in find_by_workload(workload).into_iter().filter(|row| row.is_of_one_device()) {
            let device = row.device.as_deref().filter(|device| !device.contains("VM"));
            let key = row.batch_size.zip(device);
            let (Some(seconds), Some(key)) = (row.epoch_seconds(), key) else { continue };
            let seconds = (seconds * 1000.0).round() / 1000.0;
            let known = fastest.entry(key).or_insert((seconds, row));
            if seconds < known.0 {
                *known = (seconds, row);
            }
        }
        let mut fastest: Vec<_> = fastest.into_iter().collect();
        fastest.sort_by(|((one, _), (own, _)), ((other, _), (theirs, _))| one.cmp(other).then(own.total_cmp(theirs)));
        let line = |((batch_size, _), (seconds, row))| {
            line(row, json!({ "batch_size": batch_size, "seconds_per_epoch": seconds }))
        };
        fastest.into_iter().map(line).collect()
    }

    /// Compares a file of the page with the lines of each workload.
    fn check_page(file: &str, lines: fn(&'static str) -> Vec<Value>) {
        let shown: Vec<Value> = serde_json::from_str(file).unwrap();
        let names: BTreeSet<&str> = published_workloads().collect();
        assert!(shown.iter().all(|line| names.contains(line["workload"].as_str().unwrap())));
        for name in names {
            let shown: Vec<&Value> = shown.iter().filter(|line| line["workload"] == name).collect();
            assert_eq!(shown, lines(name).iter().collect::<Vec<_>>(), "{name}");
        }
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

    /// Batch size, learning rate and epochs.
    type Recipe = (u32, f64, f64);

    /// Returns the lines of `app/published-accuracies.json`, which the page shows next to a current run: one per
    /// recipe, with a curve or else with the best test accuracy.
    fn accuracies(workload: &'static str) -> Vec<Value> {
        let accuracy = |row: &Published| row.accuracy_percent.map(|percent| (percent * 100.0).round() / 10_000.0);
        let worth = |row: &Published| (training_curve(row).is_some(), accuracy(row));
        let mut lines: Vec<(Recipe, &Published)> = Vec::new();
        for row in find_by_workload(workload) {
            // Each repetition continued the previous one.
            let is_continued = row.note.as_ref().is_some_and(|note| note.contains("Repeated runs continue"));
            let is_shown = row.is_of_one_device() && !is_continued && worth(row) != (false, None);
            let recipe = row.batch_size.zip(row.learning_rate).zip(row.epochs);
            let Some(((batch_size, rate), epochs)) = recipe.filter(|_| is_shown) else { continue };
            let recipe = (batch_size, rate, epochs);
            match lines.iter_mut().find(|(other, _)| *other == recipe) {
                Some((_, other)) if worth(other) >= worth(row) => {}
                Some((_, other)) => *other = row,
                None => lines.push((recipe, row)),
            }
        }
        lines.sort_by(|one, other| one.0.partial_cmp(&other.0).expect("no number is missing"));
        let line = |((batch_size, learning_rate, epochs), row): (Recipe, &Published)| {
            let (accuracy, curve) = (accuracy(row), training_curve(row));
            let values = json!({
                "batch_size": batch_size,
                "learning_rate": learning_rate,
                "epochs": epochs,
                "accuracy": accuracy,
                "curve": curve,
            });
            line(row, values)
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
