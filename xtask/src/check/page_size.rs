//! Compressed size of what a visitor downloads.

use super::files;
use crate::say;
use anyhow::{Context, Result, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

type IsIncluded = fn(&str) -> bool;
/// Limits on what is downloaded together: a name, bytes after compression with gzip, and the folders that count.
const BUDGETS: [(&str, usize, IsIncluded); 3] = [
    ("first load", 1_500_000, |folder| folder != "burn"),
    ("first load without the worker", 855_000, |folder| !["burn", "worker"].contains(&folder)),
    ("worker with Burn", 3_600_000, |folder| folder == "burn"),
];

/// Checks the size of the page in `dist/` against its budgets, and reports budgets without files as skipped.
///
/// # Errors
/// When a budget is exceeded, or a file cannot be read.
pub(crate) fn check(top: &Path) -> Result<()> {
    let exceeded = compare(&compressed_sizes(top)?);
    ensure!(exceeded.is_empty(), "the page in dist/ is too large: {}", exceeded.join("; "));
    Ok(())
}

/// Adds up the compressed files by folder in `dist/`: by the first word of its name, or nothing for `dist/` itself.
fn compressed_sizes(top: &Path) -> Result<BTreeMap<String, usize>> {
    let mut sizes = BTreeMap::new();
    for file in files(top, "dist", &["wasm", "js", "css", "html"])? {
        let folder = file.parent().and_then(|parent| parent.iter().nth(1)).unwrap_or_default().to_string_lossy();
        let folder = folder.split('-').next().unwrap_or_default();
        // Documents and other frameworks are downloaded when they are opened.
        if !["documents", "framework"].contains(&folder) {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder
                .write_all(&fs::read(top.join(&file)).with_context(|| format!("cannot read {}", file.display()))?)?;
            *sizes.entry(folder.to_owned()).or_default() += encoder.finish()?.len();
        }
    }
    Ok(sizes)
}

/// Prints the budgets that are kept or not built, and returns the others.
fn compare(sizes: &BTreeMap<String, usize>) -> Vec<String> {
    let mut exceeded = Vec::new();
    for (name, limit, is_included) in BUDGETS {
        let total: usize = sizes.iter().filter(|(folder, _)| is_included(folder)).map(|(_, size)| size).sum();
        let line = format!("{name}: {total} of at most {limit} bytes compressed");
        match total {
            0 => say::step("Skipped", format!("{name}: not built; `cargo xtask run` builds it")),
            _ if total <= limit => say::step("Kept", line),
            _ => exceeded.push(line),
        }
    }
    exceeded
}

#[cfg(test)]
mod tests {
    use super::super::tree;
    use super::*;

    #[test]
    fn compares_each_budget_with_its_own_files() {
        let sizes = [("", 800_000), ("worker", 1_000_000), ("burn", 9_000_000)];
        let sizes = BTreeMap::from(sizes.map(|(folder, size)| (folder.to_owned(), size)));
        let exceeded = ["first load: 1800000 of at most 1500000", "worker with Burn: 9000000 of at most 3600000"];
        assert_eq!(compare(&sizes), exceeded.map(|line| format!("{line} bytes compressed")));
    }

    #[test]
    fn measures_compressed_files_without_documents_frameworks_and_twins() {
        let page = ("dist/page-01.js", &*"x".repeat(4_000_000));
        let others = ["dist/page.js.br", "dist/documents-01/hosting.html", "dist/framework-tfjs-01/worker.js"];
        let [twin, document, framework] = others.map(|path| (path, "text"));
        let sizes = compressed_sizes(tree(&[page, twin, document, framework]).path()).unwrap();
        assert!(sizes.len() == 1 && sizes[""] < 10_000, "{sizes:?}");
    }
}
