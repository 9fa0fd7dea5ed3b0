//! What a visitor downloads before anything can be clicked.

use super::{Check, Tree, Violation};
use anyhow::Result;
use std::io::Write;

const FOLDER: &str = "dist";
const BUDGET_BYTES: usize = 1_500_000;

pub(super) static CHECK: Check = Check {
    name: "size of the page",
    promise: "The first load of the page (interface and worker) is at most 1.5 MB when compressed with gzip.",
    find,
};

/// Looks at the page where it was built; `cargo xtask test` builds it first.
fn find(tree: &Tree) -> Result<Vec<Violation>> {
    let mut sizes = Vec::new();
    for file in tree.files(FOLDER, &["wasm", "js", "css", "html"])? {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&tree.bytes(&file)?)?;
        sizes.push((encoder.finish()?.len(), file));
    }
    let total: usize = sizes.iter().map(|(size, _)| size).sum();
    if total <= BUDGET_BYTES {
        return Ok(Vec::new());
    }
    sizes.sort_unstable_by(|one, other| other.cmp(one));
    let largest = sizes.iter().take(3).map(|(size, file)| format!("{} {size}", file.display())).collect::<Vec<_>>();
    let what = format!("{total} bytes compressed, the budget is {BUDGET_BYTES}; largest: {}", largest.join(", "));
    Ok(vec![Violation::of(FOLDER, what)])
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
    fn what_shrinks_into_the_budget_and_compressed_twins_are_fine() {
        let large = noise(4_000_000);
        let files = [("dist/page.js", "x".repeat(4_000_000)), ("dist/page.js.br", large)];
        assert_eq!(found(&CHECK, &files.each_ref().map(|(path, text)| (*path, text.as_str()))), NOTHING);
    }
}
