//! The programs in the archives, and the documentation that they generate.

use crate::workspace::{cargo, find_program};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Burn's back ends that everybody of this platform can use. CUDA and ROCm need their makers' tools where they are
/// built and where they run, so that they are for those who ask for them.
#[cfg(target_os = "macos")]
pub(super) const FEATURES_OF_THIS_PLATFORM: &[&str] = &["burn-flex", "burn-wgpu", "burn-metal", "burn-remote"];
#[cfg(not(target_os = "macos"))]
pub(super) const FEATURES_OF_THIS_PLATFORM: &[&str] = &["burn-flex", "burn-wgpu", "burn-vulkan", "burn-remote"];

/// Shells, and what each wants the file of its completions to be called.
pub(super) const COMPLETIONS: [(&str, &str); 4] = [
    ("bash", "native-runner.bash"),
    ("zsh", "_native-runner"),
    ("fish", "native-runner.fish"),
    ("powershell", "native-runner.ps1"),
];

/// The target that cargo builds for here, such as `x86_64-unknown-linux-gnu`.
pub(super) fn target(top: &Path) -> Result<String> {
    let output = cargo(top).arg("-vV").output().context("cannot start cargo")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("cargo does not say which machine this is")?.to_owned())
}

/// The program without its symbols. A copy is stripped: a change of the profile would recompile everything.
pub(super) fn stripped(program: &Path) -> Result<Vec<u8>> {
    let read = |path: &Path| fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    // Microsoft's linker puts symbols into a file of their own.
    if cfg!(target_env = "msvc") {
        return read(program);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let strip = find_program("strip", &path).context(
        "`strip` is missing, which makes programs a third of their size: install binutils (Debian, Ubuntu: `apt-get \
         install binutils`; macOS: `xcode-select --install`) and run this again",
    )?;
    let copy = program.with_extension(format!("stripped-{}", std::process::id()));
    let stripped = fs::copy(program, &copy)
        .with_context(|| format!("cannot copy {}", program.display()))
        .and_then(|_bytes| crate::workspace::run(Command::new(strip).arg(&copy), "stripping a program"))
        .and_then(|()| read(&copy));
    // What stays behind is only in the way when it can be removed later.
    let _ = fs::remove_file(&copy);
    stripped
}

/// What the program writes to its standard output.
pub(super) fn said_by(program: &Path, arguments: &[&str]) -> Result<Vec<u8>> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .with_context(|| format!("cannot start {}", program.display()))?;
    if !output.status.success() || output.stdout.is_empty() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        bail!("`{} {}` ended with {}: {said}", program.display(), arguments.join(" "), output.status);
    }
    Ok(output.stdout)
}

/// Every page of the program's manual, by name.
pub(super) fn manual(program: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    let folder = program.with_extension(format!("manual-{}", std::process::id()));
    let ended = Command::new(program).args(["manual", "--output"]).arg(&folder).output();
    let pages = ended.context("cannot start the program for its manual").and_then(|output| {
        if !output.status.success() {
            bail!("`{} manual` failed: {}", program.display(), String::from_utf8_lossy(&output.stderr));
        }
        let files = crate::files::files_below(&folder)?;
        let page = |file: &std::path::PathBuf| Ok((file_name(file), fs::read(file)?));
        files.iter().map(page).collect::<Result<Vec<_>>>()
    });
    // As above.
    let _ = fs::remove_dir_all(&folder);
    pages
}

fn file_name(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
