//! Headline metrics of a finished network: throughput, accuracy, and time to its target or else its best accuracy.
//! Never a dash: a run that was too short to measure throughput shows its number of samples.

use results::{Evaluation, WorkloadRecord, metric};

use crate::{t, text};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    pub title: String,
    pub number: String,
    pub unit: String,
    pub remark: Option<String>,
}

impl Figure {
    /// Splits off the unit, which is the last word of the text.
    fn new(title: impl Into<String>, text: &str) -> Self {
        let (number, unit) = text.rsplit_once(' ').unwrap_or((text, ""));
        Self { title: title.into(), number: number.to_owned(), unit: unit.to_owned(), remark: None }
    }

    fn with(self, remark: impl Into<String>) -> Self {
        Self { remark: Some(remark.into()), ..self }
    }
}

/// Returns the metrics of a completed workload, the most important one first.
pub fn figures(record: &WorkloadRecord) -> Vec<Figure> {
    let of = |id: &str| {
        let metric = metric(id)?;
        (metric.value)(&record.summary)
            .map(|value| Figure::new(text::metric_title(metric), &text::metric_text(metric, value)))
    };
    let parts = [
        Some(of("samples_per_second").unwrap_or_else(|| trained(record))),
        of("accuracy"),
        of("seconds_to_target").map(|figure| Figure { title: time_to(record), ..figure }).or_else(|| best(record)),
        of("share_of_peak").map(|figure| Figure { title: t!(metric_share_of_peak).to_owned(), ..figure }),
        of("sustained_ratio").map(|figure| Figure { title: t!(metric_sustained_ratio).to_owned(), ..figure }),
    ];
    parts.into_iter().flatten().collect()
}

fn time_to(record: &WorkloadRecord) -> String {
    let target = record.target.map_or(0.0, |target| target.accuracy);
    t!(result_time_to, target = text::whole_percent(target))
}

/// Number of samples of a run that was too short to measure throughput.
fn trained(record: &WorkloadRecord) -> Figure {
    let summary = &record.summary;
    Figure::new(t!(common_training), &t!(common_samples_counted, number = summary.samples))
        .with(t!(result_too_short, seconds = text::seconds(summary.training_seconds)))
}

/// Best accuracy of a run that did not reach its target.
fn best(record: &WorkloadRecord) -> Option<Figure> {
    let target = record.target?;
    let best = best_of(&record.evaluations)?;
    let title = t!(result_best_in, seconds = text::seconds(best.training_seconds));
    let figure = Figure::new(title, &text::percent(best.accuracy));
    Some(figure.with(t!(chart_target, value = text::whole_percent(target.accuracy))))
}

/// Earliest of the most accurate evaluations.
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
    [Some(throughput), accuracy, target].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
pub(crate) mod tests {
    use results::{ColdStart, Outcome, Precision, Resources, Settings, Summary, Target};

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
            network: None,
            settings: Settings {
                batch_size: 128,
                learning_rate: 0.1,
                precision: Precision::F32,
                training_samples: 60_000,
                test_samples: 10_000,
                chance_accuracy: None,
                parameters: 1,
                training_flops_per_sample: 1,
                device_memory_bytes: 0,
                threads: None,
                layout: None,
                variants: Vec::new(),
            },
            outcome: Outcome::Completed,
            correctness: None,
            cold_start: ColdStart {
                data_seconds: None,
                build_seconds: None,
                compiling_seconds: None,
                tuning_seconds: None,
                first_step_seconds: None,
            },
            first_losses: Vec::new(),
            curve: Vec::new(),
            evaluations: vec![evaluation(1, accuracies[0]), evaluation(3, accuracies[1])],
            epochs: Vec::new(),
            windows: Vec::new(),
            peaks: Vec::new(),
            timeline: Vec::new(),
            segments: Vec::new(),
            target,
            weight_samples: Vec::new(),
            communication: None,
            input: None,
            resources: Resources::default(),
            summary,
        }
    }

    fn target(reached_seconds: Option<f64>) -> Option<Target> {
        Some(Target { accuracy: 0.98, reached_seconds, reached_step: reached_seconds.map(|_| 7) })
    }

    fn texts(record: &WorkloadRecord) -> Vec<String> {
        let text = |of: Figure| format!("{}: {} {} {}", of.title, of.number, of.unit, of.remark.unwrap_or_default());
        figures(record).into_iter().map(text).collect()
    }

    #[test]
    fn shows_time_to_target_if_reached() {
        let summary = Summary {
            samples_per_second: Some(51_230.0),
            accuracy: Some(0.9812),
            seconds_to_target: Some(2.5),
            share_of_peak: Some(0.41),
            ..Summary::default()
        };
        let record = record([0.97, 0.9812], target(Some(2.5)), summary);
        let texts = texts(&record);
        assert_eq!(texts.len(), 4, "{texts:?}");
        assert!(texts[2].starts_with("Time to 98 %: 2.5"), "{texts:?}");
        assert!(texts[3].starts_with("Share of the device's peak: 41.00 %"), "{texts:?}");
        assert!(sentence(&record).contains("98 % after 2.5"), "{}", sentence(&record));
    }

    #[test]
    fn shows_best_accuracy_if_target_was_missed() {
        let summary = Summary { samples_per_second: Some(100.0), accuracy: Some(0.93), ..Summary::default() };
        let record = record([0.95, 0.93], target(None), summary);
        let texts = texts(&record);
        assert!(texts[2].starts_with("Best in 1") && texts[2].contains("95.00 % target 98 %"), "{texts:?}");
        assert!(sentence(&record).contains("target of 98 % not reached in 1"), "{}", sentence(&record));
    }

    #[test]
    fn run_too_short_for_throughput_shows_samples() {
        let summary = Summary { samples: 1280, training_seconds: 1.5, accuracy: Some(0.5), ..Summary::default() };
        let record = record([0.4, 0.5], None, summary);
        let texts = texts(&record);
        assert!(texts[0].starts_with("Training: 1,280 samples in 1.5"), "{texts:?}");
        assert!(texts.iter().all(|text| !text.contains('–')), "{texts:?}");
        assert!(sentence(&record).starts_with("1,280 samples in 1.5"), "{}", sentence(&record));
    }
}
