//! The crates that only compute do nothing else: clippy finds it with our clippy.toml and the first lines of theirs.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The crates that promise it.
const QUIET: [&str; 3] = ["engine", "results", "shaders"];

/// What they must not do, and what clippy calls it.
const DEEDS: [(&str, &str); 12] = [
    ("println!();", "use of `println!`"),
    ("print!(\"a\");", "use of `print!`"),
    ("eprintln!();", "use of `eprintln!`"),
    ("eprint!(\"a\");", "use of `eprint!`"),
    ("let _ = std::io::stdout();", "use of a disallowed method `std::io::stdout`"),
    ("let _ = std::fs::read(\"a\");", "use of a disallowed method `std::fs::read`"),
    ("let _ = std::fs::File::open(\"a\");", "use of a disallowed type `std::fs::File`"),
    ("let _ = std::net::TcpStream::connect(\"a\");", "use of a disallowed type `std::net::TcpStream`"),
    ("let _ = std::env::var(\"A\");", "use of a disallowed method `std::env::var`"),
    ("let _ = std::process::Command::new(\"a\");", "use of a disallowed type `std::process::Command`"),
    ("pollster::block_on();", "use of a disallowed method `pollster::block_on`"),
    ("std::thread::sleep(std::time::Duration::ZERO);", "use of a disallowed method `std::thread::sleep`"),
];

/// A workspace with our lints, in which crates named like ours begin like ours, and then do everything forbidden, first
/// in code and then in a test.
fn write_workspace(ours: &Path, workspace: &Path) {
    let read = |path: &str| fs::read_to_string(ours.join(path)).unwrap();
    let write = |path: String, text: &str| {
        let path = workspace.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let top = read("Cargo.toml");
    let lints = &top[top.find("[workspace.lints.rust]").unwrap()..];
    let lints = &lints[..lints.find("[profile").or(lints.find("\n# One profile")).unwrap()];
    write(
        "Cargo.toml".to_owned(),
        &format!("[workspace]\nresolver = \"3\"\nmembers = [\"*\"]\nexclude = [\"target\"]\n{lints}"),
    );
    write("clippy.toml".to_owned(), &read("clippy.toml"));
    write("pollster/Cargo.toml".to_owned(), "[package]\nname = \"pollster\"\nedition = \"2024\"\n");
    write("pollster/src/lib.rs".to_owned(), "pub fn block_on() {}\n");
    let does = DEEDS.map(|(deed, _)| format!("{deed}\n")).concat();
    for name in QUIET.into_iter().chain(["native-runner"]) {
        let source = if name == "native-runner" { String::new() } else { read(&format!("{name}/src/lib.rs")) };
        let is_item = |line: &str| ["pub ", "mod ", "use "].iter().any(|item| line.starts_with(item));
        let first: String = source.lines().take_while(|line| !is_item(line)).map(|line| format!("{line}\n")).collect();
        let code = format!(
            "{first}pub fn acts() {{\n{does}}}\n#[cfg(test)]\nmod tests {{\n#[test]\nfn acts() {{\n{does}}}\n}}\n"
        );
        let manifest = format!(
            "[package]\nname = \"{name}\"\nedition = \"2024\"\n[dependencies]\npollster.path = \"../pollster\"\n[lints]\nworkspace = true\n"
        );
        write(format!("{name}/Cargo.toml"), &manifest);
        write(format!("{name}/src/lib.rs"), &code);
    }
}

#[test]
fn clippy_finds_everything_that_the_quiet_crates_must_not_do_outside_their_tests() {
    let workspace = tempfile::tempdir().unwrap();
    write_workspace(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap(), workspace.path());
    let mut clippy = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    clippy.args([
        "clippy",
        "--offline",
        "--workspace",
        "--all-targets",
        "--message-format",
        "short",
        "--color",
        "never",
    ]);
    let output = clippy.arg("--target-dir").arg("target").current_dir(workspace.path()).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{text}");
    for name in QUIET {
        let code = fs::read_to_string(workspace.path().join(name).join("src/lib.rs")).unwrap();
        let first = 2 + code.lines().position(|line| line == "pub fn acts() {").unwrap();
        let place = format!("{name}/src/lib.rs:");
        let mut found: Vec<(usize, &str)> = text
            .lines()
            .filter_map(|line| {
                let (line, rest) = line.strip_prefix(&place)?.split_once(':')?;
                Some((line.parse().unwrap(), rest.split_once("warning: ")?.1))
            })
            .collect();
        found.sort_unstable();
        let expected: Vec<(usize, &str)> = (first..).zip(DEEDS.map(|(_, what)| what)).collect();
        let whats = found.iter().map(|(line, what)| (*line, what.split_once(": ").map_or(*what, |(what, _)| what)));
        assert_eq!(whats.collect::<Vec<_>>(), expected, "{text}");
    }
    assert!(!text.contains("native-runner/src"), "other crates may do all of it: {text}");
}
