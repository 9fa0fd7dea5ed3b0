//! What a visitor downloads before anything can be clicked.

use super::{Check, NotThere, Tree, Violation};
use anyhow::Result;
use std::io::Write;
use std::path::{Path, PathBuf};

const FOLDER: &str = "dist";
/// How the name of the folder with the second bundle begins.
const BURN_FOLDER: &str = "burn-";
const FIRST_LOAD_BUDGET_BYTES: usize = 1_500_000;
/// A little more than what it came to when it was made.
const BURN_BUDGET_BYTES: usize = 3_500_000;

pub(super) static FIRST_LOAD: Check = Check {
    name: "size of the page",
    promise: "Compressed with gzip, the first load of the page (interface and worker) is at most 1.5 MB.",
    find: |tree| {
        let files: Vec<PathBuf> = files(tree)?.into_iter().filter(|file| !is_of_burn(file)).collect();
        weigh(tree, "first load", &files, FIRST_LOAD_BUDGET_BYTES)
    },
};

pub(super) static BURN: Check = Check {
    name: "size of the worker with Burn",
    promise: "Compressed with gzip, the worker with Burn, fetched when it is chosen, keeps to a budget of its own.",
    find: |tree| {
        let files: Vec<PathBuf> = files(tree)?.into_iter().filter(|file| is_of_burn(file)).collect();
        if files.is_empty() {
            return Err(NotThere("the page was built without Burn").into());
        }
        weigh(tree, "worker with Burn", &files, BURN_BUDGET_BYTES)
    },
};

/// What browsers fetch of the page, where it was built; `cargo xtask test` builds it first.
fn files(tree: &Tree) -> Result<Vec<PathBuf>> {
    let files = tree.files(FOLDER, &["wasm", "js", "css", "html"])?;
    if files.is_empty() {
        return Err(NotThere("there is no page in dist/; `cargo xtask run` and `test` build it").into());
    }
    Ok(files)
}

/// Holds files that are fetched together to what they may come to.
fn weigh(tree: &Tree, name: &str, files: &[PathBuf], budget_bytes: usize) -> Result<Vec<Violation>> {
    let mut sizes = Vec::new();
    for file in files {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&tree.bytes(file)?)?;
        sizes.push((encoder.finish()?.len(), file));
    }
    let total: usize = sizes.iter().map(|(size, _)| size).sum();
    if total <= budget_bytes {
        return Ok(Vec::new());
    }
    sizes.sort_unstable_by(|one, other| other.cmp(one));
    let largest = sizes.iter().take(3).map(|(size, file)| format!("{} {size}", file.display()));
    let largest = largest.collect::<Vec<_>>().join(", ");
    let what = format!("{name}: {total} bytes compressed, the budget is {budget_bytes}; largest: {largest}");
    Ok(vec![Violation::of(FOLDER, what)])
}

/// Whether a file lies in the folder of the second bundle.
fn is_of_burn(file: &Path) -> bool {
    file.iter().nth(1).is_some_and(|folder| folder.to_string_lossy().starts_with(BURN_FOLDER))
        && file.iter().count() > 2
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
        let over = found(&FIRST_LOAD, &[("dist/index.html", "<html>"), ("dist/page.wasm", &large)]);
        assert_eq!(over.len(), 1);
        assert!(over[0].contains("the budget is 1500000; largest: dist/page.wasm"), "{}", over[0]);
    }

    #[test]
    fn the_worker_with_burn_counts_apart_from_the_first_load() {
        let burn = noise(4_000_000);
        let within = [("dist/index.html", "<html>"), ("dist/burn-0123/worker_bg.wasm", burn.as_str())];
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
            let (_folder, tree) = tree(files);
            (check.find)(&tree).err().and_then(|error| error.downcast::<NotThere>().ok()).map(|of| of.to_string())
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
