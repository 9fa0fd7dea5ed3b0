//! Positions in a workload file, for messages about its values.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

use serde_json::value::RawValue;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Toml,
    Json,
}

/// Semantic error.
#[derive(Debug)]
pub(crate) struct Mistake {
    pub(crate) at: Range<usize>,
    pub(crate) message: String,
}

/// Parses the values of a text that was read before. Values of JSON become values of TOML, with their positions.
pub(crate) fn located_values(text: &str, language: Language) -> Spanned<DeValue<'_>> {
    match language {
        Language::Toml => {
            let table = DeTable::parse(text).expect("the text was read before");
            Spanned::new(table.span(), DeValue::Table(table.into_inner()))
        }
        Language::Json => from_json(serde_json::from_str(text).expect("the text was read before"), text),
    }
}

fn from_json<'t>(raw: &'t RawValue, text: &str) -> Spanned<DeValue<'t>> {
    let json = raw.get();
    // A raw value is a slice of the text that it was read from.
    let start = json.as_ptr() as usize - text.as_ptr() as usize;
    let value = if let Ok(fields) = serde_json::from_str::<BTreeMap<String, &RawValue>>(json) {
        let field = |(name, value): (String, &'t RawValue)| (Spanned::new(0..0, name.into()), from_json(value, text));
        DeValue::Table(fields.into_iter().map(field).collect())
    } else if let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(json) {
        DeValue::Array(items.into_iter().map(|item| from_json(item, text)).collect())
    } else if let Ok(text) = serde_json::from_str::<String>(json) {
        DeValue::String(text.into())
    } else {
        // Numbers are written alike in both languages. No check is about other values.
        DeValue::parse(json).map_or(DeValue::Boolean(false), Spanned::into_inner)
    };
    Spanned::new(start..start + json.len(), value)
}

/// Value of the file, or the smallest one around it if it is absent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Located<'f>(pub(crate) &'f Spanned<DeValue<'f>>);

impl<'f> Located<'f> {
    pub(crate) fn field(self, name: &str) -> Self {
        Self(self.0.get_ref().get(name).unwrap_or(self.0))
    }

    pub(crate) fn item(self, number: usize) -> Self {
        Self(self.0.get_ref().get(number).unwrap_or(self.0))
    }

    /// Returns the name of a layer, which is the only field of a table or a bare word.
    pub(crate) fn layer_name(self) -> &'f str {
        match self.0.get_ref() {
            DeValue::Table(fields) => fields.keys().next().map_or("", |name| name.get_ref()),
            DeValue::String(name) => name,
            _ => "",
        }
    }

    pub(crate) fn number(self) -> Option<f64> {
        let (digits, radix) = match self.0.get_ref() {
            DeValue::Integer(number) => (number.as_str(), number.radix()),
            DeValue::Float(number) => (number.as_str(), 10),
            _ => return None,
        };
        if radix == 10 { digits.parse().ok() } else { Some(u64::from_str_radix(digits, radix).ok()? as f64) }
    }

    pub(crate) fn mistake(self, message: impl Into<String>) -> Mistake {
        Mistake { at: self.0.span(), message: message.into() }
    }

    pub(crate) fn refuse<T>(self, message: impl Into<String>) -> Result<T, Mistake> {
        Err(self.mistake(message))
    }

    /// Checks a number whose bounds may depend on other fields.
    pub(crate) fn check_whole(self, number: impl Into<f64>, least: u32, most: u32) -> Result<(), Mistake> {
        let number = number.into();
        if (f64::from(least)..=f64::from(most)).contains(&number) {
            return Ok(());
        }
        self.refuse(format!("must be from {least} to {most}, but is {number}"))
    }
}

/// Formats a message with file, line and column, and the line with a mark below the error.
pub(crate) fn shown(file: &str, text: &str, at: Range<usize>, message: &str) -> String {
    const MAX_LINE_LENGTH: usize = 160;
    let start = text.floor_char_boundary(at.start);
    let begin = text[..start].rfind('\n').map_or(0, |end| end + 1);
    let line = text[begin..].lines().next().unwrap_or_default();
    let number = text[..begin].matches('\n').count() + 1;
    let column = text[begin..start].chars().count();
    let mut shown = format!("{file}, line {number}, column {}: {message}", column + 1);
    if line.trim().is_empty() || line.chars().count() > MAX_LINE_LENGTH {
        return shown;
    }
    // If there are several lines, only the first is marked.
    let marked = text.get(start..at.end.min(begin + line.len())).map_or(1, |part| part.chars().count().max(1));
    // Tabs stay tabs, so that the mark aligns.
    let before: String = line.chars().take(column).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    let number = number.to_string();
    let margin = " ".repeat(number.len());
    let written = write!(shown, "\n  {number} | {line}\n  {margin} | {before}{}", "^".repeat(marked));
    written.expect("a text takes what is written");
    shown
}

/// Converts line and column, both from 1, to a byte offset; columns of JSON count bytes.
pub(crate) fn byte_of(text: &str, line: usize, column: usize) -> usize {
    let lines = text.split_inclusive('\n');
    let before: usize = lines.take(line.saturating_sub(1)).map(str::len).sum();
    (before + column.saturating_sub(1)).min(text.len())
}
