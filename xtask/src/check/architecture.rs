//! A map that is longer than the walk is not read.

use super::{Check, Tree, Violation};
use anyhow::Result;

const FILE: &str = "ARCHITECTURE.md";
const LONGEST: usize = 200;

pub(super) static CHECK: Check =
    Check { name: "a short map", promise: "ARCHITECTURE.md exists and has at most 200 lines.", find };

fn find(tree: &Tree) -> Result<Vec<Violation>> {
    if !tree.exists(FILE) {
        return Ok(vec![Violation::of(FILE, "is missing")]);
    }
    let lines = tree.read(FILE)?.lines().count();
    Ok((lines > LONGEST).then(|| Violation::of(FILE, format!("has {lines} lines"))).into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOTHING, found};
    use super::CHECK;

    #[test]
    fn too_long_or_missing_is_found() {
        assert_eq!(found(&CHECK, &[("ARCHITECTURE.md", &"line\n".repeat(200))]), NOTHING);
        assert_eq!(found(&CHECK, &[("ARCHITECTURE.md", &"line\n".repeat(201))]), ["ARCHITECTURE.md: has 201 lines"]);
        assert_eq!(found(&CHECK, &[]), ["ARCHITECTURE.md: is missing"]);
    }
}
