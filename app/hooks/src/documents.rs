//! Documents of the repository as fragments of HTML, which the page fetches when someone opens one.
//!
//! The page includes the same list of documents (`app/documents.json`). A dead link, or a document without exactly one
//! title, fails the build.

mod fragment;
mod headings;
mod links;

use anyhow::{Context, Result, bail};
use headings::Headings;
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};

/// Names of all fragments, for the service worker.
const CONTENTS: &str = "contents.json";

/// A line of `documents.json`.
#[derive(Clone, Debug, Deserialize)]
struct Listed {
    /// Name in addresses: `/docs/NAME`.
    name: String,
    /// Relative to the top of the repository.
    file: PathBuf,
}

struct Document {
    listed: Listed,
    text: String,
    headings: Headings,
}

/// All documents, and the places that their links can lead to.
struct Library<'a> {
    top: &'a Path,
    documents: Vec<Document>,
    /// Address of the repository, if it is known.
    repository: Option<&'a str>,
}

/// Writes a fragment `NAME.html` for each document of the list, and the list of these files.
///
/// # Errors
/// A file cannot be read or written, or a document is wrong. The error has everything that is wrong in any of them.
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
            let headings = Headings::parse(&text);
            documents.push(Document { listed, text, headings });
        }
        Ok(Self { top, documents, repository })
    }

    fn fragments(&self) -> Result<Vec<String>> {
        let mut wrong = Vec::new();
        let fragments = self.documents.iter().map(|document| fragment::html(self, document, &mut wrong)).collect();
        if wrong.is_empty() { Ok(fragments) } else { bail!("documents are wrong:\n{}", wrong.join("\n")) }
    }

    fn find(&self, file: &Path) -> Option<&Document> {
        self.documents.iter().find(|document| document.listed.file == file)
    }
}

#[cfg(test)]
mod tests;
