use async_trait::async_trait;
use results::Checkpoint;

/// Whoever is told how far a training has come while it goes on: a leaderboard, whose clock then vouches for the times.
///
/// An error is a part of a sentence that says why it could not be told. The run goes on then, and nobody is told any more.
#[async_trait(?Send)]
pub trait Witness {
    /// Tells of checkpoint number `number` (from 0) of a workload; whether its weights must be shown.
    async fn tell(&mut self, workload: &str, number: u32, checkpoint: &Checkpoint, last: bool) -> Result<bool, String>;

    /// Shows the weights of a checkpoint that was told just before, as [`results::weights_bytes`].
    async fn show(&mut self, workload: &str, number: u32, weights: Vec<u8>) -> Result<(), String>;
}
