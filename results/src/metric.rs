use crate::Summary;

/// Unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    SamplesPerSecond,
    FlopsPerSecond,
    Seconds,
    /// Share from 0 to 1, shown as a percentage.
    Share,
    /// Mean cross-entropy in nats, shown as a bare number.
    Loss,
    Joules,
    /// Samples per second per watt, which is samples per joule.
    SamplesPerJoule,
}

/// Metric of a workload. The terminal, the page and the server all render from this definition.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    pub id: &'static str,
    pub title: &'static str,
    pub unit: Unit,
    /// One sentence for readers who have not read the methodology.
    pub description: &'static str,
    pub value: fn(&Summary) -> Option<f64>,
}

impl Metric {
    const fn about(self, description: &'static str) -> Self {
        Self { description, ..self }
    }

    /// Formats a value with its unit, with four significant digits.
    pub fn text(&self, value: f64) -> String {
        match self.unit {
            Unit::SamplesPerSecond => format!("{} samples/s", with_si_prefix(value)),
            Unit::FlopsPerSecond => format!("{}FLOP/s", with_si_prefix(value)),
            Unit::Seconds => in_unit(value, [(1e-3, 1e6, "µs"), (1.0, 1e3, "ms"), (600.0, 1.0, "s")])
                .unwrap_or_else(|| format!("{} min", format_significant(value / 60.0))),
            Unit::Share => format!("{:.2} %", value * 100.0),
            Unit::Loss => format_significant(value),
            Unit::Joules => in_unit(value, [(1e-3, 1e6, "µJ"), (1.0, 1e3, "mJ"), (1e4, 1.0, "J")])
                .unwrap_or_else(|| format!("{}J", with_si_prefix(value))),
            Unit::SamplesPerJoule => format!("{} samples/J", with_si_prefix(value)),
        }
    }

    /// Formats the metric of `summary`, or returns a dash if it is absent.
    pub fn text_of(&self, summary: &Summary) -> String {
        (self.value)(summary).map_or_else(|| "–".to_owned(), |value| self.text(value))
    }
}

/// Returns the metrics for a table of these summaries. Energy is left out unless a summary has it.
pub fn metrics_of<'a>(summaries: impl IntoIterator<Item = &'a Summary>) -> Vec<&'static Metric> {
    let summaries: Vec<&Summary> = summaries.into_iter().collect();
    let is_energy = |metric: &Metric| matches!(metric.unit, Unit::Joules | Unit::SamplesPerJoule);
    let is_present = |metric: &Metric| summaries.iter().any(|summary| (metric.value)(summary).is_some());
    METRICS.iter().filter(|metric| !is_energy(metric) || is_present(metric)).collect()
}

const fn measure(id: &'static str, title: &'static str, unit: Unit, value: fn(&Summary) -> Option<f64>) -> Metric {
    Metric { id, title, unit, description: "", value }
}

/// All metrics, in table order.
pub const METRICS: &[Metric] = &[
    measure("samples_per_second", "Training throughput", Unit::SamplesPerSecond, |s| s.samples_per_second)
        .about("Training samples per second: the median of windows of at least one second after the warm-up."),
    measure("accuracy", "Test accuracy", Unit::Share, |s| s.accuracy)
        .about("Share of correct answers that the trained network gives on the test set."),
    measure("test_loss", "Test loss", Unit::Loss, |s| s.test_loss)
        .about("Mean cross-entropy of the trained network's answers on the test set; lower is better."),
    measure("seconds_to_target", "Time to target", Unit::Seconds, |s| s.seconds_to_target).about(
        "Seconds of training, evaluation excluded, until the workload's target accuracy or loss was first seen.",
    ),
    measure("seconds_per_epoch", "Time per epoch", Unit::Seconds, |s| s.seconds_per_epoch)
        .about("Seconds of training for one pass over the training set, median over the finished epochs."),
    measure("step_seconds_p50", "Step time, median", Unit::Seconds, |s| s.step_seconds_p50)
        .about("Seconds per training step, median over the counted windows."),
    measure("step_seconds_p95", "Step time, 95th percentile of windows", Unit::Seconds, |s| s.step_seconds_p95)
        .about("Seconds per training step: in 95 % of the counted windows, the mean is lower."),
    measure("training_seconds", "Timed training", Unit::Seconds, |s| Some(s.training_seconds))
        .about("All timed training of this run, including training only for measurement, without evaluation."),
    measure("testing_seconds", "Testing time", Unit::Seconds, |s| s.testing_seconds)
        .about("Seconds of the last pass over the test set."),
    measure("flops_per_second", "Arithmetic", Unit::FlopsPerSecond, |s| s.flops_per_second)
        .about("Floating-point operations per second that the network needs, counted from its shapes."),
    measure("share_of_peak", "Share of the device's peak", Unit::Share, |s| s.share_of_peak).about(
        "Arithmetic as a share of the device's best rate, measured right afterwards with multiplications \
             and additions only.",
    ),
    measure("sustained_ratio", "Sustained", Unit::Share, |s| s.sustained_ratio)
        .about("Slowest counted window divided by the fastest; from 97 % the run is called sustained."),
    measure("joules_per_epoch", "Energy per epoch", Unit::Joules, |s| s.joules_per_epoch)
        .about("Energy that the device used in timed training, for as many samples as the training set has."),
    measure("joules_per_sample", "Energy per sample", Unit::Joules, |s| s.joules_per_sample)
        .about("Energy that the device used in timed training, for each sample."),
    measure("samples_per_joule", "Throughput per watt", Unit::SamplesPerJoule, |s| s.samples_per_joule)
        .about("Training samples per second for each watt that the device used: samples for each joule."),
];

pub fn metric(id: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|m| m.id == id)
}

/// Converts the mean loss of the characters of a text to bits per character.
pub fn bits_per_character(loss: f64) -> f64 {
    loss / std::f64::consts::LN_2
}

/// Formats a score in GFLOP/s with three significant digits: `0.873`, `15.3`, `4210`.
pub fn score_digits(score: f64) -> String {
    // Take the exponent after rounding: 9.996 becomes 10.0.
    let rounded = format!("{score:.2e}");
    let exponent: i32 = rounded.rsplit_once('e').and_then(|(_, digits)| digits.parse().ok()).unwrap_or(0);
    let decimals = usize::try_from(2 - exponent).unwrap_or(0);
    rounded.parse().map_or(rounded, |rounded: f64| format!("{rounded:.decimals$}"))
}

/// Formats four significant digits with an SI prefix: `12.34 k`, `1.5 G`.
fn with_si_prefix(value: f64) -> String {
    for (factor, prefix) in [(1e12, " T"), (1e9, " G"), (1e6, " M"), (1e4, " k")] {
        if value.abs() >= factor {
            let divisor = if factor == 1e4 { 1e3 } else { factor };
            return format!("{}{prefix}", format_significant(value / divisor));
        }
    }
    format_significant(value)
}

fn format_significant(value: f64) -> String {
    let decimals = [10.0, 100.0, 1000.0].iter().filter(|limit| value.abs() < **limit).count();
    format!("{value:.decimals$}")
}

/// Formats a value in the first unit whose limit it does not reach. A unit has a limit, a factor and a symbol.
fn in_unit(value: f64, units: [(f64, f64, &str); 3]) -> Option<String> {
    let (_, factor, symbol) = units.into_iter().find(|(limit, ..)| value < *limit)?;
    Some(format!("{} {symbol}", format_significant(value * factor)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_have_unique_ids() {
        for (i, metric) in METRICS.iter().enumerate() {
            assert!(METRICS[..i].iter().all(|other| other.id != metric.id), "{} twice", metric.id);
        }
    }

    #[test]
    fn values_have_four_significant_digits_and_a_unit() {
        let text = |id: &str, value: f64| metric(id).unwrap().text(value);
        assert_eq!(text("samples_per_second", 3_412.4), "3412 samples/s");
        assert_eq!(text("samples_per_second", 1_234_567.0), "1.235 M samples/s");
        assert_eq!(text("accuracy", 0.98125), "98.12 %");
        assert_eq!(text("test_loss", 1.8834), "1.883");
        assert_eq!(text("step_seconds_p50", 0.000_31), "310.0 µs");
        assert_eq!(text("seconds_per_epoch", 39.871), "39.87 s");
        assert_eq!(text("flops_per_second", 12_345_678_901.0), "12.35 GFLOP/s");
        assert_eq!(text("joules_per_sample", 0.001_234_5), "1.234 mJ");
        assert_eq!(text("joules_per_epoch", 345.6), "345.6 J");
        assert_eq!(text("joules_per_epoch", 12_345.0), "12.35 kJ");
        assert_eq!(text("samples_per_joule", 81.25), "81.25 samples/J");
        assert_eq!(metric("seconds_to_target").unwrap().text_of(&Summary::default()), "–");
    }

    #[test]
    fn energy_is_shown_if_one_summary_has_it() {
        let has_energy = |summaries: &[Summary]| metrics_of(summaries).iter().any(|of| of.unit == Unit::Joules);
        let with_energy = Summary { joules_per_sample: Some(1.0), ..Summary::default() };
        assert!(!has_energy(&[Summary::default()]) && has_energy(&[Summary::default(), with_energy]));
        assert_eq!(metrics_of(&[Summary::default()]).len(), METRICS.len() - 3);
    }

    #[test]
    fn scores_have_three_significant_digits() {
        let shown = [0.0871, 0.8734, 1.0, 9.996, 15.34, 99.95, 421.4, 4213.0].map(score_digits);
        assert_eq!(shown, ["0.0871", "0.873", "1.00", "10.0", "15.3", "100", "421", "4210"]);
    }
}
