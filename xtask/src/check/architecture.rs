//! A map that is longer than the walk is not read, and one that names what is not there leads astray.

use super::{Check, files_of_crates, read};
use anyhow::Result;
use std::path::Path;

const FILE: &str = "ARCHITECTURE.md";
const LONGEST: usize = 200;
/// Endings that make a word without a slash a file's name.
const ENDINGS: [&str; 6] = ["rs", "wgsl", "md", "json", "toml", "html"];
/// What the heading of a table's first column begins with, before the folder that the table is about.
const TABLE_OF_FOLDER: &str = "| in `";
/// Stands for any name.
const PLACEHOLDER: &str = "NAME";

pub(super) const CHECK: Check = Check {
    name: "a short and true map",
    promise: "ARCHITECTURE.md exists, has at most 200 lines, and every path in it is there.",
    find,
};

fn find(top: &Path) -> Result<Vec<String>> {
    if !top.join(FILE).exists() {
        return Ok(vec![format!("{FILE}: is missing")]);
    }
    let text = read(top, FILE)?;
    let lines = text.lines().count();
    let mut found = Vec::from_iter((lines > LONGEST).then(|| format!("{FILE}: has {lines} lines")));
    let files = files_of_crates(top, &ENDINGS)?;
    let files: Vec<String> = files.iter().map(|file| file.to_string_lossy().replace('\\', "/")).collect();
    let mut folder = None;
    for (line, number) in text.lines().zip(1..) {
        if let Some(rest) = line.strip_prefix(TABLE_OF_FOLDER) {
            folder = rest.split('`').next();
        } else if !line.starts_with('|') {
            folder = None;
        }
        // Only the first column is about the folder.
        let first = folder.and_then(|_| line.get(1..)?.split('|').next()).unwrap_or_default();
        let in_folder = paths(first).map(|path| (folder, path));
        let others = paths(line).skip(in_folder.clone().count()).map(|path| (None, path));
        for (folder, path) in in_folder.chain(others).filter(|(folder, path)| !is_there(top, &files, *folder, path)) {
            let whose = folder.map_or_else(String::new, |folder| format!(" in {folder}"));
            found.push(format!("{FILE}:{number}: there is no {path}{whose}"));
        }
    }
    Ok(found)
}

/// The paths of a line: what stands in backquotes and looks like one.
fn paths(line: &str) -> impl Iterator<Item = &str> + Clone {
    let is_path = |word: &&str| {
        let letters = word.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-./".contains(letter));
        let file = word.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending));
        letters && (file || word.contains('/'))
    };
    line.split('`').skip(1).step_by(2).filter(is_path)
}

/// Below the table's folder; without one, from the top or the end of some path. A placeholder asks for its folder only.
fn is_there(top: &Path, files: &[String], folder: Option<&str>, path: &str) -> bool {
    let path = path.rsplit_once('/').filter(|(_, name)| name.starts_with(PLACEHOLDER)).map_or(path, |(above, _)| above);
    if let Some(folder) = folder.filter(|folder| folder.trim_end_matches('/') != path.trim_end_matches('/')) {
        return top.join(folder).join(path).exists();
    }
    let as_part = format!("/{path}");
    let is_part = |file: &String| if path.ends_with('/') { file.contains(&as_part) } else { file.ends_with(&as_part) };
    top.join(path).exists() || files.iter().any(is_part)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOTHING, found_in_workspace};
    use super::CHECK;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        found_in_workspace(&CHECK, &[("engine", ""), ("shaders", "")], files)
    }

    #[test]
    fn too_long_or_missing_is_found() {
        assert_eq!(found(&[("ARCHITECTURE.md", &"line\n".repeat(200))]), NOTHING);
        assert_eq!(found(&[("ARCHITECTURE.md", &"line\n".repeat(201))]), ["ARCHITECTURE.md: has 201 lines"]);
        assert_eq!(found(&[]), ["ARCHITECTURE.md: is missing"]);
    }

    #[test]
    fn paths_are_looked_for_and_other_words_are_not() {
        let text = "See `engine/src/plan.rs`, `plan.rs`, `src/deep/`, `shaders/NAME.wgsl`, `wgsl`, `a::b` and\n\
                    `cargo run -p engine/none`.\n";
        let tree = [
            ("ARCHITECTURE.md", text),
            ("engine/src/plan.rs", ""),
            ("engine/src/deep/one.rs", ""),
            ("shaders/one.wgsl", ""),
        ];
        assert_eq!(found(&tree), NOTHING);
        let missing: Vec<_> = tree.into_iter().filter(|file| !file.0.contains("plan.rs")).collect();
        let expected = ["ARCHITECTURE.md:1: there is no engine/src/plan.rs", "ARCHITECTURE.md:1: there is no plan.rs"];
        assert_eq!(found(&missing), expected);
    }

    #[test]
    fn a_table_of_a_folder_names_what_is_in_it() {
        let text = "| in `engine/src/` | idea |\n|---|---|\n| `workload.rs` | like `workload.rs` |\n\n`workload.rs`\n";
        // Another file of the same name does not make the table true.
        let tree = [("ARCHITECTURE.md", text), ("engine/src/checks/workload.rs", "")];
        assert_eq!(found(&tree), ["ARCHITECTURE.md:3: there is no workload.rs in engine/src/"]);
    }
}
