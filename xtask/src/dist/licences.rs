//! The licences of the libraries inside what we distribute: most of them require that their text is included.

use crate::workspace::cargo;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) const FILE: &str = "LICENSES-OF-LIBRARIES.txt";

/// Something that was built: its libraries are those of a package with these features, for a target.
pub(super) struct Built<'a> {
    pub(super) package: &'a str,
    pub(super) features: &'a [&'a str],
    pub(super) target: &'a str,
}

/// One text with every library's name, version and licence, and each distinct licence text once.
pub(super) fn notices(top: &Path, built: &[Built<'_>]) -> Result<String> {
    let mut libraries = BTreeSet::new();
    for one in built {
        libraries.extend(libraries_of(top, one)?);
    }
    let known = known_packages(top, built)?;
    let mut text =
        "The libraries that are part of this, and their licences. Each text follows once, below the names of \
                    those that have it.\n\n"
            .to_owned();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for library in libraries {
        let (licence, folder) = known.get(&library).with_context(|| format!("cargo knows no package {library}"))?;
        writeln!(text, "{library}: {licence}")?;
        for content in licence_texts(folder)? {
            texts.entry(content).or_default().push(library.clone());
        }
    }
    for (content, libraries) in texts {
        write!(text, "\n{}\n{}\n\n{}\n", "=".repeat(80), libraries.join(", "), content.trim_end())?;
    }
    Ok(text)
}

/// `NAME vVERSION` of everything that is linked into the program, build scripts and macros not counted.
fn libraries_of(top: &Path, built: &Built<'_>) -> Result<BTreeSet<String>> {
    let mut command = cargo(top);
    command.args(["tree", "--locked", "--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}"]);
    command.args(["--package", built.package, "--target", built.target]);
    command.args(built.features.iter().flat_map(|feature| ["--features", feature]));
    let output = command.output().context("cannot start cargo")?;
    if !output.status.success() {
        bail!("cargo cannot list the libraries of {}: {}", built.package, String::from_utf8_lossy(&output.stderr));
    }
    let words = |line: &str| {
        let mut words = line.split_whitespace();
        Some(format!("{} {}", words.next()?, words.next()?))
    };
    // Our own packages name their folder, and the licences of these lie beside this file.
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(lines.lines().filter(|line| !line.contains(top.to_string_lossy().as_ref())).filter_map(words).collect())
}

/// The licence expression and the folder of every package that these targets need.
fn known_packages(top: &Path, built: &[Built<'_>]) -> Result<BTreeMap<String, (String, PathBuf)>> {
    let mut command = cargo(top);
    command.args(["metadata", "--locked", "--format-version", "1"]);
    // Otherwise cargo would fetch what only other systems need.
    let targets: BTreeSet<&str> = built.iter().map(|one| one.target).collect();
    command.args(targets.iter().flat_map(|target| ["--filter-platform", target]));
    // And would know nothing of what only these features bring.
    let of = |one: &Built<'_>| one.features.iter().map(|name| format!("{}/{name}", one.package)).collect::<Vec<_>>();
    command.args(built.iter().flat_map(of).flat_map(|feature| ["--features".to_owned(), feature]));
    let output = command.output().context("cannot start cargo")?;
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo's metadata cannot be read")?;
    let packages = metadata["packages"].as_array().context("cargo's metadata names no packages")?;
    let described = packages.iter().filter_map(|package| {
        let name = format!("{} v{}", package["name"].as_str()?, package["version"].as_str()?);
        let licence = package["license"].as_str().unwrap_or("see the text below").to_owned();
        Some((name, (licence, Path::new(package["manifest_path"].as_str()?).parent()?.to_owned())))
    });
    Ok(described.collect())
}

/// What a library ships beside its manifest as its licence.
fn licence_texts(folder: &Path) -> Result<Vec<String>> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .with_context(|| format!("cannot read {}", folder.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file() && is_licence(path))
        .collect();
    files.sort();
    files.iter().map(|file| Ok(String::from_utf8_lossy(&fs::read(file)?).replace("\r\n", "\n"))).collect()
}

fn is_licence(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
    ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE", "COPYRIGHT"].iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences_are_told_by_their_usual_names() {
        for (name, expected) in
            [("LICENSE-MIT", true), ("license.txt", true), ("COPYING", true), ("README.md", false), ("src", false)]
        {
            assert_eq!(is_licence(Path::new(name)), expected, "{name}");
        }
    }

    #[test]
    fn the_libraries_of_this_very_program_are_named_with_their_licence_texts() {
        let top = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let target = super::super::programs::target(top).unwrap();
        let one = |package, features| Built { package, features, target: &target };
        let text = notices(top, &[one("xtask", &[]), one("engine", &["burn-flex"])]).unwrap();
        assert!(text.contains("\nburn-flex v"), "what only a feature brings is missing:\n{text}");
        assert!(text.contains("\nanyhow v1.") && text.contains(": MIT OR Apache-2.0\n"), "{text}");
        assert!(text.contains("Permission is hereby granted, free of charge"));
        assert!(
            !text.contains("xtask v") && !text.contains("serde_derive v"),
            "ours and macros are not libraries in it"
        );
    }
}
