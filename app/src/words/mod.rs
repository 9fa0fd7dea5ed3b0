//! Texts of the page, in the reader's language.
//!
//! They are in `app/locales/`, with one folder per language; [`t!`](crate::t) returns a text. The build fails if a
//! language lacks a text or uses different arguments (`app/build/`).

pub mod leaderboard;
pub mod outcome;
pub mod remarks;

use std::cell::Cell;

use results::Date;
use serde::{Deserialize, Serialize};

/// Texts, written by the build script.
#[expect(
    non_camel_case_types,
    non_upper_case_globals,
    reason = "a text is found by searching for its name, so it is spelled alike in the files and in the code"
)]
pub mod messages {
    use super::{PlainText, filled, language};

    include!(concat!(env!("OUT_DIR"), "/messages.rs"));
}

/// Returns a text of the page in the selected language: `t!(start_title)` is a `&'static str`, and
/// `t!(settings_consequence, reasons = reasons)`, or `t!(settings_consequence, reasons)` for short, is a `String`.
/// Arguments are texts, except for the number that selects between singular and plural.
#[macro_export]
macro_rules! t {
    ($name:ident) => {
        $crate::words::messages::$name.text()
    };
    (@ $argument:ident) => {
        &$argument
    };
    (@ $argument:ident = $value:expr) => {
        &$value
    };
    ($name:ident, $($argument:ident $(= $value:expr)?),+ $(,)?) => {
        $crate::words::messages::$name { $($argument: $crate::t!(@ $argument $(= $value)?)),+ }.text()
    };
}

thread_local! {
    // A page in a browser has one thread. On the host, every test has its own thread, and starts in English.
    static CHOSEN: Cell<PageLanguage> = const { Cell::new(PageLanguage::English) };
}

pub fn language() -> PageLanguage {
    CHOSEN.get()
}

pub fn speak(language: PageLanguage) {
    CHOSEN.set(language);
}

/// Calls `say` in English: for programs, and for records read by speakers of all languages.
pub fn in_english<T>(say: impl FnOnce() -> T) -> T {
    in_language(PageLanguage::English, say)
}

fn in_language<T>(chosen: PageLanguage, say: impl FnOnce() -> T) -> T {
    let before = language();
    speak(chosen);
    let said = say();
    speak(before);
    said
}

/// Text without arguments, in the order of [`PageLanguage::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainText([&'static str; 2]);

impl PlainText {
    pub fn text(self) -> &'static str {
        self.0[language() as usize]
    }
}

/// Returns the text in a group for a name in the data, such as a network.
pub fn named(group: &str, name: &str) -> Option<&'static str> {
    let name = format!("{group}_{}", name.replace('-', "_"));
    messages::NAMED.iter().find(|(known, _)| *known == name).map(|(_, text)| text.text())
}

/// Replaces numbers in braces with the arguments, in the page's language.
fn filled(texts: [&str; 2], arguments: &[&str]) -> String {
    let mut filled = String::new();
    let mut rest = texts[language() as usize];
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let (number, after) = after.split_once('}').unwrap_or(("", after));
        if let Some(argument) = number.parse().ok().and_then(|number: usize| arguments.get(number)) {
            filled.push_str(argument);
        }
        rest = after;
    }
    filled.push_str(rest);
    filled
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageLanguage {
    #[default]
    English,
    German,
}

// Codes in `<html lang>` and in the URL, and names of the folders of the texts.
results::names!(PageLanguage { English = "en", German = "de" });

impl PageLanguage {
    pub const fn title(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::German => "Deutsch",
        }
    }

    /// Parses a code such as `de` or `de-AT`.
    pub fn of_code(code: &str) -> Option<Self> {
        Self::named(&code.split('-').next()?.to_ascii_lowercase())
    }

    /// Returns the first known language in a list of preferences, or English.
    pub fn liked<'a>(codes: impl IntoIterator<Item = &'a str>) -> Self {
        codes.into_iter().find_map(Self::of_code).unwrap_or_default()
    }

    /// Converts an English number such as `1,234.5 samples/s`. Only characters between digits change.
    pub fn number(self, english: &str) -> String {
        if self == Self::English {
            return english.to_owned();
        }
        let letters: Vec<char> = english.chars().collect();
        let is_digit = |place: Option<usize>| place.is_some_and(|at| letters.get(at).is_some_and(char::is_ascii_digit));
        let is_between = |place: usize| is_digit(place.checked_sub(1)) && is_digit(Some(place + 1));
        let written = letters.iter().enumerate().map(|(place, letter)| match letter {
            '.' if is_between(place) => ',',
            ',' if is_between(place) => '.',
            other => *other,
        });
        written.collect()
    }

    pub fn grouped(self, number: u64) -> String {
        view::text::grouped(&number.to_string(), if self == Self::English { ',' } else { '.' })
    }

    /// Formats a day, such as `21 Nov 2026` or `21.11.2026`.
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

/// Text stored in all languages, because it may be shown in another language later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    en: String,
    de: Option<String>,
}

impl Said {
    pub fn new(say: impl Fn() -> String) -> Self {
        Self { en: in_english(&say), de: Some(in_language(PageLanguage::German, &say)) }
    }

    pub fn text(&self) -> &str {
        match language() {
            PageLanguage::English => &self.en,
            PageLanguage::German => self.de.as_ref().unwrap_or(&self.en),
        }
    }
}

#[cfg(test)]
mod tests;
