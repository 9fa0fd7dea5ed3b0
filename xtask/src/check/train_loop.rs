//! The training loop is the same code everywhere.

use super::rust::{code, lines_with};
use super::{Check, Tree, Violation};
use anyhow::Result;

pub(super) static CHECK: Check = Check {
    name: "one training loop",
    promise: "The training loop has no `cfg(target_arch)`: the browser and the command line run the same one.",
    find,
};

fn find(tree: &Tree) -> Result<Vec<Violation>> {
    // One file, or one folder once it has grown.
    let mut files = tree.files("engine/src/training", &["rs"])?;
    for file in ["engine/src/train.rs", "engine/src/training.rs"] {
        files.extend(tree.exists(file).then(|| file.into()));
    }
    if files.is_empty() {
        let what = "neither this nor engine/src/training/ exists: tell this check where the training loop went";
        return Ok(vec![Violation::of("engine/src/train.rs", what)]);
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
    use super::super::testing::found;
    use super::CHECK;

    #[test]
    fn a_loop_that_depends_on_the_target_is_found() {
        let files = [
            ("engine/src/clock.rs", "#[cfg(target_arch = \"wasm32\")]\nfn now() {}\n"),
            ("engine/src/training/mod.rs", "fn train() {}\n"),
            ("engine/src/training/window.rs", "fn a() {}\n#[cfg(not(target_arch = \"wasm32\"))]\nfn b() {}\n"),
        ];
        assert_eq!(found(&CHECK, &files), ["engine/src/training/window.rs:2: depends on the target"]);
        assert_eq!(found(&CHECK, &[("engine/src/train.rs", "fn train() {}\n")]), [String::new(); 0]);
    }

    #[test]
    fn a_loop_that_moved_away_is_not_taken_for_a_good_one() {
        assert_eq!(found(&CHECK, &[("engine/src/lib.rs", "")]).len(), 1);
    }
}
