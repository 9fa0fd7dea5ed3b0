//! Whether a server still answers.
//!
//! It is asked on connections of their own. Any answer is a sign of life, and comes even while the device computes, from
//! other threads.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use engine::EngineError;

/// How long an answer may take at most.
const PATIENCE: Duration = Duration::from_secs(5);
/// What has come already is heard even when it is too late to wait.
const LAST_LOOK: Duration = Duration::from_millis(1);
/// Pause between two questions.
const PAUSE: Duration = Duration::from_secs(3);
/// Burn's server answers that there is nothing at this path, which is answer enough.
const QUESTION: &[u8] = b"GET /alive HTTP/1.1\r\nhost: device\r\nconnection: close\r\n\r\n";

/// Asks a server for signs of life, for as long as it lives itself.
pub(super) struct Watch {
    address: String,
    lost: Lost,
    /// Nothing is sent; the asking thread hears when it is dropped.
    _alive: Sender<()>,
}

/// Whether a server is lost, which is never taken back.
#[derive(Clone, Default)]
pub(super) struct Lost(Arc<AtomicBool>);

impl Lost {
    pub(super) fn is_known(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Watch {
    /// Finds the server, and watches it from then on. It is lost when there was no answer for `timeout`, to two questions
    /// at least: after the first one it may be we who were held up.
    ///
    /// # Errors
    /// No such host, nobody who listens there, and somebody who does not answer.
    pub(super) fn begin(address: &str, timeout: Duration) -> Result<Self, EngineError> {
        let patience = PATIENCE.min(timeout);
        let server = find(address, patience)
            .map_err(|reason| EngineError::Unreachable { address: address.to_owned(), reason })?;
        let (alive, watched) = mpsc::channel::<()>();
        let watch = Self { address: address.to_owned(), lost: Lost::default(), _alive: alive };
        let lost = watch.lost();
        thread::spawn(move || {
            let (mut heard, mut unanswered) = (Instant::now(), 0);
            while watched.recv_timeout(PAUSE.min(timeout)) == Err(RecvTimeoutError::Timeout) {
                if sign_of_life(&server, patience).is_ok() {
                    (heard, unanswered) = (Instant::now(), 0);
                    continue;
                }
                unanswered += 1;
                if unanswered > 1 && heard.elapsed() >= timeout {
                    return lost.set();
                }
            }
        });
        Ok(watch)
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Whether the server is lost, shared with those who wait for it.
    pub(super) fn lost(&self) -> Lost {
        self.lost.clone()
    }
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
        Some(error) => match error.kind() {
            ErrorKind::ConnectionRefused => "nobody listens there".to_owned(),
            ErrorKind::TimedOut | ErrorKind::WouldBlock => {
                format!("there was no answer for {} s", patience.as_secs_f64())
            }
            ErrorKind::UnexpectedEof => "the connection was closed without an answer".to_owned(),
            _ => error.to_string(),
        },
    })
}

fn sign_of_life(server: &SocketAddr, patience: Duration) -> io::Result<()> {
    let mut stream = TcpStream::connect_timeout(server, patience)?;
    stream.set_write_timeout(Some(patience))?;
    stream.write_all(QUESTION)?;
    let deadline = Instant::now() + patience;
    loop {
        let left = deadline.saturating_duration_since(Instant::now()).max(LAST_LOOK);
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut [0; 1]) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(_) => return Ok(()),
            // Whoever suspends this program interrupts it here, and the answer may have come meanwhile.
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(1);

    /// Answers the first questions, and no others, for as long as the listener lives.
    fn answering(questions: usize) -> (TcpListener, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let answering = listener.try_clone().unwrap();
        thread::spawn(move || {
            for _ in 0..questions {
                let (mut stream, _) = answering.accept().unwrap();
                stream.read_exact(&mut [0; QUESTION.len()]).unwrap();
                stream.write_all(b"HTTP/1.1 404 Not Found\r\n\r\n").unwrap();
            }
        });
        (listener, address)
    }

    /// How long after its first answer a server was lost.
    fn time_until_lost(address: &str, then: impl FnOnce()) -> Duration {
        let begun = Instant::now();
        let watch = Watch::begin(address, TIMEOUT).unwrap();
        then();
        while !watch.lost().is_known() {
            assert!(begun.elapsed() < Duration::from_secs(60), "it is never lost");
            thread::sleep(Duration::from_millis(10));
        }
        begun.elapsed()
    }

    #[test]
    fn a_server_that_falls_silent_is_lost_after_the_timeout_and_each_answer_begins_it_anew() {
        let (_silent, address) = answering(3);
        // Between two questions there is a pause as long as the timeout.
        let silent = time_until_lost(&address, || {});
        assert!(silent >= 3 * TIMEOUT, "{silent:?}");
    }

    #[test]
    fn a_server_that_is_gone_is_lost_even_where_its_host_says_so() {
        let (listener, address) = answering(1);
        let gone = time_until_lost(&address, || drop(listener));
        assert!(gone >= TIMEOUT, "{gone:?}");
    }
}
