//! From two wasm modules and a few files to a folder that a server can serve.
//!
//! Every file gets a digest of its content into its name, or its folder's name, so that browsers may keep it for ever;
//! `index.html` names the files without, and is rewritten with their final names.

use crate::files::files_below;
use crate::task::Task;
use anyhow::{Context, Result, bail};
use data_sets::files::{sha256_hex, write_whole};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Hexadecimal digits of a digest in a name.
const DIGITS: usize = 16;
/// Which documents the page has, for the page itself and for who makes them.
const DOCUMENTS: &str = "app/documents.json";

/// How a script is loaded: `page-tools bindgen --help`.
#[derive(Clone, Copy)]
pub(super) enum Script {
    Module,
    Classic,
}

/// The program that makes what cargo built fit for a browser, and the task that waits for it.
#[derive(Clone, Copy)]
pub(super) struct Tools<'a> {
    pub program: &'a Path,
    pub task: &'a Task,
}

impl Tools<'_> {
    /// Writes `NAME.js` and `NAME_bg.wasm` into a folder.
    pub(super) fn bindgen(self, module: &Path, script: Script, name: &str, folder: &Path) -> Result<()> {
        let script = match script {
            Script::Module => "module",
            Script::Classic => "classic",
        };
        let mut command = Command::new(self.program);
        command.args(["bindgen", "--script", script, "--name", name, "--out"]).arg(folder).arg(module);
        self.task.follow(&mut command).map(|_| ())
    }

    /// Writes the documents of the repository as fragments of HTML that the page shows, and `contents.json`, which names
    /// them.
    fn documents(self, top: &Path, folder: &Path) -> Result<()> {
        let mut command = Command::new(self.program);
        command.arg("documents").arg(top).arg("--list").arg(top.join(DOCUMENTS)).arg("--out").arg(folder);
        if let Some(repository) = repository(|name| env::var(name).ok()) {
            command.args(["--repository", &repository]);
        }
        self.task.follow(&mut command).map(|_| ())
    }

    /// Writes `FILE.gz` and `FILE.br` beside each compressible file: the server sends whichever a browser accepts, and
    /// compresses nothing itself.
    pub(super) fn compress(self, folder: &Path) -> Result<()> {
        self.task.follow(Command::new(self.program).arg("compress").arg(folder)).map(|_| ())
    }
}

/// The repository's address, if somebody says it: a checkout does not know where it is published. GitHub's workflows do.
fn repository(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let said = |name| variable(name).filter(|value| !value.is_empty());
    said("GRADMARK_REPOSITORY")
        .or_else(|| Some(format!("{}/{}", said("GITHUB_SERVER_URL")?, said("GITHUB_REPOSITORY")?)))
}

/// The modules that cargo built for the page.
pub(super) struct Modules {
    pub page: PathBuf,
    pub worker: PathBuf,
}

/// Puts the whole page into an empty folder, with a compressed twin beside each file.
pub(super) fn assemble(top: &Path, modules: &Modules, tools: Tools, dist: &Path) -> Result<()> {
    let worker = dist.join("worker");
    fs::create_dir_all(&worker).with_context(|| format!("cannot make the folder {}", worker.display()))?;
    tools.bindgen(&modules.page, Script::Module, "page", dist)?;
    tools.bindgen(&modules.worker, Script::Classic, "worker", &worker)?;
    for (source, place) in [
        ("app/icon.svg", "icon.svg"),
        ("app/service-worker.js", "service-worker.js"),
        ("app/style.css", "style.css"),
        ("app/worker/loader.js", "worker/loader.js"),
        ("index.html", "index.html"),
    ] {
        fs::copy(top.join(source), dist.join(place)).with_context(|| format!("cannot copy {source} into the page"))?;
    }
    tools.documents(top, &dist.join("documents"))?;
    name_by_content(dist)?;
    tools.compress(dist)
}

/// Gives the files and the folders of worker and documents their names, and `index.html` the names.
fn name_by_content(dist: &Path) -> Result<()> {
    let index = dist.join("index.html");
    let mut html = fs::read_to_string(&index).context("the page has no index.html")?;
    for name in ["icon.svg", "style.css", "page.js", "page_bg.wasm"] {
        let (stem, ending) = name.split_once('.').context("a file has an ending")?;
        let digest = digest(&[dist.join(name)])?;
        html = rename(dist, &html, name, &format!("{stem}-{digest}.{ending}"), "")?;
    }
    for folder in ["worker", "documents"] {
        let digest = digest(&files_below(&dist.join(folder))?)?;
        html = rename(dist, &html, folder, &format!("{folder}-{digest}"), "/")?;
    }
    write_whole(&index, |out| Ok(out.write_all(html.as_bytes())?))
}

/// Renames a file or folder, and the text with its new name in place of the old one; `after` is what follows it there.
fn rename(dist: &Path, html: &str, old: &str, new: &str, after: &str) -> Result<String> {
    fs::rename(dist.join(old), dist.join(new)).with_context(|| format!("the page has no {old}"))?;
    let named = format!("\"/{old}{after}");
    if !html.contains(&named) {
        bail!("index.html does not name /{old}{after}");
    }
    Ok(html.replace(&named, &format!("\"/{new}{after}")))
}

/// One digest of these files' contents, as short as a name should be.
pub(super) fn digest(files: &[PathBuf]) -> Result<String> {
    let mut digests = String::new();
    for file in files {
        digests += &sha256_hex(&fs::read(file).with_context(|| format!("cannot read {}", file.display()))?);
    }
    Ok(sha256_hex(digests.as_bytes())[..DIGITS].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> tempfile::TempDir {
        let dist = tempfile::tempdir().unwrap();
        for folder in ["worker", "documents"] {
            fs::create_dir(dist.path().join(folder)).unwrap();
        }
        for name in [
            "icon.svg",
            "style.css",
            "page.js",
            "page_bg.wasm",
            "worker/loader.js",
            "worker/worker.js",
            "documents/contents.json",
        ] {
            fs::write(dist.path().join(name), name).unwrap();
        }
        let index = concat!(env!("CARGO_MANIFEST_DIR"), "/../index.html");
        fs::copy(index, dist.path().join("index.html")).unwrap();
        dist
    }

    #[test]
    fn every_name_in_the_index_is_that_of_a_file_and_changes_with_its_content() {
        let named = |dist: &Path| {
            name_by_content(dist).unwrap();
            let html = fs::read_to_string(dist.join("index.html")).unwrap();
            let names: Vec<String> = html
                .split('"')
                .filter_map(|text| text.strip_prefix('/'))
                .filter(|text| text.contains('.'))
                .map(str::to_owned)
                .collect();
            assert!(names.len() >= 8, "{names:?}");
            for name in &names {
                assert!(dist.join(name).is_file() && name.contains('-'), "{name} of {html}");
            }
            names
        };
        let (one, other) = (page(), page());
        fs::write(other.path().join("worker/worker.js"), "another worker").unwrap();
        let (one, other) = (named(one.path()), named(other.path()));
        let changed: Vec<&String> = one.iter().filter(|name| !other.contains(name)).collect();
        assert!(changed.len() == 1 && changed[0].starts_with("worker-"), "{changed:?}");
    }

    #[test]
    fn links_to_files_lead_to_where_somebody_says_that_the_repository_is() {
        let said = |pairs: &[(&str, &str)]| {
            repository(|name| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
        };
        let workflow = [("GITHUB_SERVER_URL", "https://forge.example"), ("GITHUB_REPOSITORY", "somebody/gradmark")];
        assert_eq!(said(&[]), None);
        assert_eq!(said(&[("GRADMARK_REPOSITORY", "")]), None);
        assert_eq!(said(&[("GRADMARK_REPOSITORY", "https://a.example/b")]).unwrap(), "https://a.example/b");
        assert_eq!(said(&workflow).unwrap(), "https://forge.example/somebody/gradmark");
    }

    #[test]
    fn an_index_that_does_not_name_a_file_is_found() {
        let dist = page();
        fs::write(dist.path().join("index.html"), "<html>").unwrap();
        let error = name_by_content(dist.path()).unwrap_err().to_string();
        assert_eq!(error, "index.html does not name /icon.svg");
    }
}
