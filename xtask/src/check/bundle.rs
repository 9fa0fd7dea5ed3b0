//! What a visitor downloads before anything can be clicked.

use super::{Check, Tree, Violation};
use anyhow::Result;
use std::io::Write;
use std::path::Path;

const FOLDER: &str = "dist";
/// How the name of the folder with the second bundle begins.
const BURN: &str = "burn-";

/// Files that are fetched together, and what they may come to.
struct Load {
    name: &'static str,
    budget_bytes: usize,
    burn: bool,
}

const LOADS: [Load; 2] = [
    Load { name: "first load", budget_bytes: 1_500_000, burn: false },
    Load { name: "worker with Burn", budget_bytes: BURN_BUDGET_BYTES, burn: true },
];
/// A little more than what it came to when it was made.
const BURN_BUDGET_BYTES: usize = 3_500_000;

pub(super) static CHECK: Check = Check {
    name: "size of the page",
    promise: "Compressed with gzip, the first load of the page (interface and worker) is at most 1.5 MB, and the \
              worker with Burn, fetched when it is chosen, keeps to a budget of its own.",
    find,
};

/// Looks at the page where it was built; `cargo xtask test` builds it first.
fn find(tree: &Tree) -> Result<Vec<Violation>> {
    let mut violations = Vec::new();
    let files = tree.files(FOLDER, &["wasm", "js", "css", "html"])?;
    for Load { name, budget_bytes, burn } in LOADS {
        let mut sizes = Vec::new();
        for file in files.iter().filter(|file| is_of_burn(file) == burn) {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            encoder.write_all(&tree.bytes(file)?)?;
            sizes.push((encoder.finish()?.len(), file));
        }
        let total: usize = sizes.iter().map(|(size, _)| size).sum();
        if total <= budget_bytes {
            continue;
        }
        sizes.sort_unstable_by(|one, other| other.cmp(one));
        let largest = sizes.iter().take(3).map(|(size, file)| format!("{} {size}", file.display()));
        let largest = largest.collect::<Vec<_>>().join(", ");
        let what = format!("{name}: {total} bytes compressed, the budget is {budget_bytes}; largest: {largest}");
        violations.push(Violation::of(FOLDER, what));
    }
    Ok(violations)
}

/// Whether a file lies in the folder of the second bundle.
fn is_of_burn(file: &Path) -> bool {
    file.iter().nth(1).is_some_and(|folder| folder.to_string_lossy().starts_with(BURN)) && file.iter().count() > 2
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOTHING, found};
    use super::CHECK;

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
        let over = found(&CHECK, &[("dist/index.html", "<html>"), ("dist/page.wasm", &large)]);
        assert_eq!(over.len(), 1);
        assert!(over[0].contains("the budget is 1500000; largest: dist/page.wasm"), "{}", over[0]);
    }

    #[test]
    fn the_worker_with_burn_counts_apart_from_the_first_load() {
        let burn = noise(4_000_000);
        let within = [("dist/index.html", "<html>"), ("dist/burn-0123/worker_bg.wasm", burn.as_str())];
        assert_eq!(found(&CHECK, &within), NOTHING);
        let twice = noise(24_000_000);
        let over = found(&CHECK, &[("dist/index.html", "<html>"), ("dist/burn-0123/worker_bg.wasm", &twice)]);
        assert_eq!(over.len(), 1);
        assert!(over[0].contains("worker with Burn: "), "{}", over[0]);
    }

    #[test]
    fn what_shrinks_into_the_budget_and_compressed_twins_are_fine() {
        let large = noise(4_000_000);
        let files = [("dist/page.js", "x".repeat(4_000_000)), ("dist/page.js.br", large)];
        assert_eq!(found(&CHECK, &files.each_ref().map(|(path, text)| (*path, text.as_str()))), NOTHING);
    }
}
