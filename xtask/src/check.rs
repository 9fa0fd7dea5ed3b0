//! `cargo xtask check`: formatting, design rules and clippy, from the fastest to the slowest.
//!
//! Each design rule of the sources is a function that takes the top of a checkout and returns a line for each
//! violation. Rules that clippy can enforce are in clippy.toml.

use crate::say;
use crate::workspace::{BURN_FEATURES, WASM, cargo, files_below, metadata, run};
use anyhow::{Context, Result, bail, ensure};
use cargo_metadata::DependencyKind;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Function that lists the violations of a rule in a checkout.
type FindViolations = fn(&Path) -> Result<Vec<String>>;

const RULES: [(&str, FindViolations); 6] = [
    ("only engine/src/backends/wgsl/device names wgpu", wgpu),
    ("the training loop is the same on every target", training_loop),
    ("Burn's backends that clippy does not compile only compute", quiet_burn),
    ("crates depend on each other along the arrows of ARCHITECTURE.md", dependencies),
    ("the registry in shaders/src includes every WGSL file", registered_shaders),
    ("ARCHITECTURE.md is short, and every path in it exists", architecture),
];

/// Checks all rules of the sources and prints every violation.
pub(crate) fn sources(top: &Path) -> Result<()> {
    say::step("Checking", "the design rules");
    let mut broken = 0;
    for (rule, find) in RULES {
        let violations = find(top).with_context(|| format!("cannot check that {rule}"))?;
        say::step(if violations.is_empty() { "Kept" } else { "Broken" }, rule);
        violations.iter().for_each(|violation| say::step("", violation));
        broken += usize::from(!violations.is_empty());
    }
    if broken > 0 {
        bail!("{broken} of {} design rules are broken; see above", RULES.len());
    }
    Ok(())
}

/// Lists the files below a folder with one of these extensions, relative to the top and sorted; none if the folder does
/// not exist.
fn files(top: &Path, folder: impl AsRef<Path>, extensions: &[&str]) -> Result<Vec<PathBuf>> {
    let folder = top.join(folder);
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let matches = |path: &PathBuf| path.extension().is_some_and(|of| extensions.iter().any(|wanted| of == *wanted));
    files_below(&folder)?.into_iter().filter(matches).map(|path| Ok(path.strip_prefix(top)?.to_path_buf())).collect()
}

/// Lists the files with one of these extensions in the folders of crates, which may contain further crates.
fn files_of_crates(top: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(top)? {
        let folder = entry?.path();
        if folder.join("Cargo.toml").exists() {
            found.extend(files(top, &folder, extensions)?);
        }
    }
    found.sort();
    Ok(found)
}

fn read(top: &Path, path: impl AsRef<Path>) -> Result<String> {
    let path = top.join(path);
    fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
pub(crate) fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let top = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = top.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    top
}

/// Crates, each with the workspace crates that it may depend on. Tests may use more, except in xtask.
const ARROWS: [(&str, &[&str]); 12] = [
    ("results", &[]),
    ("view", &["results", "engine"]),
    ("data-sets", &[]),
    ("shaders", &[]),
    ("engine", &["results", "shaders"]),
    ("native-runner", &["engine", "results", "view", "data-sets"]),
    ("leaderboard", &["results", "engine", "view"]),
    ("app", &["engine", "results", "training-worker", "view"]),
    ("training-worker", &["engine", "results"]),
    ("browser-tests", &["results"]),
    ("xtask", &["data-sets"]),
    ("page-hooks", &[]),
];

/// Finds dependencies between crates that [`ARROWS`] does not allow.
fn dependencies(top: &Path) -> Result<Vec<String>> {
    let crates = metadata(top)?.packages;
    let mut found = Vec::new();
    for package in &crates {
        let name = package.name.as_str();
        let Some((_, allowed)) = ARROWS.iter().find(|(known, _)| *known == name) else {
            found.push(format!("{name} is new: add its arrows to xtask/src/check.rs"));
            continue;
        };
        for dependency in &package.dependencies {
            let other = dependency.name.as_str();
            let is_ours = crates.iter().any(|package| package.name == other);
            let is_exempt = dependency.kind == DependencyKind::Development && name != "xtask";
            let has_features = dependency.uses_default_features || !dependency.features.is_empty();
            if (is_ours && !is_exempt && !allowed.contains(&other)) || (other == "wgpu" && name != "engine") {
                found.push(format!("{name} must not depend on {other}"));
            } else if (name, other) == ("leaderboard", "engine") && !is_exempt && has_features {
                found.push("leaderboard must not build the backends of the engine's features".to_owned());
            }
        }
    }
    Ok(found)
}

/// The device folder of the WGSL backend, and this file, which contains the searched words.
const MAY_NAME_WGPU: [&str; 2] = ["engine/src/backends/wgsl/device", "xtask/src/check.rs"];
const MAP: &str = "ARCHITECTURE.md";
const MAX_MAP_LINES: usize = 200;
/// Extensions that make a word without a slash a file name.
const EXTENSIONS: [&str; 6] = ["rs", "wgsl", "md", "json", "toml", "html"];

/// Finds wgpu outside the device folder. Recordings must stay data that tests can read without a GPU.
fn wgpu(top: &Path) -> Result<Vec<String>> {
    let mut others = files_of_crates(top, &["rs"])?;
    others.retain(|file| !MAY_NAME_WGPU.iter().any(|known| file.starts_with(known)));
    lines_with(top, &others, &["wgpu::", "use wgpu;", "use wgpu as", "extern crate wgpu"], "names wgpu")
}

/// Finds code of the training loop that differs between the browser and the command line.
fn training_loop(top: &Path) -> Result<Vec<String>> {
    let places = ["engine/src/train.rs", "engine/src/train"];
    lines_below(top, &places, &["target_arch"], "depends on the target")
}

/// Finds input and output in the backends that clippy does not compile, because that takes minutes (clippy.toml).
fn quiet_burn(top: &Path) -> Result<Vec<String>> {
    let places = ["engine/src/backends/burn/graphics.rs", "engine/src/backends/burn/cuda_rocm.rs"];
    let words = "fs:: net:: env:: process:: File:: thread:: block_on print! println! eprint! eprintln!";
    lines_below(top, &places, &words.split(' ').collect::<Vec<_>>(), "does more than compute")
}

/// Finds shaders outside the registry, which tests use to reach them.
fn registered_shaders(top: &Path) -> Result<Vec<String>> {
    let shaders = files(top, "shaders", &["wgsl"])?;
    if shaders.is_empty() {
        return Ok(vec!["shaders: has no WGSL file: correct the path in xtask/src/check.rs".to_owned()]);
    }
    let mut sources = String::new();
    let build = PathBuf::from("shaders/build.rs");
    let build = top.join(&build).exists().then_some(build);
    for file in files(top, "shaders/src", &["rs"])?.into_iter().chain(build) {
        // Tests are at the end of a file; naming a shader there does not register it.
        let source = read(top, file)?;
        sources.extend(code(&source).map(|(_, line)| line).take_while(|line| !line.starts_with("mod tests")));
    }
    for file in &shaders {
        // The header of a kernel registers it, and its shared parts.
        sources.extend(read(top, file)?.lines().take_while(|line| line.starts_with("//")));
    }
    let is_registered = |file: &Path| {
        let [name, stem] = [file.file_name(), file.file_stem()].map(|part| part.unwrap_or_default().to_string_lossy());
        [format!("/{name}\""), format!("\"{name}\""), format!("\"{stem}\"")].iter().any(|text| sources.contains(text))
    };
    let unregistered = shaders.iter().filter(|file| !is_registered(file));
    Ok(unregistered.map(|file| format!("{}: is not registered in shaders/src", file.display())).collect())
}

/// Finds paths in ARCHITECTURE.md that neither exist below the top nor are part of a path in a crate.
fn architecture(top: &Path) -> Result<Vec<String>> {
    let text = read(top, MAP)?;
    let lines = text.lines().count();
    let mut found = Vec::from_iter((lines > MAX_MAP_LINES).then(|| format!("{MAP}: has {lines} lines")));
    let files = files_of_crates(top, &EXTENSIONS)?;
    let files: Vec<String> = files.iter().map(|file| file.to_string_lossy().replace('\\', "/")).collect();
    let exists = |path: &str| {
        let part = format!("/{path}");
        top.join(path).exists() || files.iter().any(|file| file.contains(&part))
    };
    for (number, line) in (1..).zip(text.lines()) {
        let missing = paths(line).filter(|path| !exists(path));
        found.extend(missing.map(|path| format!("{MAP}:{number}: {path} does not exist")));
    }
    Ok(found)
}

/// Returns the paths of a line: words in backquotes that look like paths. `FOLDER/NAME.rs` stands for any file, so only
/// its folder is checked.
fn paths(line: &str) -> impl Iterator<Item = &str> {
    let is_path = |word: &&str| {
        let is_plain = word.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-./".contains(letter));
        let is_file = word.rsplit_once('.').is_some_and(|(_, extension)| EXTENSIONS.contains(&extension));
        is_plain && (is_file || word.contains('/'))
    };
    let words = line.split('`').skip(1).step_by(2).filter(is_path);
    words.map(|path| path.split_once("/NAME").map_or(path, |(folder, _)| folder))
}

/// Lists the lines with one of the words in these files, or in all files of these folders, which must exist.
fn lines_below(top: &Path, places: &[&str], words: &[&str], problem: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for place in places {
        let files = files(top, place, &["rs"])?;
        if files.is_empty() {
            found.push(format!("{place}: does not exist: correct the path in xtask/src/check.rs"));
        }
        found.extend(lines_with(top, &files, words, problem)?);
    }
    Ok(found)
}

/// Lists the lines that contain a word at its beginning, so that `print!` is not found in `sprint!`.
fn lines_with(top: &Path, files: &[PathBuf], words: &[&str], problem: &str) -> Result<Vec<String>> {
    let begins = |line: &str, at: usize| !line[..at].ends_with(|of: char| of.is_alphanumeric() || of == '_');
    let has_word = |line: &str| words.iter().any(|word| line.match_indices(word).any(|(at, _)| begins(line, at)));
    let mut found = Vec::new();
    for file in files {
        let source = read(top, file)?;
        let lines = code(&source).filter(|(_, line)| has_word(line));
        found.extend(lines.map(|(number, _)| format!("{}:{number}: {problem}", file.display())));
    }
    Ok(found)
}

/// Returns the numbered lines of Rust source without `//` comments, which is enough for a word search.
fn code(source: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(source.lines().map(|line| line.split("//").next().unwrap_or_default()))
}

type IsIncluded = fn(&str) -> bool;
/// Limits on downloads: name, bytes after gzip compression, and the folders that count.
const BUDGETS: [(&str, usize, IsIncluded); 3] = [
    ("first load", 1_500_000, |folder| folder != "burn"),
    ("first load without the worker", 850_000, |folder| !["burn", "worker"].contains(&folder)),
    ("worker with Burn", 3_600_000, |folder| folder == "burn"),
];

/// Checks the size of the page in `dist/` against its budgets, and reports budgets without files as skipped.
pub(crate) fn page(top: &Path) -> Result<()> {
    let exceeded = compare(&compressed_sizes(top)?);
    ensure!(exceeded.is_empty(), "the page in dist/ is too large: {}", exceeded.join("; "));
    Ok(())
}

/// Adds up the compressed files by folder in `dist/`. Keys are the first word of the folder name, or empty for `dist/`.
fn compressed_sizes(top: &Path) -> Result<BTreeMap<String, usize>> {
    let mut sizes = BTreeMap::new();
    for file in files(top, "dist", &["wasm", "js", "css", "html"])? {
        let folder = file.parent().and_then(|parent| parent.iter().nth(1)).unwrap_or_default().to_string_lossy();
        let folder = folder.split('-').next().unwrap_or_default();
        // Documents and other frameworks are only downloaded when they are opened.
        if !["documents", "framework"].contains(&folder) {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder
                .write_all(&fs::read(top.join(&file)).with_context(|| format!("cannot read {}", file.display()))?)?;
            *sizes.entry(folder.to_owned()).or_default() += encoder.finish()?.len();
        }
    }
    Ok(sizes)
}

/// Prints the budgets that are met or not built, and returns the others.
fn compare(sizes: &BTreeMap<String, usize>) -> Vec<String> {
    let mut exceeded = Vec::new();
    for (name, limit, is_included) in BUDGETS {
        let total: usize = sizes.iter().filter(|(folder, _)| is_included(folder)).map(|(_, size)| size).sum();
        let line = format!("{name}: {total} of at most {limit} bytes compressed");
        match total {
            0 => say::step("Skipped", format!("{name}: not built; `cargo xtask run` builds it")),
            _ if total <= limit => say::step("Kept", line),
            _ => exceeded.push(line),
        }
    }
    exceeded
}

pub(crate) fn all(top: &Path) -> Result<()> {
    format(top)?;
    sources(top)?;
    page(top)?;
    host(top)?;
    browser(top)
}

pub(crate) fn format(top: &Path) -> Result<()> {
    say::step("Checking", "the formatting");
    run(cargo(top).args(["fmt", "--all", "--check"]), "checking the formatting (`cargo fmt --all` repairs it)")
}

/// Runs clippy for this machine.
pub(crate) fn host(top: &Path) -> Result<()> {
    let features = BURN_FEATURES.iter().flat_map(|(_, features)| ["--features", features]);
    let arguments = ["--release", "--workspace", "--all-targets"].into_iter().chain(features);
    clippy(top, arguments, "all crates with clippy")
}

/// Runs clippy for the browser target, which covers most of the page's code. Uses the page's profile, so that its build
/// reuses the build scripts and macros.
pub(crate) fn browser(top: &Path) -> Result<()> {
    let arguments = ["--profile", "web", "--target", WASM, "--package", "app", "--package", "training-worker"];
    clippy(top, arguments.into_iter(), "the page with clippy, for the browser")
}

fn clippy<'a>(top: &Path, arguments: impl Iterator<Item = &'a str>, what: &str) -> Result<()> {
    let mut clippy = cargo(top);
    clippy.arg("clippy").args(arguments).args(["--", "-D", "warnings"]);
    say::follow(["Checking", "Checked"], what, &mut clippy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_dependencies_against_the_arrows_outside_tests() {
        let crates = [
            ("results", "dependencies.engine.path = \"../engine\"\ndev-dependencies.xtask.path = \"../xtask\""),
            ("engine", "target.'cfg(unix)'.dependencies.wgpu = \"30\""),
            ("xtask", "dev-dependencies.records = { path = \"../results\", package = \"results\" }"),
            ("leaderboard", "dependencies = { engine = { path = \"../engine\" }, wgpu = \"30\" }"),
            ("novelty", ""),
        ];
        let members = crates.map(|(name, _)| name);
        let mut files = vec![("Cargo.toml".to_owned(), format!("workspace.members = {members:?}"))];
        for (name, dependencies) in crates {
            files.push((format!("{name}/Cargo.toml"), format!("package.name = \"{name}\"\n{dependencies}")));
            files.push((format!("{name}/src/lib.rs"), String::new()));
        }
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let expected = [
            "results must not depend on engine",
            "xtask must not depend on results",
            "leaderboard must not build the backends of the engine's features",
            "leaderboard must not depend on wgpu",
            "novelty is new: add its arrows to xtask/src/check.rs",
        ];
        assert_eq!(dependencies(tree(&files).path()).unwrap(), expected);
    }

    #[test]
    fn finds_forbidden_words_outside_comments_and_exempt_folders() {
        let top = tree(&[
            ("engine/Cargo.toml", ""),
            ("engine/src/backends/wgsl/device/executor.rs", "use wgpu::Queue;\n"),
            ("engine/src/backends/wgsl/recording.rs", "// wgpu:: would be wrong\nuse wgpu::{Buffer};\n"),
            ("engine/src/train/window.rs", "#[cfg(not(target_arch = \"wasm32\"))]\nfn b() {} // target_arch\n"),
            ("engine/src/backends/burn/graphics.rs", "fn a() { eprintln!(); }\nfn sprint() {}\n"),
            ("engine/src/backends/burn/cuda_rocm.rs", "use burn_wgpu::Wgpu;\nenv::var(\"CUDA\");\n"),
        ]);
        assert_eq!(wgpu(top.path()).unwrap(), ["engine/src/backends/wgsl/recording.rs:2: names wgpu"]);
        let missing = "engine/src/train.rs: does not exist: correct the path in xtask/src/check.rs";
        let found = training_loop(top.path()).unwrap();
        assert_eq!(found, [missing, "engine/src/train/window.rs:1: depends on the target"]);
        let lines = ["graphics.rs:1", "cuda_rocm.rs:2"];
        let expected = lines.map(|line| format!("engine/src/backends/burn/{line}: does more than compute"));
        assert_eq!(quiet_burn(top.path()).unwrap(), expected);
    }

    #[test]
    fn finds_kernel_named_only_in_comments_and_tests() {
        let registry = "const A: &str = include_str!(\"../kernels/softmax.wgsl\");\n// \"forgotten.wgsl\"\n\
                        #[cfg(test)]\nmod tests { const B: &str = \"forgotten\"; }\n";
        let kernels = ["softmax", "forgotten"].map(|name| format!("shaders/kernels/{name}.wgsl"));
        let top = tree(&[(&kernels[0], ""), (&kernels[1], ""), ("shaders/src/registry.rs", registry)]);
        let expected = format!("{}: is not registered in shaders/src", kernels[1]);
        assert_eq!(registered_shaders(top.path()).unwrap(), [expected]);
    }

    #[test]
    fn finds_missing_paths_and_too_many_lines() {
        let text = "See `src/deep/`, `one.rs`, `engine/NAME.wgsl`, `wgsl`, `a::b`,\n`engine/none`, `two.rs` and\n\
                    `cargo run -p engine/none`.\n";
        let top = tree(&[(MAP, text), ("engine/Cargo.toml", ""), ("engine/src/deep/one.rs", "")]);
        let missing = ["engine/none", "two.rs"].map(|path| format!("ARCHITECTURE.md:2: {path} does not exist"));
        assert_eq!(architecture(top.path()).unwrap(), missing);
        let too_long = architecture(tree(&[(MAP, &"line\n".repeat(201))]).path()).unwrap();
        assert_eq!(too_long, ["ARCHITECTURE.md: has 201 lines"]);
    }

    #[test]
    fn compares_each_budget_with_its_own_files() {
        let sizes = [("", 800_000), ("worker", 1_000_000), ("burn", 9_000_000)];
        let sizes = BTreeMap::from(sizes.map(|(folder, size)| (folder.to_owned(), size)));
        let exceeded = ["first load: 1800000 of at most 1500000", "worker with Burn: 9000000 of at most 3600000"];
        assert_eq!(compare(&sizes), exceeded.map(|line| format!("{line} bytes compressed")));
    }

    #[test]
    fn measures_compressed_files_without_documents_frameworks_and_twins() {
        let page = ("dist/page-01.js", &*"x".repeat(4_000_000));
        let others = ["dist/page.js.br", "dist/documents-01/hosting.html", "dist/framework-tfjs-01/worker.js"];
        let [twin, document, framework] = others.map(|path| (path, "text"));
        let sizes = compressed_sizes(tree(&[page, twin, document, framework]).path()).unwrap();
        assert!(sizes.len() == 1 && sizes[""] < 10_000, "{sizes:?}");
    }
}
