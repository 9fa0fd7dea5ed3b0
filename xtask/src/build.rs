//! Builds with cargo whose results are needed by path.

use crate::workspace::cargo;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The programs that a cargo command built (test programs not counted), by name.
pub(crate) type Programs = BTreeMap<String, PathBuf>;

/// `cargo build --release -p PACKAGE`, and where its program of the same name is.
pub(crate) fn program(top: &Path, package: &str) -> Result<PathBuf> {
    program_with(top, package, &[])
}

/// As [`program`], with these of the package's features besides those that are on by themselves.
pub(crate) fn program_with(top: &Path, package: &str, features: &[&str]) -> Result<PathBuf> {
    let mut command = cargo(top);
    command.args(["build", "--release", "--package", package]);
    command.args(features.iter().flat_map(|feature| ["--features", feature]));
    programs(&mut command)?
        .remove(package)
        .with_context(|| format!("the crate {package} builds no program of its own name"))
}

/// Runs a cargo command that builds, and collects the programs that it built or found fresh. Wherever the
/// configuration puts the target folder, cargo says where each program lies.
pub(crate) fn programs(command: &mut Command) -> Result<Programs> {
    let output = command
        .arg("--message-format=json-render-diagnostics")
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    if !output.status.success() {
        bail!("the build failed, see cargo's messages above");
    }
    Ok(programs_in(&String::from_utf8_lossy(&output.stdout)))
}

fn programs_in(messages: &str) -> Programs {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| {
            let kinds = message["target"]["kind"].as_array();
            let is_program = kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == "bin"));
            message["reason"] == "compiler-artifact" && is_program && message["profile"]["test"] == false
        })
        .filter_map(|message| {
            let name = message["target"]["name"].as_str()?.to_owned();
            Some((name, PathBuf::from(message["executable"].as_str()?)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_cargos_messages_and_test_programs_are_not_taken_for_them() {
        let messages = r#"
{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"results"},"profile":{"test":false},"executable":null}
{"reason":"compiler-artifact","target":{"kind":["bin"],"name":"leaderboard"},"profile":{"test":true},"executable":"/t/deps/leaderboard-0123"}
{"reason":"compiler-artifact","target":{"kind":["bin"],"name":"leaderboard"},"profile":{"test":false},"executable":"/t/leaderboard"}
{"reason":"build-finished","success":true}"#;
        let expected = BTreeMap::from([("leaderboard".to_owned(), PathBuf::from("/t/leaderboard"))]);
        assert_eq!(programs_in(messages), expected);
    }
}
