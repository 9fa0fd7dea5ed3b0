use std::fmt::Display;
use std::io::Write;

/// Reports that the present test does not look at something on this machine, past the test harness, which swallows what
/// passing tests print. `cargo xtask test` counts such lines.
///
/// # Panics
/// With `REQUIRE_GPU=1`, where what is missing is `expected` of every machine, or of this adapter.
#[track_caller]
pub(crate) fn skipped(expected: bool, why: impl Display) {
    let required = std::env::var("REQUIRE_GPU").as_deref() == Ok("1");
    assert!(!(expected && required), "REQUIRE_GPU=1, but {why}");
    let thread = std::thread::current();
    let line = format!("SKIPPED {}: {why}\n", thread.name().unwrap_or("a test"));
    // Where nobody listens there is nobody to tell.
    drop(std::io::stderr().write_all(line.as_bytes()));
}
