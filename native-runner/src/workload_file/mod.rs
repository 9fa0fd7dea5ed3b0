//! User-defined networks: a TOML or JSON file with layers, optimizer, schedule and data set becomes a workload of the
//! engine, on every backend, without compiling (`docs/WORKLOADS.md`).

pub(crate) mod definition;
mod network;
mod place;
mod recipe;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use data_sets::files::sha256_hex;
use engine::Workload;
use serde_json::error::Category;

use crate::failure::Failure;
use crate::workload_file::definition::WorkloadDefinition;
use crate::workload_file::place::{Language, Located, byte_of, located_values, shown};

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
    let sha256 = sha256_hex(text.as_bytes());
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
    let definition = read(file, text, language)?;
    recipe::workload(&definition, Located(&located_values(text, language)))
        .map_err(|mistake| shown(file, text, mistake.at, &mistake.message))
}

fn read(file: &str, text: &str, language: Language) -> Result<WorkloadDefinition, String> {
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
