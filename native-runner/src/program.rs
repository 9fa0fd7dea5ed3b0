//! External programs as backends, started here and controlled over standard input and output (`docs/EXTERNAL.md`).

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::rc::Rc;
use std::str::FromStr;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use std::{env, fs, io, thread};

use async_trait::async_trait;
use data_sets::files::sha256_hex;
use engine::backends::external::{ExternalBackend, Message};
use engine::backends::{Opening, external};
use engine::{Backend, Clock, EngineError};
use serde_json::Value;

use crate::child::spawn;
use crate::json_output::replace_file;
use crate::machine::cache;

/// Lines of standard error that are kept for an error message.
const LAST_LINES: usize = 12;
/// Longest wait for a failed program to end.
const MAX_FAILURE_TIME: Duration = Duration::from_secs(2);
/// Longest wait for a finished program to end on its own.
const MAX_SHUTDOWN_TIME: Duration = Duration::from_secs(3);

/// `NAME=COMMAND`, or the `NAME` of a bundled program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedProgram {
    pub(crate) name: &'static str,
    /// Words of the command; empty for a bundled program.
    command: Vec<String>,
}

impl NamedProgram {
    pub(crate) fn new(name: &str, command: &str) -> Result<Self, String> {
        let name = external::checked_name(name.trim())?;
        let command = shlex::split(command).ok_or_else(|| format!("a quotation in {command:?} does not end"))?;
        if command.is_empty() {
            return Err(format!("the command of `{name}` is missing, {EXAMPLE}"));
        }
        Ok(Self { name: name.leak(), command })
    }

    /// Returns the command; empty for a bundled program.
    pub(crate) fn command_text(&self) -> String {
        shlex::try_join(self.command.iter().map(String::as_str)).expect("an argument holds no zero byte")
    }

    fn command(&self) -> Result<Command, String> {
        let Some((program, arguments)) = self.command.split_first() else {
            return READY.iter().find(|ready| ready.name == self.name).expect("it was found by name").command();
        };
        let mut command = Command::new(program);
        command.args(arguments);
        Ok(command)
    }
}

const EXAMPLE: &str = "as in `pytorch=python3 pytorch_program.py`";

impl FromStr for NamedProgram {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((name, command)) = text.split_once('=') {
            return Self::new(name, command);
        }
        let ready = READY.iter().find(|ready| ready.name == text.trim());
        let ready = ready.ok_or_else(|| {
            let names: Vec<&str> = READY.iter().map(|ready| ready.name).collect();
            format!("it must be NAME=COMMAND, {EXAMPLE}, or a bundled program: {}", names.join(", "))
        })?;
        Ok(Self { name: ready.name, command: Vec::new() })
    }
}

pub(crate) fn open(
    program: &NamedProgram,
    opening: &Opening,
    timeout_seconds: f64,
    clock: Rc<dyn Clock>,
) -> Result<Box<dyn Backend>, EngineError> {
    let running = Rc::new(RunningProgram::start(program, Duration::from_secs_f64(timeout_seconds))?);
    let meeting = ExternalBackend::meet(program.name, running, clock, opening.precision, opening.layout);
    Ok(Box::new(pollster::block_on(meeting)?))
}

struct RunningProgram {
    name: &'static str,
    child: RefCell<Child>,
    /// Closed when the program is no longer needed.
    input: RefCell<Option<BufWriter<ChildStdin>>>,
    answers: Receiver<Result<Message, String>>,
    timeout: Duration,
    last_lines: Arc<Mutex<VecDeque<String>>>,
    /// Thread that reads standard error.
    listener: JoinHandle<()>,
}

impl RunningProgram {
    fn start(program: &NamedProgram, timeout: Duration) -> Result<Self, EngineError> {
        let cannot = |message| EngineError::ProgramFailed { program: program.name.to_owned(), message };
        let mut started = program.command().map_err(cannot)?;
        // This process handles Ctrl-C: it keeps the measurements so far, and then ends the program.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut started, 0);
        let command = started.get_program().to_string_lossy().into_owned();
        tracing::info!("starting {} as {started:?}", program.name);
        let (send, answers) = mpsc::channel();
        let read = move |output| {
            let mut output = BufReader::new(output);
            loop {
                let message = read_message(&mut output);
                let ends = message.is_err();
                if send.send(message).is_err() || ends {
                    return;
                }
            }
        };
        let last_lines = Arc::<Mutex<VecDeque<String>>>::default();
        let lines = Arc::clone(&last_lines);
        let hear = move |line: String| {
            let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
            lines.push_back(line.chars().filter(|letter| !letter.is_control()).take(200).collect());
            if lines.len() > LAST_LINES {
                lines.pop_front();
            }
        };
        let (mut child, _, listener) =
            spawn(started, read, hear).map_err(|source| cannot(format!("{command} cannot be started: {source}")))?;
        let input = RefCell::new(child.stdin.take().map(BufWriter::new));
        Ok(Self { name: program.name, child: RefCell::new(child), input, answers, timeout, last_lines, listener })
    }

    /// Returns the error with the program's exit status and its last lines.
    fn failed(&self, message: &str) -> EngineError {
        let ended = self.ends_within(MAX_FAILURE_TIME);
        // The last lines may still be in the pipe.
        if ended.is_some() {
            wait_until(MAX_FAILURE_TIME, || self.listener.is_finished().then_some(()));
        }
        let mut message = message.to_owned();
        message.extend(ended.map(|status| format!("; it ended with {status}")));
        let mut lines = self.last_lines.lock().unwrap_or_else(PoisonError::into_inner);
        if !lines.is_empty() {
            message.push_str(&format!("; its last lines:\n{}", lines.make_contiguous().join("\n")));
        }
        EngineError::ProgramFailed { program: self.name.to_owned(), message }
    }

    fn ends_within(&self, time: Duration) -> Option<ExitStatus> {
        wait_until(time, || self.child.borrow_mut().try_wait().ok().flatten())
    }
}

fn wait_until<T>(time: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let begin = Instant::now();
    loop {
        match look() {
            None if begin.elapsed() < time => thread::sleep(Duration::from_millis(10)),
            found => return found,
        }
    }
}

#[async_trait(?Send)]
impl external::Program for RunningProgram {
    fn send(&self, message: Message) -> Result<(), EngineError> {
        let written = write_message(self.input.borrow_mut().as_mut().expect("only dropping takes it"), &message);
        written.map_err(|error| self.failed(&format!("it does not read its input: {error}")))
    }

    async fn receive(&self) -> Result<Message, EngineError> {
        match self.answers.recv_timeout(self.timeout) {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(self.failed(&error)),
            Err(RecvTimeoutError::Timeout) => {
                let seconds = self.timeout.as_secs_f64();
                Err(self.failed(&format!("it has not answered for {seconds} s; increase --program-timeout")))
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.failed("it has ended")),
        }
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        drop(self.input.take());
        if self.ends_within(MAX_SHUTDOWN_TIME).is_none() {
            let mut child = self.child.borrow_mut();
            drop(child.kill());
            drop(child.wait());
        }
    }
}

const MAX_LINE_BYTES: u64 = 16 << 20;
const MAX_PAYLOAD_BYTES: u64 = 1 << 30;
/// Name of the field with the payload length.
const BYTES: &str = "bytes";

fn write_message(output: &mut impl Write, message: &Message) -> io::Result<()> {
    let mut header = message.header.clone();
    if let Value::Object(fields) = &mut header {
        fields.insert(BYTES.to_owned(), message.payload.len().into());
    }
    serde_json::to_writer(&mut *output, &header)?;
    output.write_all(b"\n")?;
    output.write_all(&message.payload)?;
    output.flush()
}

/// Parses a line of JSON. Python's `json` writes NaN and Infinity, which become null.
fn parse(line: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(line).or_else(|error| {
        let text = String::from_utf8_lossy(line).replace("-Infinity", "null");
        serde_json::from_str(&text.replace("Infinity", "null").replace("NaN", "null")).map_err(|_| error)
    })
}

fn read_message(input: &mut impl BufRead) -> Result<Message, String> {
    let mut line = Vec::new();
    let read = input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line);
    read.map_err(|error| format!("it cannot be read: {error}"))?;
    if line.is_empty() {
        return Err("it has closed its standard output".to_owned());
    }
    let header = parse(&line).map_err(|error| {
        let begin: String = String::from_utf8_lossy(&line).trim().chars().take(80).collect();
        format!("its answer is not a line of JSON ({error}): {begin:?}")
    })?;
    let bytes = match header.get(BYTES) {
        None => 0,
        Some(bytes) => bytes.as_u64().filter(|&bytes| bytes <= MAX_PAYLOAD_BYTES).ok_or_else(|| {
            format!(
                "the field `{BYTES}` of its answer is {bytes}, but must be a whole number up to {MAX_PAYLOAD_BYTES}"
            )
        })?,
    };
    let mut payload = Vec::new();
    let read = input.by_ref().take(bytes).read_to_end(&mut payload);
    match read {
        Ok(length) if length as u64 == bytes => Ok(Message { header, payload }),
        Ok(length) => Err(format!("its answer ends after {length} of {bytes} bytes")),
        Err(error) => Err(format!("it cannot be read: {error}")),
    }
}

/// Environment variable with Python executables, separated as in `PATH`.
const PYTHON: &str = "GRADMARK_PYTHON";

const SYSTEM_PYTHONS: [&str; 2] = ["python3", "python"];

/// Bundled program, and the Python packages that it needs.
pub(crate) struct ReadyProgram {
    pub(crate) name: &'static str,
    pub(crate) framework: &'static str,
    file: &'static str,
    keras_backend: Option<&'static str>,
    /// Python modules, which have the names of their packages.
    modules: &'static [&'static str],
}

pub(crate) const READY: &[ReadyProgram] = &[
    ReadyProgram {
        name: "pytorch",
        framework: "PyTorch, eager",
        file: "pytorch_program.py",
        keras_backend: None,
        modules: &["torch", "numpy"],
    },
    ReadyProgram {
        name: "keras-jax",
        framework: "Keras 3 on JAX",
        file: "keras_program.py",
        keras_backend: Some("jax"),
        modules: &["keras", "jax"],
    },
    ReadyProgram {
        name: "keras-tensorflow",
        framework: "Keras 3 on TensorFlow",
        file: "keras_program.py",
        keras_backend: Some("tensorflow"),
        modules: &["keras", "tensorflow"],
    },
];

/// Files of all programs. They share a folder because they import each other.
const FILES: &[(&str, &str)] = &[
    ("gradmark_program.py", include_str!("../programs/gradmark_program.py")),
    ("keras_network.py", include_str!("../programs/keras_network.py")),
    ("keras_program.py", include_str!("../programs/keras_program.py")),
    ("pytorch_program.py", include_str!("../programs/pytorch_program.py")),
];

impl ReadyProgram {
    /// Returns the command with the first Python that has the modules.
    pub(crate) fn command(&self) -> Result<Command, String> {
        let python = self.python()?;
        let folder = cache().ok_or("this user has no cache folder; set the command, as in NAME=COMMAND")?;
        // Each version of this program has its own folder.
        let files: String = FILES.iter().map(|(name, text)| format!("{name}\0{text}\0")).collect();
        let folder = folder.join(format!("programs-{}", &sha256_hex(files.as_bytes())[..16]));
        write_programs(&folder)
            .map_err(|error| format!("its files cannot be written to {}: {error}", folder.display()))?;
        let mut command = Command::new(python);
        command.arg(folder.join(self.file));
        self.keras_backend.map(|backend| command.env("KERAS_BACKEND", backend));
        Ok(command)
    }

    pub(crate) fn python(&self) -> Result<PathBuf, String> {
        let pythons = candidates(&env::var_os(PYTHON).unwrap_or_default());
        // Only finds the modules; importing them would take seconds.
        let question =
            format!("import importlib.util as u; raise SystemExit(not all(map(u.find_spec, {:?})))", self.modules);
        let has_modules = |python: &&PathBuf| {
            let mut command = Command::new(python);
            command.args(["-c", &question]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        pythons.iter().find(has_modules).cloned().ok_or_else(|| {
            let tried: Vec<String> = pythons.iter().map(|python| format!("`{}`", python.display())).collect();
            let (missing, packages) = (self.modules.join(" and "), self.modules.join(" "));
            let advice = format!("install them with `python3 -m pip install {packages}`");
            format!("no Python has {missing}: tried {}; {advice}, or set {PYTHON} to another Python", tried.join(", "))
        })
    }
}

fn candidates(named: &OsStr) -> Vec<PathBuf> {
    let named = env::split_paths(named).filter(|path| !path.as_os_str().is_empty());
    named.chain(SYSTEM_PYTHONS.map(PathBuf::from)).collect()
}

/// Writes each file that is missing or was changed.
fn write_programs(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (name, text) in FILES {
        let path = folder.join(name);
        if !fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
            // Several processes may write at once.
            replace_file(&path, text.as_bytes())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use engine::AdapterChoice;
    use results::Precision;
    use serde_json::json;

    use super::*;
    use crate::meter::MonotonicClock;

    #[test]
    fn a_program_is_a_name_and_a_command_with_quotations() {
        let program: NamedProgram = "keras-jax=env KERAS_BACKEND=jax python3 'my programs/keras.py'".parse().unwrap();
        assert_eq!(program.name, "keras-jax");
        assert_eq!(program.command, ["env", "KERAS_BACKEND=jax", "python3", "my programs/keras.py"]);
        assert_eq!(NamedProgram::new(program.name, &program.command_text()), Ok(program));
        let bundled: NamedProgram = "keras-jax".parse().unwrap();
        assert_eq!((bundled.name, bundled.command_text().as_str()), ("keras-jax", ""));
    }

    #[test]
    fn invalid_program_is_refused_with_an_example() {
        for (text, part) in [
            ("python3 pytorch.py", "NAME=COMMAND"),
            ("torch", "bundled program: pytorch, keras-jax, keras-tensorflow"),
            ("Pytorch=python3", "lowercase"),
            ("wgsl=python3", "a built-in backend"),
            ("pytorch=", "missing"),
            ("pytorch=python3 'x", "does not end"),
        ] {
            let error = text.parse::<NamedProgram>().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[cfg(unix)]
    #[test]
    #[ignore = "waits for 5 s"]
    fn a_program_that_says_nothing_is_given_up() {
        let begin = Instant::now();
        let (opening, clock) = (Opening::new(Precision::F32, &AdapterChoice::Any), Rc::new(MonotonicClock::start()));
        let error = open(&"pytorch=sleep 60".parse().unwrap(), &opening, 0.2, clock).err().unwrap().to_string();
        assert!(error.contains("has not answered for 0.2 s"), "{error}");
        assert!(begin.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn written_message_is_read_again() {
        let message = Message { header: json!({"message": "weights"}), payload: vec![10, 0, 255] };
        let mut pipe = Vec::new();
        write_message(&mut pipe, &message).unwrap();
        write_message(&mut pipe, &Message { header: json!({}), payload: Vec::new() }).unwrap();
        let mut pipe = pipe.as_slice();
        let first = read_message(&mut pipe).unwrap();
        assert_eq!((first.header["message"].as_str(), first.payload), (Some("weights"), message.payload));
        assert_eq!(read_message(&mut pipe).unwrap().payload, Vec::<u8>::new());
        assert!(read_message(&mut pipe).unwrap_err().contains("closed"));
        // Numbers that JSON lacks become null.
        let mut line: &[u8] = b"{\"losses\": [NaN, -Infinity, Infinity, 1.5]}\n";
        assert_eq!(read_message(&mut line).unwrap().header, json!({"losses": [null, null, null, 1.5]}));
    }

    #[test]
    fn invalid_message_is_shown() {
        let refused = |bytes: &[u8]| read_message(&mut &*bytes).unwrap_err();
        assert!(refused(b"Using TensorFlow backend\n").contains("Using TensorFlow"));
        assert!(refused(b"{\"bytes\": -1}\n").contains("is -1,"));
        assert!(refused(b"{\"bytes\": 4}\nab").contains("2 of 4"));
    }

    #[test]
    fn every_program_is_carried_with_what_it_imports() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
        let there = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let there: BTreeSet<String> =
            there.filter(|name| Path::new(name).extension().is_some_and(|ending| ending == "py")).collect();
        assert_eq!(there, FILES.iter().map(|(name, _)| (*name).to_owned()).collect());
        assert!(READY.iter().all(|ready| there.contains(ready.file)));
    }

    #[test]
    fn changed_files_are_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("deep");
        write_programs(&place).unwrap();
        fs::write(place.join(FILES[0].0), "changed").unwrap();
        write_programs(&place).unwrap();
        for (name, text) in FILES {
            assert_eq!(fs::read_to_string(place.join(name)).unwrap(), *text);
        }
        assert_eq!(fs::read_dir(&place).unwrap().count(), FILES.len());
    }

    #[test]
    fn named_pythons_come_before_the_systems_own() {
        let named = env::join_paths(["/venv/bin/python", ""]).unwrap();
        let expected = ["/venv/bin/python", "python3", "python"].map(PathBuf::from);
        assert_eq!(candidates(&named), expected);
        assert_eq!(candidates(OsStr::new("")), expected[1..]);
    }
}
