//! Child processes, which may crash, hang or be interrupted.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::process::{ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use std::{io, process, thread};

use crate::machine::this_program;

const LAST_LINES: usize = 20;
const MAX_LAST_WORDS: usize = 300;
const POLLING_INTERVAL: Duration = Duration::from_millis(100);

pub(crate) struct Child {
    /// Child process. Its standard input closes when this process ends, which ends the run.
    process: process::Child,
    stdout: Option<JoinHandle<String>>,
    lines: Receiver<String>,
    start: Instant,
}

pub(crate) struct Ended {
    pub(crate) how: How,
    pub(crate) stdout: String,
    pub(crate) last_lines: Vec<String>,
    pub(crate) seconds: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Status {
        /// Absent if a signal ended the process.
        code: Option<i32>,
        signal: Option<i32>,
    },
    TimedOut {
        limit: Duration,
    },
}

impl Child {
    /// Starts this program with these arguments, and only JSON on standard output.
    pub(crate) fn start_cell(arguments: &[impl AsRef<OsStr>]) -> io::Result<Self> {
        let mut command = this_program()?;
        command.args(arguments).args(["--json", "-", "--ends-with-input"]);
        // Ctrl-C on a terminal goes to the study, which then ends the run.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let words: Vec<_> = arguments.iter().map(|word| word.as_ref().to_string_lossy()).collect();
        tracing::info!("cell: native-runner {}", words.join(" "));
        Self::start(command)
    }

    pub(crate) fn start(command: Command) -> io::Result<Self> {
        let (heard, lines) = mpsc::channel();
        let read = |mut pipe: ChildStdout| {
            let mut bytes = Vec::new();
            // Output before an error is no valid record, which is detected later.
            let _ = pipe.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let (process, stdout, _) = spawn(command, read, move |line| drop(heard.send(line)))?;
        Ok(Self { process, stdout: Some(stdout), lines, start: Instant::now() })
    }

    /// Returns the output within a time limit, or a clause that describes how the program ended.
    pub(crate) fn output_within(self, limit: Duration) -> Result<String, String> {
        let ended = self.wait(Some(limit), &|| false, &mut |_| ()).map_err(|error| error.to_string())?;
        let ended = ended.expect("nothing interrupts it");
        let is_good = matches!(ended.how, How::Status { code: Some(0), .. });
        if is_good { Ok(ended.stdout) } else { Err(ended.reason()) }
    }

    /// Waits for the run to end and passes on its messages. Returns `None` if interrupted; the run has then been ended.
    pub(crate) fn wait(
        mut self,
        timeout: Option<Duration>,
        is_interrupted: &dyn Fn() -> bool,
        heard: &mut dyn FnMut(&str),
    ) -> io::Result<Option<Ended>> {
        let mut last_lines: Vec<String> = Vec::new();
        let how = loop {
            if is_interrupted() {
                return Ok(None);
            }
            if let Some(limit) = timeout.filter(|limit| self.start.elapsed() >= *limit) {
                let _ = self.process.kill();
                let _ = self.process.wait();
                break How::TimedOut { limit };
            }
            match self.lines.recv_timeout(POLLING_INTERVAL) {
                Ok(line) => {
                    heard(&line);
                    last_lines.drain(..(last_lines.len() + 1).saturating_sub(LAST_LINES));
                    last_lines.push(line);
                }
                Err(RecvTimeoutError::Timeout) => {}
                // It has closed its standard error, so it is about to end.
                Err(RecvTimeoutError::Disconnected) => thread::sleep(POLLING_INTERVAL),
            }
            if let Some(status) = self.process.try_wait()? {
                break how(status);
            }
        };
        let seconds = self.start.elapsed().as_secs_f64();
        let stdout = self.stdout.take().and_then(|reader| reader.join().ok()).unwrap_or_default();
        // The pipe is closed, so this ends.
        last_lines.extend(self.lines.iter());
        last_lines.drain(..last_lines.len().saturating_sub(LAST_LINES));
        Ok(Some(Ended { how, stdout, last_lines, seconds }))
    }
}

/// Starts a command with pipes. Threads pass its standard output to `read`, and the lines of its standard error to
/// `hear`, until it ends, or longer if a child of it inherits them.
pub(crate) fn spawn<T: Send + 'static>(
    mut command: Command,
    read: impl FnOnce(ChildStdout) -> T + Send + 'static,
    mut hear: impl FnMut(String) + Send + 'static,
) -> io::Result<(process::Child, JoinHandle<T>, JoinHandle<()>)> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn()?;
    let (output, errors) = (process.stdout.take(), process.stderr.take());
    let (output, errors) = output.zip(errors).expect("both are pipes");
    let listener = thread::spawn(move || {
        for line in BufReader::new(errors).split(b'\n').map_while(Result::ok) {
            hear(console::strip_ansi_codes(String::from_utf8_lossy(&line).trim_end()).into_owned());
        }
    });
    Ok((process, thread::spawn(move || read(output)), listener))
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Ended {
    /// Returns the reason for the failure; `None` also after a timeout.
    pub(crate) fn failure(&self) -> Option<String> {
        matches!(self.how, How::Status { code, .. } if code != Some(0)).then(|| self.reason())
    }

    /// Returns the program's error, or a clause that describes how it ended.
    pub(crate) fn reason(&self) -> String {
        let own = self.last_lines.iter().position(|line| line.starts_with("error: "));
        let last = self.last_lines.iter().map(|line| line.trim()).rfind(|line| !line.is_empty());
        let last = last.map_or_else(String::new, |line| {
            let visible = line.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
            format!("; its last line: {}", visible.take(MAX_LAST_WORDS).collect::<String>())
        });
        match (self.how, own) {
            (How::TimedOut { limit }, _) => format!("it did not finish within {} s and was ended", limit.as_secs_f64()),
            (_, Some(first)) => self.last_lines[first..].join(" ").replacen("error: ", "", 1),
            (How::Status { signal: Some(9), .. }, _) => {
                "it was killed (SIGKILL), by a user or by the system for lack of memory".to_owned()
            }
            (How::Status { signal: Some(signal), .. }, _) => {
                let meaning = match signal {
                    4 => " (an instruction that this processor does not support)",
                    7 | 11 => " (an invalid memory access)",
                    _ => "",
                };
                format!("it was ended by {}{meaning}{last}", signal_name(signal))
            }
            (How::Status { code: Some(code), .. }, _) => format!("it ended with status {code}{last}"),
            (How::Status { .. }, _) => format!("it crashed{last}"),
        }
    }
}

fn how(status: ExitStatus) -> How {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    let signal = None;
    How::Status { code: status.code(), signal }
}

#[cfg_attr(not(unix), expect(unused_variables, reason = "only Unix has signals"))]
pub(crate) fn signal_name(number: i32) -> &'static str {
    #[cfg(unix)]
    if let Ok(signal) = nix::sys::signal::Signal::try_from(number) {
        return signal.as_str();
    }
    "a signal"
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, seconds: f64) -> Result<String, String> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Child::start(command).unwrap().output_within(Duration::from_secs_f64(seconds))
    }

    #[test]
    fn output_or_the_end_of_a_program_is_reported() {
        assert_eq!(shell("echo told; echo noise >&2", 10.0).as_deref(), Ok("told\n"));
        assert_eq!(shell("kill -SEGV $$", 10.0).unwrap_err(), "it was ended by SIGSEGV (an invalid memory access)");
        let error = shell("echo first >&2; echo ' the reason ' >&2; exit 3", 10.0).unwrap_err();
        assert_eq!(error, "it ended with status 3; its last line: the reason");
        assert_eq!(shell("exec sleep 600", 1.0).unwrap_err(), "it did not finish within 1 s and was ended");
        assert!(Child::start(Command::new("/no/such/program")).is_err());
    }

    #[test]
    fn reason_joins_the_lines_of_an_error() {
        let last_lines = ["device    Some GPU", "error: it needs 2 bytes, but", "this device allows 1"];
        let last_lines = last_lines.map(str::to_owned).to_vec();
        let how = How::Status { code: Some(4), signal: None };
        let ended = Ended { how, stdout: String::new(), last_lines, seconds: 1.0 };
        assert_eq!(ended.reason(), "it needs 2 bytes, but this device allows 1");
    }
}
