//! Other programs, which may crash, hang or say too much.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use std::{io, thread};

/// Bound on the output that is kept.
const LONGEST_BYTES: u64 = 1 << 20;
const LOOKING_INTERVAL: Duration = Duration::from_millis(10);

#[derive(Debug)]
pub(crate) enum Ended {
    Well { output: String },
    Badly { how: String, last_words: String },
    TooLate { seconds: f64 },
    NotStarted { reason: String },
}

impl Ended {
    /// Returns the output, or a clause that says how the program ended.
    pub(crate) fn output(self) -> Result<String, String> {
        match self {
            Self::Well { output } => Ok(output),
            Self::Badly { how, last_words } if last_words.is_empty() => Err(how),
            Self::Badly { how, last_words } => Err(format!("{how}; its last words: {last_words}")),
            Self::TooLate { seconds } => Err(format!("it had not finished after {seconds} s and was ended")),
            Self::NotStarted { reason } => Err(format!("it could not be started: {reason}")),
        }
    }
}

/// Runs a program with a time limit. Its standard input stays open as long as this process lives.
pub(crate) fn run(mut command: Command, limit: Duration) -> Ended {
    let start = Instant::now();
    let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => return Ended::NotStarted { reason: error.to_string() },
    };
    let input = child.stdin.take();
    let output = child.stdout.take().map(read_all);
    let errors = child.stderr.take().map(read_all);
    let status = wait(&mut child, start, limit);
    drop(input);
    let text = |reader: Option<JoinHandle<String>>| reader.and_then(|reader| reader.join().ok()).unwrap_or_default();
    match status {
        Err(reason) => Ended::NotStarted { reason },
        Ok(None) => Ended::TooLate { seconds: limit.as_secs_f64() },
        Ok(Some(status)) if status.success() => Ended::Well { output: text(output) },
        Ok(Some(status)) => Ended::Badly { how: how(status), last_words: last_words(&text(errors)) },
    }
}

fn wait(child: &mut Child, start: Instant, limit: Duration) -> Result<Option<ExitStatus>, String> {
    loop {
        match child.try_wait() {
            Err(error) => return Err(error.to_string()),
            Ok(Some(status)) => return Ok(Some(status)),
            Ok(None) if start.elapsed() >= limit => {
                // It may have ended by itself just now.
                let _ = child.kill();
                let _ = child.wait();
                return Ok(None);
            }
            Ok(None) => thread::sleep(LOOKING_INTERVAL),
        }
    }
}

/// Reads to the end, so that the program never blocks on a full pipe, and keeps the beginning.
fn read_all(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut kept = Vec::new();
        // A pipe that breaks has told what it could.
        let _ = pipe.by_ref().take(LONGEST_BYTES).read_to_end(&mut kept);
        let _ = io::copy(&mut pipe, &mut io::sink());
        String::from_utf8_lossy(&kept).into_owned()
    })
}

fn last_words(errors: &str) -> String {
    const LONGEST: usize = 300;
    let line = errors.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    let visible = line.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    visible.take(LONGEST).collect()
}

fn how(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        let name = match signal {
            4 => " (an instruction that this processor does not have)",
            6 => " (it gave up)",
            7 | 11 => " (it reached for memory that is not its own)",
            9 => " (ended from outside, perhaps because memory ran out)",
            _ => "",
        };
        return format!("it crashed with signal {signal}{name}");
    }
    status.code().map_or_else(|| "it crashed".to_owned(), |code| format!("it ended with status {code}"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, seconds: f64) -> Result<String, String> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command, Duration::from_secs_f64(seconds)).output()
    }

    #[test]
    fn what_a_program_writes_is_kept_where_it_ends_well() {
        assert_eq!(shell("echo told; echo noise >&2", 10.0).as_deref(), Ok("told\n"));
    }

    #[test]
    fn a_program_that_crashes_fails_or_hangs_is_told_apart() {
        assert_eq!(shell("kill -SEGV $$", 10.0).unwrap_err().split(" (").next(), Some("it crashed with signal 11"));
        assert_eq!(
            shell("echo first >&2; echo ' the reason ' >&2; exit 3", 10.0).unwrap_err(),
            "it ended with status 3; its last words: the reason"
        );
        assert_eq!(shell("exec sleep 600", 1.0).unwrap_err(), "it had not finished after 1 s and was ended");
        let missing = run(Command::new("/no/such/program"), Duration::from_secs(1)).output().unwrap_err();
        assert!(missing.starts_with("it could not be started"), "{missing}");
    }

    #[test]
    fn a_program_that_says_more_than_anybody_reads_ends_all_the_same() {
        let told = shell("head -c 3000000 /dev/zero | tr '\\0' x", 30.0).unwrap();
        assert_eq!(told.len(), 1 << 20);
    }
}
