//! The languages of the page, and how each writes numbers and days.

use results::Date;

/// A language in which every text of the page is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    #[default]
    English,
    German,
}

impl Language {
    pub const ALL: [Self; 2] = [Self::English, Self::German];

    /// As in `<html lang>`, in the address, and as its folder is called.
    pub const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
        }
    }

    /// As its speakers call it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::German => "Deutsch",
        }
    }

    /// The language of a code such as `de` or `de-AT`.
    pub fn named(code: &str) -> Option<Self> {
        let main = code.split('-').next().unwrap_or_default();
        Self::ALL.into_iter().find(|language| main.eq_ignore_ascii_case(language.code()))
    }

    /// The first of the languages that somebody likes, best first, in which the page is; else English.
    pub fn liked<'a>(codes: impl IntoIterator<Item = &'a str>) -> Self {
        codes.into_iter().find_map(Self::named).unwrap_or_default()
    }

    /// A number that was written as English writes it, such as `1,234.5 samples/s`, as this language writes it. What stands
    /// beside digits only is changed, so that a unit may follow.
    pub fn number(self, english: &str) -> String {
        if self == Self::English {
            return english.to_owned();
        }
        let letters: Vec<char> = english.chars().collect();
        let is_digit =
            |place: Option<usize>| place.and_then(|place| letters.get(place)).is_some_and(char::is_ascii_digit);
        let written = letters.iter().enumerate().map(|(place, letter)| match letter {
            '.' | ',' if is_digit(place.checked_sub(1)) && is_digit(Some(place + 1)) => {
                if *letter == '.' {
                    ','
                } else {
                    '.'
                }
            }
            other => *other,
        });
        written.collect()
    }

    /// A whole number in groups of three digits.
    pub fn grouped(self, number: u64) -> String {
        let digits = number.to_string();
        let mut text = String::new();
        for (place, digit) in digits.chars().enumerate() {
            if place > 0 && (digits.len() - place).is_multiple_of(3) {
                text.push(if self == Self::English { ',' } else { '.' });
            }
            text.push(digit);
        }
        text
    }

    /// A day such as `21 Nov 2026` or `21.11.2026`.
    pub fn day(self, Date { year, month, day }: Date) -> String {
        const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        match self {
            Self::English => {
                let month = MONTHS.get(usize::from(month) - 1).copied().unwrap_or_default();
                format!("{day} {month} {year}")
            }
            Self::German => format!("{day:02}.{month:02}.{year}"),
        }
    }
}
