//! Where in a file something is wrong, and how a person is shown it.

use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;

use serde_json::value::RawValue;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The way to something in a file, from the outside in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Place(Vec<Step>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Field(&'static str),
    /// From 0.
    Item(usize),
}

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    pub(super) place: Place,
    pub(super) message: String,
}

impl Place {
    pub(super) fn field(&self, name: &'static str) -> Self {
        self.with(Step::Field(name))
    }

    pub(super) fn item(&self, number: usize) -> Self {
        self.with(Step::Item(number))
    }

    fn with(&self, step: Step) -> Self {
        Self(self.0.iter().copied().chain([step]).collect())
    }

    pub(super) fn mistake(&self, message: impl Into<String>) -> Mistake {
        Mistake { place: self.clone(), message: message.into() }
    }
}

/// The two languages of a workload's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Toml,
    Json,
}

impl Language {
    /// Which bytes of `text` stand at `place`, or at the last step of the way to it that the file has: what it leaves out
    /// has no place of its own.
    pub(super) fn find(self, text: &str, place: &Place) -> Range<usize> {
        let found = match self {
            Self::Toml => DeTable::parse(text).ok().map(|table| {
                let whole = Spanned::new(table.span(), DeValue::Table(table.into_inner()));
                in_toml(&whole, &place.0)
            }),
            Self::Json => serde_json::from_str::<&RawValue>(text).ok().map(|whole| in_json(text, whole, &place.0)),
        };
        found.unwrap_or_default()
    }
}

fn in_toml(value: &Spanned<DeValue<'_>>, way: &[Step]) -> Range<usize> {
    let Some((step, rest)) = way.split_first() else { return value.span() };
    let next = match (step, value.get_ref()) {
        (Step::Field(name), DeValue::Table(table)) => table.get(*name),
        (Step::Item(number), DeValue::Array(items)) => items.get(*number),
        _ => None,
    };
    next.map_or_else(|| value.span(), |next| in_toml(next, rest))
}

fn in_json<'t>(text: &'t str, value: &'t RawValue, way: &[Step]) -> Range<usize> {
    let next = way.split_first().and_then(|(step, rest)| {
        let next = match step {
            Step::Field(name) => serde_json::from_str::<HashMap<String, &RawValue>>(value.get()).ok()?.remove(*name)?,
            Step::Item(number) => *serde_json::from_str::<Vec<&RawValue>>(value.get()).ok()?.get(*number)?,
        };
        Some(in_json(text, next, rest))
    });
    next.unwrap_or_else(|| {
        // A raw value is a part of the text that it was read from.
        let start = (value.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        start..start + value.get().len()
    })
}

/// The message with the file's name, line and column, and the line itself with a mark below the place.
pub(super) fn shown(file: &str, text: &str, at: Range<usize>, message: &str) -> String {
    /// Longer lines are no help, and the mark would be far away.
    const LONGEST_LINE: usize = 160;
    let start = text.floor_char_boundary(at.start);
    let begin = text[..start].rfind('\n').map_or(0, |end| end + 1);
    let line = text[begin..].lines().next().unwrap_or_default();
    let number = text[..begin].matches('\n').count() + 1;
    let column = text[begin..start].chars().count();
    let mut shown = format!("{file}, line {number}, column {}: {message}", column + 1);
    if line.trim().is_empty() || line.chars().count() > LONGEST_LINE {
        return shown;
    }
    // Where more than this line is meant, its beginning is.
    let marked = text.get(start..at.end.min(begin + line.len())).map_or(1, |part| part.chars().count().max(1));
    // A tab is as wide below as above.
    let before: String = line.chars().take(column).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    let number = number.to_string();
    let margin = " ".repeat(number.len());
    let written = write!(shown, "\n  {number} | {line}\n  {margin} | {before}{}", "^".repeat(marked));
    written.expect("a text takes what is written");
    shown
}

/// The byte where this line and column are, both from 1; columns of JSON count bytes.
pub(super) fn byte_of(text: &str, line: usize, column: usize) -> usize {
    let lines = text.split_inclusive('\n');
    let before: usize = lines.take(line.saturating_sub(1)).map(str::len).sum();
    (before + column.saturating_sub(1)).min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOML: &str =
        "name = \"x\"\n\n[optimizer]\nrule = { sgd = { momentum = 7 } }\n\n[[layers]]\ndropout = { rate = 2 }\n";
    const JSON: &str = "{\n  \"name\": \"x\",\n  \"layers\": [ \"relu\", { \"dropout\": { \"rate\": 2 } } ]\n}\n";

    fn way(steps: &[&'static str]) -> Place {
        steps.iter().fold(Place::default(), |place, step| match step.parse() {
            Ok(number) => place.item(number),
            Err(_) => place.field(step),
        })
    }

    #[test]
    fn a_place_is_found_in_either_language() {
        let found = |language: Language, text: &'static str, steps: &[&'static str]| {
            text[language.find(text, &way(steps))].to_owned()
        };
        assert_eq!(found(Language::Toml, TOML, &["optimizer", "rule", "sgd", "momentum"]), "7");
        assert_eq!(found(Language::Toml, TOML, &["layers", "0", "dropout", "rate"]), "2");
        assert_eq!(found(Language::Json, JSON, &["layers", "1", "dropout", "rate"]), "2");
        assert_eq!(found(Language::Json, JSON, &["layers", "0"]), "\"relu\"");
    }

    #[test]
    fn what_a_file_leaves_out_is_shown_where_it_would_be() {
        let json = &JSON[Language::Json.find(JSON, &way(&["layers", "1", "dropout", "noise"]))];
        assert_eq!(json, "{ \"rate\": 2 }");
        let toml = &TOML[Language::Toml.find(TOML, &way(&["optimizer", "rule", "sgd", "nesterov"]))];
        assert_eq!(toml, "{ momentum = 7 }");
    }

    #[test]
    fn the_line_is_shown_with_a_mark_below_the_place() {
        let at = Language::Toml.find(TOML, &way(&["layers", "0", "dropout", "rate"]));
        let mark = format!("{}^", " ".repeat("dropout = { rate = ".len()));
        let expected = format!("my.toml, line 7, column 20: too much\n  7 | dropout = {{ rate = 2 }}\n    | {mark}");
        assert_eq!(shown("my.toml", TOML, at, "too much"), expected);
    }

    #[test]
    fn a_column_counts_letters_and_a_byte_is_found_again() {
        let text = "a = \"ä\"; b\nsecond\n";
        assert!(shown("f", text, 9..10, "m").starts_with("f, line 1, column 9: m"));
        assert_eq!(byte_of(text, 2, 3), text.find("cond").unwrap());
        assert_eq!(byte_of(text, 9, 9), text.len());
    }
}
