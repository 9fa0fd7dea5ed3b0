use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow};
use async_recursion::async_recursion;
use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt;

use crate::api::{Leaderboard, export_places};
use crate::card::Cards;
use crate::client_address::Peer;
use crate::counted_event::CountedEvent;
use crate::limits::{Most, RateLimits, Shares, day_of};
use crate::metrics::{self, InProgress, Metrics};
use crate::pages::Pages;
use crate::proof::ServerKey;
use crate::router::router;
use crate::snapshots::Snapshots;
use crate::storage::{Database, DatabaseAddress};
use crate::verification::{Tools, VerificationSamples, Verifiers};
use crate::whole_file::with_ending;
use crate::{Config, ServerClock};

/// Maximum number of open connections. Others wait in the operating system's queue.
const CONNECTIONS: usize = 1024;
/// File descriptors reserved for the database, the data sets and the log.
const OTHER_DESCRIPTORS: usize = 64;
/// Maximum number of open connections per address. A browser has six. A proxy on this machine may use all.
const CONNECTIONS_PER_ADDRESS: usize = 128;
/// Largest request head, and thus the most that a connection buffers of an unfinished request.
const HEAD_BYTES: usize = 16 << 10;
const HEAD_TIME: Duration = Duration::from_secs(30);
/// Timeout for a client that does not read its answer.
const READING_TIME: Duration = Duration::from_secs(30);
/// Time for requests in progress to finish when the server stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// Time between two deletions of states and segments of expired runs.
const FORGETTING_EXPIRED: Duration = Duration::from_secs(60);
/// Time between two deletions of salts and counts of announcements.
const CLEANUP_INTERVAL: Duration = Duration::from_secs(3600);

/// A server that owns its port and its database and is ready to run.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    router: Router,
    snapshots: Snapshots,
    connections_per_address: Option<usize>,
    verifiers: Verifiers,
    threads: usize,
    tools: Tools,
    limits: RateLimits,
    metrics_listener: Option<(TcpListener, SocketAddr)>,
}

impl Server {
    /// Opens and upgrades the database, reads the page and binds the port.
    ///
    /// # Errors The port is taken, a file is not a database, or a folder is missing. The message says what to do.
    // Boxes the future, so that it is compiled here and not again in each program that awaits it.
    #[async_recursion(?Send)]
    pub async fn bind(config: Config) -> Result<Self> {
        let file = config.secret_file.or_else(|| match &config.database {
            DatabaseAddress::File(file) => Some(with_ending(file, "secret")),
            DatabaseAddress::Postgres(_) => None,
        });
        let key = ServerKey::load(config.secret.as_deref(), file.as_deref())?;
        let data = config.data.clone();
        let snapshots = Snapshots::open(config.snapshots, config.clock.clone())?;
        let pages = Pages::open(config.page, config.data).await?;
        let database = &config.database;
        let storage = Database::open(database)
            .await
            .map_err(|cause| anyhow!("cannot use the database {database}: {cause}. {}", advice_for(database)))?;
        let (listener, address) = listen(&config.listen, "", "--listen").await?;
        let metrics = Metrics::default();
        let verifiers = Verifiers::default();
        let tools = Tools {
            storage: storage.clone(),
            clock: config.clock.clone(),
            key: key.clone(),
            samples: VerificationSamples::new(data.clone()),
            metrics: metrics.clone(),
            server: address.to_string(),
            runtime: Handle::current(),
        };
        if let Err(cause) = storage.release_verifications(&tools.server, false).await {
            tracing::warn!(%cause, "cannot release runs from an earlier process; other servers can verify them later");
        }
        let mut metrics_listener = None;
        if let Some(address) = &config.protection.metrics_listen {
            metrics_listener = Some(listen(address, " for metrics", "--metrics-listen").await?);
        }
        let limits = RateLimits::new(&config.protection);
        let leaderboard = Leaderboard {
            storage,
            clock: config.clock,
            key,
            verifiers: verifiers.clone(),
            data,
            run_lifetime_seconds: f64::from(config.run_lifetime_seconds),
            seed: config.seed,
            exports: export_places(),
            cards: Cards::default(),
            snapshots: snapshots.clone(),
            protection: config.protection,
        };
        Ok(Self {
            listener,
            address,
            router: router(leaderboard, pages, limits.clone(), metrics),
            snapshots,
            connections_per_address: config.connections_per_address.map(usize::from),
            verifiers,
            threads: usize::from(config.verifiers),
            tools,
            limits,
            metrics_listener,
        })
    }

    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics_listener.as_ref().map(|(_, address)| *address)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `shutdown` ends, finishes requests in progress, and closes the database. `axum::serve` would limit
    /// neither the number of connections nor the time for a request's head.
    pub fn run(self, shutdown: impl Future<Output = ()> + 'static) -> impl Future<Output = ()> {
        self.serve(Box::pin(shutdown))
    }

    #[async_recursion(?Send)]
    async fn serve(self, mut shutdown: Pin<Box<dyn Future<Output = ()>>>) {
        let verifying = self.verifiers.start(self.threads, &self.tools);
        let Tools { storage, clock, metrics, server, .. } = self.tools;
        let connections = GracefulShutdown::new();
        let limits_of_process = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
        let places = Arc::new(Semaphore::new(most_connections(&limits_of_process)));
        let open = Shares::default();
        let mut background = JoinSet::new();
        background.spawn(self.limits.forget_regularly());
        let refreshed = storage.clone();
        background.spawn(async move { refreshed.refresh_regularly().await });
        background.spawn(forget_expired_regularly(storage.clone(), clock.clone()));
        background.spawn(forget_submitters_regularly(storage.clone(), clock));
        background.spawn(self.snapshots.keep(storage.clone()));
        if let Some((listener, _)) = self.metrics_listener {
            background.spawn(metrics::answer(listener, metrics.clone()));
        }
        loop {
            let accepted = tokio::select! {
                accepted = accept(&self.listener, &places) => accepted,
                () = &mut shutdown => break,
            };
            let Some((stream, address, place)) = accepted else { continue };
            // Closing the connection is the refusal: an answer would take a place.
            let usual = if address.is_loopback() { CONNECTIONS } else { CONNECTIONS_PER_ADDRESS };
            let most = Most::of_network(self.connections_per_address.unwrap_or(usual));
            let Some(place_of_address) = open.take(address, 1, most) else {
                metrics.count(CountedEvent::Refused("connections_per_address"));
                continue;
            };
            let counted = InProgress::new(&metrics.open_connections);
            let mut stream = TimeoutStream::new(stream);
            stream.set_write_timeout(Some(READING_TIME));
            let service =
                TowerToHyperService::new(self.router.clone().map_request(move |mut request: Request<Incoming>| {
                    request.extensions_mut().insert(Peer(address));
                    request
                }));
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIME)
                .max_buf_size(HEAD_BYTES)
                .serve_connection(TokioIo::new(Box::pin(stream)), service);
            let connection = connections.watch(connection);
            tokio::spawn(async move {
                let _places = (place, place_of_address, counted);
                if let Err(cause) = connection.await {
                    tracing::debug!(cause = &cause as &dyn std::error::Error, "a connection ended early");
                }
            });
        }
        drop(self.listener);
        tracing::info!("stopping: accepting no new connections, waiting for requests in progress");
        if tokio::time::timeout(SHUTDOWN_TIMEOUT, connections.shutdown()).await.is_err() {
            tracing::warn!("some requests did not finish in time");
        }
        self.verifiers.stop();
        // A network is recomputed in a few seconds.
        let ended = tokio::task::spawn_blocking(|| verifying.into_iter().for_each(|thread| drop(thread.join())));
        if tokio::time::timeout(SHUTDOWN_TIMEOUT, ended).await.is_err() {
            tracing::warn!("a run is still being verified; its verification will restart later");
        }
        if let Err(cause) = storage.release_verifications(&server, true).await {
            tracing::warn!(%cause, "cannot release the runs being verified; they wait until the next start");
        }
        // Until here, the metrics count the last requests. The next server restarts an unfinished snapshot.
        drop(background);
        storage.close().await;
    }
}

fn advice_for(address: &DatabaseAddress) -> &'static str {
    match address {
        DatabaseAddress::File(_) => "Choose another file with --database, or check the permissions of this one.",
        DatabaseAddress::Postgres(_) => {
            "Check that the PostgreSQL server is running, that the database exists and that its owner may log in \
             (docs/HOSTING.md)."
        }
    }
}

/// Binds an address, which `option` sets. Returns the listener with its actual address.
async fn listen(address: &str, purpose: &str, option: &str) -> Result<(TcpListener, SocketAddr)> {
    let bound = TcpListener::bind(address).await.and_then(|listener| Ok((listener.local_addr()?, listener)));
    let (actual, listener) = bound.map_err(|cause| {
        anyhow!("cannot listen on {address}{purpose}: {cause}. Choose another address or port with {option}.")
    })?;
    Ok((listener, actual))
}

/// Deletes salts of past days and counts unfinished announcements at intervals. Never returns.
async fn forget_submitters_regularly(storage: Database, clock: ServerClock) {
    loop {
        let now = clock.unix_seconds();
        if let Err(cause) = storage.forget_submitters(day_of(now)).await {
            tracing::warn!(%cause, "cannot delete the salts of past days; retrying in an hour");
        }
        if let Err(cause) = storage.refresh_recent(now).await {
            tracing::warn!(%cause, "cannot count announcements; retrying in an hour");
        }
        tokio::time::sleep(CLEANUP_INTERVAL).await;
    }
}

/// Deletes the data of expired runs at intervals. Never returns.
async fn forget_expired_regularly(storage: Database, clock: ServerClock) {
    loop {
        if let Err(cause) = storage.forget_expired(clock.unix_seconds()).await {
            tracing::warn!(%cause, "cannot delete the states of expired runs; retrying in a minute");
        }
        tokio::time::sleep(FORGETTING_EXPIRED).await;
    }
}

/// Returns [`CONNECTIONS`], or fewer if the limit of open files is lower.
fn most_connections(limits: &str) -> usize {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    // It may also be `unlimited`.
    let soft = line.and_then(|line| line.split_whitespace().next()).and_then(|word| word.parse::<usize>().ok());
    soft.map_or(CONNECTIONS, |soft| CONNECTIONS.min(soft.saturating_sub(OTHER_DESCRIPTORS).max(1)))
}

/// Waits for a free place and accepts a connection. Returns `None` if accepting failed.
async fn accept(listener: &TcpListener, places: &Arc<Semaphore>) -> Option<(TcpStream, IpAddr, OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, address)) => {
            if let Err(cause) = stream.set_nodelay(true) {
                tracing::debug!(cause = &cause as &dyn std::error::Error, "cannot set TCP_NODELAY on a connection");
            }
            Some((stream, address.ip().to_canonical(), place))
        }
        Err(cause) => {
            // Usually the process has no free file descriptors, and others will close soon.
            tracing::error!(cause = &cause as &dyn std::error::Error, "cannot accept a connection");
            tokio::time::sleep(Duration::from_millis(100)).await;
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_descriptors_to_everything_else() {
        let most = |files| most_connections(&format!("Limit  Soft Hard Units\nMax open files  {files} files\n"));
        let found = ["1024      524288", "524288    524288", "unlimited unlimited", "20        20"].map(most);
        assert_eq!(found, [1024 - OTHER_DESCRIPTORS, CONNECTIONS, CONNECTIONS, 1]);
        assert_eq!(most_connections(""), CONNECTIONS);
    }
}
