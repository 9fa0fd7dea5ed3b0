//! Data sets of the checkout, downloaded with curl or npm.

use crate::workspace::{self, output_of};
use crate::{say, setup};
use anyhow::{Result, bail, ensure};
use data_sets::{Package, Store, StoreHost};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the store of a checkout, in `data/` at its top unless another folder is given.
pub(crate) fn store(top: &Path, folder: Option<PathBuf>) -> Result<Store> {
    let folder = folder.unwrap_or_else(|| top.join("data"));
    Ok(Store::new(folder, workspace::cache()?.join("archives"), programs()))
}

/// Returns a way to download npm packages with the programs on the PATH.
pub(crate) fn programs() -> impl StoreHost + 'static {
    Programs { path: std::env::var_os("PATH").unwrap_or_default() }
}

/// Ensures that all files of the store are complete and correct, or, if `refetch`, fetches and makes them again.
pub(crate) fn prepare(store: &Store, refetch: bool) -> Result<()> {
    setup::system(setup::Wanted { download: store.needs_download(), ..setup::Wanted::default() })?;
    say::step("Verifying", format!("the data sets in {}", store.folder.display()));
    let made = store.ensure(refetch)?;
    let new = if made > 0 { format!(", {made} of them new") } else { String::new() };
    say::step("Data", format!("{} files verified{new}", store.files()));
    Ok(())
}

/// Downloads with `curl`, or if that fails with `npm`, which also uses the registries and proxies in its settings.
struct Programs {
    /// Folders of programs, in the format of the PATH variable.
    path: OsString,
}

impl StoreHost for Programs {
    fn download(&self, package: &Package, to: &Path) -> Result<()> {
        let mut errors = Vec::new();
        for (name, download) in [("curl", curl as fn(Command, &Package, &Path) -> Result<()>), ("npm", npm)] {
            if let Some(program) =
                which::which_in_global(name, Some(&self.path)).ok().and_then(|mut found| found.next())
            {
                match download(Command::new(program), package, to) {
                    Ok(()) => return Ok(()),
                    Err(error) => errors.push(format!("{error:#}")),
                }
            }
        }
        ensure!(!errors.is_empty(), "neither curl nor npm was found: install one of them");
        bail!("{}", errors.join("; "))
    }

    fn step(&self, verb: &'static str, what: &str) {
        say::step(verb, what);
    }

    fn note(&self, what: &str) {
        say::warn(what);
    }
}

fn curl(mut command: Command, package: &Package, to: &Path) -> Result<()> {
    command.args(["--fail", "--location", "--silent", "--show-error", "--retry", "2", "--connect-timeout", "30"]);
    // Fails if nothing arrives for a minute.
    command.args(["--speed-limit", "1", "--speed-time", "60", "--output"]).arg(to).arg(package.address());
    output_of(&mut command).map(drop)
}

fn npm(mut command: Command, package: &Package, to: &Path) -> Result<()> {
    let folder = to.with_extension("npm");
    std::fs::create_dir_all(&folder)?;
    command.args(["pack", &package.to_string(), "--ignore-scripts", "--loglevel", "error", "--fetch-retries", "1"]);
    command.args(["--fetch-timeout", "60000", "--pack-destination"]).arg(&folder).current_dir(&folder);
    let packed = output_of(&mut command).and_then(|_| Ok(std::fs::rename(folder.join(package.archive_name()), to)?));
    // A temporary folder that cannot be removed does no harm.
    let _ = std::fs::remove_dir_all(&folder);
    packed
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn downloads_with_curl_then_npm_and_reports_all_errors() {
        let package = Package { name: "grey", version: "1.0.0" };
        let download = |programs: &[(&str, &str)]| -> Result<String> {
            let folder = tempfile::tempdir()?;
            for (name, script) in programs {
                let path = folder.path().join(name);
                fs::write(&path, format!("#!/bin/sh\n{script}\n"))?;
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
            }
            let to = folder.path().join("archive");
            Programs { path: folder.path().into() }.download(&package, &to)?;
            Ok(fs::read_to_string(to)?)
        };
        let curl = "while [ \"$1\" != --output ]; do shift; done; echo \"$3\" > \"$2\"";
        let npm = "while [ \"$1\" != --pack-destination ]; do shift; done; echo packed > \"$2/grey-1.0.0.tgz\"";
        assert_eq!(download(&[("curl", curl), ("npm", "exit 1")]).unwrap().trim(), package.address());
        assert_eq!(download(&[("curl", "exit 6"), ("npm", npm)]).unwrap(), "packed\n");
        let failing = [("curl", "echo no host >&2; exit 6"), ("npm", "echo request failed >&2; exit 1")];
        let error = download(&failing).unwrap_err().to_string();
        assert!(error.contains("no host; ") && error.ends_with("request failed"), "{error}");
        assert!(download(&[]).unwrap_err().to_string().contains("neither curl nor npm"));
    }
}
