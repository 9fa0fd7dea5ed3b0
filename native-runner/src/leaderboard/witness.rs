use std::sync::mpsc;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use engine::{Commitment, PendingAnswer, Registration, Witness};
use futures_channel::oneshot;
use results::Beacon;
use results::api::{CommitSegment, CommittedSegment, OpenLap, PartHashes, ProofWanted, ProvePart};

use crate::leaderboard::{Leaderboard, LeaderboardError, to_body};

/// Longest wait for the answer to a hash. It is short, so that a dead connection is noticed soon.
const HASH_TIMEOUT_SECONDS: f64 = 10.0;
/// Pauses before a lost call is repeated. The last one repeats.
const PAUSES: [Duration; 4] =
    [Duration::from_millis(250), Duration::from_secs(1), Duration::from_secs(4), Duration::from_secs(12)];
/// Time since the first attempt within which hashes are sent again.
const HASH_RETRY_TIME: Duration = Duration::from_secs(25);
/// Time within which a message of the proof after training is sent again, after the time limit of the first attempt.
const PROOF_RETRY_TIME: Duration = Duration::from_mins(10);
/// Slowest supported link.
const MIN_BYTES_PER_SECOND: f64 = 30_000.0;

type Answer = Result<CommittedSegment, String>;

/// Connection to the leaderboard that gave a run its seed and follows the run.
pub(crate) struct LeaderboardWitness {
    /// Client for the proof after training.
    leaderboard: Leaderboard,
    /// Client for the hashes during training.
    for_hashes: Leaderboard,
    registration: Registration,
    /// Queue of the thread that sends commitments one after the other, so that they arrive in order.
    commitments: Sender<(CommitSegment, oneshot::Sender<Answer>)>,
}

impl LeaderboardWitness {
    /// Starts the thread that sends commitments during training.
    pub(crate) fn start(leaderboard: &Leaderboard, registration: Registration) -> Self {
        let timeout_seconds = HASH_TIMEOUT_SECONDS.min(leaderboard.timeout_seconds);
        let for_hashes = Leaderboard::with_connections(leaderboard.address.clone(), timeout_seconds, 1);
        let (commitments, coming) = mpsc::channel::<(CommitSegment, oneshot::Sender<Answer>)>();
        let (sender, run_id) = (for_hashes.clone(), registration.run_id.clone());
        thread::spawn(move || {
            for (segment, answer) in coming {
                // A cancelled run does not wait for the answer.
                let _ = answer.send(send_hash(|| sender.commit(&run_id, &segment)));
            }
        });
        Self { leaderboard: leaderboard.clone(), for_hashes, registration, commitments }
    }

    /// Makes a call of the proof after training, with a body of `bytes` bytes. Nothing is timed then, and an attempt
    /// may take minutes on a slow link.
    fn send_proof<T>(
        &self,
        bytes: usize,
        call: impl Fn(&Leaderboard) -> Result<T, LeaderboardError>,
    ) -> Result<T, String> {
        let timeout_seconds = self.leaderboard.timeout_seconds + (bytes as f64 / MIN_BYTES_PER_SECOND).ceil();
        let leaderboard = Leaderboard::new(self.leaderboard.address.clone(), timeout_seconds);
        let patience = PROOF_RETRY_TIME.saturating_add(Duration::from_secs_f64(timeout_seconds));
        persist(patience, || call(&leaderboard)).map_err(|error| error.to_string())
    }
}

#[async_trait(?Send)]
impl Witness for LeaderboardWitness {
    async fn open_lap(&mut self, workload: &str, segment: u32, state_sha256: &str) -> Result<[Beacon; 2], String> {
        let Registration { run_id, nonce } = self.registration.clone();
        let lap = OpenLap { nonce, workload: workload.to_owned(), segment, state_sha256: state_sha256.to_owned() };
        send_hash(|| self.for_hashes.open_lap(&run_id, &lap)).map(|opened| opened.beacons)
    }

    fn commit(&mut self, commitment: Commitment) -> PendingAnswer {
        let Commitment { workload, segment, step, state_sha256, losses_sha256, ends_lap } = commitment;
        let nonce = self.registration.nonce.clone();
        let message = CommitSegment { nonce, workload, segment, step, state_sha256, losses_sha256, ends_lap };
        let (sender, answer) = oneshot::channel();
        // If the thread has ended, the answer is cancelled.
        let _ = self.commitments.send((message, sender));
        Box::pin(async { answer.await.unwrap_or_else(|_| Err("the thread that sends hashes has ended".to_owned())) })
    }

    async fn prove(
        &mut self,
        workload: &str,
        tested_step: u64,
        target_step: Option<u64>,
        hashes: Option<PartHashes>,
    ) -> Result<ProofWanted, String> {
        let Registration { run_id, nonce } = self.registration.clone();
        let part = ProvePart { nonce, workload: workload.to_owned(), tested_step, target_step, hashes };
        self.send_proof(to_body(&part).len(), |leaderboard| leaderboard.prove(&run_id, &part))
    }

    async fn show(&mut self, workload: &str, step: u64, state: Vec<u8>) -> Result<(), String> {
        self.send_proof(state.len(), |leaderboard| leaderboard.show(&self.registration, workload, step, &state))
    }
}

/// Makes a call during training, which sooner or later waits for the answer.
fn send_hash<T>(call: impl Fn() -> Result<T, LeaderboardError>) -> Result<T, String> {
    persist(HASH_RETRY_TIME, call).map_err(|error| match error {
        // The error's own text suggests a longer time limit, which does not apply to hashes.
        LeaderboardError::TimedOut { leaderboard, seconds } => {
            format!("{leaderboard} did not answer within {seconds} s")
        }
        error => error.to_string(),
    })
}

/// Repeats a call that was lost, for at most `patience`. The leaderboard accepts the same call twice.
fn persist<T>(patience: Duration, call: impl Fn() -> Result<T, LeaderboardError>) -> Result<T, LeaderboardError> {
    let start = Instant::now();
    let mut lost = 0;
    loop {
        let pause = PAUSES[lost.min(PAUSES.len() - 1)];
        match call() {
            Err(error) if error.may_pass() && start.elapsed() + pause < patience => thread::sleep(pause),
            result => return result,
        }
        lost += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn broken() -> LeaderboardError {
        LeaderboardError::Broken { leaderboard: "https://gradmark.example".to_owned(), status: 502 }
    }

    fn refused(status: u16) -> LeaderboardError {
        LeaderboardError::Refused { message: "no".to_owned(), details: "no".to_owned(), status }
    }

    fn calls(patience: Duration, errors: &[LeaderboardError]) -> (Result<(), LeaderboardError>, usize) {
        let calls = Cell::new(0);
        let call = || {
            calls.set(calls.get() + 1);
            errors.get(calls.get() - 1).map_or(Ok(()), |error| Err(error.clone()))
        };
        (persist(patience, call), calls.get())
    }

    #[test]
    fn lost_calls_are_made_again() {
        assert_eq!(calls(HASH_RETRY_TIME, &[broken(), refused(503)]), (Ok(()), 3));
        assert_eq!(calls(Duration::from_millis(100), &[broken()]), (Err(broken()), 1));
    }

    #[test]
    fn refusals_are_final() {
        assert_eq!(calls(HASH_RETRY_TIME, &[refused(409)]), (Err(refused(409)), 1));
        assert_eq!(calls(HASH_RETRY_TIME, &[refused(429)]), (Err(refused(429)), 1));
    }
}
