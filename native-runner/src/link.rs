//! The link to a device that is served elsewhere.
//!
//! When a server ends, its connections are closed, burn-remote's next read fails and the run ends as it does when a
//! device is lost. A server that hangs and a network that swallows everything close nothing: the program could wait for
//! them for ever, inside calls of Burn's that cannot be given up. So the server is asked for signs of life, on
//! connections of their own. Any answer is one, and comes even while the device computes, from other threads.
//!
//! Only a call that is under way can make the program wait. Between calls, while another back end computes, a silent
//! server is only noted, and the next call fails instead of being made.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use engine::{Backend, EngineError, EvaluationSet, Preparation, StepReport, TestReport, Trainer, TrainingJob};
use results::{Adapter, Precision, Warning};

use crate::failure::Failure;

/// How long an answer may take at most.
const PATIENCE: Duration = Duration::from_secs(5);
/// Pause between two questions.
const PAUSE: Duration = Duration::from_secs(3);
/// Burn's server answers that there is nothing at this path, which is answer enough.
const QUESTION: &[u8] = b"GET /alive HTTP/1.1\r\nhost: device\r\nconnection: close\r\n\r\n";

/// Ends the program when the server has given no sign of life for too long and a call waits for it; no longer than it
/// lives itself.
pub(crate) struct Link {
    calls: Arc<Calls>,
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
        let calls = Arc::new(Calls::default());
        let watcher = Arc::clone(&calls);
        thread::spawn(move || {
            let mut heard = Instant::now();
            while watched.recv_timeout(PAUSE.min(timeout)) == Err(RecvTimeoutError::Timeout) {
                let answer = sign_of_life(&server, patience);
                if answer.is_ok() {
                    heard = Instant::now();
                }
                if watcher.note(&answer, heard.elapsed() >= timeout) == Server::Lost {
                    break;
                }
            }
        });
        Ok(Self { calls, _alive: alive })
    }

    /// Opens the back end that computes at the other end, and watches over every call of it; dropping it ends the watch.
    ///
    /// # Errors
    /// Those of `open`.
    pub(crate) async fn open(
        self,
        open: impl Future<Output = Result<Box<dyn Backend>, EngineError>>,
    ) -> Result<Box<dyn Backend>, EngineError> {
        let backend = self.calls.make(open).await?;
        Ok(Box::new(Linked { backend, link: self }))
    }
}

/// Calls to the server, and what is known of it.
#[derive(Default)]
struct Calls {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    server: Server,
    under_way: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Server {
    /// It answers, or its host says that it is gone, which whoever calls it hears as well.
    #[default]
    Answers,
    /// The last question was not answered, so that a call might never end.
    Silent,
    /// A call failed, or it has been silent for too long. This is never taken back.
    Lost,
}

impl Calls {
    /// Makes a call, as soon as the server is not silent.
    ///
    /// # Errors
    /// Those of the call; without making it, that the link was lost.
    async fn make<T>(&self, call: impl Future<Output = Result<T, EngineError>>) -> Result<T, EngineError> {
        let under_way = self.begin()?;
        let result = call.await;
        if matches!(result, Err(EngineError::LinkLost)) {
            self.state().server = Server::Lost;
        }
        drop(under_way);
        result
    }

    fn begin(&self) -> Result<UnderWay<'_>, EngineError> {
        let silent = |state: &mut State| state.server == Server::Silent;
        let mut state = self.changed.wait_while(self.state(), silent).unwrap_or_else(PoisonError::into_inner);
        if state.server == Server::Lost {
            return Err(EngineError::LinkLost);
        }
        state.under_way += 1;
        Ok(UnderWay(self))
    }

    /// What has become of the server; `too_long` says whether its silence has outlasted the timeout. Ends the program
    /// where a call waits for what will not come.
    fn note(&self, answer: &io::Result<()>, too_long: bool) -> Server {
        let mut state = self.state();
        if state.server != Server::Lost {
            state.server = match answer {
                Ok(()) => Server::Answers,
                Err(_) if too_long && state.under_way > 0 => give_up(),
                Err(_) if too_long => Server::Lost,
                Err(error) if is_silence(error) => Server::Silent,
                Err(_) => Server::Answers,
            };
            self.changed.notify_all();
        }
        state.server
    }

    /// No state is ever half changed.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that has not returned.
struct UnderWay<'a>(&'a Calls);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.state().under_way -= 1;
    }
}

/// Whatever waits for the server now waits in vain and cannot be woken, so that what was measured before and is not in
/// a file is lost as well.
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
        Some(error) if is_silence(&error) => {
            format!("there was no answer for {} s", patience.as_secs_f64())
        }
        Some(error) => error.to_string(),
    })
}

/// Whether nobody answered in time, as opposed to an answer that nobody is there.
fn is_silence(error: &io::Error) -> bool {
    [ErrorKind::TimedOut, ErrorKind::WouldBlock].contains(&error.kind())
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
    link: Link,
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
        let trainer = self.link.calls.make(self.backend.build(job)).await?;
        Ok(Box::new(LinkedTrainer { trainer: Some(trainer), calls: Arc::clone(&self.link.calls) }))
    }
}

/// A trainer whose calls go to the server.
struct LinkedTrainer {
    /// Absent only while it is dropped.
    trainer: Option<Box<dyn Trainer>>,
    calls: Arc<Calls>,
}

impl LinkedTrainer {
    fn trainer(&self) -> &dyn Trainer {
        self.trainer.as_deref().expect(NOT_DROPPED)
    }

    fn parts(&mut self) -> (&mut dyn Trainer, &Calls) {
        (self.trainer.as_deref_mut().expect(NOT_DROPPED), &self.calls)
    }
}

const NOT_DROPPED: &str = "only dropping takes the trainer away";

#[async_trait(?Send)]
impl Trainer for LinkedTrainer {
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport, EngineError> {
        let (trainer, calls) = self.parts();
        calls.make(trainer.train_steps(steps)).await
    }

    async fn evaluate(&mut self, set: EvaluationSet, samples: u32) -> Result<TestReport, EngineError> {
        let (trainer, calls) = self.parts();
        calls.make(trainer.evaluate(set, samples)).await
    }

    async fn weights(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        let (trainer, calls) = self.parts();
        calls.make(trainer.weights()).await
    }

    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        let (trainer, calls) = self.parts();
        calls.make(trainer.gradients()).await
    }

    async fn logits(&mut self, rows: u32) -> Result<Vec<Vec<f64>>, EngineError> {
        let (trainer, calls) = self.parts();
        calls.make(trainer.logits(rows)).await
    }

    fn preparation(&self) -> Preparation {
        self.trainer().preparation()
    }

    fn device_memory_bytes(&self) -> u64 {
        self.trainer().device_memory_bytes()
    }

    fn variants(&self) -> Vec<String> {
        self.trainer().variants()
    }
}

impl Drop for LinkedTrainer {
    /// Tensors that are dropped are given back to the server, which may block as any other call. Those of a lost server
    /// are left where they are.
    fn drop(&mut self) {
        let trainer = self.trainer.take();
        match self.calls.begin() {
            Ok(under_way) => {
                drop(trainer);
                drop(under_way);
            }
            Err(_) => std::mem::forget(trainer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn silence() -> io::Result<()> {
        Err(ErrorKind::TimedOut.into())
    }

    #[test]
    fn a_server_that_is_silent_between_calls_costs_the_next_call_and_not_the_program() {
        let calls = Arc::new(Calls::default());
        assert_eq!(pollster::block_on(calls.make(async { Ok(1) })).ok(), Some(1));
        assert_eq!(calls.note(&silence(), false), Server::Silent);
        let waiting = Arc::clone(&calls);
        let next = thread::spawn(move || pollster::block_on(waiting.make(async { Ok(2) })));
        assert_eq!(calls.note(&silence(), true), Server::Lost);
        assert!(matches!(next.join().unwrap(), Err(EngineError::LinkLost)));
        assert_eq!(calls.note(&Ok(()), false), Server::Lost);
    }

    #[test]
    fn a_server_that_answers_again_is_called_again() {
        let calls = Arc::new(Calls::default());
        assert_eq!(calls.note(&silence(), false), Server::Silent);
        let waiting = Arc::clone(&calls);
        let next = thread::spawn(move || pollster::block_on(waiting.make(async { Ok(2) })));
        assert_eq!(calls.note(&Ok(()), false), Server::Answers);
        assert_eq!(next.join().unwrap().ok(), Some(2));
        assert_eq!(calls.state().under_way, 0);
    }

    #[test]
    fn a_call_that_finds_the_link_broken_is_the_last() {
        let calls = Calls::default();
        let refused: io::Result<()> = Err(ErrorKind::ConnectionRefused.into());
        // Burn hears of it as soon as it calls.
        assert_eq!(calls.note(&refused, false), Server::Answers);
        let broken = pollster::block_on(calls.make(async { Err::<(), _>(EngineError::LinkLost) }));
        assert!(matches!(broken, Err(EngineError::LinkLost)));
        assert_eq!(calls.note(&refused, true), Server::Lost);
        let mut made = false;
        let next = pollster::block_on(calls.make(async {
            made = true;
            Ok(())
        }));
        assert!(matches!(next, Err(EngineError::LinkLost)) && !made);
    }
}
