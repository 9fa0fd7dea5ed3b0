//! The libraries of the workspace, fetched once and for every build that follows.
//!
//! Builds go side by side, and each cargo that fetches keeps the others waiting. So everything is fetched before the
//! first of them, for this machine and for the browser: what only build scripts and macros of the page need is
//! compiled for this machine. No build is told `--offline`: should something be missing after all, cargo fetches it.

use crate::build::WASM;
use crate::say;
use crate::task::Task;
use crate::workspace::cargo;
use std::path::Path;
use std::process::Command;

/// Fetches what is not there yet. Without a network the builds say themselves what they lack.
pub(crate) fn dependencies(top: &Path) {
    let task = Task::new("Fetching", "the libraries that Cargo.lock names");
    match task.follow(&mut command(top)) {
        Ok(_) => task.done("Fetched"),
        Err(_) => say::warn("not every library could be fetched; going on with those that are there"),
    }
}

fn command(top: &Path) -> Command {
    let mut command = cargo(top);
    command.args(["fetch", "--locked", "--target", "host-tuple", "--target", WASM]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{BURN_WORKER, Build, PAGE, PAGE_TOOLS, SERVER};
    use crate::workspace;

    /// Asks cargo, which must not use the network, for all that a build is made of.
    fn resolve(build: &Build, top: &Path, cargo_home: &Path) {
        let mut command = cargo(top);
        command.env("CARGO_HOME", cargo_home).args(["tree", "--quiet", "--locked", "--offline"]);
        command.args(["--target", if build.browser { WASM } else { "host-tuple" }]);
        command.args(build.packages.iter().flat_map(|package| ["--package", package]));
        command.args(build.features.iter().flat_map(|feature| ["--features", feature]));
        let output = command.output().unwrap();
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{} cannot be built after fetching:\n{messages}", build.packages.join(", "));
        let tree = String::from_utf8_lossy(&output.stdout);
        assert!(build.packages.iter().all(|package| tree.contains(package)), "{tree}");
    }

    /// With the fetching of another time, for the browser alone, this failed: macros lacked what they are made of.
    #[test]
    fn after_fetching_into_an_empty_cargo_home_every_build_has_all_that_it_needs() {
        let top = workspace::top().unwrap();
        let cargo_home = tempfile::tempdir().unwrap();
        let fetched = command(&top).env("CARGO_HOME", cargo_home.path()).output().unwrap();
        let messages = String::from_utf8_lossy(&fetched.stderr);
        if !fetched.status.success() && std::env::var("REQUIRE_NETWORK").as_deref() != Ok("1") {
            crate::say::quote("SKIPPED fetch: the registry does not answer");
            return;
        }
        assert!(fetched.status.success(), "{messages}");
        let tests = Build {
            packages: &["results", "shaders", "engine", "native-runner", "leaderboard", "browser-tests", "xtask"],
            programs: &[],
            features: &["engine/burn-flex", "native-runner/burn-remote"],
            browser: false,
        };
        for build in [&SERVER, &PAGE_TOOLS, &PAGE, &BURN_WORKER, &tests] {
            resolve(build, &top, cargo_home.path());
        }
    }
}
