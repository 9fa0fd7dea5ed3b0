//! The two programs that build the page: Trunk, and the command of wasm-bindgen at the version of the library.

use crate::workspace::{self, find_program, run};
use crate::{say, workspace::cargo};
use anyhow::{Context, Result, bail};
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const TRUNK_VERSION: &str = "0.21.14";
/// wasm-bindgen's command needs TLS only to fetch browsers' drivers, which we never ask of it.
const NO_DOWNLOADS: &[&str] = &["--no-default-features"];
const WASM: &str = "wasm32-unknown-unknown";

/// Where the tools are.
pub(crate) struct Tools {
    pub trunk: PathBuf,
    /// The PATH on which Trunk finds wasm-bindgen.
    pub path: OsString,
}

/// A program that cargo can install.
struct Tool {
    program: &'static str,
    package: &'static str,
    version: String,
    /// What to expect on two cores, so that nobody takes the wait for a fault.
    minutes: u32,
    /// What else to say to `cargo install`.
    arguments: &'static [&'static str],
}

/// Makes sure that both tools are there at their pinned versions, on the PATH or in our folder of the user's cache.
pub(crate) fn ensure(top: &Path) -> Result<Tools> {
    let lock = fs::read_to_string(top.join("Cargo.lock")).context("cannot read Cargo.lock")?;
    let bindgen = locked_version(&lock, "wasm-bindgen")
        .context("Cargo.lock has no wasm-bindgen: is the page still a part of the workspace?")?;
    let tools = [
        Tool { program: "trunk", package: "trunk", version: TRUNK_VERSION.to_owned(), minutes: 8, arguments: &[] },
        Tool {
            program: "wasm-bindgen",
            package: "wasm-bindgen-cli",
            version: bindgen,
            minutes: 3,
            arguments: NO_DOWNLOADS,
        },
    ];
    let root = workspace::cache()?.join("tools");
    let path = with_front(&root.join("bin"), &env::var_os("PATH").unwrap_or_default())?;
    let mut found = Vec::new();
    for tool in &tools {
        if find_at_version(tool, &path).is_none() {
            install(top, tool, &root)?;
        }
        let program = find_at_version(tool, &path)
            .with_context(|| format!("{} {} was installed but does not run", tool.program, tool.version))?;
        found.push(program);
    }
    // Trunk takes the first wasm-bindgen on its PATH: that has to be the one just found.
    let bindgen_folder = found[1].parent().context("a program lies in a folder")?;
    let path = with_front(bindgen_folder, &path)?;
    Ok(Tools { trunk: found.swap_remove(0), path })
}

fn with_front(folder: &Path, path: &OsStr) -> Result<OsString> {
    env::join_paths([folder.to_path_buf()].into_iter().chain(env::split_paths(path)))
        .context("the PATH holds a folder that cannot be named in it")
}

/// The version of a package in the text of a `Cargo.lock`.
fn locked_version(lock: &str, package: &str) -> Option<String> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name).skip(1);
    lines.next()?.strip_prefix("version = \"")?.strip_suffix('"').map(str::to_owned)
}

/// The first program on the PATH that says it has exactly the wanted version.
fn find_at_version(tool: &Tool, path: &OsStr) -> Option<PathBuf> {
    env::split_paths(path)
        .filter_map(|folder| find_program(tool.program, folder.as_os_str()))
        .find(|program| says_version(program, &tool.version))
}

fn says_version(program: &Path, version: &str) -> bool {
    // Trunk takes NO_COLOR for a flag of its own and refuses the usual value 1.
    let output = Command::new(program)
        .arg("--version")
        .env_remove("NO_COLOR")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).split_whitespace().nth(1) == Some(version))
}

fn install(top: &Path, tool: &Tool, root: &Path) -> Result<()> {
    let Tool { package, version, minutes, arguments, .. } = tool;
    say::step(
        "Installing",
        format!("{package} {version} into {}; about {minutes} minutes on two cores, once", root.display()),
    );
    // A build folder of its own: an interrupted installation goes on where it stopped, and the workspace's target
    // folder is not filled with a tool's dependencies.
    let build = root.join("build");
    let install = |locked: bool| {
        let mut command = cargo(top);
        command.args(["install", "--quiet", "--version", version, package]).args(*arguments);
        command.args(locked.then_some("--locked")).arg("--root").arg(root).arg("--target-dir").arg(&build);
        run(&mut command, &format!("installing {package} {version}"))
    };
    // A package's own lock file can name a dependency that was withdrawn since; its newer siblings then have to do.
    if install(true).is_err() {
        say::warn(format!("the versions that {package} was published with cannot be had; trying with others"));
        install(false)?;
    }
    fs::remove_dir_all(&build).with_context(|| format!("cannot remove {}", build.display()))
}

/// Makes sure that Rust can compile for the browser. `rust-toolchain.toml` asks rustup for the target already; this
/// catches toolchains that did not come from rustup, or came before the target was asked for.
pub(crate) fn wasm_target(top: &Path) -> Result<()> {
    if has_wasm_target(top) {
        return Ok(());
    }
    say::step("Installing", format!("Rust's target {WASM} with rustup"));
    let added = Command::new("rustup").args(["target", "add", WASM]).current_dir(top).status();
    if !added.is_ok_and(|status| status.success()) || !has_wasm_target(top) {
        bail!(
            "Rust cannot compile for {WASM}: use the toolchain of rustup and run `rustup target add {WASM}`, or install \
             your distribution's package of that target"
        );
    }
    Ok(())
}

fn has_wasm_target(top: &Path) -> bool {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "target-libdir", "--target", WASM]).current_dir(top).output();
    output.is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_comes_from_the_lock_file_and_not_from_a_package_with_a_longer_name() {
        let lock = "[[package]]\nname = \"wasm-bindgen-futures\"\nversion = \"0.4.9\"\n\n\
                    [[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\nsource = \"registry\"\n";
        assert_eq!(locked_version(lock, "wasm-bindgen").as_deref(), Some("0.2.130"));
        assert_eq!(locked_version(lock, "leptos"), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_tool_of_another_version_is_passed_over() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let install = |place: &str, version: &str| {
            let bin = folder.path().join(place);
            fs::create_dir_all(&bin).unwrap();
            let program = bin.join("trunk");
            fs::write(&program, format!("#!/bin/sh\necho trunk {version}\n")).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            bin
        };
        let path = env::join_paths([install("old", "0.20.1"), install("right", "0.21.14")]).unwrap();
        let tool = |version: &str| Tool {
            program: "trunk",
            package: "trunk",
            version: version.to_owned(),
            minutes: 8,
            arguments: &[],
        };
        assert_eq!(find_at_version(&tool("0.21.14"), &path), Some(folder.path().join("right/trunk")));
        assert_eq!(find_at_version(&tool("0.21.15"), &path), None);
    }
}
