//! Hooks of `Trunk.toml`: build steps of the page that Trunk does not support.

mod bindgen;
mod bundle;
mod burn;
mod documents;
mod frameworks;

use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result};
use clap::Parser;

#[derive(Parser)]
#[command(about = "What the page needs and Trunk does not do")]
enum Hook {
    /// Finish what Trunk has built: documents, other bundles, compression. Trunk calls this (Trunk.toml)
    Finish,
    /// Build the worker with Burn, unless the cache has it, and put it into a built page
    Burn {
        /// Folder of the page
        page: PathBuf,
    },
    /// Bundle TensorFlow.js and jax-js, unless the cache has them, and print the folder of the bundles
    Frameworks,
}

fn main() -> Result<()> {
    let name = env::args_os().next().map(PathBuf::from);
    if name.is_some_and(|name| name.file_stem().is_some_and(|name| name == bindgen::NAME)) {
        return bindgen::run();
    }
    match Hook::parse() {
        Hook::Finish => finish(),
        Hook::Burn { page } => burn::place(&env::current_dir()?, &page, true),
        Hook::Frameworks => {
            println!("{}", frameworks::bundles(&env::current_dir()?)?.display());
            Ok(())
        }
    }
}

fn finish() -> Result<()> {
    let variable = |name| {
        let value = env::var_os(name).map(PathBuf::from);
        value.with_context(|| format!("{name} is not set: Trunk sets it, so run `trunk build` instead"))
    };
    let (stage, top) = (variable("TRUNK_STAGING_DIR")?, variable("TRUNK_SOURCE_DIR")?);
    // `trunk serve` has to be fast, and does not serve compressed files.
    let release = env::var("TRUNK_PROFILE").is_ok_and(|profile| profile == "release");
    documents::write(&top, &top.join("app/documents.json"), repository().as_deref(), &stage.join("documents"))?;
    name_by_content(&stage, &["worker", "documents"])?;
    if release {
        bundle::compress(&stage)?;
    }
    frameworks::place(&top, &stage, release)?;
    burn::place(&top, &stage, false)
}

/// URL of the repository, if set in the environment, as in GitHub's workflows.
fn repository() -> Option<String> {
    let value = |name| env::var(name).ok().filter(|value| !value.is_empty());
    let of_workflow = || Some(format!("{}/{}", value("GITHUB_SERVER_URL")?, value("GITHUB_REPOSITORY")?));
    value("GRADMARK_REPOSITORY").or_else(of_workflow)
}

/// Adds a digest of the content to the names of these folders, here and in `index.html`, so that browsers may cache
/// their files forever. Trunk does this for files, but not for workers.
fn name_by_content(stage: &Path, folders: &[&str]) -> Result<()> {
    let index = stage.join("index.html");
    let mut html = fs::read_to_string(&index).context("the page has no index.html")?;
    for folder in folders {
        let named = format!("\"/{folder}/");
        anyhow::ensure!(html.contains(&named), "index.html does not name /{folder}/");
        let new = format!("{folder}-{}", bundle::digest(&bundle::files_below(&stage.join(folder))?)?);
        fs::rename(stage.join(folder), stage.join(&new)).with_context(|| format!("the page has no {folder}"))?;
        html = html.replace(&named, &format!("\"/{new}/"));
    }
    fs::write(&index, html).context("cannot write index.html")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_names_in_index_depend_on_content() {
        let named = |worker: &str| {
            let stage = tempfile::tempdir().unwrap();
            fs::create_dir(stage.path().join("worker")).unwrap();
            fs::write(stage.path().join("worker/worker.js"), worker).unwrap();
            fs::write(stage.path().join("index.html"), r#"<meta content="/worker/worker.js" />"#).unwrap();
            name_by_content(stage.path(), &["worker"]).unwrap();
            let error = name_by_content(stage.path(), &["other"]).unwrap_err().to_string();
            assert_eq!(error, "index.html does not name /other/");
            let html = fs::read_to_string(stage.path().join("index.html")).unwrap();
            let address = html.split('"').nth(1).unwrap().to_owned();
            assert!(stage.path().join(&address[1..]).is_file(), "{html}");
            address
        };
        assert_ne!(named("one"), named("another"));
        assert_eq!(named("one"), named("one"));
    }
}
