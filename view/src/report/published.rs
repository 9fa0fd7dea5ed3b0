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

    #[test]
    fn repeated_rows_are_recognized() {
        let rows = find_by_workload("caffe-mnist");
        let default: Vec<&&Published> = rows.iter().filter(|row| row.training_time_s == Some(97.02)).collect();
        assert!(default.len() > 1 && default[0].repeats(default[1]) && !default[0].repeats(rows[0]));
    }
}
