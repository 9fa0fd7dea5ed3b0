use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

/// The real leaderboard on a free port, with a data base of its own.
pub struct Server {
    process: Child,
    address: String,
    /// The built page.
    original: PathBuf,
    /// What is served: the built page, or a copy of it that lacks files.
    page: PathBuf,
    _folder: TempDir,
}

impl Server {
    /// Starts the server with the built page, less the files `missing`, and the data sets.
    ///
    /// # Errors
    /// The binary or the page is missing, or the server ends without listening.
    pub fn start(missing: &[&str]) -> Result<Self> {
        let top = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the crate lies in a workspace")?;
        let place = |variable: &str, default: PathBuf| env::var_os(variable).map_or(default, PathBuf::from);
        let binary = place("GRADMARK_LEADERBOARD", beside_the_tests()?.join("leaderboard"));
        let original = place("GRADMARK_PAGE", top.join("dist"));
        let data = place("GRADMARK_DATA", top.join("data"));
        if !original.join("index.html").is_file() {
            bail!("{} holds no page; `cargo xtask test` builds it", original.display());
        }
        let folder = tempfile::tempdir()?;
        let page = if missing.is_empty() {
            original.clone()
        } else {
            copy_without(&original, folder.path().join("page"), missing)?
        };
        let mut process = Command::new(&binary)
            .args(["--listen", "127.0.0.1:0", "--database"])
            .arg(folder.path().join("db.sqlite"))
            .arg("--page")
            .arg(&page)
            .arg("--data")
            .arg(data)
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
        Ok(Self { process, address, original, page, _folder: folder })
    }

    /// Gives the running server the files that it was started without.
    ///
    /// # Errors
    /// They cannot be copied.
    pub fn restore_missing(&self) -> Result<()> {
        if self.page != self.original {
            copy_without(&self.original, self.page.clone(), &[])?;
        }
        Ok(())
    }

    /// Such as `http://127.0.0.1:40123`.
    pub fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A server that has ended already is what is wanted.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Copies a folder, less some of its files.
fn copy_without(from: &Path, to: PathBuf, missing: &[&str]) -> Result<PathBuf> {
    fs::create_dir_all(&to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() {
            copy_without(&path, to.join(name), missing)?;
        } else if !missing.iter().any(|file| is_form_of(&name, file)) {
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(to)
}

/// Whether a file is `wanted` itself or a compressed form of it, which the server would send in its place.
fn is_form_of(name: &OsStr, wanted: &str) -> bool {
    ["", ".br", ".gz"].iter().any(|ending| name == format!("{wanted}{ending}").as_str())
}

/// Cargo's folder of binaries; tests lie in `deps` and examples in `examples` below it.
fn beside_the_tests() -> Result<PathBuf> {
    let here = env::current_exe()?;
    here.ancestors().nth(2).map(Path::to_path_buf).context("a test lies two folders deep in the target folder")
}
