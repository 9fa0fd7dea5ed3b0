//! User-defined networks: a TOML or JSON file with layers, optimizer, schedule and data set becomes a workload of the
//! engine, on every backend, without compiling (`docs/WORKLOADS.md`).

pub(crate) mod definition;
mod network;
mod recipe;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::{Display, Write};
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use engine::Workload;
use results::hex;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::error::Category;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::failure::Failure;
use crate::workload_file::definition::WorkloadDefinition;

/// Limit on the file size, because a record contains the whole network.
const MAX_FILE_BYTES: u64 = 64 << 10;

/// Returns true if the name has the extension of a workload file.
pub(crate) fn is_file_name(text: &str) -> bool {
    language(Path::new(text)).is_some()
}

pub(crate) fn load(path: &Path) -> Result<Workload, Failure> {
    Ok(load_with_digest(path)?.0)
}

/// Returns the workload and the SHA-256 of its file, which detects changes.
pub(crate) fn load_with_digest(path: &Path) -> Result<(Workload, String), Failure> {
    let file = path.display().to_string();
    let Some(language) = language(path) else {
        return Err(Failure::Usage(format!("the name of {file} must end in .toml or .json")));
    };
    let mut bytes = Vec::new();
    // One byte more, to detect files over the limit.
    let read = File::open(path).and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes));
    read.map_err(|source| Failure::File { what: format!("cannot read {file}"), source })?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(Failure::Usage(format!(
            "{file} is larger than {MAX_FILE_BYTES} bytes, so it is not a workload file"
        )));
    }
    let text = results::decode(&bytes).map_err(|error| Failure::Usage(format!("{file} is not text: {error}")))?;
    let workload = parse(&file, text, language).map_err(Failure::Usage)?;
    let sha256 = hex(&Sha256::digest(text));
    Ok((workload, sha256))
}

fn language(path: &Path) -> Option<Language> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "toml" => Some(Language::Toml),
        "json" => Some(Language::Json),
        _ => None,
    }
}

fn parse(file: &str, text: &str, language: Language) -> Result<Workload, String> {
    let definition: WorkloadDefinition = read(file, text, language)?;
    let content: FileValue = read(file, text, language)?;
    recipe::workload(&definition, &content)
        .map_err(|mistake| shown(file, text, mistake.place.find(text, language), &mistake.message))
}

fn read<T: DeserializeOwned>(file: &str, text: &str, language: Language) -> Result<T, String> {
    match language {
        Language::Toml => toml::from_str(text)
            .map_err(|error| shown(file, text, error.span().unwrap_or_default(), &plain(error.message()))),
        Language::Json => serde_json::from_str(text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let message = error.to_string();
            let message = message.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&message);
            let message = match error.classify() {
                Category::Syntax | Category::Eof => format!("this is not JSON: {message}"),
                Category::Data | Category::Io => plain(message),
            };
            let at = byte_of(text, line, column);
            shown(file, text, at..at, &message)
        }),
    }
}

/// Rewords a message of serde in terms of the file.
fn plain(message: &str) -> String {
    let bare = "invalid type: unit variant, expected struct variant";
    message.replace(bare, "its options are missing; write `{ name = { … } }`")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    Toml,
    Json,
}

/// Any value of the file, for checks that do not depend on its meaning.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum FileValue {
    Number(f64),
    Text(String),
    List(Vec<Self>),
    Table(BTreeMap<String, Self>),
    Other(IgnoredAny),
}

impl FileValue {
    /// Returns the name of each layer, which is the only field of a table or a bare word.
    fn layer_names<'a>(&'a self) -> Vec<&'a str> {
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
struct Mistake {
    place: KeyPath,
    message: String,
}

/// Path to a value in the file, such as `layers`, `3`, `conv2d`, `stride`.
#[derive(Clone, Debug, Default)]
struct KeyPath(Vec<String>);

impl KeyPath {
    fn field(&self, name: impl Display) -> Self {
        Self(self.0.iter().cloned().chain([name.to_string()]).collect())
    }

    fn mistake(&self, message: impl Into<String>) -> Mistake {
        Mistake { place: self.clone(), message: message.into() }
    }

    fn refuse<T>(&self, message: impl Into<String>) -> Result<T, Mistake> {
        Err(self.mistake(message))
    }

    /// Returns the bytes of the value. If it is absent, returns the bytes of the smallest value around it.
    fn find(&self, text: &str, language: Language) -> Range<usize> {
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
