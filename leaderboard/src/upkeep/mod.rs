//! What a host does beside serving: asking for signs of life, back-ups, open data, taking bad runs away, and computing runs
//! again.
//!
//! Every task returns a sentence that says what was done.

mod copies;
mod export;
mod health;
mod import;
mod moderation;
mod replay;
mod tables;

use std::path::PathBuf;

use async_recursion::async_recursion;
use results::api::Tier;

use crate::KeyError;
use crate::config::Task;
use crate::storage::{DatabaseAddress, StorageError};

pub use moderation::Refusal;

/// Why a task was not done.
#[derive(Debug, thiserror::Error)]
pub enum UpkeepError {
    #[error("{0} is not the address of a server itself: give its own, such as http://127.0.0.1:8080, and no proxy's")]
    Address(String),
    #[error("{server} does not answer as it should: {what}. Is the server running, and does it listen there?")]
    Unwell { server: String, what: String },
    #[error("there is no data base {}: say with --database where the server keeps it", .0.display())]
    NoDatabase(PathBuf),
    #[error("cannot use the data base {address}: {cause}")]
    Database { address: DatabaseAddress, cause: StorageError },
    #[error(
        "{0} is PostgreSQL's to copy: make back-ups with `pg_dump --format=custom --file=FILE` and put them back with \
         `pg_restore --clean --if-exists` (docs/HOSTING.md)"
    )]
    NotAFile(DatabaseAddress),
    #[error("{} exists and is not overwritten: choose another name, or move it away", .0.display())]
    Exists(PathBuf),
    #[error("cannot write {}: {cause}", file.display())]
    Write { file: PathBuf, cause: std::io::Error },
    #[error("cannot export into {}: {cause}", file.display())]
    Export { file: PathBuf, cause: Box<dyn std::error::Error + Send + Sync> },
    #[error("cannot read {}: {cause}. Is this the file that `leaderboard export` wrote?", file.display())]
    Read { file: PathBuf, cause: std::io::Error },
    /// Everything else was imported.
    #[error("{0}")]
    RefusedLines(String),
    #[error("{} is no back-up of a leaderboard and was not used: {why}", file.display())]
    NoBackup { file: PathBuf, why: String },
    #[error("the data base {} is in use: stop the server, then restore", .0.display())]
    InUse(PathBuf),
    #[error("no run {0} is in the data base: a run id is the 16 letters and digits after /runs/ in its link")]
    UnknownRun(String),
    #[error(transparent)]
    Refused(Refusal),
    #[error(
        "no server computed a run of these for {seconds} s, and {waiting} of them wait in the queue. A server with --data and \
         --verifiers takes them when it runs; `leaderboard replay --here --data DIR` computes them without one"
    )]
    NobodyComputes { waiting: u64, seconds: u64 },
    #[error("the system gives no random numbers: {0}")]
    Randomness(getrandom::Error),
    #[error(transparent)]
    Key(KeyError),
}

/// Does what a host asked for and says what was done.
///
/// # Errors
/// A server that does not answer, a file that is not there or must not be overwritten, an unknown run.
// Boxed as `Server::bind` is.
#[async_recursion(?Send)]
pub async fn perform(task: Task) -> Result<String, UpkeepError> {
    match task {
        Task::Health { server } => health::ask(&server).await,
        Task::Backup { to, database } => copies::backup(&database.address, &to).await,
        Task::Export { to, format, database } => export::export(&to, format, &database.address).await,
        Task::Import { from, trust, database } => import::import(&from, trust, &database.address).await,
        Task::Migrate { database } => tables::migrate(&database.address).await,
        Task::Restore { from, database } => copies::restore(&from, &database.address).await,
        Task::Moderate { deed } => moderation::moderate(deed).await,
        Task::Replay(replay) => replay::replay(replay).await,
        Task::SetTier { run_id, tier, reason, database } => {
            moderation::set_tier(&database.address, &run_id, tier, reason.as_ref()).await
        }
        Task::Remove { run_ids, database } => moderation::remove(&database.address, &run_ids).await,
    }
}

/// What a tier means for those who look at the leaderboard.
fn shown(tier: Tier) -> &'static str {
    match tier {
        Tier::Proven => "it is listed, and ranked where its settings allow that",
        Tier::Checked | Tier::Unverified | Tier::Flagged => "it is listed and not ranked",
        Tier::Hidden => "nobody can see it, and the same record cannot be uploaded again",
    }
}
