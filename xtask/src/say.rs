//! Messages on standard error in cargo's style, one line per step.

use anyhow::{Context, Result, bail};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::io::{BufRead, BufReader, IsTerminal};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

const GREEN: u8 = 32;
const YELLOW: u8 = 33;
const RED: u8 = 31;

/// Animated lines at the bottom of a terminal. Hidden if standard error is not a terminal.
static MOVING: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// Prints a step: a right-aligned verb and the rest of the sentence.
pub(crate) fn step(verb: &str, what: impl AsRef<str>) {
    line(GREEN, verb, what.as_ref());
}

/// Prints a note that users should read although the work continues.
pub(crate) fn warn(what: impl AsRef<str>) {
    line(YELLOW, "Note", what.as_ref());
}

/// Prints why the work ends, with advice.
pub(crate) fn error(what: impl AsRef<str>) {
    line(RED, "Error", what.as_ref());
}

fn line(color: u8, verb: &str, what: &str) {
    let colored = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    if colored {
        print(&format!("\x1b[1;{color}m{verb:>12}\x1b[0m {what}"));
    } else {
        print(&format!("{verb:>12} {what}"));
    }
}

/// Prints text above the animated lines.
#[expect(clippy::print_stderr, reason = "this is the one place where progress is written")]
pub(crate) fn print(text: &str) {
    MOVING.suspend(|| eprintln!("{text}"));
}

/// Formats a duration: `9 s`, `2 min 05 s`.
pub(crate) fn duration(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds => format!("{} min {:02} s", seconds / 60, seconds % 60),
    }
}

/// First words of cargo's messages that do not help after a failure.
const PROGRESS: [&str; 7] = ["Compiling", "Checking", "Downloading", "Downloaded", "Finished", "Blocking", "Updating"];

/// Runs a command to its end, with an animated line, between a line that begins with `verb` and one that begins with
/// `done` and has the duration. Prints the messages of a command that fails.
pub(crate) fn follow([verb, done]: [&'static str; 2], what: &str, command: &mut Command) -> Result<()> {
    step(verb, what);
    let began = Instant::now();
    let bar = MOVING.add(ProgressBar::new_spinner());
    let style = ProgressStyle::with_template("{prefix:>12.cyan.bold} {msg:.dim} {elapsed:.dim}");
    bar.set_style(style.expect("the template is well-formed"));
    bar.set_prefix(verb);
    bar.set_message(what.to_owned());
    bar.enable_steady_tick(Duration::from_millis(200));

    let name = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (reader, writer) = std::io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn().with_context(|| format!("{what}: cannot start `{name}`"))?;
    // Drops the command's copies of the pipe, which would keep it open.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut messages = Vec::new();
    for line in BufReader::new(reader).split(b'\n') {
        let line = String::from_utf8_lossy(&line?).trim_end().to_owned();
        bar.set_message(format!("{what}: {}", line.trim_start()));
        if !PROGRESS.iter().any(|word| line.trim_start().starts_with(word)) {
            messages.push(line);
        }
    }
    let status = child.wait()?;
    bar.finish_and_clear();
    if !status.success() {
        print(&messages.join("\n"));
        bail!("{what}: `{name}` failed; see its messages above");
    }
    step(done, format!("{what} in {}", duration(began.elapsed())));
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_failed_command_is_named_with_its_task() {
        let shell = |script: &str| follow(["Building", "Built"], "a page", Command::new("sh").args(["-c", script]));
        shell("echo one; echo two >&2").unwrap();
        assert!(shell("exit 3").unwrap_err().to_string().contains("a page: `sh` failed"));
    }
}
