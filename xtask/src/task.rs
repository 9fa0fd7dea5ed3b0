//! A long step. Its programs' messages appear on one moving line, and in full when a program fails.

use crate::say;
use anyhow::{Context, Result, bail};
use indicatif::ProgressBar;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// First words of cargo's messages that nobody needs after a failure.
const PROGRESS: [&str; 7] = ["Compiling", "Checking", "Downloading", "Downloaded", "Finished", "Blocking", "Updating"];

pub(crate) struct Task {
    what: String,
    began: Instant,
    bar: ProgressBar,
}

impl Task {
    pub(crate) fn new(verb: &'static str, what: &str) -> Self {
        say::step(verb, what);
        Self { what: what.to_owned(), began: Instant::now(), bar: say::moving(verb, what) }
    }

    /// Ends the task with a line that has its duration.
    pub(crate) fn done(self, verb: &str) {
        self.bar.finish_and_clear();
        say::step(verb, format!("{} in {}", self.what, say::duration(self.began.elapsed())));
    }

    /// Runs a command to its end.
    ///
    /// # Errors
    /// The command cannot be started or fails. Its messages have been printed.
    pub(crate) fn follow(&self, command: &mut Command) -> Result<()> {
        let name = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (reader, writer) = std::io::pipe()?;
        command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        let mut child = command.spawn().with_context(|| format!("{}: cannot start `{name}`", self.what))?;
        // The command holds the pipe open.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut messages = Vec::new();
        for line in BufReader::new(reader).split(b'\n') {
            let line = String::from_utf8_lossy(&line?).trim_end().to_owned();
            self.bar.set_message(format!("{}: {}", self.what, line.trim_start()));
            if !PROGRESS.iter().any(|word| line.trim_start().starts_with(word)) {
                messages.push(line);
            }
        }
        if !child.wait()?.success() {
            self.bar.finish_and_clear();
            say::print(&messages.join("\n"));
            bail!("{}: `{name}` failed, see its messages above", self.what);
        }
        Ok(())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_failed_command_is_named_with_its_task() {
        let shell = |script: &str| Task::new("Building", "a page").follow(Command::new("sh").args(["-c", script]));
        shell("echo one; echo two >&2").unwrap();
        assert!(shell("exit 3").unwrap_err().to_string().contains("a page: `sh` failed"));
    }
}
