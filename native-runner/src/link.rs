//! Connections to remote devices.
//!
//! When a server ends, its connections close and burn-remote's next read fails, though under load not at once. A server
//! that hangs, or a network that drops all packets, closes nothing, and Burn's calls wait indefinitely because they
//! cannot be cancelled. So a separate thread makes these calls, and the server is polled for signs of life meanwhile.
//! If it gives none for too long, the thread is abandoned and the caller gets an error. A lost server costs only the
//! training on it. If several servers share each batch, the loss of one ends the training, and the error names it.

use std::io::{ErrorKind, Read, Write};
use std::mem::ManuallyDrop;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use std::{io, thread};

use async_trait::async_trait;
use engine::{
    Backend, BackendFacts, EngineError, EvaluationSet, StepReport, TestReport, Trainer, TrainerFacts, TrainingJob,
};

type Result<T, E = EngineError> = std::result::Result<T, E>;

pub(crate) fn open(
    addresses: &[String],
    timeout_seconds: f64,
    open: impl FnOnce() -> Result<Box<dyn Backend>> + Send + 'static,
) -> Result<Box<dyn Backend>> {
    let timeout = Duration::from_secs_f64(timeout_seconds);
    let watched = addresses.iter().map(|address| watch(address, timeout)).collect::<Result<Vec<_>, _>>()?;
    let (lost, watches): (Vec<Lost>, Vec<Sender<()>>) = watched.into_iter().unzip();
    let losses = addresses.iter().cloned().zip(lost).collect();
    let open = || open().map(|backend| Remote { backend, trainers: Vec::new() });
    let caller = Caller::start(watches, Losses(losses), open)?;
    let facts = caller.call(|remote| Ok(remote.backend.facts().clone()))?;
    Ok(Box::new(Linked { caller: Rc::new(caller), facts }))
}

/// State of the thread that calls the server.
struct Remote {
    backend: Box<dyn Backend>,
    /// Trainers in order of creation; `None` once dropped.
    trainers: Vec<Option<Box<dyn Trainer>>>,
}

struct Linked {
    caller: Rc<Caller<Remote>>,
    facts: BackendFacts,
}

#[async_trait(?Send)]
impl Backend for Linked {
    fn facts(&self) -> &BackendFacts {
        &self.facts
    }

    fn predicted_bytes(&self, job: &TrainingJob) -> Result<Option<u64>> {
        let job = job.clone();
        self.caller.call(move |remote| remote.backend.predicted_bytes(&job))
    }

    async fn recover(&self) -> Result<()> {
        self.caller.call(|remote| pollster::block_on(remote.backend.recover()))
    }

    async fn build(&self, job: &TrainingJob) -> Result<Box<dyn Trainer>> {
        let job = job.clone();
        let (number, facts) = self.caller.call(move |remote| {
            let trainer = pollster::block_on(remote.backend.build(&job))?;
            let facts = trainer.facts();
            remote.trainers.push(Some(trainer));
            Ok((remote.trainers.len() - 1, facts))
        })?;
        Ok(Box::new(LinkedTrainer { caller: Rc::clone(&self.caller), number, facts }))
    }
}

struct LinkedTrainer {
    caller: Rc<Caller<Remote>>,
    number: usize,
    facts: TrainerFacts,
}

impl LinkedTrainer {
    fn call<T: Send + 'static>(&self, work: impl FnOnce(&mut dyn Trainer) -> Result<T> + Send + 'static) -> Result<T> {
        let number = self.number;
        self.caller
            .call(move |remote| work(remote.trainers[number].as_deref_mut().expect("only dropping takes it away")))
    }
}

#[async_trait(?Send)]
impl Trainer for LinkedTrainer {
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport> {
        self.call(move |trainer| pollster::block_on(trainer.train_steps(steps)))
    }

    async fn evaluate(&mut self, set: EvaluationSet, samples: u32) -> Result<TestReport> {
        self.call(move |trainer| pollster::block_on(trainer.evaluate(set, samples)))
    }

    async fn weights(&mut self) -> Result<Vec<Vec<f32>>> {
        self.call(|trainer| pollster::block_on(trainer.weights()))
    }

    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>> {
        self.call(|trainer| pollster::block_on(trainer.gradients()))
    }

    async fn logits(&mut self, rows: u32) -> Result<Vec<Vec<f64>>> {
        self.call(move |trainer| pollster::block_on(trainer.logits(rows)))
    }

    fn facts(&self) -> TrainerFacts {
        self.facts.clone()
    }
}

impl Drop for LinkedTrainer {
    /// Lets Burn free or mark its tensors before anything else is timed.
    fn drop(&mut self) {
        let number = self.number;
        // A lost server does not need the call.
        let _ = self.caller.call(move |remote| {
            remote.trainers[number] = None;
            Ok(())
        });
    }
}

const POLLING_INTERVAL: Duration = Duration::from_millis(50);

type RemoteCall<T> = Box<dyn FnOnce(&mut T) + Send>;

/// Thread that owns a value and runs calls on it in order. If the server is lost, both are abandoned.
struct Caller<T> {
    /// `None` only during drop.
    calls: Option<Sender<RemoteCall<T>>>,
    /// Closed when the thread has dropped its value.
    ended: Receiver<Result<()>>,
    losses: Losses,
    /// Ends the polling threads when dropped.
    _watches: Vec<Sender<()>>,
}

impl<T: 'static> Caller<T> {
    fn start(
        watches: Vec<Sender<()>>,
        losses: Losses,
        open: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<Self> {
        let (calls, coming) = mpsc::channel::<RemoteCall<T>>();
        let (opened, opening) = mpsc::channel();
        let (ending, ended) = mpsc::channel();
        let known = losses.clone();
        thread::spawn(move || {
            // Neither a panic nor a lost server may drop the value, because its drop calls the server as well.
            let mut value = match open() {
                Ok(value) => ManuallyDrop::new(value),
                Err(error) => return drop(opened.send(Err(error))),
            };
            let _ = opened.send(Ok(()));
            for call in coming {
                call(&mut value);
            }
            if known.error().is_none() {
                drop(ManuallyDrop::into_inner(value));
            }
            drop(ending);
        });
        wait(&opening, &losses)?;
        Ok(Self { calls: Some(calls), ended, losses, _watches: watches })
    }

    fn call<R: Send + 'static>(&self, work: impl FnOnce(&mut T) -> Result<R> + Send + 'static) -> Result<R> {
        if let Some(error) = self.losses.error() {
            return Err(error);
        }
        let calls = self.calls.as_ref().ok_or_else(ended)?;
        let (reply, answer) = mpsc::channel();
        let call = Box::new(move |value: &mut T| drop(reply.send(work(value))));
        let result = calls.send(call).map_err(|_| ended()).and_then(|()| wait(&answer, &self.losses));
        result.inspect_err(|error| self.losses.note(error))
    }
}

impl<T> Drop for Caller<T> {
    /// Drops the thread's value, unless the server is lost.
    fn drop(&mut self) {
        drop(self.calls.take());
        let _ = wait(&self.ended, &self.losses);
    }
}

fn ended() -> EngineError {
    EngineError::Panicked { message: "the thread of the remote device has ended".to_owned() }
}

/// Waits for an answer, or until none can come because the server is lost or the thread has ended.
fn wait<T>(answer: &Receiver<Result<T>>, losses: &Losses) -> Result<T> {
    loop {
        match (answer.recv_timeout(POLLING_INTERVAL), losses.error()) {
            (Ok(result), _) => return result,
            (Err(_), Some(error)) => return Err(error),
            (Err(RecvTimeoutError::Disconnected), None) => return Err(ended()),
            (Err(RecvTimeoutError::Timeout), None) => {}
        }
    }
}

/// Loss flag of each server with its address, in command-line order.
#[derive(Clone)]
struct Losses(Vec<(String, Lost)>);

impl Losses {
    /// Returns the first server that is lost, as an error.
    fn error(&self) -> Option<EngineError> {
        let lost = |(_, (_, lost)): &(usize, &(String, Lost))| lost.load(Ordering::Acquire);
        let (number, (name, _)) = (1..).zip(&self.0).find(lost)?;
        let (devices, name, error) = (self.0.len(), name.clone(), Box::new(EngineError::LinkLost));
        Some(if devices == 1 { *error } else { EngineError::OfDevice { number, devices, name, error } })
    }

    /// Records a server as lost if a call's error says so.
    fn note(&self, error: &EngineError) {
        let place = match error {
            EngineError::LinkLost => 0,
            EngineError::OfDevice { number, error, .. } if matches!(**error, EngineError::LinkLost) => number - 1,
            _ => return,
        };
        if let Some((_, lost)) = self.0.get(place) {
            lost.store(true, Ordering::Release);
        }
    }
}

const MAX_ANSWER_TIME: Duration = Duration::from_secs(5);
/// Shortest wait, so that an answer that has already arrived is read.
const MIN_ANSWER_TIME: Duration = Duration::from_millis(1);
const REQUEST_INTERVAL: Duration = Duration::from_secs(3);
/// Request for a path that Burn's server does not have. Its error response is a sign of life.
const REQUEST: &[u8] = b"GET /alive HTTP/1.1\r\nhost: device\r\nconnection: close\r\n\r\n";

/// Flag of a lost server, which is never reset.
type Lost = Arc<AtomicBool>;

/// Connects to the server and watches it until the sender is dropped. The server counts as lost after `timeout` and at
/// least two unanswered requests; after one, this process may have been delayed.
fn watch(address: &str, timeout: Duration) -> Result<(Lost, Sender<()>)> {
    let patience = MAX_ANSWER_TIME.min(timeout);
    let server =
        find(address, patience).map_err(|reason| EngineError::Unreachable { address: address.to_owned(), reason })?;
    let (alive, watched) = mpsc::channel::<()>();
    let flag = Lost::default();
    let lost = flag.clone();
    thread::spawn(move || {
        let (mut heard, mut unanswered) = (Instant::now(), 0);
        while watched.recv_timeout(REQUEST_INTERVAL.min(timeout)) == Err(RecvTimeoutError::Timeout) {
            if sign_of_life(&server, patience).is_ok() {
                (heard, unanswered) = (Instant::now(), 0);
                continue;
            }
            unanswered += 1;
            if unanswered > 1 && heard.elapsed() >= timeout {
                return lost.store(true, Ordering::Release);
            }
        }
    });
    Ok((flag, alive))
}

/// Returns the first address of a host that answers.
fn find(address: &str, patience: Duration) -> Result<SocketAddr, String> {
    let addresses = address.to_socket_addrs().map_err(|error| format!("the host is unknown ({error})"))?;
    let mut reason = "the host has no address".to_owned();
    for server in addresses {
        let Err(error) = sign_of_life(&server, patience) else { return Ok(server) };
        reason = match error.kind() {
            ErrorKind::ConnectionRefused => "connection refused".to_owned(),
            ErrorKind::TimedOut | ErrorKind::WouldBlock => format!("no answer within {} s", patience.as_secs_f64()),
            ErrorKind::UnexpectedEof => "the connection was closed without an answer".to_owned(),
            _ => error.to_string(),
        };
    }
    Err(reason)
}

fn sign_of_life(server: &SocketAddr, patience: Duration) -> io::Result<()> {
    let mut stream = TcpStream::connect_timeout(server, patience)?;
    stream.set_write_timeout(Some(patience))?;
    stream.write_all(REQUEST)?;
    let deadline = Instant::now() + patience;
    loop {
        stream.set_read_timeout(Some(deadline.saturating_duration_since(Instant::now()).max(MIN_ANSWER_TIME)))?;
        match stream.read(&mut [0; 1]) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(_) => return Ok(()),
            // Suspending this process interrupts the read, but the answer may have arrived meanwhile.
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    struct Counter(u32, Arc<AtomicBool>);

    impl Drop for Counter {
        fn drop(&mut self) {
            self.1.store(true, Ordering::SeqCst);
        }
    }

    /// Returns a caller, and a flag that is set when its value is dropped.
    fn counting() -> (Caller<Counter>, Arc<AtomicBool>) {
        let dropped = Arc::new(AtomicBool::new(false));
        let counter = Counter(0, Arc::clone(&dropped));
        (Caller::start(Vec::new(), Losses(Vec::new()), || Ok(counter)).unwrap(), dropped)
    }

    fn count(caller: &Caller<Counter>) -> Result<u32> {
        caller.call(|counter| {
            counter.0 += 1;
            Ok(counter.0)
        })
    }

    #[test]
    fn calls_are_made_in_order_and_errors_end_nothing() {
        let (caller, dropped) = counting();
        assert_eq!(count(&caller).unwrap(), 1);
        let error = caller.call(|_| Err::<(), _>(EngineError::DeviceRefused { message: "no".to_owned() }));
        assert!(matches!(error, Err(EngineError::DeviceRefused { .. })));
        assert_eq!(count(&caller).unwrap(), 2);
        drop(caller);
        assert!(dropped.load(Ordering::SeqCst));
    }

    #[test]
    fn call_that_panics_is_the_last() {
        let (caller, dropped) = counting();
        let broken = caller.call(|_| -> Result<()> { panic!("a call that panics, as this test wants") });
        assert!(matches!(broken, Err(EngineError::Panicked { .. })));
        assert!(matches!(count(&caller), Err(EngineError::Panicked { .. })));
        drop(caller);
        assert!(!dropped.load(Ordering::SeqCst));
    }

    #[test]
    fn silent_server_is_lost_one_timeout_after_its_last_answer() {
        const TIMEOUT: Duration = Duration::from_secs(1);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let answering = listener.try_clone().unwrap();
        thread::spawn(move || {
            for _ in 0..3 {
                let (mut stream, _) = answering.accept().unwrap();
                stream.read_exact(&mut [0; REQUEST.len()]).unwrap();
                stream.write_all(b"HTTP/1.1 404 Not Found\r\n\r\n").unwrap();
            }
        });
        let begun = Instant::now();
        let (lost, _watch) = watch(&address, TIMEOUT).unwrap();
        while !lost.load(Ordering::Acquire) {
            assert!(begun.elapsed() < Duration::from_secs(60), "it is never lost");
            thread::sleep(Duration::from_millis(10));
        }
        // The pause between two requests is as long as the timeout.
        assert!(begun.elapsed() >= 3 * TIMEOUT, "{:?}", begun.elapsed());
    }
}
