//! Calendar dates in UTC, without a clock or time zones.

/// Maximum distance from 1970 in days; later and earlier times are clamped to it.
const MAX_DAYS: i64 = 1_000_000_000;

/// Day in the Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date {
    pub year: i64,
    /// From 1.
    pub month: u8,
    /// From 1.
    pub day: u8,
}

impl Date {
    /// Converts seconds since 1970 to a date, clamped to the supported range.
    pub fn of(unix_seconds: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "a number of days; out of range it saturates")]
        let days = (unix_seconds / 86_400.0).floor() as i64;
        // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days: years begin in March, so a
        // leap day comes last.
        let shifted = days.clamp(-MAX_DAYS, MAX_DAYS) + 719_468;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = (month_from_march + 2) % 12 + 1;
        let small = |number: i64| u8::try_from(number).unwrap_or(1);
        Self { year: year_of_era + era * 400 + i64::from(month <= 2), month: small(month), day: small(day) }
    }

    /// Parses a date such as `2026-11-23`; `None` if it is invalid.
    pub fn from_iso(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let (year, month, day) =
            (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let date = Self { year, month, day };
        // Other texts, and invalid dates such as February 30, convert back to a different text.
        (text.len() == 10 && Self::of(date.unix_seconds()).iso() == text).then_some(date)
    }

    /// Returns the start of the day in seconds since 1970.
    pub fn unix_seconds(self) -> f64 {
        // days_from_civil, from the same source.
        let Self { year, month, day } = self;
        let (month, day) = (i64::from(month), i64::from(day));
        let year = if month <= 2 { year - 1 } else { year };
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        (era * 146_097 + day_of_era - 719_468) as f64 * 86_400.0
    }

    /// Formats the date as `2026-11-23`.
    pub fn iso(self) -> String {
        let Self { year, month, day } = self;
        format!("{year:04}-{month:02}-{day:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_match_the_calendar() {
        for (seconds, expected) in [
            (0.0, "1970-01-01"),
            (-1.0, "1969-12-31"),
            (951_782_399.0, "2000-02-28"),
            (951_782_400.0, "2000-02-29"),
            (951_868_800.0, "2000-03-01"),
            (1_800_000_000.0, "2027-01-15"),
            (4_107_542_399.5, "2100-02-28"),
            (4_107_542_400.0, "2100-03-01"),
        ] {
            assert_eq!(Date::of(seconds).iso(), expected, "{seconds}");
        }
        // Every number has a day.
        for seconds in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300] {
            let Date { month, day, .. } = Date::of(seconds);
            assert!((1..=12).contains(&month) && (1..=31).contains(&day), "{seconds}");
        }
    }

    #[test]
    fn days_survive_text_and_begin_at_midnight() {
        for days in (-200_000..200_000).step_by(13) {
            let seconds = f64::from(days) * 86_400.0;
            let date = Date::of(seconds + 86_399.0);
            assert_eq!(date.unix_seconds().to_bits(), seconds.to_bits(), "{}", date.iso());
            assert_eq!(Date::from_iso(&date.iso()), Some(date));
        }
    }

    #[test]
    fn invalid_days_are_refused() {
        let incomplete = ["", "2026", "2026-11", "2026-1-1", "20261123", "yesterday"];
        let wrong = ["2026-02-29", "2026-13-01", "2026-00-10"];
        let other = ["2026-11-23-1", "+026-11-23", "2026-11-2３", "02026-11-23"];
        for text in incomplete.iter().chain(&wrong).chain(&other) {
            assert_eq!(Date::from_iso(text), None, "{text}");
        }
    }
}
