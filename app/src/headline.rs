//! The outcome of a finished network in a sentence: time to its target or the accuracy it reached, and its throughput.
//! Never a dash: a run that was too short for a throughput shows its samples.

use results::{Evaluation, WorkloadRecord, metric};

use crate::{t, text};

/// The earliest of the most accurate evaluations.
fn best_of(evaluations: &[Evaluation]) -> Option<&Evaluation> {
    evaluations.iter().rev().max_by(|one, other| one.accuracy.total_cmp(&other.accuracy))
}

/// Returns the metrics of a completed workload as the end of a sentence.
pub fn sentence(record: &WorkloadRecord) -> String {
    let throughput = metric("samples_per_second")
        .and_then(|metric| (metric.value)(&record.summary).map(|value| text::metric_text(metric, value)))
        .unwrap_or_else(|| {
            let summary = &record.summary;
            let samples = t!(common_samples_counted, number = summary.samples);
            format!("{samples} in {}", text::seconds(summary.training_seconds))
        });
    let accuracy = record.summary.accuracy.map(|share| t!(result_test_accuracy, accuracy = text::percent(share)));
    let target = record.target.and_then(|target| {
        let percent = text::whole_percent(target.accuracy);
        match target.reached_seconds {
            Some(seconds) => Some(t!(result_target_reached, target = percent, seconds = text::seconds(seconds))),
            None => best_of(&record.evaluations)
                .map(|best| t!(result_target_missed, target = percent, seconds = text::seconds(best.training_seconds))),
        }
    });
    [target, accuracy, Some(throughput)].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
pub(crate) mod tests {
    use results::{Outcome, Settings, Summary, Target};

    use super::*;

    /// Creates a completed workload evaluated after one and three seconds.
    pub(crate) fn record(accuracies: [f64; 2], target: Option<Target>, summary: Summary) -> WorkloadRecord {
        let evaluation = |step: u64, accuracy: f64| Evaluation {
            step,
            training_seconds: step as f64,
            seconds: 0.1,
            loss: 0.5,
            accuracy,
        };
        WorkloadRecord {
            workload: "keras-mnist-mlp".to_owned(),
            settings: Settings { batch_size: 128, training_samples: 60_000, ..Settings::default() },
            outcome: Outcome::Completed,
            evaluations: vec![evaluation(1, accuracies[0]), evaluation(3, accuracies[1])],
            target,
            summary,
            ..WorkloadRecord::default()
        }
    }

    fn target(reached_seconds: Option<f64>) -> Option<Target> {
        Some(Target { accuracy: 0.98, reached_seconds, reached_step: reached_seconds.map(|_| 7) })
    }

    #[test]
    fn says_target_then_accuracy_then_throughput_or_samples() {
        let summary = Summary {
            samples_per_second: Some(51_230.0),
            accuracy: Some(0.9812),
            seconds_to_target: Some(2.5),
            ..Summary::default()
        };
        let sentence = sentence(&record([0.97, 0.9812], target(Some(2.5)), summary));
        assert!(sentence.starts_with("98 % after 2.5") && sentence.ends_with("51.23 k samples/s"), "{sentence}");
        let summary = Summary { samples_per_second: Some(100.0), accuracy: Some(0.93), ..Summary::default() };
        let missed = super::sentence(&record([0.95, 0.93], target(None), summary));
        assert!(missed.starts_with("target of 98 % not reached in 1"), "{missed}");
        let summary = Summary { samples: 1280, training_seconds: 1.5, accuracy: Some(0.5), ..Summary::default() };
        let short = super::sentence(&record([0.4, 0.5], None, summary));
        assert!(short.ends_with("1,280 samples in 1.500 s"), "{short}");
    }
}
