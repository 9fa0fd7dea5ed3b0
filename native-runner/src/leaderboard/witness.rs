use std::thread;
use std::time::Duration;

use async_trait::async_trait;
use engine::{Registration, Witness};
use results::Checkpoint;
use results::api::TellCheckpoint;

use super::{Leaderboard, LeaderboardError};

/// Something lost on the way is sent again after so long, once.
const PAUSE: Duration = Duration::from_secs(1);

/// The leaderboard that gave a run its seed, which is told how far the training has come.
pub(crate) struct LeaderboardWitness<'a> {
    pub(crate) leaderboard: &'a Leaderboard,
    pub(crate) registration: Registration,
}

#[async_trait(?Send)]
impl Witness for LeaderboardWitness<'_> {
    async fn tell(&mut self, workload: &str, number: u32, checkpoint: &Checkpoint, last: bool) -> Result<bool, String> {
        let Registration { run_id, nonce } = &self.registration;
        let told = TellCheckpoint::of(nonce, workload, number, checkpoint, last);
        let answer = twice(|| self.leaderboard.tell(run_id, &told)).map_err(|error| error.to_string())?;
        Ok(answer.weights_wanted)
    }

    async fn show(&mut self, workload: &str, number: u32, weights: Vec<u8>) -> Result<(), String> {
        twice(|| self.leaderboard.show(&self.registration, workload, number, &weights))
            .map_err(|error| error.to_string())
    }
}

/// Tries once more what may only have been lost on the way; the leaderboard takes the same thing twice.
fn twice<T>(call: impl Fn() -> Result<T, LeaderboardError>) -> Result<T, LeaderboardError> {
    match call() {
        Err(LeaderboardError::Unreachable { .. } | LeaderboardError::Broken { .. }) => {
            thread::sleep(PAUSE);
            call()
        }
        result => result,
    }
}
