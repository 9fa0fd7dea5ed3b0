//! The builds that our commands make, and where the programs lie that come out of them.

use crate::task::Task;
use crate::workspace::cargo;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the page is compiled for.
pub(crate) const WASM: &str = "wasm32-unknown-unknown";

/// The programs that a cargo command built (test programs not counted), by name.
pub(crate) type Programs = BTreeMap<String, PathBuf>;

/// A build that one of our commands makes: what is given to cargo.
pub(crate) struct Build {
    pub packages: &'static [&'static str],
    /// The programs of these packages that are wanted.
    pub programs: &'static [&'static str],
    pub features: &'static [&'static str],
    /// Whether it is for the browser, where size counts, and not for this machine.
    pub browser: bool,
}

pub(crate) const SERVER: Build =
    Build { packages: &["leaderboard"], programs: &["leaderboard"], features: &[], browser: false };
pub(crate) const PAGE_TOOLS: Build =
    Build { packages: &["page-tools"], programs: &["page-tools"], features: &[], browser: false };
/// Page and worker in one command, because cargo then compiles what they share once. What only the worker uses of it
/// does not get into the page: the linker leaves it out.
pub(crate) const PAGE: Build =
    Build { packages: &["app", "training-worker"], programs: &["page", "worker"], features: &[], browser: true };
pub(crate) const BURN_WORKER: Build = Build {
    packages: &["training-worker"],
    programs: &["burn-worker"],
    features: &["training-worker/burn"],
    browser: true,
};

impl Build {
    /// The cargo command. The versions are those of Cargo.lock; what is not on the disk yet is fetched.
    pub(crate) fn command(&self, top: &Path) -> Command {
        let mut command = cargo(top);
        command.args(["build", "--locked"]);
        command.args(if self.browser { &["--profile", "web", "--target", WASM][..] } else { &["--release"] });
        command.args(self.packages.iter().flat_map(|package| ["--package", package]));
        command.args(self.programs.iter().flat_map(|program| ["--bin", program]));
        command.args(self.features.iter().flat_map(|feature| ["--features", feature]));
        command
    }

    /// Builds all programs as a part of a task.
    pub(crate) fn programs(&self, top: &Path, task: &Task) -> Result<Programs> {
        self.programs_of(&mut self.command(top), task)
    }

    /// The same with a command that was made from this build.
    pub(crate) fn programs_of(&self, command: &mut Command, task: &Task) -> Result<Programs> {
        self.programs_hearing(command, task, |_| ())
    }

    /// The same; `heard` gets each line of cargo's messages.
    pub(crate) fn programs_hearing(
        &self,
        command: &mut Command,
        task: &Task,
        heard: impl FnMut(&str),
    ) -> Result<Programs> {
        let programs = programs_in(&task.follow_with(command.arg(MESSAGES), heard)?);
        match self.programs.iter().find(|program| !programs.contains_key(**program)) {
            None => Ok(programs),
            Some(missing) => bail!("cargo built no program {missing}"),
        }
    }

    /// The only program of a build.
    pub(crate) fn program(&self, top: &Path, task: &Task) -> Result<PathBuf> {
        self.programs(top, task)?.into_values().next().context("a build has a program")
    }
}

/// How cargo is asked where it put things; mistakes in the code are still shown to people.
pub(crate) const MESSAGES: &str = "--message-format=json-render-diagnostics";

/// `cargo build --release -p PACKAGE` with these of its features besides those that are on by themselves, and where
/// its program of the same name is.
pub(crate) fn program_with(top: &Path, package: &str, features: &[&str]) -> Result<PathBuf> {
    let mut command = cargo(top);
    command.args(["build", "--release", "--package", package]);
    command.args(features.iter().flat_map(|feature| ["--features", feature]));
    programs(&mut command)?
        .remove(package)
        .with_context(|| format!("the crate {package} builds no program of its own name"))
}

/// Runs a cargo command that builds, with its messages on the terminal, and collects the programs that it built or
/// found fresh. Wherever the configuration puts the target folder, cargo says where each program lies.
pub(crate) fn programs(command: &mut Command) -> Result<Programs> {
    let output = command.arg(MESSAGES).stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    if !output.status.success() {
        bail!("the build failed, see cargo's messages above");
    }
    Ok(programs_in(&String::from_utf8_lossy(&output.stdout)))
}

pub(crate) fn programs_in(messages: &str) -> Programs {
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
