//! Tests that clippy finds input, output and blocking calls in the compute-only crates, thanks to clippy.toml and an
//! attribute in their lib.rs.

use std::fs;
use std::path::Path;
use std::process::Command;

const QUIET: [&str; 4] = ["engine", "results", "shaders", "view"];

/// Forbidden statements, with clippy's messages about them.
const FORBIDDEN: [(&str, &str); 12] = [
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

/// Checks two crates with clippy, one of them with the attribute of the quiet crates. Both have every forbidden
/// statement, one per line, in code and again in a test.
#[test]
fn finds_forbidden_statements_in_quiet_crates_outside_tests() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let read = |path: &str| fs::read_to_string(top.join(path)).unwrap();
    let attributes = QUIET.map(|name| {
        let source = read(&format!("{name}/src/lib.rs"));
        let (_, attribute) = source.split_once("#![cfg_attr(").unwrap_or_else(|| panic!("{name} has no attribute"));
        format!("#![cfg_attr({})]", attribute.split_once(")]").unwrap().0.replace('\n', ""))
    });
    assert!(attributes.iter().all(|attribute| *attribute == attributes[0]), "{attributes:?}");

    let workspace = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = workspace.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let manifest = read("Cargo.toml");
    let lints = manifest.split("\n\n").filter(|section| section.starts_with("[workspace.lints."));
    let members = "[workspace]\nresolver = \"3\"\nmembers = [\"quiet\", \"loud\", \"pollster\"]\n";
    write("Cargo.toml", &(members.to_owned() + &lints.collect::<Vec<_>>().join("\n")));
    write("clippy.toml", &read("clippy.toml"));
    write("pollster/Cargo.toml", "package.name = \"pollster\"");
    write("pollster/src/lib.rs", "pub fn block_on() {}\n");
    let statements = FORBIDDEN.map(|(statement, _)| format!("{statement}\n")).concat();
    let tests = format!("#[cfg(test)]\nmod tests {{\n#[test]\nfn acts() {{\n{statements}}}\n}}\n");
    for (name, attribute) in [("quiet", attributes[0].as_str()), ("loud", "")] {
        let package = format!("package = {{ name = \"{name}\", edition = \"2024\" }}\nlints.workspace = true\n");
        write(&format!("{name}/Cargo.toml"), &format!("{package}dependencies.pollster.path = \"../pollster\"\n"));
        write(&format!("{name}/src/lib.rs"), &format!("{attribute}\npub fn acts() {{\n{statements}}}\n{tests}"));
    }

    let mut clippy = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    clippy.args(["clippy", "--offline", "--workspace", "--all-targets", "--target-dir", "target"]);
    clippy.args(["--message-format", "short", "--color", "never"]).current_dir(workspace.path());
    let output = clippy.output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{text}");
    for (line, (statement, message)) in (3..).zip(FORBIDDEN) {
        let place = format!("quiet/src/lib.rs:{line}:");
        assert!(text.lines().any(|line| line.starts_with(&place) && line.contains(message)), "{statement}\n{text}");
    }
    let found = text.lines().filter(|line| ["quiet/src", "loud/src"].iter().any(|start| line.starts_with(start)));
    assert_eq!(found.count(), FORBIDDEN.len(), "more than the forbidden statements of one crate:\n{text}");
}
