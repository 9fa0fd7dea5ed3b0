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
/// Pause between two questions.
const PAUSE: Duration = Duration::from_secs(3);
/// Burn's server answers that there is nothing at this path, which is answer enough.
const QUESTION: &[u8] = b"GET /alive HTTP/1.1\r\nhost: device\r\nconnection: close\r\n\r\n";

/// Asks a server for signs of life, for as long as it lives itself.
pub(super) struct Watch {
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

    pub(super) fn tell(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Watch {
    /// Finds the server, and watches it from then on. It is lost when there was no answer for `timeout`.
    ///
    /// # Errors
    /// No such host, nobody who listens there, and somebody who does not answer.
    pub(super) fn begin(address: &str, timeout: Duration) -> Result<Self, EngineError> {
        let patience = PATIENCE.min(timeout);
        let server = find(address, patience)
            .map_err(|reason| EngineError::Unreachable { address: address.to_owned(), reason })?;
        let (alive, watched) = mpsc::channel::<()>();
        let watch = Self { lost: Lost::default(), _alive: alive };
        let lost = watch.lost();
        thread::spawn(move || {
            let mut heard = Instant::now();
            while watched.recv_timeout(PAUSE.min(timeout)) == Err(RecvTimeoutError::Timeout) {
                if sign_of_life(&server, patience).is_ok() {
                    heard = Instant::now();
                } else if heard.elapsed() >= timeout {
                    return lost.tell();
                }
            }
        });
        Ok(watch)
    }

    /// What it knows and can be told.
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
            _ => error.to_string(),
        },
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

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// Answers the first question, and no other, for as long as the listener lives.
    fn answering_once() -> (TcpListener, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let first = listener.try_clone().unwrap();
        thread::spawn(move || first.accept().unwrap().0.write_all(b"HTTP/1.1 404 Not Found\r\n\r\n"));
        (listener, address)
    }

    fn seconds_until_lost(watch: &Watch) -> f64 {
        let begun = Instant::now();
        while !watch.lost().is_known() {
            assert!(begun.elapsed() < Duration::from_secs(60), "it is never lost");
            thread::sleep(Duration::from_millis(10));
        }
        begun.elapsed().as_secs_f64()
    }

    #[test]
    fn a_server_that_falls_silent_is_lost_after_the_timeout_and_not_before() {
        let (_silent, address) = answering_once();
        let watch = Watch::begin(&address, Duration::from_secs(1)).unwrap();
        assert!(!watch.lost().is_known());
        assert!(seconds_until_lost(&watch) >= 1.0);
    }

    #[test]
    fn a_server_that_is_gone_is_lost_even_where_its_host_says_so() {
        let (listener, address) = answering_once();
        let watch = Watch::begin(&address, Duration::from_secs(1)).unwrap();
        drop(listener);
        assert!(seconds_until_lost(&watch) >= 1.0);
    }
}
