//! Programs that tests start.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

/// Program that is killed on drop. Killing fails if it has already exited.
pub(crate) struct StartedProgram(pub(crate) Child);

impl StartedProgram {
    /// Starts a program, and returns the rest of the first line of its output that contains `announcement`.
    pub(crate) fn start(command: &mut Command, announcement: &str) -> Result<(Self, String)> {
        let program = command.get_program().to_owned();
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut process = Self(child.with_context(|| format!("{} cannot be started", program.display()))?);
        let mut lines = BufReader::new(process.0.stdout.take().context("stdout is piped")?).lines();
        let rest = lines.find_map(|line| Some(line.ok()?.split_once(announcement)?.1.trim().to_owned()));
        let Some(rest) = rest else {
            bail!("{} exited with {} before it listened", program.display(), process.0.wait()?);
        };
        Ok((process, rest))
    }
}

impl Drop for StartedProgram {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
