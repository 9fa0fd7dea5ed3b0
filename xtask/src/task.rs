//! Something that takes long, while other things are being done beside it: its programs' messages are shown on one
//! moving line, and in full when one of them fails.

use crate::say;
use anyhow::{Context, Result, bail};
use indicatif::ProgressBar;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How a program tells that it gets on; nobody needs these once it has failed.
const PROGRESS: [&str; 9] = [
    "Compiling ",
    "Checking ",
    "Downloading ",
    "Downloaded ",
    "Finished ",
    "Blocking ",
    "Updating ",
    "Locking ",
    "Adding ",
];

pub(crate) struct Task {
    what: String,
    began: Instant,
    bar: ProgressBar,
    running: Running,
    gentle: bool,
}

/// The program that a task is waiting for, so that it can be ended.
#[derive(Clone, Default)]
pub(crate) struct Running(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    child: Option<Child>,
    ended: bool,
}

impl Task {
    /// Begins something whose name goes on after "Building".
    pub(crate) fn build(what: &str) -> Self {
        Self::new("Building", what)
    }

    pub(crate) fn new(verb: &'static str, what: &str) -> Self {
        say::step(verb, what);
        let bar = say::moving(verb, what);
        Self { what: what.to_owned(), began: Instant::now(), bar, running: Running::default(), gentle: false }
    }

    /// Its programs leave the processor to everybody else, and are ended by `running` alone, not by Ctrl-C.
    pub(crate) fn gently(self, running: &Running) -> Self {
        Self { running: running.clone(), gentle: true, ..self }
    }

    /// Ends the task with a line that says how long it took.
    pub(crate) fn done(self, verb: &str) {
        self.bar.finish_and_clear();
        say::step(verb, format!("{} in {}", self.what, say::duration(self.elapsed())));
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Runs a command to its end and returns what it printed.
    ///
    /// # Errors
    /// When it cannot be started or fails; what it said about that was shown then.
    pub(crate) fn follow(&self, command: &mut Command) -> Result<String> {
        self.follow_with(command, |_| ())
    }

    /// The same; `heard` gets each line of its messages.
    pub(crate) fn follow_with(&self, command: &mut Command, mut heard: impl FnMut(&str)) -> Result<String> {
        let name = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut gentle;
        let command = if self.gentle {
            gentle = gently(command);
            &mut gentle
        } else {
            command
        };
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("{}: cannot start `{name}`", self.what))?;
        let mut output = child.stdout.take().context("its output was not piped")?;
        let messages = child.stderr.take().context("its messages were not piped")?;
        self.running.is_now(child);
        let printed = std::thread::spawn(move || {
            let mut text = Vec::new();
            output.read_to_end(&mut text).map(|_| String::from_utf8_lossy(&text).into_owned())
        });
        let mut said = Vec::new();
        for line in BufReader::new(messages).split(b'\n') {
            let line = String::from_utf8_lossy(&line?).trim_end().to_owned();
            self.bar.set_message(format!("{}: {}", self.what, line.trim_start()));
            heard(&line);
            if !PROGRESS.iter().any(|word| line.trim_start().starts_with(word)) {
                said.push(line);
            }
        }
        let printed = printed.join().ok().context("its output could not be read")??;
        if !self.running.wait()? {
            self.bar.finish_and_clear();
            if !self.running.is_ended() {
                say::quote(&said.join("\n"));
            }
            bail!("{}: `{name}` failed, see its messages above", self.what);
        }
        Ok(printed)
    }
}

impl Running {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_now(&self, mut child: Child) {
        let mut state = self.state();
        if state.ended {
            end(&mut child);
        }
        state.child = Some(child);
    }

    /// Waits for the end of the program, whose pipes are closed already. Returns whether it went well.
    fn wait(&self) -> Result<bool> {
        match self.state().child.take() {
            Some(mut child) => Ok(child.wait()?.success()),
            None => Ok(false),
        }
    }

    pub(crate) fn is_ended(&self) -> bool {
        self.state().ended
    }

    /// Ends the program, and every later one of the same task.
    pub(crate) fn end(&self) {
        let mut state = self.state();
        state.ended = true;
        if let Some(child) = &mut state.child {
            end(child);
        }
    }
}

/// The same command at a low priority and, on Unix, in a group of its own.
fn gently(command: &Command) -> Command {
    let nice = cfg!(unix) && which("nice");
    let mut gentle = if nice { Command::new("nice") } else { Command::new(command.get_program()) };
    if nice {
        gentle.args(["-n", "19"]).arg(command.get_program());
    }
    gentle.args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => gentle.env(name, value),
            None => gentle.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        gentle.current_dir(folder);
    }
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut gentle, 0);
    #[cfg(windows)]
    {
        const BELOW_NORMAL_PRIORITY_CLASS: u32 = 0x4000;
        std::os::windows::process::CommandExt::creation_flags(&mut gentle, BELOW_NORMAL_PRIORITY_CLASS);
    }
    gentle
}

fn which(program: &str) -> bool {
    crate::workspace::find_program(program, &std::env::var_os("PATH").unwrap_or_default()).is_some()
}

/// Ends a program with all that it has started, where the system can.
fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Ok(group) = i32::try_from(child.id()) {
        // It fails when the program is in no group of its own, or is gone.
        let _ = nix::sys::signal::killpg(nix::unistd::Pid::from_raw(group), nix::sys::signal::Signal::SIGTERM);
    }
    // It fails only when the program has ended in the meantime.
    let _ = child.kill();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn what_a_program_prints_is_returned_and_its_messages_are_heard() {
        let mut heard = Vec::new();
        let task = Task::build("something");
        let printed = task
            .follow_with(&mut shell("echo one; echo '   Compiling two' >&2"), |line| heard.push(line.to_owned()))
            .unwrap();
        assert_eq!((printed.as_str(), heard.as_slice()), ("one\n", &["   Compiling two".to_owned()][..]));
        let error = task.follow(&mut shell("echo lost >&2; exit 3")).unwrap_err().to_string();
        assert!(error.contains("something: `sh` failed"), "{error}");
    }

    #[test]
    fn a_gentle_program_runs_at_low_priority_and_is_ended_with_its_children() {
        let running = Running::default();
        let task = Task::build("something").gently(&running);
        assert_eq!(task.follow(&mut shell("nice")).unwrap().trim(), "19");
        let began = Instant::now();
        std::thread::scope(|scope| {
            let ends = scope.spawn(|| task.follow(&mut shell("sleep 600 & echo started >&2; wait")));
            while running.state().child.is_none() {
                std::thread::sleep(Duration::from_millis(5));
            }
            running.end();
            assert!(ends.join().unwrap().is_err());
        });
        assert!(task.follow(&mut shell("sleep 600")).is_err(), "nothing runs after the end");
        assert!(began.elapsed() < Duration::from_secs(60));
    }
}
