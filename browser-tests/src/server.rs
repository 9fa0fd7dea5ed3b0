use std::cell::RefCell;
use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tempfile::TempDir;

use crate::Setup;
use crate::process::StartedProgram;

/// Leaderboard server on a free port, with a new database.
pub struct PageServer {
    process: RefCell<StartedProgram>,
    /// Origin of its URLs, such as `http://127.0.0.1:40123`.
    pub(crate) origin: String,
    original: PathBuf,
    page: PathBuf,
    original_data: PathBuf,
    data: PathBuf,
    _folder: TempDir,
}

impl PageServer {
    /// Starts the server with the built page and the data sets, modified by `setup`.
    pub fn start(setup: &Setup) -> Result<Self> {
        let binary = find_program("GRADMARK_LEADERBOARD", "leaderboard")?;
        let (original, original_data) = (built_page()?, path_from("GRADMARK_DATA", workspace_root()?.join("data")));
        if !original.join("index.html").is_file() {
            bail!("{} has no page; `cargo xtask test` builds it", original.display());
        }
        let folder = tempfile::tempdir()?;
        let page = copy_without(&original, folder.path().join("page"), setup.missing)?;
        if let Some(state) = setup.burn {
            replace_burn_state(&page, state)?;
        }
        if let Some(script) = setup.worker_script {
            prepend_to_worker(script, &page)?;
        }
        let data = if setup.missing_data.is_empty() {
            original_data.clone()
        } else {
            copy_without(&original_data, folder.path().join("data"), setup.missing_data)?
        };
        let mut command = Command::new(&binary);
        command.args(["--listen", "127.0.0.1:0", "--database"]).arg(folder.path().join("db.sqlite"));
        command.arg("--page").arg(&page).arg("--data").arg(&data).args(["--log", "warn"]);
        let (process, origin) =
            StartedProgram::start(&mut command, "listening on ").context("`cargo xtask test` builds the server")?;
        let process = RefCell::new(process);
        Ok(Self { process, origin, original, page, original_data, data, _folder: folder })
    }

    /// Restores the files that the running server was started without.
    pub fn restore_missing(&self) -> Result<()> {
        for (original, copy) in [(&self.original, &self.page), (&self.original_data, &self.data)] {
            if copy != original {
                copy_without(original, copy.clone(), &[])?;
            }
        }
        Ok(())
    }

    /// Replaces the running server's `burn.json` in one step, as `cargo xtask run` does.
    pub fn set_burn_state(&self, state: &str) -> Result<()> {
        replace_burn_state(&self.page, state)
    }

    /// Kills the server while the browser goes on, to simulate a lost network.
    pub fn stop(&self) -> Result<()> {
        Ok(self.process.borrow_mut().0.kill()?)
    }
}

const BURN_STATE: &str = "burn.json";

pub fn read_page_json(name: &str) -> Result<Value> {
    let file = built_page()?.join(name);
    let text = fs::read_to_string(&file).with_context(|| format!("{} cannot be read", file.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not JSON", file.display()))
}

/// Replaces burn.json without writing to the old file, which may be a hard link to the built page's.
fn replace_burn_state(page: &Path, state: &str) -> Result<()> {
    let new = page.join(format!("{BURN_STATE}.new"));
    fs::write(&new, state)?;
    if let Ok(old) = fs::metadata(page.join(BURN_STATE)) {
        // The browser asks for changes since a second.
        let modified = old.modified()?.max(SystemTime::now()) + Duration::from_secs(1);
        File::options().write(true).open(&new)?.set_modified(modified)?;
    }
    Ok(fs::rename(new, page.join(BURN_STATE))?)
}

/// Prepends a script to the training worker of a copied page.
fn prepend_to_worker(script: &str, page: &Path) -> Result<()> {
    let is_worker = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with("worker-");
    let folder = fs::read_dir(page)?.filter_map(Result::ok).find(is_worker).context("the page has no worker")?.path();
    let loader = folder.join("loader.js");
    let own = fs::read_to_string(&loader)?;
    for ending in ["", ".br", ".gz"] {
        // Writing to the file would change the built page, because it may be a hard link.
        fs::remove_file(folder.join(format!("loader.js{ending}")))?;
    }
    Ok(fs::write(loader, format!("{script}\n{own}"))?)
}

fn built_page() -> Result<PathBuf> {
    Ok(path_from("GRADMARK_PAGE", workspace_root()?.join("dist")))
}

fn path_from(variable: &str, default: PathBuf) -> PathBuf {
    env::var_os(variable).map_or(default, PathBuf::from)
}

fn workspace_root() -> Result<&'static Path> {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the crate is in a workspace")
}

/// Copies a folder without some of its files, as hard links if possible.
fn copy_without(from: &Path, to: PathBuf, missing: &[&str]) -> Result<PathBuf> {
    fs::create_dir_all(&to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() {
            copy_without(&path, to.join(name), missing)?;
            continue;
        }
        // The server would send compressed variants instead of a missing file.
        let matches = |file: &&str| ["", ".br", ".gz"].iter().any(|ending| name == *format!("{file}{ending}"));
        let copy = to.join(&name);
        if !missing.iter().any(matches) && !copy.exists() {
            // Hard links fail if the temporary folder is on another file system.
            fs::hard_link(&path, &copy).or_else(|_| fs::copy(&path, &copy).map(drop))?;
        }
    }
    Ok(to)
}

/// Returns the path in an environment variable, or else of a program in Cargo's folder of binaries. Tests are in its
/// subfolder `deps`, and examples in `examples`.
pub fn find_program(variable: &str, name: &str) -> Result<PathBuf> {
    let here = env::current_exe()?;
    let folder = here.ancestors().nth(2).context("tests are in a subfolder of the folder of binaries")?;
    Ok(path_from(variable, folder.join(name)))
}
