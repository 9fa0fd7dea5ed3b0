//! Rules about the text of sources and of ARCHITECTURE.md.

use super::{files, files_of_crates, read};
use anyhow::Result;
use std::path::{Path, PathBuf};

/// The device folder of the WGSL backend, and this file, which contains the words it looks for.
const MAY_NAME_WGPU: [&str; 2] = ["engine/src/backends/wgsl/device", "xtask/src/check/text.rs"];
const MAP: &str = "ARCHITECTURE.md";
const MAX_LINES_OF_MAP: usize = 200;
/// Extensions that make a word without a slash a file name.
const EXTENSIONS: [&str; 6] = ["rs", "wgsl", "md", "json", "toml", "html"];

/// Finds wgpu outside the device folder: recordings stay data that tests can read without a GPU.
pub(super) fn wgpu(top: &Path) -> Result<Vec<String>> {
    let mut others = files_of_crates(top, &["rs"])?;
    others.retain(|file| !MAY_NAME_WGPU.iter().any(|known| file.starts_with(known)));
    lines_with(top, &others, &["wgpu::", "use wgpu;", "use wgpu as", "extern crate wgpu"], "names wgpu")
}

/// Finds code of the training loop that differs between the browser and the command line.
pub(super) fn training_loop(top: &Path) -> Result<Vec<String>> {
    let places = ["engine/src/train.rs", "engine/src/train"];
    lines_below(top, &places, &["target_arch"], "depends on the target")
}

/// Finds input and output in the backends that clippy does not compile because that takes minutes (clippy.toml).
pub(super) fn quiet_burn(top: &Path) -> Result<Vec<String>> {
    let places = ["engine/src/backends/burn/graphics.rs", "engine/src/backends/burn/cuda_rocm.rs"];
    let words = "fs:: net:: env:: process:: File:: thread:: block_on print! println! eprint! eprintln!";
    lines_below(top, &places, &words.split(' ').collect::<Vec<_>>(), "does more than compute")
}

/// Finds shaders outside the registry, through which tests reach them.
pub(super) fn registered_shaders(top: &Path) -> Result<Vec<String>> {
    let shaders = files(top, "shaders", &["wgsl"])?;
    if shaders.is_empty() {
        return Ok(vec!["shaders: has no WGSL file: correct the path in xtask/src/check/text.rs".to_owned()]);
    }
    let mut sources = String::new();
    for file in files(top, "shaders/src", &["rs"])? {
        // Tests are at the end of a file; naming a shader there does not register it.
        let source = read(top, file)?;
        sources.extend(code(&source).map(|(_, line)| line).take_while(|line| !line.starts_with("mod tests")));
    }
    let is_registered = |file: &Path| {
        let [name, stem] = [file.file_name(), file.file_stem()].map(|part| part.unwrap_or_default().to_string_lossy());
        [format!("/{name}\""), format!("\"{name}\""), format!("\"{stem}\"")].iter().any(|text| sources.contains(text))
    };
    let unregistered = shaders.iter().filter(|file| !is_registered(file));
    Ok(unregistered.map(|file| format!("{}: is not registered in shaders/src", file.display())).collect())
}

/// Finds paths in ARCHITECTURE.md that neither exist below the top nor are part of a path in a crate.
pub(super) fn architecture(top: &Path) -> Result<Vec<String>> {
    let text = read(top, MAP)?;
    let lines = text.lines().count();
    let mut found = Vec::from_iter((lines > MAX_LINES_OF_MAP).then(|| format!("{MAP}: has {lines} lines")));
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

/// Returns the paths of a line: words in backquotes that look like one. Of `FOLDER/NAME.rs`, which stands for any file,
/// only the folder counts.
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
            found.push(format!("{place}: does not exist: correct the path in xtask/src/check/text.rs"));
        }
        found.extend(lines_with(top, &files, words, problem)?);
    }
    Ok(found)
}

/// Lists the lines in which one of the words begins; in `sprint!`, `print!` does not.
fn lines_with(top: &Path, files: &[PathBuf], words: &[&str], problem: &str) -> Result<Vec<String>> {
    let begins =
        |line: &str, at: usize| !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
    let has_word = |line: &str| words.iter().any(|word| line.match_indices(word).any(|(at, _)| begins(line, at)));
    let mut found = Vec::new();
    for file in files {
        let source = read(top, file)?;
        let lines = code(&source).filter(|(_, line)| has_word(line));
        found.extend(lines.map(|(number, _)| format!("{}:{number}: {problem}", file.display())));
    }
    Ok(found)
}

/// Returns the numbered lines of Rust source without `//` comments, which is enough to search for words.
fn code(source: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(source.lines().map(|line| line.split("//").next().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::super::tree;
    use super::*;

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
        let missing = "engine/src/train.rs: does not exist: correct the path in xtask/src/check/text.rs";
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
}
