//! A run in a process of its own: whatever happens to it, the study goes on.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::process::{self, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::processes::this_program;

/// How many of the last lines of a run are kept.
const LAST_LINES: usize = 20;
/// How often somebody looks whether the run should end.
const PATIENCE: Duration = Duration::from_millis(100);

/// A run that goes on.
pub(crate) struct Child {
    /// Its standard input stays open as long as this process lives: the run ends with it.
    process: process::Child,
    stdout: Option<JoinHandle<String>>,
    lines: Receiver<String>,
    last_lines: VecDeque<String>,
    start: Instant,
}

/// A run that has ended by itself or was ended for taking too long.
pub(crate) struct Ended {
    pub(crate) how: How,
    pub(crate) stdout: String,
    /// Of standard error.
    pub(crate) last_lines: Vec<String>,
    pub(crate) seconds: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Status {
        /// Absent where a signal ended it.
        code: Option<i32>,
        signal: Option<&'static str>,
    },
    TimedOut,
}

impl Child {
    /// Starts this program with these arguments, and with standard output for its JSON alone.
    ///
    /// # Errors
    /// The system starts no process.
    pub(crate) fn start(arguments: &[String]) -> io::Result<Self> {
        let mut command = this_program()?;
        command.args(arguments).args(["--json", "-", "--ends-with-input"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C on a terminal is for the study, which then ends the run.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        tracing::info!("cell: native-runner {}", arguments.join(" "));
        let mut process = command.spawn()?;
        let stdout = process.stdout.take().map(|mut pipe| {
            thread::spawn(move || {
                let mut bytes = Vec::new();
                // What was read before an error is not a record, which is noticed.
                let _ = pipe.read_to_end(&mut bytes);
                String::from_utf8_lossy(&bytes).into_owned()
            })
        });
        let (heard, lines) = mpsc::channel();
        if let Some(pipe) = process.stderr.take() {
            thread::spawn(move || {
                for line in BufReader::new(pipe).split(b'\n').map_while(Result::ok) {
                    let line = String::from_utf8_lossy(&line);
                    let line = console::strip_ansi_codes(line.trim_end()).into_owned();
                    if heard.send(line).is_err() {
                        break;
                    }
                }
            });
        }
        Ok(Self { process, stdout, lines, last_lines: VecDeque::new(), start: Instant::now() })
    }

    /// Waits for the end of the run, passing on what it says. `None` if `is_interrupted` said so before; then the run has
    /// been ended.
    ///
    /// # Errors
    /// The system does not tell about the process.
    pub(crate) fn wait(
        mut self,
        timeout: Option<Duration>,
        is_interrupted: &dyn Fn() -> bool,
        heard: &mut dyn FnMut(&str),
    ) -> io::Result<Option<Ended>> {
        let how = loop {
            if is_interrupted() {
                return Ok(None);
            }
            if timeout.is_some_and(|timeout| self.start.elapsed() >= timeout) {
                self.end();
                break How::TimedOut;
            }
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => {
                    heard(&line);
                    self.remember(line);
                }
                Err(RecvTimeoutError::Timeout) => {}
                // It has closed its standard error, so it is about to end.
                Err(RecvTimeoutError::Disconnected) => thread::sleep(PATIENCE),
            }
            if let Some(status) = self.process.try_wait()? {
                break how(status);
            }
        };
        let seconds = self.start.elapsed().as_secs_f64();
        let stdout = self.stdout.take().and_then(|reader| reader.join().ok()).unwrap_or_default();
        // The pipe is closed, so this ends.
        while let Ok(line) = self.lines.recv() {
            self.remember(line);
        }
        let last_lines = std::mem::take(&mut self.last_lines).into();
        Ok(Some(Ended { how, stdout, last_lines, seconds }))
    }

    fn remember(&mut self, line: String) {
        if self.last_lines.len() == LAST_LINES {
            self.last_lines.pop_front();
        }
        self.last_lines.push_back(line);
    }

    /// Ends the run. One that has ended by itself is not there to be ended.
    fn end(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.end();
    }
}

impl Ended {
    /// Why the process failed; `None` also where it was ended for taking too long.
    pub(crate) fn failure(&self) -> Option<String> {
        let has_failed = matches!(self.how, How::Status { code, .. } if code != Some(0));
        has_failed.then(|| self.reason())
    }

    /// Why there is no record, as far as the process told.
    pub(crate) fn reason(&self) -> String {
        let begins = self.last_lines.iter().position(|line| line.starts_with("error: "));
        let own: Option<String> = begins.map(|first| self.last_lines[first..].join(" "));
        let own = own.as_deref().and_then(|text| text.strip_prefix("error: ")).map(str::to_owned);
        match (self.how, own) {
            (_, Some(own)) => own,
            (How::Status { signal: Some("SIGKILL"), .. }, _) => {
                "was killed (SIGKILL), by somebody or by the system for want of memory".to_owned()
            }
            (How::Status { signal: Some(signal), .. }, _) => format!("was ended by {signal}"),
            (How::Status { code: Some(code), .. }, _) => {
                let last = self.last_lines.iter().rev().find(|line| !line.trim().is_empty());
                let last = last.map(|line| format!(" after `{}`", line.trim())).unwrap_or_default();
                format!("ended with status {code} and without a record{last}")
            }
            (How::Status { .. } | How::TimedOut, _) => "ended without a record".to_owned(),
        }
    }
}

#[cfg(unix)]
fn how(status: ExitStatus) -> How {
    use std::os::unix::process::ExitStatusExt;

    use nix::sys::signal::Signal;

    let name = |number| Signal::try_from(number).map_or("a signal", Signal::as_str);
    How::Status { code: status.code(), signal: status.signal().map(name) }
}

#[cfg(not(unix))]
fn how(status: ExitStatus) -> How {
    How::Status { code: status.code(), signal: None }
}
