//! Published results of the same networks on the hardware of their time.
//!
//! The build script selects them: the fastest result for each device and batch size, and the accuracies.

use std::sync::LazyLock;

use results::{RunRecord, WorkloadRecord};
use serde::Deserialize;

use crate::{json, t, text};

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PublishedTime {
    workload: String,
    batch_size: u32,
    pub seconds_per_epoch: f64,
    pub device: String,
    pub framework: String,
    pub citation: String,
}

static ALL: LazyLock<Vec<PublishedTime>> = LazyLock::new(|| {
    json::parse(include_str!(concat!(env!("OUT_DIR"), "/published.json"))).expect("the build script writes it")
});

/// Returns the published results of a network at the batch size of its recipe, fastest first.
pub fn of_network(workload: &str) -> Vec<&'static PublishedTime> {
    engine::workload(workload).map_or_else(Vec::new, |recipe| results_of(workload, recipe.batch_size).collect())
}

/// Returns the published results of a network at a batch size, fastest first.
fn results_of(workload: &str, batch_size: u32) -> impl Iterator<Item = &'static PublishedTime> {
    ALL.iter().filter(move |of| of.workload == workload && of.batch_size == batch_size)
}

/// Describes published results at the same batch size, fastest first; empty if the run has no time per epoch.
pub fn sentences(record: &WorkloadRecord) -> Vec<String> {
    let Some(own) = epoch_seconds(record) else { return Vec::new() };
    let describe = |of: &PublishedTime| {
        let PublishedTime { device, framework, citation, seconds_per_epoch, .. } = of;
        let ratio = seconds_per_epoch / own;
        let times = text::number(ratio, if ratio >= 10.0 { 0 } else { 2 });
        t!(result_published_time, device, framework, seconds = text::seconds(*seconds_per_epoch), times, citation)
    };
    results_of(&record.workload, record.settings.batch_size).map(describe).collect()
}

/// Describes the closest faster and the closest slower published result, for the first network of a run that has any.
pub fn nearest(record: &RunRecord) -> Vec<String> {
    let of = |workload: &WorkloadRecord| {
        let own = epoch_seconds(workload)?;
        let all = results_of(&workload.workload, workload.settings.batch_size);
        let (faster, slower): (Vec<_>, Vec<_>) = all.partition(|of| of.seconds_per_epoch < own);
        let compare = |a: &&PublishedTime, b: &&PublishedTime| a.seconds_per_epoch.total_cmp(&b.seconds_per_epoch);
        let (faster, slower) = (faster.into_iter().max_by(compare), slower.into_iter().min_by(compare));
        let title = text::workload_title(&workload.workload);
        let sentences = [faster, slower].into_iter().flatten().map(|of| of.describe_speed(&title, own));
        Some(sentences.collect::<Vec<_>>()).filter(|sentences| !sentences.is_empty())
    };
    record.workloads.iter().find_map(of).unwrap_or_default()
}

/// Returns the seconds per epoch, measured or derived from the throughput.
fn epoch_seconds(record: &WorkloadRecord) -> Option<f64> {
    let projected = || Some(f64::from(record.settings.training_samples) / record.summary.samples_per_second?);
    record.summary.seconds_per_epoch.or_else(projected).filter(|seconds| *seconds > 0.0)
}

impl PublishedTime {
    /// Describes the speed of a run relative to this result: "1/46 the speed of …", "3.2 times the speed of …".
    fn describe_speed(&self, title: &str, own_seconds: f64) -> String {
        let ratio = self.seconds_per_epoch / own_seconds;
        let Self { device, framework, citation, .. } = self;
        if ratio < 0.5 {
            let part = format!("1/{:.0}", 1.0 / ratio);
            return t!(result_published_part, workload = title, part, device, framework, citation);
        }
        let times = text::number(ratio, if ratio >= 10.0 { 0 } else { 1 });
        t!(result_published_times, workload = title, times, device, framework, citation)
    }
}

/// Published accuracy of a network trained with its own recipe.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PublishedLearning {
    workload: String,
    batch_size: u32,
    learning_rate: f64,
    pub epochs: f64,
    pub accuracy: Option<f64>,
    /// Accuracy on the training set after each epoch.
    pub curve: Option<Vec<f64>>,
    device: String,
    framework: String,
    citation: String,
}

static LEARNING: LazyLock<Vec<PublishedLearning>> = LazyLock::new(|| {
    json::parse(include_str!(concat!(env!("OUT_DIR"), "/published-accuracies.json")))
        .expect("the build script writes it")
});

/// Returns the published accuracies of a network with its own recipe; `None` for a different batch size.
pub fn learning(workload: &str, batch_size: u32) -> Option<&'static PublishedLearning> {
    let recipe = engine::workload(workload).filter(|recipe| recipe.batch_size == batch_size)?;
    let rate = recipe.optimizer.learning_rate;
    LEARNING.iter().find(|of| {
        of.workload == workload
            && of.batch_size == batch_size
            && (of.learning_rate - rate).abs() < 1e-9
            && (of.epochs - f64::from(recipe.published_epochs)).abs() < 1.0
    })
}

impl PublishedLearning {
    /// Returns the published training accuracies over the seconds at which this run reaches the same epochs, up to one
    /// epoch ahead.
    pub fn curve_beside(&self, training_seconds: f64, epochs: f64) -> Vec<(f64, f64)> {
        let Some(curve) = self.curve.as_ref().filter(|_| epochs > 0.0) else { return Vec::new() };
        let near = (1..).map(f64::from).zip(curve).take_while(|(epoch, _)| *epoch < epochs + 1.0);
        near.map(|(epoch, &accuracy)| (epoch * training_seconds / epochs, accuracy)).collect()
    }

    pub fn sentence(&self) -> String {
        let epochs = text::number(self.epochs, usize::from(self.epochs.fract() > 0.0));
        let Self { framework, device, citation, .. } = self;
        match (&self.curve, self.accuracy.map(text::percent)) {
            (Some(_), _) => t!(running_published_curve, framework, device, citation),
            (None, Some(accuracy)) => t!(running_published_end, accuracy, epochs, framework, device, citation),
            (None, None) => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use results::Summary;

    use super::*;
    use crate::words::outcome::tests::record;

    #[test]
    fn published_results_are_of_known_networks() {
        assert!(ALL.len() > 40);
        for of in ALL.iter() {
            assert!(engine::workload(&of.workload).is_some() && of.seconds_per_epoch > 0.0, "{of:?}");
        }
        let devices = of_network("caffe-mnist");
        assert!(devices.len() > 2 && devices.is_sorted_by_key(|of| of.seconds_per_epoch), "{devices:?}");
    }

    #[test]
    fn finds_published_learning_for_own_recipe_and_places_its_curve_by_epochs() {
        let lenet = learning("caffe-mnist", 64).unwrap();
        assert_eq!((lenet.accuracy, &lenet.curve), (Some(0.9918), &None));
        assert_eq!(lenet.curve_beside(30.0, 4.0), []);
        assert!(lenet.sentence().contains("99.18 % after 10.7 epochs"), "{}", lenet.sentence());
        assert_eq!(learning("caffe-mnist", 32), None, "a different recipe");
        assert_eq!(learning("resnet20-cifar10", 128), None, "it has no published results");
        let known = LEARNING.iter().filter(|of| engine::workload(&of.workload).is_some());
        assert_eq!(known.count(), LEARNING.len());
        let rnn = learning("keras-mnist-hrnn", 32).unwrap();
        assert_eq!(rnn.curve_beside(0.0, 0.0), []);
        // 20 s per epoch: the second one is still ahead, and the third too far ahead.
        assert_eq!(rnn.curve_beside(25.0, 1.25), [(20.0, 0.899), (40.0, 0.971)]);
        assert_eq!(rnn.curve_beside(200.0, 10.0).len(), 5);
        assert!(rnn.sentence().contains("Keras/MXNet") && rnn.sentence().contains("2017"), "{}", rnn.sentence());
    }

    #[test]
    fn compares_published_times_at_same_batch_size() {
        let summary = Summary { samples_per_second: Some(600_000.0), ..Summary::default() };
        let fast = record([0.9, 0.9], None, summary);
        let found = sentences(&fast);
        assert!(found[0].starts_with("NVIDIA Tesla K80 GPU with Keras/MXNet took 1.4"), "{found:?}");
        assert!(found[0].contains("14 times as long as this device. Published: Bhatia, article, 2017."), "{found:?}");
        let mut slow = record([0.9, 0.9], None, Summary { seconds_per_epoch: Some(14.0), ..Summary::default() });
        assert!(sentences(&slow)[0].contains("0.10 times as long as this device."), "{:?}", sentences(&slow));
        slow.settings.batch_size = 17;
        assert_eq!(sentences(&slow), Vec::<String>::new(), "batch sizes must match");
        assert_eq!(sentences(&record([0.9, 0.9], None, Summary::default())), Vec::<String>::new());
    }
}
