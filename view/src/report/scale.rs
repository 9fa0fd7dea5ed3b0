//! Scales of axes, with their marks.

use crate::report::group::range_of;
use crate::report::plot::{AxisQuantity, Extent};
use crate::text;

/// Smallest ratio of values that is shown in decades.
const MIN_DECADES_RATIO: f64 = 12.0;
/// Smallest ratio of distances to 1 that is shown in decades.
const MIN_ERRORS_RATIO: f64 = 5.0;
/// Maximum number of marks if twice and five times the powers of ten are also marked.
const MAX_FINE_MARKS: usize = 7;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scale {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) marks: Vec<Mark>,
    pub(crate) steps: ScaleSteps,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScaleSteps {
    Sums,
    /// Equal ratios.
    Decades,
    /// Equal ratios of the distance to 1.
    Errors,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mark {
    pub(crate) value: f64,
    pub(crate) text: String,
}

impl Scale {
    /// Creates a scale for these values, with about `count` marks.
    pub(crate) fn of(quantity: &AxisQuantity, values: impl Iterator<Item = f64>, count: u32) -> Self {
        let range = range_of(values).filter(|(low, high)| low.is_finite() && high.is_finite());
        let (low, high) = range.unwrap_or((0.0, 1.0));
        let in_decades = matches!(quantity.extent, Extent::Decades | Extent::FittedDecades)
            && low > 0.0
            && high / low >= MIN_DECADES_RATIO;
        let is_near_one =
            quantity.extent == Extent::Errors && high < 1.0 && (1.0 - low) / (1.0 - high) >= MIN_ERRORS_RATIO;
        let mut scale = if is_near_one {
            Self::of_errors(low, high)
        } else if in_decades {
            Self::logarithmic(low, high)
        } else {
            let from_zero = matches!(quantity.extent, Extent::FromZero | Extent::Decades) && low >= 0.0;
            Self::linear(if from_zero { 0.0 } else { low }, high, count, quantity.is_share)
        };
        if !quantity.marks.is_empty() {
            scale.marks = quantity.marks.iter().map(|&value| Mark { value, text: short(value) }).collect();
            if quantity.extent != Extent::FromZero && !in_decades {
                // Given marks need no round ends, only some margin.
                let air = ((high - low) * 0.06).max(f64::MIN_POSITIVE);
                (scale.low, scale.high) = (low - air, high + air);
            }
        }
        scale
    }

    /// Creates a scale with steps of 1, 2 or 5 times a power of ten: Heckbert, "Nice numbers for graph labels"
    /// (Graphics Gems, 1990).
    fn linear(low: f64, high: f64, count: u32, is_share: bool) -> Self {
        // A single value is centered.
        let pad = match (high > low, is_share) {
            (true, _) => 0.0,
            (false, true) => 0.01,
            (false, false) => (high.abs() * 0.1).max(0.5),
        };
        let (low, high) = (if low == 0.0 { low } else { low - pad }, high + pad);
        let high = if is_share { high.min(1.0) } else { high };
        let rough = (high - low) / f64::from(count.max(1));
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| *step >= rough * 0.999);
        let step = step.unwrap_or(10.0 * power);
        let first = (low / step + 1e-9).floor();
        let last = (high / step - 1e-9).ceil();
        let shown_step = if is_share { step * 100.0 } else { step };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a handful of digits")]
        let decimals = (-(shown_step * 1.001).log10().floor()).clamp(0.0, 9.0) as usize;
        let numbers = (0..=3 * count).map(|number| first + f64::from(number)).take_while(|number| *number <= last);
        let mark = |number: f64| {
            let value = number * step;
            let text = if is_share { format!("{:.decimals$} %", value * 100.0) } else { grouped(value, decimals) };
            Mark { value, text }
        };
        Self { low: first * step, high: last * step, marks: numbers.map(mark).collect(), steps: ScaleSteps::Sums }
    }

    fn logarithmic(low: f64, high: f64) -> Self {
        let (first, last) = (low.log10().floor(), high.log10().ceil());
        let powers = (0..=30).map(|number| first + f64::from(number)).take_while(|power| *power <= last);
        let all: Vec<f64> = powers.flat_map(|power| [1.0, 2.0, 5.0].map(|factor| factor * 10f64.powf(power))).collect();
        let begin = all.iter().copied().filter(|value| *value <= low * 1.000_001).fold(all[0], f64::max);
        let end = all.iter().copied().filter(|value| *value >= high * 0.999_999).fold(f64::INFINITY, f64::min);
        let inside: Vec<f64> = all.into_iter().filter(|value| (begin..=end).contains(value)).collect();
        let is_power = |value: &f64| (value.log10() - value.log10().round()).abs() < 1e-9;
        let marked: Vec<f64> =
            if inside.len() <= MAX_FINE_MARKS { inside } else { inside.into_iter().filter(is_power).collect() };
        let marks = marked.into_iter().map(|value| Mark { value, text: short(value) }).collect();
        Self { low: begin, high: end, marks, steps: ScaleSteps::Decades }
    }

    /// Creates a scale with 90 %, 99 % and 99.9 % at equal distances, and likewise for halves and fifths of the
    /// distance to 1.
    fn of_errors(low: f64, high: f64) -> Self {
        let errors = Self::logarithmic(1.0 - high, 1.0 - low);
        let mark = |error: Mark| {
            let value = 1.0 - error.value;
            Mark { value, text: format!("{} %", text::trimmed(value * 100.0, 5)) }
        };
        let marks = errors.marks.into_iter().rev().map(mark).collect();
        Self { low: 1.0 - errors.high, high: 1.0 - errors.low, marks, steps: ScaleSteps::Errors }
    }

    /// Returns the position of a value between the ends, 0 to 1.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let place = |value: f64| match self.steps {
            ScaleSteps::Sums => value,
            ScaleSteps::Decades => value.max(f64::MIN_POSITIVE).log10(),
            ScaleSteps::Errors => -(1.0 - value).max(f64::EPSILON).log10(),
        };
        let (low, high) = (place(self.low), place(self.high));
        if high > low { ((place(value) - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 }
    }
}

/// Formats a setting or a power of ten as briefly as possible.
fn short(value: f64) -> String {
    if value < 0.0 {
        return format!("-{}", short(-value));
    }
    for (factor, prefix) in [(1e9, "G"), (1e6, "M"), (1e4, "k")] {
        if value >= factor {
            let divisor = if factor == 1e4 { 1e3 } else { factor };
            return format!("{} {prefix}", text::trimmed(value / divisor, 2));
        }
    }
    if value >= 1e-4 || value == 0.0 { text::trimmed(value, 6) } else { format!("{value:.0e}") }
}

fn grouped(value: f64, decimals: usize) -> String {
    if value.abs() >= 1e4 { short(value) } else { format!("{:.decimals$}", value + 0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(quantity: &AxisQuantity, values: &[f64]) -> Vec<String> {
        Scale::of(quantity, values.iter().copied(), 4).marks.into_iter().map(|mark| mark.text).collect()
    }

    #[test]
    fn marks_are_round_and_enclose_the_values() {
        let from_zero = AxisQuantity::new("s", Extent::FromZero);
        assert_eq!(texts(&from_zero, &[2.3]), ["0", "1", "2", "3"]);
        assert_eq!(texts(&from_zero, &[0.37]), ["0.0", "0.1", "0.2", "0.3", "0.4"]);
        assert_eq!(texts(&from_zero, &[45_000.0]), ["0", "20 k", "40 k", "60 k"]);
        let share = AxisQuantity::share("accuracy", Extent::FittedDecades);
        assert_eq!(texts(&share, &[0.9712, 0.9893]), ["97.0 %", "97.5 %", "98.0 %", "98.5 %", "99.0 %"]);
        assert_eq!([short(0.0001), short(0.25), short(1e-6), short(12_500.0)], ["0.0001", "0.25", "1e-6", "12.5 k"]);
    }

    #[test]
    fn values_over_decades_are_logarithmic() {
        let decades = AxisQuantity::new("batch", Extent::Decades);
        assert_eq!(texts(&decades, &[10.0, 10_000.0]), ["10", "100", "1000", "10 k"]);
        assert_eq!(texts(&decades, &[3.0, 60.0]), ["2", "5", "10", "20", "50", "100"]);
        assert_eq!(Scale::of(&decades, [5.0, 40.0].into_iter(), 4).steps, ScaleSteps::Sums);
        let scale = Scale::of(&decades, [10.0, 1000.0].into_iter(), 4);
        assert_eq!((scale.share(10.0), scale.share(100.0), scale.share(1000.0)), (0.0, 0.5, 1.0));
    }

    #[test]
    fn shares_near_one_are_scaled_by_errors() {
        let accuracy = AxisQuantity::share("accuracy", Extent::Errors);
        assert_eq!(texts(&accuracy, &[0.603, 0.9905]), ["50 %", "80 %", "90 %", "95 %", "98 %", "99 %", "99.5 %"]);
        let scale = Scale::of(&accuracy, [0.9, 0.999].into_iter(), 4);
        assert!((scale.share(0.99) - 0.5).abs() < 1e-9 && scale.share(0.9) == 0.0, "{scale:?}");
        // Close values, and values of 1, use a linear scale.
        for values in [[0.97, 0.98], [0.5, 1.0]] {
            assert_eq!(Scale::of(&accuracy, values.into_iter(), 4).steps, ScaleSteps::Sums);
        }
    }

    #[test]
    fn sweeps_are_marked_at_their_values() {
        let batch = AxisQuantity::new("batch", Extent::FittedDecades).marked(vec![500.0, 50.0, 50.0, 5000.0]);
        assert_eq!(texts(&batch, &[50.0, 500.0, 5000.0]), ["50", "500", "5000"]);
        let scale = Scale::of(&batch.clone().marked(vec![1.0, 2.0]), [1.0, 2.0].into_iter(), 4);
        assert!(scale.low < 1.0 && scale.high > 2.0, "{scale:?}");
    }

    #[test]
    fn few_values_still_make_an_axis() {
        for values in [vec![], vec![0.0], vec![5.0], vec![0.98]] {
            for extent in [Extent::FromZero, Extent::FittedDecades, Extent::Decades] {
                let scale = Scale::of(&AxisQuantity::new("x", extent), values.iter().copied(), 4);
                assert!(scale.high > scale.low && scale.marks.len() >= 2, "{values:?} {extent:?} {scale:?}");
            }
        }
    }
}
