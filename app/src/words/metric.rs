//! What figures are called and how they are written. In English as the crate `results` has it, which a test holds this to.

use results::{Metric, Summary, Unit};

use crate::t;
use crate::words::language;

/// What a figure is called.
pub fn title(metric: &Metric) -> &'static str {
    words(metric).0
}

/// One sentence for a person who has not read the methodology.
pub fn description(metric: &Metric) -> &'static str {
    words(metric).1
}

fn words(metric: &Metric) -> (&'static str, &'static str) {
    match metric.id {
        "samples_per_second" => (t!(metric_samples_per_second), t!(metric_samples_per_second_description)),
        "accuracy" => (t!(metric_accuracy), t!(metric_accuracy_description)),
        "seconds_to_target" => (t!(metric_seconds_to_target), t!(metric_seconds_to_target_description)),
        "seconds_per_epoch" => (t!(metric_seconds_per_epoch), t!(metric_seconds_per_epoch_description)),
        "step_seconds_p50" => (t!(metric_step_seconds_p50), t!(metric_step_seconds_p50_description)),
        "step_seconds_p95" => (t!(metric_step_seconds_p95), t!(metric_step_seconds_p95_description)),
        "training_seconds" => (t!(metric_training_seconds), t!(metric_training_seconds_description)),
        "testing_seconds" => (t!(metric_testing_seconds), t!(metric_testing_seconds_description)),
        "flops_per_second" => (t!(metric_flops_per_second), t!(metric_flops_per_second_description)),
        "share_of_peak" => (t!(metric_share_of_peak), t!(metric_share_of_peak_description)),
        "sustained_ratio" => (t!(metric_sustained_ratio), t!(metric_sustained_ratio_description)),
        "joules_per_epoch" => (t!(metric_joules_per_epoch), t!(metric_joules_per_epoch_description)),
        "joules_per_sample" => (t!(metric_joules_per_sample), t!(metric_joules_per_sample_description)),
        "samples_per_joule" => (t!(metric_samples_per_joule), t!(metric_samples_per_joule_description)),
        _ => (metric.title, metric.description),
    }
}

/// The figure as a person reads it: four significant digits, with its unit.
pub fn text(metric: &Metric, value: f64) -> String {
    let english = metric.text(value);
    let text = match metric.unit {
        Unit::SamplesPerSecond | Unit::SamplesPerJoule => {
            english.replace("samples/", &format!("{}/", t!(common_samples)))
        }
        Unit::FlopsPerSecond | Unit::Seconds | Unit::Share | Unit::Joules | Unit::One => english,
    };
    language().number(&text)
}

/// The figure of `summary` as text, or a dash where the run does not have it.
pub fn text_of(metric: &Metric, summary: &Summary) -> String {
    (metric.value)(summary).map_or_else(|| "–".to_owned(), |value| text(metric, value))
}

/// What the texts of throughputs end in.
pub fn rate_unit() -> String {
    format!(" {}/s", t!(common_samples))
}

#[cfg(test)]
mod tests {
    use results::METRICS;

    use super::*;
    use crate::words::{Language, speak};

    #[test]
    fn every_figure_has_the_words_of_the_results_in_english_and_others_in_german() {
        for metric in METRICS {
            assert_eq!((title(metric), description(metric)), (metric.title, metric.description));
            assert_eq!(text(metric, 12_345.678), metric.text(12_345.678));
            speak(Language::German);
            assert_ne!(description(metric), metric.description, "translate it: app/locales/de/metric.ftl");
            speak(Language::English);
        }
    }

    #[test]
    fn a_figure_is_written_as_the_language_writes_it() {
        speak(Language::German);
        let text = |id: &str, value: f64| text(results::metric(id).unwrap(), value);
        assert_eq!(text("accuracy", 0.9785), "97,85 %");
        assert_eq!(text("samples_per_second", 12_345.0), "12,35 k Beispiele/s");
    }
}
