//! The engine and what it builds on do nothing but compute.

use super::rust::{code_outside_tests, lines_with};
use super::{Check, Tree, Violation};
use anyhow::Result;
use std::path::Path;

const CRATES: [&str; 3] = ["engine/src", "results/src", "shaders/src"];

/// What must not be written there, and what it would do.
const FORBIDDEN: [(&str, &str); 12] = [
    ("println!", "prints"),
    ("print!", "prints"),
    ("eprintln!", "prints"),
    ("eprint!", "prints"),
    ("std::fs", "opens files"),
    ("File::open", "opens files"),
    ("File::create", "opens files"),
    ("std::net", "uses the network"),
    ("env::var", "reads the environment"),
    ("std::process", "starts or ends processes"),
    ("block_on", "blocks"),
    ("thread::sleep", "blocks"),
];

pub(super) static CHECK: Check = Check {
    name: "a quiet engine",
    promise: "The engine, the shaders and the results never print, open files, fetch or block: they announce events, \
              and only the edges do I/O.",
    find,
};

fn find(tree: &Tree) -> Result<Vec<Violation>> {
    let mut violations = Vec::new();
    for folder in CRATES {
        for file in tree.files(folder, &["rs"])? {
            if is_test_file(&file) {
                continue;
            }
            let code = code_outside_tests(&tree.read(&file)?);
            for (words, does) in FORBIDDEN {
                let lines = lines_with(&code, words);
                violations
                    .extend(lines.into_iter().map(|line| Violation::at(&file, line, format!("{does} (`{words}`)"))));
            }
        }
    }
    Ok(violations)
}

/// A module that its parent declares under `#[cfg(test)]` is named `tests`, `testing` or something with `_tests`.
fn is_test_file(file: &Path) -> bool {
    file.iter().any(|part| {
        let part = part.to_string_lossy();
        let name = part.strip_suffix(".rs").unwrap_or(&part);
        name == "tests" || name == "testing" || name.ends_with("_tests")
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::found;
    use super::CHECK;

    #[test]
    fn printing_and_opening_files_is_found_outside_tests_only() {
        let files = [
            (
                "engine/src/lib.rs",
                "/// Never `println!`s.\nfn a() { println!(\"loss\"); }\n#[cfg(test)]\nmod t { fn b() { eprintln!(); } }\n",
            ),
            ("engine/src/data/tests.rs", "fn a() { std::fs::read(\"x\"); }\n"),
            ("results/src/lib.rs", "use std::fs;\n"),
            ("native-runner/src/main.rs", "fn main() { println!(); }\n"),
        ];
        assert_eq!(
            found(&CHECK, &files),
            ["engine/src/lib.rs:2: prints (`println!`)", "results/src/lib.rs:1: opens files (`std::fs`)"]
        );
    }
}
