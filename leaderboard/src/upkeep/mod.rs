//! Tasks of a host: health checks, backups, open data, moderation, and recomputing runs. Every task returns a sentence
//! about its result.

mod import;
mod moderation;
mod replay;

use std::io::Write;
use std::path::Path;
use std::time::Duration;
use std::{fs, io};

use anyhow::{Context, Result, anyhow, bail, ensure};
use async_recursion::async_recursion;
use axum::body::Body;
use axum::http::{Request, StatusCode, Uri, header};
use http_body_util::{BodyExt, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use results::api::Deed;
use results::open_data::ExportFormat;
use tokio::net::TcpStream;

use crate::config::Task;
use crate::open_data::{Export, ExportError, ExportedRuns};
use crate::storage::{self, Database, DatabaseAddress, DatabaseTrouble};
use crate::whole_file::{WholeFile, partial, put_in_place, with_ending};
use moderation::{expect_there, storage_error};

/// Performs a task and returns a sentence about its result.
///
/// # Errors The server does not answer, a file is missing or must not be overwritten, or a run is unknown.
// Boxed like `Server::bind`.
#[async_recursion(?Send)]
pub async fn perform(task: Task, database: &DatabaseAddress) -> Result<String> {
    match task {
        Task::Health { server, .. } => ask(&server).await,
        Task::Backup { to } => backup(database, &to).await,
        Task::Export { to, format } => export(&to, format, database).await,
        Task::Import { from, trust } => import::import(&from, trust, database).await,
        Task::Migrate => migrate(database).await,
        Task::Restore { from } => restore(&from, database).await,
        Task::Moderate { deed } => moderation::moderate(database, deed).await,
        Task::Replay(replay) => replay::replay(database, replay).await,
        Task::SetTier { run_id, tier, reason } => {
            moderation::change(database, &[run_id], Deed::SetTier, Some(tier), reason.as_deref()).await
        }
        Task::Remove { run_ids } => moderation::remove(database, &run_ids).await,
    }
}

async fn migrate(database: &DatabaseAddress) -> Result<String> {
    expect_there(database)?;
    let done = Database::migrate(database).await.map_err(storage_error(database))?;
    if done.is_empty() {
        return Ok(format!("the tables of {database} are up to date already"));
    }
    Ok(format!("tables of {database} are now up to date: {}", done.join(", ")))
}

/// Exports all visible runs to a file with a checksum file next to it. Readers and writers are not blocked.
async fn export(to: &Path, format: Option<ExportFormat>, database: &DatabaseAddress) -> Result<String> {
    let sum = with_ending(to, "sha256");
    for file in [to, &sum] {
        expect_free(file)?;
    }
    let storage = open(database).await?;
    let broken = |cause| match cause {
        ExportError::Storage(cause) => storage_error(database)(cause),
        other => anyhow!("cannot export to {}: {other}", to.display()),
    };
    let unwritable = || cannot_write(to);
    let written: Result<Export> = async {
        let named = || to.extension().and_then(|ending| ExportFormat::named(ending.to_str()?)).unwrap_or_default();
        let runs = ExportedRuns::all(storage.clone());
        let mut export = Export::new(runs, format.unwrap_or_else(named)).map_err(broken)?;
        let mut output = WholeFile::create(to).with_context(unwritable)?;
        while let Some(bytes) = export.next().await.map_err(broken)? {
            output.write_all(&bytes).with_context(unwritable)?;
        }
        output.finish().with_context(unwritable)?;
        Ok(export)
    }
    .await;
    storage.close().await;
    let export = written?;
    let (runs, file) = (export.runs.read, to.display());
    let left_out = match export.runs.left_out {
        0 => String::new(),
        left_out => format!("; omitted {left_out} unreadable runs"),
    };
    Ok(format!("exported {runs} runs from {database} to {file}, and the checksum to {}{left_out}", sum.display()))
}

/// Opens a database without an upgrade: an export and a copy need no table of a newer version.
async fn open(database: &DatabaseAddress) -> Result<Database> {
    expect_there(database)?;
    Database::open_as_it_is(database).await.map_err(storage_error(database))
}

fn cannot_write(file: &Path) -> String {
    format!("cannot write {}", file.display())
}

/// Timeout of a health check.
const PATIENCE: Duration = Duration::from_secs(5);
const MAX_ANSWER_BYTES: usize = 4096;

async fn ask(server: &str) -> Result<String> {
    let address = address(server).with_context(|| {
        format!(
            "{server} is not the URL of a server: use the server's own URL, such as http://127.0.0.1:8080, not a \
             proxy's"
        )
    })?;
    let what = match tokio::time::timeout(PATIENCE, request(&address)).await {
        Err(_) => format!("no answer in {} seconds", PATIENCE.as_secs()),
        Ok(Err(cause)) => cause.to_string(),
        Ok(Ok((StatusCode::OK, _))) => return Ok(format!("{server} is healthy")),
        Ok(Ok((status, text))) => format!("status {status}: {text}"),
    };
    bail!("{server} is not healthy: {what}. Is the server running and listening there?")
}

/// Returns the host and port of `http://HOST:PORT`, with or without a trailing slash.
fn address(server: &str) -> Option<String> {
    let uri: Uri = server.parse().ok()?;
    let is_plain = uri.scheme_str() == Some("http") && uri.path() == "/" && uri.query().is_none();
    let authority = uri.authority().filter(|_| is_plain)?;
    Some(format!("{}:{}", authority.host(), authority.port_u16().unwrap_or(80)))
}

async fn request(address: &str) -> Result<(StatusCode, String), Box<dyn std::error::Error + Send + Sync>> {
    let stream = TcpStream::connect(address).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    let request = Request::get("/healthz").header(header::HOST, address).body(Body::empty())?;
    let response = sender.send_request(request).await?;
    let status = response.status();
    let body = Limited::new(response.into_body(), MAX_ANSWER_BYTES).collect().await?.to_bytes();
    connection.abort();
    Ok((status, String::from_utf8_lossy(&body).trim().to_owned()))
}

/// Copies a snapshot of the database without blocking readers and writers.
async fn backup(database: &DatabaseAddress, to: &Path) -> Result<String> {
    file_of(database)?;
    expect_free(to)?;
    let storage = open(database).await?;
    let partial = partial(to).with_context(|| cannot_write(to))?;
    let copied = storage.copy_to(partial.path()).await;
    storage.close().await;
    copied.map_err(storage_error(database))?;
    put_in_place(partial, to).with_context(|| cannot_write(to))?;
    Ok(format!("copied {database} to {} ({} runs)", to.display(), runs_in(to).await?))
}

/// Replaces the database with a copy of the backup. The old file is kept next to it.
async fn restore(from: &Path, address: &DatabaseAddress) -> Result<String> {
    let database = file_of(address)?;
    let kept = with_ending(database, "replaced");
    expect_free(&kept)?;
    runs_in(from).await?;
    let replaced = database.exists();
    if replaced {
        storage::leave_alone(database).await.map_err(|cause| {
            if cause.trouble() == Some(DatabaseTrouble::Busy) {
                anyhow!("the database {address} is in use: stop the server, then restore")
            } else {
                storage_error(address)(cause)
            }
        })?;
    }
    let unwritable = || cannot_write(database);
    let mut partial = partial(database).with_context(unwritable)?;
    let copied = fs::File::open(from).and_then(|mut backup| io::copy(&mut backup, partial.as_file_mut()));
    copied.with_context(unwritable)?;
    if replaced {
        fs::rename(database, &kept).with_context(|| cannot_write(&kept))?;
    }
    put_in_place(partial, database).with_context(unwritable)?;
    let runs = runs_in(database).await?;
    let old = if replaced { format!("; the old database is now {}", kept.display()) } else { String::new() };
    Ok(format!("restored {} from {} ({runs} runs){old}", database.display(), from.display()))
}

fn file_of(database: &DatabaseAddress) -> Result<&Path> {
    match database {
        DatabaseAddress::File(file) => Ok(file),
        DatabaseAddress::Postgres(_) => bail!(
            "{database} is a PostgreSQL database: create backups with `pg_dump --format=custom --file=FILE` and \
             restore them with `pg_restore --clean --if-exists` (docs/HOSTING.md)"
        ),
    }
}

/// Counts the runs in a database file that must be complete and readable.
async fn runs_in(file: &Path) -> Result<u64> {
    let no_backup = || format!("{} is not a backup of a leaderboard, so nothing was restored", file.display());
    ensure!(file.is_file(), "{}: the file does not exist", no_backup());
    Database::inspect(file).await.map_err(|cause| anyhow!("{}: {cause}", no_backup()))
}

fn expect_free(file: &Path) -> Result<()> {
    ensure!(!file.exists(), "{} exists and is not overwritten: choose another name or move the file", file.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_plain_address_of_a_server_is_asked() {
        let plain = ["http://127.0.0.1:8080", "http://127.0.0.1:8080/", "http://[::1]:9000", "http://localhost"];
        let asked = plain.map(|given| address(given).unwrap());
        assert_eq!(asked, ["127.0.0.1:8080", "127.0.0.1:8080", "[::1]:9000", "localhost:80"]);
        for other in ["https://board.example", "127.0.0.1:8080", "http://127.0.0.1:8080/healthz"] {
            assert_eq!(address(other), None, "{other}");
        }
    }
}
