//! What papers and articles say of the same networks on hardware of their time: the fastest figure of each device and batch
//! size in `reference/published-results.json`, as `html-report` reads it; a test there holds `published.json` to it.

use std::sync::LazyLock;

use results::WorkloadRecord;
use serde::Deserialize;

use crate::t;
use crate::text;

/// A published figure.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Published {
    workload: String,
    batch_size: u32,
    seconds_per_epoch: f64,
    device: String,
    framework: String,
    /// Who published it, and when.
    citation: String,
}

static ALL: LazyLock<Vec<Published>> =
    LazyLock::new(|| serde_json::from_str(include_str!("../published.json")).expect("the file is checked in"));

/// What was published of the network that a workload trained, with batches of the same size: a sentence for each device, the
/// fastest first. Nothing where the run has no time for a pass over its data.
pub fn sentences(record: &WorkloadRecord) -> Vec<String> {
    let settings = &record.settings;
    let Some(own) = epoch_seconds(record) else { return Vec::new() };
    let same = |of: &&Published| of.workload == record.workload && of.batch_size == settings.batch_size;
    ALL.iter().filter(same).map(|of| of.beside(own)).collect()
}

/// Of one pass over the training set, measured or at the measured throughput.
fn epoch_seconds(record: &WorkloadRecord) -> Option<f64> {
    let projected = || Some(f64::from(record.settings.training_samples) / record.summary.samples_per_second?);
    record.summary.seconds_per_epoch.or_else(projected).filter(|seconds| *seconds > 0.0)
}

impl Published {
    fn beside(&self, own_seconds: f64) -> String {
        let ratio = self.seconds_per_epoch / own_seconds;
        let times = if ratio >= 1.0 { ratio } else { 1.0 / ratio };
        let times = text::number(times, if times < 10.0 { 1 } else { 0 });
        let (device, framework, citation) = (&self.device, &self.framework, &self.citation);
        let seconds = text::seconds(self.seconds_per_epoch);
        if ratio >= 1.0 {
            t!(
                result_published_fast,
                device = device,
                framework = framework,
                seconds = seconds,
                times = times,
                citation = citation
            )
        } else {
            t!(
                result_published_slow,
                device = device,
                framework = framework,
                seconds = seconds,
                times = times,
                citation = citation
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use results::Summary;

    use super::*;
    use crate::headline::tests::record;

    #[test]
    fn every_line_is_of_a_network_of_the_page() {
        assert!(ALL.len() > 40);
        for of in ALL.iter() {
            assert!(engine::workload(&of.workload).is_some() && of.seconds_per_epoch > 0.0, "{of:?}");
        }
    }

    #[test]
    fn hardware_of_its_time_stands_beside_a_run_with_the_same_batches() {
        let summary = Summary { samples_per_second: Some(600_000.0), ..Summary::default() };
        let fast = record([0.9, 0.9], None, summary);
        let found = sentences(&fast);
        assert!(found[0].starts_with("NVIDIA Tesla K80 GPU with Keras/MXNet took 1.4"), "{found:?}");
        assert!(found[0].contains("this device is 14 times as fast. Published: Bhatia, article, 2017."), "{found:?}");
        let mut slow = record([0.9, 0.9], None, Summary { seconds_per_epoch: Some(14.0), ..Summary::default() });
        assert!(sentences(&slow)[0].contains("this device takes 10 times as long."), "{:?}", sentences(&slow));
        slow.settings.batch_size = 17;
        assert_eq!(sentences(&slow), Vec::<String>::new(), "other batches are other work");
        assert_eq!(sentences(&record([0.9, 0.9], None, Summary::default())), Vec::<String>::new());
    }
}
