//! The arrows between the crates.

use super::manifest::{dependencies, package_name};
use super::{Check, Tree, Violation};
use anyhow::{Context, Result};

/// Each crate of the workspace and the crates of the workspace that it may depend on. Tests may use more, except
/// those of xtask.
const ARROWS: [(&str, &[&str]); 9] = [
    ("results", &[]),
    ("shaders", &[]),
    ("engine", &["results", "shaders"]),
    ("native-runner", &["engine", "results"]),
    ("leaderboard", &["results", "engine"]),
    ("app", &["engine", "results", "training-worker"]),
    ("training-worker", &["engine", "results"]),
    ("browser-tests", &["results"]),
    ("xtask", &[]),
];

/// Libraries that only some crates may name in their manifests. The engine chooses the graphics library for all.
const KEPT: [(&str, &[&str]); 1] = [("wgpu", &["engine"])];

pub(super) static CHECK: Check = Check {
    name: "arrows between crates",
    promise: "Crates depend on each other only along the arrows of ARCHITECTURE.md, and the leaderboard never builds \
              wgpu or Burn.",
    find,
};

fn find(tree: &Tree) -> Result<Vec<Violation>> {
    let folders = tree.crates()?;
    let mut manifests = Vec::new();
    for folder in &folders {
        let path = format!("{folder}/Cargo.toml");
        let text = tree.read(&path)?;
        let name = package_name(&text).with_context(|| format!("{path} names no package"))?;
        manifests.push((path, name, text));
    }
    let ours: Vec<&str> = manifests.iter().map(|(_, name, _)| name.as_str()).collect();
    let mut violations = Vec::new();
    for (path, name, text) in &manifests {
        let Some((_, allowed)) = ARROWS.iter().find(|(known, _)| known == name) else {
            let what = format!("the crate {name} is new: give it its arrows in xtask/src/check/dependencies.rs");
            violations.push(Violation::of(path, what));
            continue;
        };
        for found in dependencies(text) {
            let inside = ours.contains(&found.name.as_str());
            let of_tests = found.dev && name != "xtask";
            if inside && !of_tests && !allowed.contains(&found.name.as_str()) {
                let what = format!("{name} must not depend on {}", found.name);
                violations.push(Violation::at(path.as_ref(), found.line, what));
            }
            if KEPT.iter().any(|(kept, by)| *kept == found.name && !by.contains(&name.as_str())) {
                let what = format!("{name} must not depend on {}: the engine does", found.name);
                violations.push(Violation::at(path.as_ref(), found.line, what));
            }
            if name == "leaderboard" && found.name == "engine" && !found.dev && found.value.contains("features") {
                let what =
                    "the leaderboard uses the engine without features: the plain reference back end is all it needs";
                violations.push(Violation::at(path.as_ref(), found.line, what));
            }
        }
    }
    Ok(violations)
}

#[cfg(test)]
mod tests {
    use super::super::testing::found;
    use super::CHECK;

    const TOP: &str = "[workspace]\nmembers = [\"results\", \"engine\", \"leaderboard\"]\n";

    #[test]
    fn an_arrow_against_the_design_is_found_with_its_line() {
        let files = [
            ("Cargo.toml", TOP),
            ("results/Cargo.toml", "[package]\nname = \"results\"\n[dependencies]\nengine.workspace = true\n"),
            (
                "engine/Cargo.toml",
                "[package]\nname = \"engine\"\n[dependencies]\nresults.workspace = true\nwgpu = \"30\"\n",
            ),
            (
                "leaderboard/Cargo.toml",
                "[package]\nname = \"leaderboard\"\n[dependencies]\nwgpu = \"30\"\n\
                 engine = { workspace = true, features = [\"wgsl\"] }\n",
            ),
        ];
        let found = found(&CHECK, &files);
        assert_eq!(found.len(), 3, "{found:#?}");
        assert_eq!(found[0], "results/Cargo.toml:4: results must not depend on engine");
        assert_eq!(found[1], "leaderboard/Cargo.toml:4: leaderboard must not depend on wgpu: the engine does");
        assert!(found[2].contains("without features"), "{}", found[2]);
    }

    #[test]
    fn tests_may_use_more_and_a_new_crate_has_to_state_its_arrows() {
        let files = [
            ("Cargo.toml", "[workspace]\nmembers = [\"results\", \"leaderboard\", \"novelty\"]\n"),
            ("results/Cargo.toml", "[package]\nname = \"results\"\n[dev-dependencies]\nleaderboard.workspace = true\n"),
            ("leaderboard/Cargo.toml", "[package]\nname = \"leaderboard\"\n[dependencies]\nresults.workspace = true\n"),
            ("novelty/Cargo.toml", "[package]\nname = \"novelty\"\n"),
        ];
        let found = found(&CHECK, &files);
        assert_eq!(found.len(), 1, "{found:#?}");
        assert!(found[0].contains("the crate novelty is new"), "{}", found[0]);
    }
}
