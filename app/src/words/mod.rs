//! What the page says, in the language that its reader chose.
//!
//! The texts are in `app/locales/`, a folder for each language. [`t!`](crate::t) says one of them. A text that a language
//! lacks, or that has other arguments in it than elsewhere, fails the build (`app/build/`).

pub mod agreement;
pub mod departure;
pub mod fact;
pub mod failure;
mod language;
pub mod metric;
pub mod network;
pub mod note;
pub mod refusal;
mod said;
pub mod warning;

use std::cell::Cell;

pub use language::Language;
pub use said::Said;

/// The texts, written by the build script: what [`t!`](crate::t) names.
#[expect(
    non_camel_case_types,
    non_upper_case_globals,
    reason = "a text is found by searching for its name, so it is spelled alike in the files and in the code"
)]
pub mod messages {
    use super::{Argument, Plain, filled};

    include!(concat!(env!("OUT_DIR"), "/messages.rs"));
}

/// A text of the page in the language that was chosen: `t!(start_title)` is a `&'static str`, and
/// `t!(start_using, browser = name, why = reason)` a `String`.
#[macro_export]
macro_rules! t {
    ($name:ident) => {
        $crate::words::messages::$name.text()
    };
    ($name:ident, $($argument:ident = $value:expr),+ $(,)?) => {
        $crate::words::messages::$name { $($argument: &$value),+ }.text()
    };
}

thread_local! {
    // A browser's page has one thread. On the host every test has one of its own, and begins in English.
    static CHOSEN: Cell<Language> = const { Cell::new(Language::English) };
}

/// The language of the page.
pub fn language() -> Language {
    CHOSEN.get()
}

/// Everything that is said from now on is said in this language.
pub fn speak(language: Language) {
    CHOSEN.set(language);
}

/// What is said for machines, and in records that people of all languages read.
pub fn in_english<T>(say: impl FnOnce() -> T) -> T {
    let before = language();
    speak(Language::English);
    let said = say();
    speak(before);
    said
}

/// A text without arguments, in the order of [`Language::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plain([&'static str; 2]);

impl Plain {
    /// In the language of the page.
    pub fn text(self) -> &'static str {
        self.0[language() as usize]
    }
}

/// What may be put into a text: words, and whole numbers, which are grouped as the language groups them. Other numbers are
/// put into words first (`crate::text`), with as many digits as they deserve.
pub trait Argument {
    fn put(&self, text: &mut String);
}

macro_rules! words {
    ($($kind:ty),+) => {$(
        impl Argument for $kind {
            fn put(&self, text: &mut String) {
                text.push_str(self);
            }
        }
    )+};
}

macro_rules! numbers {
    ($($kind:ty),+) => {$(
        impl Argument for $kind {
            fn put(&self, text: &mut String) {
                text.push_str(&language().grouped(*self as u64));
            }
        }
    )+};
}

words!(str, String);
numbers!(u32, u64, usize);

impl<T: Argument + ?Sized> Argument for &T {
    fn put(&self, text: &mut String) {
        (**self).put(text);
    }
}

/// The text of the page's language with its arguments in place of their numbers in braces.
fn filled(texts: [&str; 2], arguments: &[&dyn Argument]) -> String {
    let mut filled = String::new();
    let mut rest = texts[language() as usize];
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let (number, after) = after.split_once('}').unwrap_or(("", after));
        if let Some(argument) = number.parse().ok().and_then(|number: usize| arguments.get(number)) {
            argument.put(&mut filled);
        }
        rest = after;
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests;
