//! Positions in a workload file, for messages about its values.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};
use std::ops::Range;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Toml,
    Json,
}

/// Any value of the file, for checks that do not depend on its meaning.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum FileValue {
    Number(f64),
    Text(String),
    List(Vec<Self>),
    Table(BTreeMap<String, Self>),
    Other(IgnoredAny),
}

impl FileValue {
    /// Returns the name of each layer, which is the only field of a table or a bare word.
    pub(crate) fn layer_names<'a>(&'a self) -> Vec<&'a str> {
        let Self::Table(fields) = self else { return Vec::new() };
        let Some(Self::List(layers)) = fields.get("layers") else { return Vec::new() };
        let name = |layer: &'a Self| match layer {
            Self::Table(fields) => fields.keys().next().map_or("", String::as_str),
            Self::Text(name) => name.as_str(),
            _ => "",
        };
        layers.iter().map(name).collect()
    }
}

/// Semantic error.
#[derive(Debug)]
pub(crate) struct Mistake {
    pub(crate) place: KeyPath,
    pub(crate) message: String,
}

/// Path to a value in the file, such as `layers`, `3`, `conv2d`, `stride`.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyPath(Vec<String>);

impl KeyPath {
    pub(crate) fn field(&self, name: impl Display) -> Self {
        Self(self.0.iter().cloned().chain([name.to_string()]).collect())
    }

    pub(crate) fn mistake(&self, message: impl Into<String>) -> Mistake {
        Mistake { place: self.clone(), message: message.into() }
    }

    pub(crate) fn refuse<T>(&self, message: impl Into<String>) -> Result<T, Mistake> {
        Err(self.mistake(message))
    }

    /// Checks a number whose bounds may depend on other fields.
    pub(crate) fn check_whole(&self, number: impl Into<f64>, least: u32, most: u32) -> Result<(), Mistake> {
        let number = number.into();
        if (f64::from(least)..=f64::from(most)).contains(&number) {
            return Ok(());
        }
        self.refuse(format!("must be from {least} to {most}, but is {number}"))
    }

    /// Returns the bytes of the value. If it is absent, returns the bytes of the smallest value around it.
    pub(crate) fn find(&self, text: &str, language: Language) -> Range<usize> {
        match language {
            Language::Toml => DeTable::parse(text).map_or(0..0, |table| {
                let at = table.span();
                find_in_toml(&Spanned::new(at, DeValue::Table(table.into_inner())), &self.0)
            }),
            Language::Json => serde_json::from_str(text).map_or(0..0, |raw| {
                let found = find_in_json(raw, &self.0).get();
                // A raw value is a slice of the text that it was read from.
                let start = found.as_ptr() as usize - text.as_ptr() as usize;
                start..start + found.len()
            }),
        }
    }
}

fn find_in_toml(value: &Spanned<DeValue<'_>>, path: &[String]) -> Range<usize> {
    let inner = path.split_first().and_then(|(step, rest)| {
        let inner = match step.parse::<usize>() {
            Ok(number) => value.get_ref().get(number),
            Err(_) => value.get_ref().get(step.as_str()),
        };
        Some(find_in_toml(inner?, rest))
    });
    inner.unwrap_or_else(|| value.span())
}

fn find_in_json<'a>(value: &'a RawValue, path: &[String]) -> &'a RawValue {
    let Some((step, rest)) = path.split_first() else { return value };
    let inner = match serde_json::from_str::<BTreeMap<String, &RawValue>>(value.get()) {
        Ok(mut fields) => fields.remove(step),
        Err(_) => serde_json::from_str::<Vec<&RawValue>>(value.get())
            .ok()
            .and_then(|items| items.get(step.parse::<usize>().ok()?).copied()),
    };
    inner.map_or(value, |inner| find_in_json(inner, rest))
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
