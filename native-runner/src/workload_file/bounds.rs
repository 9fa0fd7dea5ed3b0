//! What numbers of a workload's file may be. Each refusal says the bounds and the number.

use std::fmt::Display;
use std::ops::RangeInclusive;

use super::place::{Mistake, Place};

pub(super) type Checked = Result<(), Mistake>;

/// A number, as long as it was written.
pub(super) trait Number: Copy + Display + Into<f64> {}

impl<T: Copy + Display + Into<f64>> Number for T {}

pub(super) fn whole(place: &Place, value: u32, allowed: RangeInclusive<u32>) -> Checked {
    if allowed.contains(&value) {
        return Ok(());
    }
    Err(place.mistake(format!("must be from {} to {}, and is {value}", allowed.start(), allowed.end())))
}

pub(super) fn positive(place: &Place, value: impl Number) -> Checked {
    hold(place, value, |value| value > 0.0, "a number above 0")
}

pub(super) fn not_negative(place: &Place, value: impl Number) -> Checked {
    hold(place, value, |value| value >= 0.0, "a number from 0 on")
}

pub(super) fn finite(place: &Place, value: impl Number) -> Checked {
    hold(place, value, |_| true, "a finite number")
}

/// From 0 to 1.
pub(super) fn share(place: &Place, value: impl Number) -> Checked {
    hold(place, value, |value| (0.0..=1.0).contains(&value), "a share from 0 to 1")
}

/// From 0 to below 1: what stays of something in each step, or is taken away of it.
pub(super) fn part(place: &Place, value: impl Number) -> Checked {
    hold(place, value, |value| (0.0..1.0).contains(&value), "from 0 to below 1")
}

fn hold(place: &Place, value: impl Number, is_allowed: impl Fn(f64) -> bool, allowed: &str) -> Checked {
    let number: f64 = value.into();
    if number.is_finite() && is_allowed(number) {
        return Ok(());
    }
    Err(place.mistake(format!("must be {allowed}, and is {value}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_is_allowed_and_what_was_written() {
        let place = Place::default();
        let message = |checked: Checked| checked.unwrap_err().message;
        assert_eq!(message(whole(&place, 0, 1..=9)), "must be from 1 to 9, and is 0");
        assert_eq!(message(part(&place, 1.2_f32)), "must be from 0 to below 1, and is 1.2");
        assert_eq!(message(finite(&place, f64::NAN)), "must be a finite number, and is NaN");
        for number in [0.0, 0.5] {
            assert_eq!((part(&place, number), share(&place, number)), (Ok(()), Ok(())));
        }
        assert!(part(&place, 1.0).is_err() && share(&place, 1.0).is_ok() && positive(&place, 0.0).is_err());
    }
}
