//! The link to a device that is served elsewhere.
//!
//! When a server ends, its connections are closed, burn-remote's next read fails and the run ends as it does when a
//! device is lost. A server that hangs and a network that swallows everything close nothing: the program could wait for
//! them for ever, inside calls of Burn's that cannot be given up. So the server is asked for signs of life, on
//! connections of their own. Any answer is one, and comes even while the device computes, from other threads.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use engine::{Backend, EngineError, Trainer, TrainingJob};
use results::{Adapter, Precision, Warning};

use crate::failure::Failure;

/// How long an answer may take at most.
const PATIENCE: Duration = Duration::from_secs(5);
/// Pause between two questions.
const PAUSE: Duration = Duration::from_secs(3);
/// Burn's server answers that there is nothing at this path, which is answer enough.
const QUESTION: &[u8] = b"GET /alive HTTP/1.1\r\nhost: device\r\nconnection: close\r\n\r\n";

/// Ends the program when the server has given no sign of life for too long; no longer than it lives itself.
pub(crate) struct Link {
    /// Nothing is sent; the watching thread hears when it is dropped.
    _alive: Sender<()>,
}

impl Link {
    /// Finds the server, and watches it from then on.
    ///
    /// # Errors
    /// No such host, nobody who listens there, and somebody who does not answer.
    pub(crate) fn watch(address: &str, timeout_seconds: f64) -> Result<Self, EngineError> {
        let timeout = Duration::from_secs_f64(timeout_seconds);
        let patience = PATIENCE.min(timeout);
        let server = find(address, patience)
            .map_err(|reason| EngineError::Unreachable { address: address.to_owned(), reason })?;
        let (alive, watched) = mpsc::channel::<()>();
        thread::spawn(move || {
            let mut heard = Instant::now();
            while watched.recv_timeout(PAUSE.min(timeout)) == Err(RecvTimeoutError::Timeout) {
                match sign_of_life(&server, patience) {
                    Ok(()) => heard = Instant::now(),
                    Err(_) if heard.elapsed() < timeout => {}
                    Err(_) => give_up(),
                }
            }
        });
        Ok(Self { _alive: alive })
    }

    /// The back end that computes at the other end; dropping it ends the watch.
    pub(crate) fn of(self, backend: Box<dyn Backend>) -> impl Backend {
        Linked { backend, _link: self }
    }
}

/// Whatever waits for the server now waits in vain and cannot be woken, so that the record of what was measured before
/// is lost as well.
fn give_up() -> ! {
    let failure = Failure::from(EngineError::LinkLost);
    crate::report(&failure);
    std::process::exit(failure.exit_code().into());
}

/// The address of a host that answers, or why there is none.
fn find(address: &str, patience: Duration) -> Result<SocketAddr, String> {
    let addresses = address.to_socket_addrs().map_err(|error| format!("the host is not known ({error})"))?;
    let mut last = None;
    for server in addresses {
        match sign_of_life(&server, patience) {
            Ok(()) => return Ok(server),
            Err(error) => last = Some(error),
        }
    }
    Err(match last {
        None => "the host has no address".to_owned(),
        Some(error) if error.kind() == ErrorKind::ConnectionRefused => "nobody listens there".to_owned(),
        Some(error) if [ErrorKind::TimedOut, ErrorKind::WouldBlock].contains(&error.kind()) => {
            format!("there was no answer for {} s", patience.as_secs_f64())
        }
        Some(error) => error.to_string(),
    })
}

fn sign_of_life(server: &SocketAddr, patience: Duration) -> io::Result<()> {
    let mut stream = TcpStream::connect_timeout(server, patience)?;
    stream.set_read_timeout(Some(patience))?;
    stream.set_write_timeout(Some(patience))?;
    stream.write_all(QUESTION)?;
    match stream.read(&mut [0; 1])? {
        0 => Err(io::Error::new(ErrorKind::UnexpectedEof, "the connection was closed without an answer")),
        _ => Ok(()),
    }
}

/// A back end with the link that it computes through.
struct Linked {
    backend: Box<dyn Backend>,
    _link: Link,
}

#[async_trait(?Send)]
impl Backend for Linked {
    fn name(&self) -> &'static str {
        self.backend.name()
    }

    fn adapter(&self) -> &Adapter {
        self.backend.adapter()
    }

    fn precision(&self) -> Precision {
        self.backend.precision()
    }

    fn warnings(&self) -> Vec<Warning> {
        self.backend.warnings()
    }

    fn predicted_bytes(&self, job: &TrainingJob) -> Result<Option<u64>, EngineError> {
        self.backend.predicted_bytes(job)
    }

    async fn build(&self, job: &TrainingJob) -> Result<Box<dyn Trainer>, EngineError> {
        self.backend.build(job).await
    }
}
