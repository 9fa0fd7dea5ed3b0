//! Licenses of the libraries in the archives: most require that their text is included.

use crate::workspace::cargo;
use anyhow::{Context, Result, ensure};
use cargo_metadata::{MetadataCommand, Package};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) const FILE: &str = "LICENSES-OF-LIBRARIES.txt";

/// A package as it was built, which determines its libraries.
pub(super) struct Build<'a> {
    pub(super) package: &'a str,
    pub(super) features: &'a [&'a str],
    pub(super) target: &'a str,
}

/// Returns one text with the name, version and license of every library, and each different license text once.
pub(super) fn notices(top: &Path, builds: &[Build<'_>]) -> Result<String> {
    let packages = known_packages(top, builds)?;
    let mut libraries = BTreeSet::new();
    for build in builds {
        libraries.extend(libraries_of(top, build)?);
    }
    let mut text = "The libraries in these programs, and their licenses. Each license text is below the names of its \
                    libraries.\n\n"
        .to_owned();
    let mut texts: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for library in &libraries {
        let package = packages.get(library).with_context(|| format!("cargo knows no package {library}"))?;
        writeln!(text, "{library}: {}", package.license.as_deref().unwrap_or("see the text below"))?;
        let folder = package.manifest_path.parent().context("a manifest without a folder")?;
        for content in license_texts(folder.as_std_path())? {
            texts.entry(content).or_default().push(library);
        }
    }
    for (content, libraries) in texts {
        write!(text, "\n{}\n{}\n\n{}\n", "=".repeat(80), libraries.join(", "), content.trim_end())?;
    }
    Ok(text)
}

/// Returns `NAME vVERSION` of every library that is linked into a program; build scripts and macros are not.
fn libraries_of(top: &Path, build: &Build<'_>) -> Result<BTreeSet<String>> {
    let mut command = cargo(top);
    command.args(["tree", "--locked", "--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}"]);
    command.args(["--package", build.package, "--target", build.target]);
    command.args(build.features.iter().flat_map(|feature| ["--features", feature]));
    let output = command.output().context("cannot start cargo")?;
    let messages = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "cargo cannot list the libraries of {}: {messages}", build.package);
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    // Our own packages are listed with their folder; their licenses are separate files of the archive.
    let libraries = lines.lines().filter(|line| !line.contains(top.to_string_lossy().as_ref()));
    let name = |line: &str| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    Ok(libraries.map(name).filter(|name| !name.is_empty()).collect())
}

/// Returns every package of these builds by `NAME vVERSION`.
fn known_packages(top: &Path, builds: &[Build<'_>]) -> Result<BTreeMap<String, Package>> {
    // Without the targets, cargo would download the libraries of all other systems.
    let targets: BTreeSet<_> = builds.iter().map(|build| format!("--filter-platform={}", build.target)).collect();
    let qualify = |build: &Build<'_>| -> Vec<_> {
        build.features.iter().map(|feature| format!("--features={}/{feature}", build.package)).collect()
    };
    let options = targets.into_iter().chain(builds.iter().flat_map(qualify)).chain(["--locked".to_owned()]);
    let mut command = MetadataCommand::new();
    command.manifest_path(top.join("Cargo.toml")).other_options(options.collect::<Vec<_>>());
    let packages = command.exec().context("cargo cannot describe the packages")?.packages;
    Ok(packages.into_iter().map(|package| (format!("{} v{}", package.name, package.version), package)).collect())
}

/// Reads the license files that a library has next to its manifest.
fn license_texts(folder: &Path) -> Result<Vec<String>> {
    let names = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE", "COPYRIGHT"];
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        file.is_file() && names.iter().any(|start| name.starts_with(start))
    });
    files.sort();
    files.iter().map(|file| Ok(String::from_utf8_lossy(&fs::read(file)?).replace("\r\n", "\n"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_linked_libraries_with_their_license_texts() {
        let top = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let target = super::super::target(top).unwrap();
        let build = |package, features| Build { package, features, target: &target };
        let text = notices(top, &[build("xtask", &[]), build("engine", &["burn-flex"])]).unwrap();
        for wanted in ["\nburn-flex v", "\nanyhow v1.", ": MIT OR Apache-2.0\n", "hereby granted, free of charge"] {
            assert!(text.contains(wanted), "no {wanted:?} in\n{text}");
        }
        assert!(!text.contains("xtask v") && !text.contains("serde_derive v"), "our package or a macro in\n{text}");
    }
}
