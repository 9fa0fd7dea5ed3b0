//! What a visitor downloads before anything can be clicked.

use super::{Check, NotThere, files};
use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

const FOLDER: &str = "dist";
/// How the name of the folder with the second bundle begins, and those of other frameworks.
const BURN_FOLDER: &str = "burn-";
const FRAMEWORK_FOLDER: &str = "framework-";
/// Documents, each of which is fetched when somebody opens it.
const DOCUMENTS_FOLDER: &str = "documents-";
const FIRST_LOAD_BUDGET_BYTES: usize = 1_500_000;
/// Of what draws the page, without the worker that trains.
const PAGE_BUDGET_BYTES: usize = 855_000;
const WORKER_FOLDER: &str = "worker-";
/// A little more than what it comes to: 3.51 MB since it has recurrent layers of three kinds.
const BURN_BUDGET_BYTES: usize = 3_600_000;

pub(super) const FIRST_LOAD: Check = Check {
    name: "size of the page",
    promise: "Compressed with gzip, the first load of the page (interface and worker) is at most 1.5 MB, and without the \
              worker 855 kB.",
    find: |top| {
        let first = parts(top)?.0;
        let mut broken = weigh(top, "first load", &first, FIRST_LOAD_BUDGET_BYTES)?;
        let interface: Vec<PathBuf> = first.into_iter().filter(|file| !lies_in(file, WORKER_FOLDER)).collect();
        broken.extend(weigh(top, "interface", &interface, PAGE_BUDGET_BYTES)?);
        Ok(broken)
    },
};

pub(super) const BURN: Check = Check {
    name: "size of the worker with Burn",
    promise: "Compressed with gzip, the worker with Burn, fetched when it is chosen, keeps to a budget of its own.",
    find: |top| match parts(top)?.1 {
        burn if burn.is_empty() => Err(NotThere("the page was built without Burn").into()),
        burn => weigh(top, "worker with Burn", &burn, BURN_BUDGET_BYTES),
    },
};

/// What browsers fetch of the page at first, and what they fetch when Burn is chosen: the folder of the second bundle.
/// `cargo xtask test` builds the page before it checks.
fn parts(top: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let files = files(top, FOLDER, &["wasm", "js", "css", "html"])?;
    if files.is_empty() {
        return Err(NotThere("there is no page in dist/; `cargo xtask run` and `test` build it").into());
    }
    let later = |file: &PathBuf| lies_in(file, FRAMEWORK_FOLDER) || lies_in(file, DOCUMENTS_FOLDER);
    let ours = files.into_iter().filter(|file| !later(file));
    Ok(ours.partition(|file| !lies_in(file, BURN_FOLDER)))
}

/// Whether a file lies in the folder of the page whose name begins so.
fn lies_in(file: &Path, name: &str) -> bool {
    let folder = file.parent().and_then(|above| above.iter().nth(1));
    folder.is_some_and(|folder| folder.to_string_lossy().starts_with(name))
}

/// Holds files that are fetched together to what they may come to.
fn weigh(top: &Path, name: &str, files: &[PathBuf], budget_bytes: usize) -> Result<Vec<String>> {
    let mut sizes = Vec::new();
    for file in files {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&fs::read(top.join(file)).with_context(|| format!("cannot read {}", file.display()))?)?;
        sizes.push((encoder.finish()?.len(), file));
    }
    let total: usize = sizes.iter().map(|(size, _)| size).sum();
    if total <= budget_bytes {
        return Ok(Vec::new());
    }
    sizes.sort_unstable_by(|one, other| other.cmp(one));
    let largest: Vec<_> = sizes.iter().take(3).map(|(size, file)| format!("{} {size}", file.display())).collect();
    let largest = largest.join(", ");
    Ok(vec![format!("{FOLDER}: {name}: {total} bytes compressed, the budget is {budget_bytes}; largest: {largest}")])
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOTHING, found, tree};
    use super::super::{Check, NotThere};
    use super::{BURN, FIRST_LOAD};

    /// Text that gzip cannot shrink much: hexadecimal of a counter mixed by multiplication.
    fn noise(bytes: usize) -> String {
        let mut state = 1_u64;
        let mut text = String::new();
        while text.len() < bytes {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text += &format!("{:08x}", state >> 32);
        }
        text
    }

    #[test]
    fn a_page_over_the_budget_is_found_with_its_largest_files() {
        let large = noise(4_000_000);
        let over = found(&FIRST_LOAD, &[("dist/index.html", "<html>"), ("dist/worker-0123/worker.wasm", &large)]);
        assert_eq!(over.len(), 1, "the interface is small");
        assert!(over[0].contains("the budget is 1500000; largest: dist/worker-0123/worker.wasm"), "{}", over[0]);
        let over = found(&FIRST_LOAD, &[("dist/index.html", "<html>"), ("dist/page.wasm", &noise(2_000_000))]);
        assert_eq!(over.len(), 1, "both together are within their budget");
        assert!(over[0].contains("interface: ") && over[0].contains("the budget is 855000"), "{}", over[0]);
    }

    #[test]
    fn the_worker_with_burn_other_frameworks_and_documents_count_apart_from_the_first_load() {
        let burn = noise(4_000_000);
        let within = [
            ("dist/index.html", "<html>"),
            ("dist/burn-0123/worker_bg.wasm", burn.as_str()),
            ("dist/framework-tfjs-wasm-0123/worker.js", burn.as_str()),
            ("dist/documents-0123/hosting.html", burn.as_str()),
        ];
        assert_eq!(found(&FIRST_LOAD, &within), NOTHING);
        assert_eq!(found(&BURN, &within), NOTHING);
        let twice = noise(24_000_000);
        let over = [("dist/index.html", "<html>"), ("dist/burn-0123/worker_bg.wasm", twice.as_str())];
        assert_eq!(found(&FIRST_LOAD, &over), NOTHING);
        let over = found(&BURN, &over);
        assert_eq!(over.len(), 1);
        assert!(over[0].contains("worker with Burn: "), "{}", over[0]);
    }

    #[test]
    fn what_shrinks_into_the_budget_and_compressed_twins_are_fine() {
        let large = noise(4_000_000);
        let files = [("dist/page.js", "x".repeat(4_000_000)), ("dist/page.js.br", large)];
        assert_eq!(found(&FIRST_LOAD, &files.each_ref().map(|(path, text)| (*path, text.as_str()))), NOTHING);
    }

    #[test]
    fn a_size_of_what_was_not_built_is_not_called_kept() {
        let reason = |check: &Check, files: &[(&str, &str)]| {
            (check.find)(tree(files).path())
                .err()
                .and_then(|error| error.downcast::<NotThere>().ok())
                .map(|of| of.to_string())
        };
        let no_page = [("index.html", "<html>")];
        for check in [&FIRST_LOAD, &BURN] {
            assert!(reason(check, &no_page).unwrap().contains("not looked at: there is no page in dist/"));
        }
        let no_burn = [("dist/index.html", "<html>")];
        assert_eq!(reason(&FIRST_LOAD, &no_burn), None);
        assert_eq!(reason(&BURN, &no_burn).unwrap(), "not looked at: the page was built without Burn");
    }
}
