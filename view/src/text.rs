//! Formats numbers as text.

use std::fmt::Display;

use engine::DataSetDefinition;
use results::kernels::PeakUnit;
use results::{Goal, WorkloadRecord, bits_per_character, metric};

/// Formats a time with four significant digits and its unit.
pub fn seconds(value: f64) -> String {
    figure("training_seconds", value)
}

pub fn rate(value: f64) -> String {
    figure("samples_per_second", value)
}

pub fn flops(value: f64) -> String {
    figure("flops_per_second", value)
}

pub fn peak(unit: PeakUnit, value: f64) -> String {
    match unit {
        PeakUnit::FlopsPerSecond => flops(value),
        PeakUnit::Seconds => seconds(value),
        // Bytes and launches use the same prefixes as operations and samples.
        PeakUnit::BytesPerSecond => flops(value).replace("FLOP", "B"),
        PeakUnit::LaunchesPerSecond => rate(value).replace("samples", "launches"),
    }
}

pub fn percent(share: f64) -> String {
    figure("accuracy", share)
}

/// Returns true if the network of a record reads a text, so that its loss is also shown in bits per character.
pub fn reads_text(record: &WorkloadRecord) -> bool {
    let own = record.network.as_ref().and_then(|network| network["data_set"].as_str());
    let set = own.or_else(|| engine::workload(&record.workload).map(|workload| workload.data_set));
    set.and_then(engine::data_set).is_some_and(DataSetDefinition::is_text)
}

/// Formats a test loss, of a text with its bits per character: `1.883 (2.717 bits per character)`.
pub fn loss(value: f64, is_text: bool) -> String {
    let [loss, bits] = [value, bits_per_character(value)].map(|value| figure("test_loss", value));
    if is_text { format!("{loss} ({bits} bits per character)") } else { loss }
}

/// Formats a goal: `97 %` or `loss 1.9`.
pub fn goal(goal: Goal) -> String {
    match goal {
        Goal::Accuracy(accuracy) => format!("{} %", trimmed(100.0 * accuracy, 2)),
        Goal::Loss(loss) => format!("loss {}", trimmed(loss, 3)),
    }
}

/// Formats a value of the metric with this id.
pub fn figure(id: &str, value: f64) -> String {
    metric(id).unwrap_or_else(|| panic!("{id} is not in the registry of metrics")).text(value)
}

pub fn points(difference: f64) -> String {
    format!("{} points", trimmed(difference.abs() * 100.0, 2))
}

/// Formats a ratio, such as `2.1`.
pub fn times(ratio: f64) -> String {
    format!("{ratio:.*}", decimals(ratio).min(2))
}

/// Returns the decimals of a number with three significant digits, at most 3.
fn decimals(value: f64) -> usize {
    [100.0, 10.0, 1.0].into_iter().filter(|bound| value < *bound).count()
}

pub fn whole_percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

pub fn mebibytes(bytes: f64) -> String {
    format!("{:.1} MiB", bytes / f64::from(1 << 20))
}

/// Separates thousands in a whole number.
pub fn grouped(digits: &str, separator: char) -> String {
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(separator);
        }
        text.push(digit);
    }
    text
}

/// Formats a number without trailing zeros.
pub fn trimmed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    if !text.contains('.') {
        return text;
    }
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Formats a value for a table of unrounded values.
pub fn brief(value: f64) -> String {
    let decimals = match value.abs() {
        100.0.. => 1,
        1.0.. => 3,
        _ => 6,
    };
    trimmed(value, decimals)
}

/// Formats a setting, such as a learning rate, with all its digits.
pub fn plain(value: f64) -> String {
    if value != 0.0 && value.abs() < 1e-5 { format!("{value:e}") } else { value.to_string() }
}

/// Formats a number with up to three significant digits.
pub fn epoch_count(value: f64) -> String {
    trimmed(value, decimals(value))
}

pub fn epochs(value: f64) -> String {
    let number = epoch_count(value);
    format!("{number} {}", if number == "1" { "epoch" } else { "epochs" })
}

/// Formats a count, such as `1 seed` or `2 seeds`.
pub fn counted(count: impl Display, what: &str) -> String {
    let count = count.to_string();
    format!("{count} {what}{}", if count == "1" { "" } else { "s" })
}

/// Formats a count of entries: `1 entry`, `2 entries`.
pub fn counted_entries(count: usize) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") }
}

/// Joins words as in `a`, `a and b`, `a, b and c`.
pub fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units_and_few_digits() {
        assert_eq!((seconds(0.5).as_str(), seconds(1234.5).as_str()), ("500.0 ms", "20.57 min"));
        assert_eq!((points(-0.004).as_str(), points(0.1).as_str()), ("0.4 points", "10 points"));
        assert_eq!((times(2.0).as_str(), times(12.34).as_str(), times(345.6).as_str()), ("2.00", "12.3", "346"));
        assert_eq!((plain(0.0001).as_str(), plain(500.0).as_str(), plain(1e-7).as_str()), ("0.0001", "500", "1e-7"));
        assert_eq!((epochs(1.0).as_str(), epochs(10.667).as_str()), ("1 epoch", "10.7 epochs"));
        assert_eq!(epochs(0.02133), "0.021 epochs");
    }

    #[test]
    fn only_losses_of_texts_have_bits() {
        let of = |workload: &str| {
            let record = WorkloadRecord { workload: workload.to_owned(), ..WorkloadRecord::default() };
            loss(1.8834, reads_text(&record))
        };
        assert_eq!([of("gpt-nano"), of("caffe-mnist")], ["1.883 (2.717 bits per character)", "1.883"]);
        assert_eq!([goal(Goal::Accuracy(0.975)), goal(Goal::Loss(1.9))], ["97.5 %", "loss 1.9"]);
    }

    #[test]
    fn bytes_and_launches_are_shown_in_thousands() {
        assert_eq!(peak(PeakUnit::BytesPerSecond, 12_345_678_901.0), "12.35 GB/s");
        assert_eq!(peak(PeakUnit::LaunchesPerSecond, 54_321.0), "54.32 k launches/s");
        assert_eq!(peak(PeakUnit::Seconds, 0.002), "2.000 ms");
        assert_eq!([percent(0.5), rate(10.0), seconds(2.0)], ["50.00 %", "10.00 samples/s", "2.000 s"]);
    }

    #[test]
    fn words_are_listed_and_counted() {
        let words = |count: usize| listed(&["a", "b", "c"].map(str::to_owned)[..count]);
        assert_eq!([words(0), words(1), words(2), words(3)], ["", "a", "a and b", "a, b and c"]);
        assert_eq!((counted(1, "seed"), counted(2, "seed")), ("1 seed".to_owned(), "2 seeds".to_owned()));
    }
}
