//! The repository's documents as pages of the site, made when the page is put together: so page and repository cannot
//! disagree.
//!
//! The list of documents is a file that the page itself includes (`app/documents.json`). Each becomes a fragment of HTML,
//! which the page fetches when somebody opens it. A document with a dead link or without exactly one title is an error that
//! names it.

mod fragment;
mod headings;
mod links;

use anyhow::{Context, Result, bail};
use headings::Headings;
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};

/// The names of all fragments, for whatever keeps them for later.
const CONTENTS: &str = "contents.json";

/// A line of the list.
#[derive(Clone, Debug, Deserialize)]
struct Listed {
    /// As it is called in addresses: `/docs/NAME`.
    name: String,
    /// Relative to the top of the repository.
    file: PathBuf,
}

/// A document as it was read.
struct Document {
    listed: Listed,
    text: String,
    headings: Headings,
}

/// All documents, and where links out of them lead.
struct Library<'a> {
    top: &'a Path,
    documents: Vec<Document>,
    /// The address of the repository, where one is known.
    repository: Option<&'a str>,
}

/// Writes a fragment for each document of the list, `NAME.html`, and the list of these files.
///
/// # Errors
/// Something cannot be read or written; or a document is not in order, with everything that is wrong in any of them.
pub(crate) fn write(top: &Path, list: &Path, repository: Option<&str>, out: &Path) -> Result<()> {
    let library = Library::open(top, list, repository)?;
    let fragments = library.fragments()?;
    fs::create_dir_all(out).with_context(|| format!("cannot make the folder {}", out.display()))?;
    let mut names = Vec::new();
    for (document, html) in library.documents.iter().zip(fragments) {
        let name = format!("{}.html", document.listed.name);
        let path = out.join(&name);
        fs::write(&path, html).with_context(|| format!("cannot write {}", path.display()))?;
        names.push(name);
    }
    let path = out.join(CONTENTS);
    fs::write(&path, serde_json::to_vec(&names)?).with_context(|| format!("cannot write {}", path.display()))
}

impl<'a> Library<'a> {
    fn open(top: &'a Path, list: &Path, repository: Option<&'a str>) -> Result<Self> {
        let read = |path: &Path| fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()));
        let list: Vec<Listed> = serde_json::from_str(&read(list)?).context("the list of documents cannot be read")?;
        let mut documents = Vec::new();
        for listed in list {
            let text = read(&top.join(&listed.file))?;
            let headings = Headings::of(&text);
            documents.push(Document { listed, text, headings });
        }
        Ok(Self { top, documents, repository })
    }

    /// The HTML of every document, in their order.
    fn fragments(&self) -> Result<Vec<String>> {
        let mut wrong = Vec::new();
        let fragments = self.documents.iter().map(|document| fragment::html(self, document, &mut wrong)).collect();
        if wrong.is_empty() { Ok(fragments) } else { bail!("documents are not in order:\n{}", wrong.join("\n")) }
    }

    /// The document that is this file.
    fn of_file(&self, file: &Path) -> Option<&Document> {
        self.documents.iter().find(|document| document.listed.file == file)
    }
}

#[cfg(test)]
mod tests;
