//! Networks of one's own: a TOML or JSON file with layers, optimiser, schedule and data set becomes a workload of the
//! engine, on every back end, without compiling (`docs/WORKLOADS.md`).

mod bare;
mod bounds;
mod definition;
mod layers;
mod network;
mod place;
mod recipe;
#[cfg(test)]
mod tests;
mod translate;
mod weights;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use engine::Workload;
use serde_json::error::Category;
use sha2::{Digest, Sha256};

use crate::failure::Failure;
use definition::Definition;
pub(crate) use definition::schema;
use place::{Language, byte_of, shown};

/// A record has the whole network in it.
const MOST_BYTES: u64 = 64 << 10;

/// Whether somebody means a file, where a name could stand as well.
pub(crate) fn is_file_name(text: &str) -> bool {
    language(Path::new(text)).is_some()
}

/// The workload that this file describes.
///
/// # Errors
/// The file cannot be read; and what is wrong in it, with line and column.
pub(crate) fn load(path: &Path) -> Result<Workload, Failure> {
    Ok(load_with_digest(path)?.0)
}

/// The same with the SHA-256 of the file, which says whether it is still what it was.
///
/// # Errors
/// As [`load`].
pub(crate) fn load_with_digest(path: &Path) -> Result<(Workload, String), Failure> {
    let file = path.display().to_string();
    let Some(language) = language(path) else {
        return Err(Failure::Usage(format!("{file} must end in .toml or .json, which says what it is")));
    };
    let text = read(path)?;
    let workload = parse(&file, &text, language).map_err(Failure::Usage)?;
    let sha256 = Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect();
    Ok((workload, sha256))
}

fn language(path: &Path) -> Option<Language> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "toml" => Some(Language::Toml),
        "json" => Some(Language::Json),
        _ => None,
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    // A byte more, so that too many are noticed.
    let read = File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes));
    read.map_err(|source| Failure::File { what: format!("cannot read {}", path.display()), source })?;
    let file = path.display();
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Failure::Usage(format!("{file} is larger than {MOST_BYTES} bytes: it must be something else")));
    }
    let text = results::decode(&bytes).map_err(|error| Failure::Usage(format!("{file} is no text: {error}")))?;
    Ok(text.to_owned())
}

/// # Errors
/// What is wrong, with line and column and the line itself.
fn parse(file: &str, text: &str, language: Language) -> Result<Workload, String> {
    let definition = match language {
        Language::Toml => toml::from_str::<Definition>(text).map_err(|error| {
            let at = error.span().unwrap_or_default();
            shown(file, text, at, &plain(error.message()))
        })?,
        Language::Json => serde_json::from_str::<Definition>(text).map_err(|error| of_json(file, text, &error))?,
    };
    recipe::workload(&definition)
        .map_err(|mistake| shown(file, text, language.find(text, &mistake.place), &mistake.message))
}

fn of_json(file: &str, text: &str, error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    let message = error.to_string();
    let message = message.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&message);
    let message = match error.classify() {
        Category::Syntax | Category::Eof => format!("this is no JSON: {message}"),
        Category::Data | Category::Io => plain(message),
    };
    let at = byte_of(text, line, column);
    shown(file, text, at..at, &message)
}

/// The reader's message in the words of the file.
fn plain(message: &str) -> String {
    let bare = "invalid type: unit variant, expected struct variant";
    message.replace(bare, "its options are missing; with them it is `{ name = { … } }`")
}
