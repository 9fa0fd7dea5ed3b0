//! Scales of axes, with their marks.

use super::{AxisQuantity, Extent};
use crate::text;

/// Smallest ratio of values that is shown in decades.
const MIN_DECADES_RATIO: f64 = 12.0;
/// Smallest ratio of distances to 1 that is shown in decades.
const MIN_ERRORS_RATIO: f64 = 5.0;
/// Maximum number of marks of a logarithmic scale.
const MAX_MARKS: usize = 7;
/// Margin of [`Extent::Ratios`] outside the outermost values, as a factor.
const MARGIN: f64 = 1.08;
/// Minimum ratio of its ends, so that even a single column is narrow and has marks.
const MIN_RATIO: f64 = 4.0;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scale {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) marks: Vec<Mark>,
    pub(super) steps: ScaleSteps,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScaleSteps {
    Sums,
    /// Equal ratios.
    Decades,
    /// Equal ratios of the distance to 1.
    Errors,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mark {
    pub(super) value: f64,
    pub(super) text: String,
}

/// Returns the lowest and the highest value, or `None` without values.
pub fn range_of(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    values.into_iter().map(|value| (value, value)).reduce(|(low, high), (value, _)| (low.min(value), high.max(value)))
}

impl Scale {
    /// Creates a scale for these values, with about `count` marks.
    pub(super) fn of(quantity: &AxisQuantity, values: impl IntoIterator<Item = f64>, count: u32) -> Self {
        let range = range_of(values).filter(|(low, high)| low.is_finite() && high.is_finite());
        let (low, high) = range.unwrap_or((0.0, 1.0));
        let in_decades = low > 0.0 && high / low >= MIN_DECADES_RATIO;
        let is_near_one = high < 1.0 && (1.0 - low) / (1.0 - high) >= MIN_ERRORS_RATIO;
        let is_share = quantity.is_share;
        let mut scale = match quantity.extent {
            Extent::Whole => Self::linear(0.0, 1.0, 5, true),
            Extent::Errors if is_near_one => Self::of_errors(low, high),
            Extent::Decades | Extent::FittedDecades if in_decades => Self::logarithmic(low, high),
            Extent::Ratios if low > 0.0 => {
                let wider = (MIN_RATIO / (high / low * MARGIN * MARGIN)).max(1.0).sqrt() * MARGIN;
                Self::in_ratios(low / wider, high * wider)
            }
            Extent::FromZero | Extent::Decades | Extent::ToLargest if low >= 0.0 => {
                Self::linear(0.0, high, count, is_share)
            }
            _ => Self::linear(low, high, count, is_share),
        };
        if !quantity.marks.is_empty() {
            scale.marks = quantity.marks.iter().map(|&value| Mark { value, text: short(value) }).collect();
            if quantity.extent == Extent::FittedDecades && !in_decades {
                // Given marks need no round ends, only some margin.
                let air = ((high - low) * 0.06).max(f64::MIN_POSITIVE);
                (scale.low, scale.high) = (low - air, high + air);
            }
        }
        if quantity.extent == Extent::ToLargest && high > 0.0 {
            scale.high = high;
            scale.marks.retain(|mark| mark.value <= high);
        }
        for mark in &mut scale.marks {
            mark.text = (quantity.text)(&mark.text);
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

    /// Creates a logarithmic scale that ends at 1, 2 or 5 times a power of ten.
    fn logarithmic(low: f64, high: f64) -> Self {
        let all = multiples(low, high, &[1.0, 2.0, 5.0], 1);
        let begin = all.iter().copied().filter(|value| *value <= low * 1.000_001).fold(all[0], f64::max);
        let end = all.into_iter().filter(|value| *value >= high * 0.999_999).fold(f64::INFINITY, f64::min);
        Self::in_ratios(begin, end)
    }

    /// Creates a logarithmic scale with these ends, and the finest marks that are few enough.
    fn in_ratios(low: f64, high: f64) -> Self {
        const FACTORS: [&[f64]; 3] =
            [&[1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0], &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0], &[1.0, 2.0, 5.0]];
        let inside = |(factors, every): (&[f64], usize)| {
            let mut marks = multiples(low, high, factors, every);
            marks.retain(|mark| (low * 0.999_999..=high * 1.000_001).contains(mark));
            Some(marks).filter(|marks| marks.len() <= MAX_MARKS)
        };
        let mut candidates = FACTORS.map(|factors| (factors, 1)).into_iter().chain((1..100).map(|n| (&[1.0][..], n)));
        let marked = candidates.find_map(inside).unwrap_or_default();
        let marks = marked.into_iter().map(|value| Mark { value, text: short(value) }).collect();
        Self { low, high, marks, steps: ScaleSteps::Decades }
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
    pub(super) fn share(&self, value: f64) -> f64 {
        let place = |value: f64| match self.steps {
            ScaleSteps::Sums => value,
            ScaleSteps::Decades => value.max(f64::MIN_POSITIVE).log10(),
            ScaleSteps::Errors => -(1.0 - value).max(f64::EPSILON).log10(),
        };
        let (low, high) = (place(self.low), place(self.high));
        if high > low { ((place(value) - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 }
    }
}

/// Multiplies the powers of ten around two values by each factor; `every` is 2 for every second power.
fn multiples(low: f64, high: f64, factors: &[f64], every: usize) -> Vec<f64> {
    #[expect(clippy::cast_possible_truncation, reason = "exponents of ten")]
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let powers = (first..=last).step_by(every).map(|power| 10f64.powi(power));
    powers.flat_map(|power| factors.iter().map(move |factor| factor * power)).collect()
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
        assert_eq!(Scale::of(&decades, [5.0, 40.0], 4).steps, ScaleSteps::Sums);
        let scale = Scale::of(&decades, [10.0, 1000.0], 4);
        assert_eq!((scale.share(10.0), scale.share(100.0), scale.share(1000.0)), (0.0, 0.5, 1.0));
    }

    #[test]
    fn shares_near_one_are_scaled_by_errors() {
        let accuracy = AxisQuantity::share("accuracy", Extent::Errors);
        assert_eq!(texts(&accuracy, &[0.603, 0.9905]), ["50 %", "80 %", "90 %", "95 %", "98 %", "99 %", "99.5 %"]);
        let scale = Scale::of(&accuracy, [0.9, 0.999], 4);
        assert!((scale.share(0.99) - 0.5).abs() < 1e-9 && scale.share(0.9) == 0.0, "{scale:?}");
        // Close values, and values of 1, use a linear scale.
        for values in [[0.97, 0.98], [0.5, 1.0]] {
            assert_eq!(Scale::of(&accuracy, values, 4).steps, ScaleSteps::Sums);
        }
    }

    #[test]
    fn sweeps_are_marked_at_their_values() {
        let batch = AxisQuantity::new("batch", Extent::FittedDecades).marked(vec![500.0, 50.0, 50.0, 5000.0]);
        assert_eq!(texts(&batch, &[50.0, 500.0, 5000.0]), ["50", "500", "5000"]);
        let scale = Scale::of(&batch.clone().marked(vec![1.0, 2.0]), [1.0, 2.0], 4);
        assert!(scale.low < 1.0 && scale.high > 2.0, "{scale:?}");
    }

    #[test]
    fn ratios_have_a_margin_and_few_marks() {
        let ratios = AxisQuantity::new("rate", Extent::Ratios);
        assert_eq!(texts(&ratios, &[100.0, 10_000.0]), ["100", "200", "500", "1000", "2000", "5000", "10 k"]);
        assert_eq!(texts(&ratios, &[2000.0, 2010.0]), ["1200", "1500", "2000", "2500", "3000", "4000"]);
        for values in [[1e-3, 1e9], [1.0, 50.0], [90.0, 110.0], [7.0, 7.0]] {
            let scale = Scale::of(&ratios, values, 4);
            assert!(scale.low < values[0] && scale.high > values[1] && scale.high / scale.low > 3.99, "{scale:?}");
            assert!((2..=MAX_MARKS).contains(&scale.marks.len()), "{scale:?}");
        }
    }

    #[test]
    fn scale_can_end_at_its_largest_value() {
        let seconds = AxisQuantity { text: |text| format!("{text} s"), ..AxisQuantity::new("", Extent::ToLargest) };
        assert_eq!(texts(&seconds, &[25.2]), ["0 s", "10 s", "20 s"]);
        assert_eq!(Scale::of(&seconds, [25.2], 4).high, 25.2);
        let whole = AxisQuantity::share("", Extent::Whole);
        assert_eq!(texts(&whole, &[0.3]), ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]);
    }

    #[test]
    fn few_values_still_make_an_axis() {
        for values in [vec![], vec![0.0], vec![5.0], vec![0.98]] {
            for extent in [Extent::FromZero, Extent::ToLargest, Extent::FittedDecades, Extent::Decades] {
                let scale = Scale::of(&AxisQuantity::new("x", extent), values.iter().copied(), 4);
                assert!(scale.high > scale.low && scale.marks.len() >= 2, "{values:?} {extent:?} {scale:?}");
            }
        }
    }
}
