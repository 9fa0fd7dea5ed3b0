use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tempfile::TempDir;

use crate::Setup;

/// The real leaderboard on a free port, with its own database.
pub struct Server {
    process: Child,
    address: String,
    original: PathBuf,
    /// Served page: the built one, or a modified copy.
    page: PathBuf,
    original_data: PathBuf,
    data: PathBuf,
    _folder: TempDir,
}

impl Server {
    /// Starts the server with the built page and the data sets, modified by `setup`.
    pub fn start(setup: &Setup) -> Result<Self> {
        let binary = place("GRADMARK_LEADERBOARD", beside_the_tests()?.join("leaderboard"));
        let (original, original_data) = (built_page()?, place("GRADMARK_DATA", top()?.join("data")));
        if !original.join("index.html").is_file() {
            bail!("{} holds no page; `cargo xtask test` builds it", original.display());
        }
        let folder = tempfile::tempdir()?;
        let is_as_built = setup.missing.is_empty() && setup.burn.is_none() && setup.in_worker.is_none();
        let page = if is_as_built {
            original.clone()
        } else {
            copy_without(&original, folder.path().join("page"), setup.missing)?
        };
        if let Some(said) = setup.burn {
            replace_burn(&page, said)?;
        }
        if let Some(script) = setup.in_worker {
            begin_worker_with(script, &page)?;
        }
        let data = if setup.missing_data.is_empty() {
            original_data.clone()
        } else {
            copy_without(&original_data, folder.path().join("data"), setup.missing_data)?
        };
        let mut process = Command::new(&binary)
            .args(["--listen", "127.0.0.1:0", "--database"])
            .arg(folder.path().join("db.sqlite"))
            .arg("--page")
            .arg(&page)
            .arg("--data")
            .arg(&data)
            .args(["--log", "warn"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} cannot be started; `cargo xtask test` builds it", binary.display()))?;
        let mut lines = BufReader::new(process.stdout.take().context("stdout is piped")?).lines();
        let address = lines.find_map(|line| Some(line.ok()?.strip_prefix("listening on ")?.trim().to_owned()));
        let Some(address) = address else {
            bail!("{} ended with {} before it listened", binary.display(), process.wait()?);
        };
        Ok(Self { process, address, original, page, original_data, data, _folder: folder })
    }

    /// Gives the running server the files that it was started without.
    pub fn restore_missing(&self) -> Result<()> {
        for (original, copy) in [(&self.original, &self.page), (&self.original_data, &self.data)] {
            if copy != original {
                copy_without(original, copy.clone(), &[])?;
            }
        }
        Ok(())
    }

    /// Replaces the running server's `burn.json` in one step, as `cargo xtask run` does.
    pub fn say_of_burn(&self, said: &str) -> Result<()> {
        if self.page == self.original {
            bail!("the built page stays unchanged: start the server with its own `burn`");
        }
        replace_burn(&self.page, said)
    }

    /// Ends the server while the browser goes on, as if the network were lost.
    pub fn stop(&self) -> Result<()> {
        let id = self.process.id().to_string();
        let ended = Command::new("kill").args(["-KILL", &id]).status().context("cannot start `kill`")?;
        if ended.success() { Ok(()) } else { bail!("the server {id} cannot be ended") }
    }

    /// Such as `http://127.0.0.1:40123`.
    pub fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A server that has ended already cannot be killed.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// The file of the page that says whether the worker with Burn is there.
const BURN: &str = "burn.json";

/// Reads a JSON file of the built page.
pub fn file_of_page(name: &str) -> Result<Value> {
    let file = built_page()?.join(name);
    let text = fs::read_to_string(&file).with_context(|| format!("{} cannot be read", file.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not JSON", file.display()))
}

/// Replaces burn.json; the old file may be a hard link to the built page's.
fn replace_burn(page: &Path, said: &str) -> Result<()> {
    let aside = page.join(format!("{BURN}.new"));
    fs::write(&aside, said)?;
    Ok(fs::rename(aside, page.join(BURN))?)
}

/// Makes the training worker of a copied page run a script first.
fn begin_worker_with(script: &str, page: &Path) -> Result<()> {
    let is_worker = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with("worker-");
    let folder = fs::read_dir(page)?.filter_map(Result::ok).find(is_worker).context("the page has no worker")?.path();
    let loader = folder.join("loader.js");
    let own = fs::read_to_string(&loader)?;
    for ending in ["", ".br", ".gz"] {
        // A hard link to the built page's file, which stays as it is.
        fs::remove_file(folder.join(format!("loader.js{ending}")))?;
    }
    Ok(fs::write(loader, format!("{script}\n{own}"))?)
}

fn built_page() -> Result<PathBuf> {
    Ok(place("GRADMARK_PAGE", top()?.join("dist")))
}

fn place(variable: &str, default: PathBuf) -> PathBuf {
    env::var_os(variable).map_or(default, PathBuf::from)
}

fn top() -> Result<&'static Path> {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the crate is in a workspace")
}

/// Copies a folder without some of its files, as hard links where that is possible.
fn copy_without(from: &Path, to: PathBuf, missing: &[&str]) -> Result<PathBuf> {
    fs::create_dir_all(&to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() {
            copy_without(&path, to.join(name), missing)?;
        } else if !missing.iter().any(|file| is_form_of(&name, file)) && !to.join(&name).exists() {
            let copy = to.join(name);
            // A temporary folder may be on another disk.
            fs::hard_link(&path, &copy).or_else(|_| fs::copy(&path, &copy).map(drop))?;
        }
    }
    Ok(to)
}

/// True for `wanted` and its compressed forms, which the server would send in its place.
fn is_form_of(name: &OsStr, wanted: &str) -> bool {
    ["", ".br", ".gz"].iter().any(|ending| name == format!("{wanted}{ending}").as_str())
}

/// Cargo's folder of binaries; tests are in `deps` below it, and examples in `examples`.
fn beside_the_tests() -> Result<PathBuf> {
    let here = env::current_exe()?;
    here.ancestors().nth(2).map(Path::to_path_buf).context("a test lies two folders deep in the target folder")
}
