//! User-defined networks: a TOML or JSON file with layers, optimizer, schedule and data set becomes a workload of the
//! engine, on every backend, without compiling (`docs/WORKLOADS.md`).

pub(crate) mod definition;
mod network;
mod recipe;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use engine::Workload;
use serde_json::error::Category;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::failure::Failure;
use crate::workload_file::definition::Definition;

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
    let sha256 = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
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
    let definition = match language {
        Language::Toml => toml::from_str::<Definition>(text).map_err(|error| {
            let at = error.span().unwrap_or_default();
            shown(file, text, at, &plain(error.message()))
        })?,
        Language::Json => serde_json::from_str::<Definition>(text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let message = error.to_string();
            let message = message.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&message);
            let message = match error.classify() {
                Category::Syntax | Category::Eof => format!("this is not JSON: {message}"),
                Category::Data | Category::Io => plain(message),
            };
            let at = byte_of(text, line, column);
            shown(file, text, at..at, &message)
        })?,
    };
    recipe::workload(&definition, &Tree::parse(text, language))
        .map_err(|mistake| shown(file, text, mistake.at, &mistake.message))
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

/// Semantic error, and the bytes of the file that it is about.
#[derive(Debug)]
struct Mistake {
    at: Range<usize>,
    message: String,
}

/// Value in the file, with the byte range from the parser.
#[derive(Debug, Default)]
struct Tree {
    at: Range<usize>,
    content: Content,
}

#[derive(Debug, Default)]
enum Content {
    Number(f64),
    Text(String),
    List(Vec<Tree>),
    Table(BTreeMap<String, Tree>),
    #[default]
    Other,
}

impl Tree {
    /// Parses the text of a file that has already been read as a [`Definition`].
    fn parse(text: &str, language: Language) -> Self {
        match language {
            Language::Toml => DeTable::parse(text)
                .map(|table| {
                    let at = table.span();
                    Self::from_toml(&Spanned::new(at, DeValue::Table(table.into_inner())))
                })
                .unwrap_or_default(),
            Language::Json => serde_json::from_str(text).map(|raw| Self::from_json(text, raw)).unwrap_or_default(),
        }
    }

    fn from_toml(value: &Spanned<DeValue<'_>>) -> Self {
        let content = match value.get_ref() {
            DeValue::Integer(number) => i128::from_str_radix(number.as_str(), number.radix())
                .map_or(Content::Other, |n| Content::Number(n as f64)),
            DeValue::Float(number) => number.as_str().parse().map_or(Content::Other, Content::Number),
            DeValue::String(text) => Content::Text(text.to_string()),
            DeValue::Array(items) => Content::List(items.iter().map(Self::from_toml).collect()),
            DeValue::Table(fields) => {
                let fields = fields.iter().map(|(name, value)| (name.get_ref().to_string(), Self::from_toml(value)));
                Content::Table(fields.collect())
            }
            _ => Content::Other,
        };
        Self { at: value.span(), content }
    }

    fn from_json(text: &str, raw: &RawValue) -> Self {
        let json = raw.get();
        // A raw value is a slice of the text that it was read from.
        let start = (json.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        let content = if let Ok(fields) = serde_json::from_str::<BTreeMap<String, &RawValue>>(json) {
            Content::Table(fields.into_iter().map(|(name, value)| (name, Self::from_json(text, value))).collect())
        } else if let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(json) {
            Content::List(items.into_iter().map(|value| Self::from_json(text, value)).collect())
        } else if let Ok(text) = serde_json::from_str(json) {
            Content::Text(text)
        } else {
            serde_json::from_str(json).map_or(Content::Other, Content::Number)
        };
        Self { at: start..start + json.len(), content }
    }

    /// Returns the value of a field, or the table itself if the field is absent.
    fn field(&self, name: &str) -> &Self {
        if let Content::Table(fields) = &self.content { fields.get(name).unwrap_or(self) } else { self }
    }

    fn item(&self, number: usize) -> &Self {
        if let Content::List(items) = &self.content { items.get(number).unwrap_or(self) } else { self }
    }

    /// Returns the name of a layer, which is its only field or a bare word.
    fn layer_name(&self) -> &str {
        match &self.content {
            Content::Table(fields) => fields.keys().next().map_or("", String::as_str),
            Content::Text(name) => name,
            _ => "",
        }
    }

    fn mistake(&self, message: impl Into<String>) -> Mistake {
        Mistake { at: self.at.clone(), message: message.into() }
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
