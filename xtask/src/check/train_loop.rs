//! The training loop is the same code everywhere.

use super::rust::{code, lines_with};
use super::{Check, Tree, Violation};
use anyhow::Result;

const LOOP: &str = "engine/src/train.rs";

pub(super) static CHECK: Check = Check {
    name: "one training loop",
    promise: "The training loop has no `cfg(target_arch)`: the browser and the command line run the same one.",
    find,
};

fn find(tree: &Tree) -> Result<Vec<Violation>> {
    // One file, and a folder for its parts.
    let mut files = tree.files("engine/src/train", &["rs"])?;
    files.extend(tree.exists(LOOP).then(|| LOOP.into()));
    if files.is_empty() {
        return Ok(vec![Violation::of(LOOP, "does not exist: tell this check where the training loop went")]);
    }
    let mut violations = Vec::new();
    for file in files {
        let code = code(&tree.read(&file)?);
        let lines = lines_with(&code, "target_arch");
        violations.extend(lines.into_iter().map(|line| Violation::at(&file, line, "depends on the target")));
    }
    Ok(violations)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOTHING, found};
    use super::CHECK;

    #[test]
    fn a_loop_that_depends_on_the_target_is_found() {
        let files = [
            ("engine/src/clock.rs", "#[cfg(target_arch = \"wasm32\")]\nfn now() {}\n"),
            ("engine/src/train.rs", "fn train() {}\n"),
            ("engine/src/train/window.rs", "fn a() {}\n#[cfg(not(target_arch = \"wasm32\"))]\nfn b() {}\n"),
        ];
        assert_eq!(found(&CHECK, &files), ["engine/src/train/window.rs:2: depends on the target"]);
        assert_eq!(found(&CHECK, &[("engine/src/train.rs", "fn train() {}\n")]), NOTHING);
    }

    #[test]
    fn a_loop_that_moved_away_is_not_taken_for_a_good_one() {
        assert_eq!(found(&CHECK, &[("engine/src/lib.rs", "")]).len(), 1);
    }
}
