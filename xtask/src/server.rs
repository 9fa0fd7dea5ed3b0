//! A server as a child process: started, waited for, and stopped gracefully.

use anyhow::{Context, Result, bail};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(50);

pub(crate) struct Server {
    child: std::cell::RefCell<Child>,
    /// How many times we were asked to stop: once asks the server to finish, twice ends it at once.
    stops: Arc<AtomicU32>,
}

impl Server {
    /// Starts the server. From now on Ctrl-C and a request to terminate are meant for it and no longer end us at once.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let stops = Arc::new(AtomicU32::new(0));
        let counter = Arc::clone(&stops);
        ctrlc::set_handler(move || {
            counter.fetch_add(1, Ordering::SeqCst);
        })
        .context("cannot take over Ctrl-C")?;
        Self::spawn(command, stops)
    }

    fn spawn(command: &mut Command, stops: Arc<AtomicU32>) -> Result<Self> {
        let program = command.get_program().to_string_lossy().into_owned();
        // Its first line on stdout is its address, which we announce ourselves once it answers.
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn();
        let child = child.with_context(|| format!("cannot start {program}"))?;
        Ok(Self { child: child.into(), stops })
    }

    /// Waits until `GET /healthz` is answered with success.
    ///
    /// # Errors
    /// When the server ends before it answers, or does not answer in half a minute.
    pub(crate) fn wait_until_it_answers(&self, address: SocketAddr) -> Result<()> {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if let Some(status) = self.child.borrow_mut().try_wait()? {
                bail!("the server ended with {status} before it answered, see its messages above");
            }
            if self.stops.load(Ordering::SeqCst) > 0 || is_healthy(address) {
                return Ok(());
            }
            sleep(PAUSE);
        }
        self.end_now();
        bail!("the server did not answer on {address} in {} seconds", PATIENCE.as_secs())
    }

    /// Waits until the server has ended; passes a request to stop on to it.
    ///
    /// # Errors
    /// When it ended by itself, or did not end well.
    pub(crate) fn wait_for_its_end(&self) -> Result<()> {
        let mut passed_on = 0;
        let status = loop {
            if let Some(status) = self.child.borrow_mut().try_wait()? {
                break status;
            }
            match (self.stops.load(Ordering::SeqCst), passed_on) {
                (0, _) | (1, 1) => {}
                (1, _) => {
                    crate::say::step("Stopping", "the server (Ctrl-C again ends it at once)");
                    ask_to_finish(&self.child.borrow());
                    passed_on = 1;
                }
                _ => self.end_now(),
            }
            sleep(PAUSE);
        };
        self.judge(status)
    }

    fn judge(&self, status: ExitStatus) -> Result<()> {
        match (status.success(), self.stops.load(Ordering::SeqCst)) {
            (true, 1..) => Ok(()),
            // We ended it ourselves because it was asked for twice.
            (false, 2..) => Ok(()),
            _ => bail!("the server ended with {status}, see its messages above"),
        }
    }

    fn end_now(&self) {
        // It fails only when the server has ended in the meantime, which the caller will see.
        let _ = self.child.borrow_mut().kill();
    }
}

impl Drop for Server {
    /// An error on the way must not leave a server behind.
    fn drop(&mut self) {
        self.end_now();
        let _ = self.child.borrow_mut().wait();
    }
}

/// Asks a program to end well.
#[cfg(unix)]
pub(crate) fn ask_to_finish(child: &Child) {
    use nix::sys::signal::{Signal, kill};
    if let Ok(id) = i32::try_from(child.id()) {
        // It fails only when the program has ended in the meantime, which the code that waits for it will see.
        let _ = kill(nix::unistd::Pid::from_raw(id), Signal::SIGTERM);
    }
}

/// On Windows, Ctrl-C reaches every program of the console, this one too.
#[cfg(not(unix))]
pub(crate) fn ask_to_finish(_: &Child) {}

/// Whether `GET /healthz` is answered with a 2xx status.
pub(crate) fn is_healthy(address: SocketAddr) -> bool {
    let answer = || -> std::io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        write!(stream, "GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
        let mut start = vec![0; "HTTP/1.1 2".len()];
        stream.read_exact(&mut start)?;
        Ok(start)
    };
    answer().is_ok_and(|start| start.starts_with(b"HTTP/1.") && start.ends_with(b" 2"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn shell(script: &str) -> (Server, Arc<AtomicU32>) {
        let stops = Arc::new(AtomicU32::new(0));
        (Server::spawn(Command::new("sh").args(["-c", script]), Arc::clone(&stops)).unwrap(), stops)
    }

    /// Answers each connection with the next of the given answers, and those that follow with the last.
    fn answering(answers: &'static [&'static str]) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for answer in answers.iter().chain(std::iter::repeat(answers.last().unwrap())) {
                let (mut stream, _) = listener.accept().unwrap();
                // To its end: a connection that is closed with something unread is reset, and the answer may be lost.
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    // Who asks may have given up meanwhile, on a busy machine.
                    if stream.read_exact(&mut byte).is_err() {
                        break;
                    }
                    request.extend(byte);
                }
                assert!(request.is_empty() || request.starts_with(b"GET /healthz HTTP/1.1\r\n"));
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        address
    }

    #[test]
    fn a_server_counts_as_started_when_its_health_is_good() {
        let (server, _) = shell("exec sleep 60");
        let address = answering(&["HTTP/1.1 503 Service Unavailable\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\nok"]);
        server.wait_until_it_answers(address).unwrap();
    }

    #[test]
    fn a_server_that_ends_before_it_answers_is_reported_at_once() {
        let (server, _) = shell("exit 7");
        let unused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let error = server.wait_until_it_answers(unused).unwrap_err().to_string();
        assert!(error.contains('7') && error.contains("before it answered"), "{error}");
    }

    #[test]
    fn a_request_to_stop_is_passed_on_and_its_clean_end_is_ours() {
        let folder = tempfile::tempdir().unwrap();
        let (ready, ended) = (folder.path().join("ready"), folder.path().join("ended"));
        let script = format!(
            "trap 'echo done > {}; exit 0' TERM; touch {}; while :; do sleep 0.05; done",
            ended.display(),
            ready.display()
        );
        let (server, stops) = shell(&script);
        while !ready.exists() {
            sleep(PAUSE);
        }
        stops.store(1, Ordering::SeqCst);
        server.wait_for_its_end().unwrap();
        assert_eq!(std::fs::read_to_string(ended).unwrap(), "done\n");
    }

    #[test]
    fn asked_twice_a_server_that_does_not_listen_is_ended() {
        let (server, stops) = shell("trap '' TERM; while :; do sleep 0.05; done");
        stops.store(2, Ordering::SeqCst);
        server.wait_for_its_end().unwrap();
    }

    #[test]
    fn a_server_that_ends_by_itself_is_an_error() {
        let (server, _) = shell("exit 0");
        assert!(server.wait_for_its_end().unwrap_err().to_string().contains("the server ended"));
    }
}
