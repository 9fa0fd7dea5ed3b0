//! The arrows between the crates.

use super::{Check, crates};
use anyhow::Result;
use cargo_metadata::{Dependency, DependencyKind};
use std::path::Path;

/// Each crate of the workspace and the crates of the workspace that it may depend on. Tests may use more, except
/// those of xtask.
const ARROWS: [(&str, &[&str]); 13] = [
    ("results", &[]),
    ("html-report", &["results"]),
    ("record-table", &["results"]),
    ("data-sets", &[]),
    ("shaders", &[]),
    ("engine", &["results", "shaders"]),
    ("native-runner", &["engine", "results", "html-report", "record-table", "data-sets"]),
    ("leaderboard", &["results", "engine", "record-table"]),
    ("app", &["engine", "results", "training-worker"]),
    ("training-worker", &["engine", "results"]),
    ("browser-tests", &["results"]),
    ("xtask", &["data-sets"]),
    ("page-tools", &[]),
];

pub(super) const CHECK: Check = Check {
    name: "arrows between crates",
    promise: "Crates depend on each other only along the arrows of ARCHITECTURE.md, and the leaderboard never builds \
              wgpu or Burn.",
    find,
};

fn find(top: &Path) -> Result<Vec<String>> {
    let crates = crates(top)?;
    let mut violations = Vec::new();
    for one in &crates {
        let name = one.name.as_str();
        let wrong = match ARROWS.iter().find(|(known, _)| *known == name) {
            None => vec!["is new: give it its arrows in xtask/src/check/dependencies.rs".to_owned()],
            Some((_, allowed)) => {
                let inside = |other: &str| crates.iter().any(|one| one.name == other);
                let complaint = |found| complaint(name, allowed, found, inside(&found.name));
                one.dependencies.iter().filter_map(complaint).collect()
            }
        };
        let manifest = one.manifest_path.strip_prefix(top)?;
        violations.extend(wrong.iter().map(|wrong| format!("{manifest}: {name} {wrong}")));
    }
    Ok(violations)
}

/// What is wrong with a dependency of a crate, if anything.
fn complaint(name: &str, allowed: &[&str], found: &Dependency, inside: bool) -> Option<String> {
    let of_tests = found.kind == DependencyKind::Development;
    if inside && !(of_tests && name != "xtask") && !allowed.contains(&found.name.as_str()) {
        return Some(format!("must not depend on {}", found.name));
    }
    if found.name == "wgpu" && name != "engine" {
        return Some("must not depend on wgpu: the engine does, and chooses it for all".to_owned());
    }
    let has_features = found.uses_default_features || !found.features.is_empty();
    (name == "leaderboard" && found.name == "engine" && !of_tests && has_features)
        .then(|| "uses the engine with features: the plain reference back end is all it needs".to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOTHING, found_in_workspace};
    use super::CHECK;

    #[test]
    fn arrows_against_the_design_are_found() {
        let crates = [
            ("results", "[dependencies]\nengine.workspace = true\n"),
            ("engine", "[target.'cfg(unix)'.dependencies]\nwgpu = \"30\"\n"),
            ("xtask", "[dev-dependencies.records]\npackage = \"results\"\npath = \"../results\"\n"),
            (
                "leaderboard",
                "[dependencies]\nengine = { workspace = true, features = [\"wgsl\"] }\n\
                 [target.'cfg(windows)'.dependencies]\ngraphics = { package = \"wgpu\", version = \"30\" }\n",
            ),
        ];
        assert_eq!(
            found_in_workspace(&CHECK, &crates, &[]),
            [
                "results/Cargo.toml: results must not depend on engine",
                "xtask/Cargo.toml: xtask must not depend on results",
                "leaderboard/Cargo.toml: leaderboard uses the engine with features: the plain reference back end is all \
                 it needs",
                "leaderboard/Cargo.toml: leaderboard must not depend on wgpu: the engine does, and chooses it for all",
            ]
        );
    }

    #[test]
    fn the_default_features_of_the_engine_are_features() {
        let of_leaderboard = |engine: &str| {
            let leaderboard = format!("[dependencies]\nengine = {{ path = \"../engine\"{engine} }}\n");
            found_in_workspace(&CHECK, &[("engine", ""), ("leaderboard", &leaderboard)], &[])
        };
        assert_eq!(of_leaderboard(", default-features = false"), NOTHING);
        assert_eq!(of_leaderboard("").len(), 1);
    }

    #[test]
    fn tests_may_use_more_and_a_new_crate_has_to_state_its_arrows() {
        let crates = [
            ("results", "[dev-dependencies]\nleaderboard.workspace = true\n"),
            ("leaderboard", "[dependencies]\nresults.workspace = true\n"),
            ("novelty", ""),
        ];
        let expected = "novelty/Cargo.toml: novelty is new: give it its arrows in xtask/src/check/dependencies.rs";
        assert_eq!(found_in_workspace(&CHECK, &crates, &[]), [expected]);
    }
}
