use std::fmt::Display;
use std::io::Write;

/// Reports that the current test skips something on this machine.
///
/// `cargo xtask test` counts the lines of the file named by `GRADMARK_SKIPPED`, because test harnesses hide the output
/// of passing tests. Panics with `REQUIRE_GPU=1` if the missing part is `expected` on every machine or this adapter.
#[track_caller]
pub(crate) fn skipped(expected: bool, why: impl Display) {
    let required = std::env::var("REQUIRE_GPU").as_deref() == Ok("1");
    assert!(!(expected && required), "REQUIRE_GPU=1, but {why}");
    let thread = std::thread::current();
    let line = format!("{}: {why}\n", thread.name().unwrap_or("a test"));
    if let Some(path) = std::env::var_os("GRADMARK_SKIPPED") {
        let mut file = std::fs::File::options().append(true).open(path).expect("GRADMARK_SKIPPED names a file");
        file.write_all(line.as_bytes()).expect("the report is written");
    }
    // Bypasses the harness's output capture and ignores a closed stderr.
    drop(std::io::stderr().write_all(format!("SKIPPED {line}").as_bytes()));
}
