//! Sentences about the results of a run.

use results::{Evaluation, FailureCause, Goal, Outcome, RunRecord, WorkloadRecord, metric};

use view::text::reads_text;

use super::remarks::failure_of_workload;
use crate::t;
use crate::text::{count, device_name, goal, metric_text, percent, score, seconds, test_loss, workload_title};

/// Summarizes a finished run in one sentence for the status region.
pub fn headline(record: &RunRecord) -> String {
    match came_to(record) {
        nothing if nothing.is_empty() => t!(common_run_trained_nothing).to_owned(),
        figures => t!(common_done, figures),
    }
}

pub fn came_to(record: &RunRecord) -> String {
    record.workloads.iter().map(workload_headline).collect::<Vec<_>>().join(" ")
}

pub fn to_pass_on(record: &RunRecord) -> String {
    let device = device_name(&record.device.adapter, record.device.claimed_name.as_deref());
    let client = &record.provenance.client;
    let score = engine::score(record).map_or_else(String::new, |of| format!(" {} GFLOP/s.", score(of.value)));
    let figures = came_to(record);
    format!("{device} ({}, {}), Gradmark:{score} {figures}", client.name, client.operating_system)
}

pub fn workload_headline(record: &WorkloadRecord) -> String {
    let title = workload_title(&record.workload);
    match &record.outcome {
        Outcome::Completed => format!("{title}: {}.", figures(record)),
        other => format!("{title}: {}", outcome(other)),
    }
}

pub fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Completed => t!(outcome_completed).to_owned(),
        Outcome::Diverged { step } => t!(outcome_diverged, step = count(*step)),
        Outcome::Incorrect => t!(outcome_incorrect).to_owned(),
        Outcome::Cancelled => t!(outcome_cancelled).to_owned(),
        Outcome::Failed { cause, reason } => t!(outcome_failed, reason = failure_of_workload(*cause, reason)),
    }
}

/// Returns the reason no workload was trained; `None` if one was.
pub fn nothing_trained(record: &RunRecord) -> Option<(FailureCause, String)> {
    let reason = |of: &WorkloadRecord| match &of.outcome {
        Outcome::Failed { cause, reason } => Some((*cause, reason.clone())),
        _ => None,
    };
    let reasons: Vec<_> = record.workloads.iter().map(reason).collect::<Option<_>>()?;
    reasons.into_iter().next()
}

/// Returns the metrics of a completed workload as the end of a sentence: without a throughput, its samples.
fn figures(record: &WorkloadRecord) -> String {
    let summary = &record.summary;
    let throughput = metric("samples_per_second").and_then(|of| Some(metric_text(of, (of.value)(summary)?)));
    let throughput = throughput.unwrap_or_else(|| {
        let samples = t!(common_samples_counted, number = summary.samples);
        format!("{samples} in {}", seconds(summary.training_seconds))
    });
    let aims_at_loss = record.target.is_some_and(|target| matches!(target.goal, Goal::Loss(_)));
    let tested = if aims_at_loss {
        summary.test_loss.map(|loss| t!(result_test_loss, loss = test_loss(loss, reads_text(record))))
    } else {
        summary.accuracy.map(|share| t!(result_test_accuracy, accuracy = percent(share)))
    };
    let target = record.target.and_then(|target| {
        let aim = goal(target.goal);
        if let Some(reached) = target.reached_seconds {
            return Some(t!(result_target_reached, target = aim, seconds = seconds(reached)));
        }
        let quality = |test: &Evaluation| if aims_at_loss { -test.loss } else { test.accuracy };
        // The earliest of the best evaluations.
        let best = record.evaluations.iter().rev().max_by(|a, b| quality(a).total_cmp(&quality(b)))?;
        Some(t!(result_target_missed, target = aim, seconds = seconds(best.training_seconds)))
    });
    [target, tested, Some(throughput)].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
pub(crate) mod tests {
    use results::{Evaluation, Settings, Summary, Target};

    use super::*;

    #[test]
    fn unfinished_workload_has_a_reason() {
        assert!(outcome(&Outcome::Diverged { step: 12 }).contains("step 12"));
        assert!(outcome(&Outcome::Incorrect).contains("nothing was timed"));
        let failed = Outcome::failed(results::FailureCause::DoesNotFit, "the buffer `x` needs 2 bytes.");
        assert_eq!(outcome(&failed), "it could not be trained on this device: the buffer `x` needs 2 bytes.");
    }

    /// Creates a completed workload evaluated after one and three seconds.
    pub(crate) fn record(accuracies: [f64; 2], target: Option<Target>, summary: Summary) -> WorkloadRecord {
        let evaluation = |step, accuracy| {
            let training_seconds = step as f64;
            Evaluation { step, training_seconds, seconds: 0.1, loss: 0.5, accuracy }
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
        Some(Target { goal: Goal::Accuracy(0.98), reached_seconds, reached_step: reached_seconds.map(|_| 7) })
    }

    #[test]
    fn says_target_then_accuracy_then_throughput_or_samples() {
        let summary = Summary {
            samples_per_second: Some(51_230.0),
            accuracy: Some(0.9812),
            seconds_to_target: Some(2.5),
            ..Summary::default()
        };
        let sentence = figures(&record([0.97, 0.9812], target(Some(2.5)), summary));
        assert!(sentence.starts_with("98 % after 2.5") && sentence.ends_with("51.23 k samples/s"), "{sentence}");
        let summary = Summary { samples_per_second: Some(100.0), accuracy: Some(0.93), ..Summary::default() };
        let missed = figures(&record([0.95, 0.93], target(None), summary));
        assert!(missed.starts_with("target of 98 % not reached in 1"), "{missed}");
        let summary = Summary { samples_per_second: Some(100.0), test_loss: Some(1.8834), ..Summary::default() };
        let mut model = record([0.3, 0.4], Some(Target { goal: Goal::Loss(0.4), ..target(None).unwrap() }), summary);
        model.workload = "gpt-nano".to_owned();
        let expected = "target of loss 0.4 not reached in 1.000 s, test loss 1.883 (2.717 bits per character), ";
        assert!(figures(&model).starts_with(expected), "{}", figures(&model));
        let summary = Summary { samples: 1280, training_seconds: 1.5, accuracy: Some(0.5), ..Summary::default() };
        let short = figures(&record([0.4, 0.5], None, summary));
        assert!(short.ends_with("1,280 samples in 1.500 s"), "{short}");
    }
}
