//! Dependencies between the crates of the workspace.

use super::crates;
use anyhow::Result;
use cargo_metadata::DependencyKind;
use std::path::Path;

/// Each crate and the crates of the workspace that it may depend on. Tests may use more, except in xtask.
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
    ("page-hooks", &[]),
];

pub(super) fn find(top: &Path) -> Result<Vec<String>> {
    let crates = crates(top)?;
    let mut found = Vec::new();
    for package in &crates {
        let name = package.name.as_str();
        let Some((_, allowed)) = ARROWS.iter().find(|(known, _)| *known == name) else {
            found.push(format!("{name} is new: add its arrows to xtask/src/check/dependencies.rs"));
            continue;
        };
        for dependency in &package.dependencies {
            let other = dependency.name.as_str();
            let is_ours = crates.iter().any(|package| package.name == other);
            let is_exempt = dependency.kind == DependencyKind::Development && name != "xtask";
            let has_features = dependency.uses_default_features || !dependency.features.is_empty();
            if (is_ours && !is_exempt && !allowed.contains(&other)) || (other == "wgpu" && name != "engine") {
                found.push(format!("{name} must not depend on {other}"));
            } else if (name, other) == ("leaderboard", "engine") && !is_exempt && has_features {
                found.push("leaderboard must not build the backends of the engine's features".to_owned());
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::tree;
    use super::find;

    #[test]
    fn finds_dependencies_against_the_arrows_outside_tests() {
        let crates = [
            ("results", "dependencies.engine.path = \"../engine\"\ndev-dependencies.xtask.path = \"../xtask\""),
            ("engine", "target.'cfg(unix)'.dependencies.wgpu = \"30\""),
            ("xtask", "dev-dependencies.records = { path = \"../results\", package = \"results\" }"),
            ("leaderboard", "dependencies = { engine = { path = \"../engine\" }, wgpu = \"30\" }"),
            ("novelty", ""),
        ];
        let members = crates.map(|(name, _)| name);
        let mut files = vec![("Cargo.toml".to_owned(), format!("workspace.members = {members:?}"))];
        for (name, dependencies) in crates {
            files.push((format!("{name}/Cargo.toml"), format!("package.name = \"{name}\"\n{dependencies}")));
            files.push((format!("{name}/src/lib.rs"), String::new()));
        }
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let expected = [
            "results must not depend on engine",
            "xtask must not depend on results",
            "leaderboard must not build the backends of the engine's features",
            "leaderboard must not depend on wgpu",
            "novelty is new: add its arrows to xtask/src/check/dependencies.rs",
        ];
        assert_eq!(find(tree(&files).path()).unwrap(), expected);
    }
}
