//! Words that only some files may say. Comments may say all of them.

use super::{Check, code, files, files_of_crates, read};
use anyhow::Result;
use std::path::{Path, PathBuf};

/// The only folder that knows wgpu, and this file, which has to say what it looks for.
const KNOW_WGPU: [&str; 2] = ["engine/src/backends/wgsl/device", "xtask/src/check/words.rs"];

pub(super) const WGPU: Check = Check {
    name: "wgpu in one folder",
    promise: "Only the WGSL back end's device folder names wgpu, so that recordings stay data that tests can read without \
              a GPU.",
    find: |top| {
        let mut others = files_of_crates(top, &["rs"])?;
        others.retain(|file| !KNOW_WGPU.iter().any(|known| file.starts_with(known)));
        lines_with(top, &others, &["wgpu::", "use wgpu;", "use wgpu as", "extern crate wgpu"], "names wgpu")
    },
};

pub(super) const TRAINING_LOOP: Check = Check {
    name: "one training loop",
    promise: "The training loop has no `cfg(target_arch)`: the browser and the command line run the same one.",
    // One file, and a folder for its parts.
    find: |top| none_with(top, &["engine/src/train.rs", "engine/src/train"], &["target_arch"], "depends on the target"),
};

/// All other back ends are shown to clippy (clippy.toml), which knows what it is looking at.
pub(super) const QUIET_BURN: Check = Check {
    name: "quiet back ends of Burn's",
    promise: "Burn's back ends that clippy does not see, because they take minutes to compile, do not print, \
              open files, fetch or block either.",
    find: |top| {
        let files = ["engine/src/backends/burn/graphics.rs", "engine/src/backends/burn/cuda_rocm.rs"];
        let words = ["fs::", "net::", "env::", "process::", "File::", "thread::", "block_on"];
        let printing = ["print!", "println!", "eprint!", "eprintln!"];
        none_with(top, &files, &[&words[..], &printing].concat(), "does more than compute")
    },
};

/// The lines with one of the words in files, or in all files of folders, that must be there.
fn none_with(top: &Path, places: &[&str], words: &[&str], what: &str) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for place in places {
        let found = files(top, place, &["rs"])?;
        if found.is_empty() {
            wrong.push(format!("{place}: does not exist: tell this check where it went"));
        }
        wrong.extend(lines_with(top, &found, words, what)?);
    }
    Ok(wrong)
}

/// Where one of the words begins, not only goes on.
fn lines_with(top: &Path, files: &[PathBuf], words: &[&str], what: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for file in files {
        let source = read(top, file)?;
        let begins =
            |line: &str, at: usize| !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
        let has_one = |line: &str| words.iter().any(|word| line.match_indices(word).any(|(at, _)| begins(line, at)));
        let lines = code(&source).filter(|(_, line)| has_one(line));
        found.extend(lines.map(|(number, _)| format!("{}:{number}: {what}", file.display())));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOTHING, found, found_in_workspace};
    use super::*;

    #[test]
    fn a_kernel_planner_that_names_wgpu_is_found_and_the_device_is_not() {
        let files = [
            ("engine/src/backends/wgsl/device/executor.rs", "use wgpu::Queue;\n"),
            ("engine/src/backends/wgsl/recording.rs", "// wgpu:: would be wrong\nuse wgpu::{Buffer};\n"),
            ("engine/src/backends/burn.rs", "use burn_wgpu::Wgpu;\nlet device = Device::wgpu(0);\n"),
            ("app/src/main.rs", "use wgpu as graphics;\nfn main() { let _: Option<wgpu::Adapter> = None; }\n"),
        ];
        assert_eq!(
            found_in_workspace(&WGPU, &[("engine", ""), ("app", "")], &files),
            [
                "app/src/main.rs:1: names wgpu",
                "app/src/main.rs:2: names wgpu",
                "engine/src/backends/wgsl/recording.rs:2: names wgpu"
            ]
        );
    }

    #[test]
    fn a_loop_that_depends_on_the_target_is_found() {
        let window = "fn a() {}\n#[cfg(not(target_arch = \"wasm32\"))]\nfn b() {}\n";
        let files = [
            ("engine/src/clock.rs", "#[cfg(target_arch = \"wasm32\")]\nfn now() {}\n"),
            ("engine/src/train.rs", "fn train() {}\n"),
            ("engine/src/train/window.rs", window),
        ];
        assert_eq!(found(&TRAINING_LOOP, &files), ["engine/src/train/window.rs:2: depends on the target"]);
        let kept = [files[0], files[1], ("engine/src/train/window.rs", "// No target_arch here.\n")];
        assert_eq!(found(&TRAINING_LOOP, &kept), NOTHING);
    }

    #[test]
    fn a_loop_that_moved_away_is_not_taken_for_a_good_one() {
        let expected = "engine/src/train.rs: does not exist: tell this check where it went";
        assert_eq!(found(&TRAINING_LOOP, &[("engine/src/train/window.rs", "")]), [expected]);
    }

    #[test]
    fn a_back_end_that_prints_out_of_clippys_sight_is_found() {
        let graphics = ("engine/src/backends/burn/graphics.rs", "fn a() { eprintln!(); }\nfn sprint() {}\n");
        let cuda_rocm = ("engine/src/backends/burn/cuda_rocm.rs", "use std::env;\nfn b() { env::var(\"C\"); }\n");
        let expected = ["graphics.rs:1", "cuda_rocm.rs:2"]
            .map(|place| format!("engine/src/backends/burn/{place}: does more than compute"));
        assert_eq!(found(&QUIET_BURN, &[graphics, cuda_rocm]), expected);
    }
}
