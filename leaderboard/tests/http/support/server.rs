use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use leaderboard::{Config, Protection, ProxyHeader, Server, ServerClock, Task, upkeep};
use results::RunRecord;
use results::api::{AcceptedRun, StartedRun, Tier};
use tempfile::TempDir;
use tokio::sync::oneshot;

use super::database::block_on;
use super::{TestClient, TestDatabase, record};

pub(crate) const BEGINNING: f64 = 1_800_000_000.0;
pub(crate) const DAY: f64 = 86_400.0;
/// Number of connections for all simultaneous requests of the tests from one address.
pub(crate) const CONNECTIONS_PER_ADDRESS: u16 = 64;
/// Secret of servers without a file.
pub(crate) const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// Address of a client, if a proxy reports it.
pub(crate) type Who = Option<&'static str>;
pub(crate) const ANN: Who = Some("192.0.2.7");
pub(crate) const BOB: Who = Some("198.51.100.9");

pub(crate) fn board() -> TestServer {
    TestServer::protected_by(|limits| limits.announcements_per_hour = 0)
}

pub(crate) fn unlimited(limits: &mut Protection) {
    (limits.announcements_per_hour, limits.imports_per_hour, limits.open_runs) = (0, 0, 0);
    (limits.uploads_per_second, limits.reading_per_second) = (0, 0);
    (limits.import_bytes_per_day, limits.weights_bytes) = (0, 0);
}

/// The server in a thread of this process, with a clock that advances only on request.
pub(crate) struct TestServer {
    client: TestClient,
    /// Client of the address for metrics, if the settings have one.
    pub(crate) metrics: TestClient,
    pub(crate) now: Arc<Mutex<f64>>,
    database: Arc<TestDatabase>,
    folder: TempDir,
    /// Signal that stops the server, and its thread.
    running: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
    pub(crate) settings: Config,
}

impl Deref for TestServer {
    type Target = TestClient;

    fn deref(&self) -> &TestClient {
        &self.client
    }
}

impl TestServer {
    pub(crate) fn start() -> Self {
        Self::with(|_, _| {})
    }

    pub(crate) fn protected_by(change: impl FnOnce(&mut Protection)) -> Self {
        Self::with(|config, _| change(&mut config.protection))
    }

    /// Starts a server with settings that may name files in its folder.
    pub(crate) fn with(change: impl FnOnce(&mut Config, &Path)) -> Self {
        let mut server = Self::new(Arc::new(TestDatabase::new()), Arc::new(Mutex::new(BEGINNING)), settings());
        change(&mut server.settings, server.folder.path());
        server.restart();
        server
    }

    pub(crate) fn on(database: TestDatabase, settings: Config) -> Self {
        let mut server = Self::new(Arc::new(database), Arc::new(Mutex::new(BEGINNING)), settings);
        server.restart();
        server
    }

    pub(crate) fn another(&self) -> Self {
        let mut server = Self::new(Arc::clone(&self.database), Arc::clone(&self.now), self.settings.clone());
        server.restart();
        server
    }

    fn new(database: Arc<TestDatabase>, now: Arc<Mutex<f64>>, settings: Config) -> Self {
        let (client, folder) = (TestClient::new(([127, 0, 0, 1], 0).into()), tempfile::tempdir().unwrap());
        Self { metrics: client.clone(), client, now, database, folder, running: None, settings }
    }

    pub(crate) fn restart_with_verifiers(&mut self, verifiers: u8) {
        self.settings.verifiers = verifiers;
        self.restart();
    }

    /// Stops the server and starts another one on the same database, at the same moment.
    pub(crate) fn restart(&mut self) {
        self.stop();
        let now = Arc::clone(&self.now);
        let clock = ServerClock::from_fn(move || *now.lock().unwrap());
        let config = Config { database: self.database.address(), clock, ..self.settings.clone() };
        let (stop, stopped) = oneshot::channel::<()>();
        let (tell_address, address) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let server = Server::bind(config).await.unwrap();
                tell_address.send((server.address(), server.metrics_address())).unwrap();
                server.run(async { stopped.await.unwrap() }).await;
            });
        });
        let (address, metrics) = address.recv().unwrap();
        (self.client, self.metrics) = (TestClient::new(address), TestClient::new(metrics.unwrap_or(address)));
        self.running = Some((stop, thread));
    }

    pub(crate) fn stop(&mut self) {
        if let Some((stop, thread)) = self.running.take() {
            stop.send(()).unwrap();
            thread.join().unwrap();
        }
    }

    pub(crate) fn pass(&self, seconds: f64) {
        *self.now.lock().unwrap() += seconds;
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn database(&self) -> &TestDatabase {
        &self.database
    }

    /// Returns an announced run and a matching record, after the run's duration.
    pub(crate) fn honest_run(&self) -> (StartedRun, RunRecord) {
        let started = self.begin();
        let record = record::for_run(&started);
        self.pass(record.provenance.wall_seconds);
        (started, record)
    }

    /// Uploads an honest run that is accepted, after `change`. Its summaries are recomputed.
    pub(crate) fn accepted(&self, change: impl FnOnce(&mut RunRecord)) -> AcceptedRun {
        self.accepted_by(None, change)
    }

    pub(crate) fn accepted_by(&self, who: Who, change: impl FnOnce(&mut RunRecord)) -> AcceptedRun {
        let client = self.seen_at(who);
        let started = client.begin();
        let mut record = record::for_run(&started);
        self.pass(record.provenance.wall_seconds);
        change(&mut record);
        record::summarise(&mut record);
        record::declare(&mut record);
        client.upload(&started.run_id, &record).with_status(201).parse()
    }

    /// Uploads a run like [`Self::accepted`], makes it proven, and returns its id.
    pub(crate) fn proven(&self, change: impl FnOnce(&mut RunRecord)) -> String {
        self.proven_by(None, change)
    }

    pub(crate) fn proven_by(&self, who: Who, change: impl FnOnce(&mut RunRecord)) -> String {
        let run_id = self.accepted_by(who, change).run_id;
        self.set_tier(&run_id, Tier::Proven);
        run_id
    }

    pub(crate) fn set_tier(&self, run_id: &str, tier: Tier) {
        let task = Task::SetTier { run_id: run_id.to_owned(), tier, reason: None };
        block_on(upkeep::perform(task, &self.database.address())).unwrap();
    }

    pub(crate) fn prove_all(&self) {
        for run_id in self.database.words("SELECT run_id FROM runs") {
            self.set_tier(&run_id, Tier::Proven);
        }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Returns the settings of most tests, except for the database and the clock. A proxy may report clients' addresses.
pub(crate) fn settings() -> Config {
    Config {
        listen: "127.0.0.1:0".to_owned(),
        // A server with a file stores its secret next to it.
        secret: crate::on_postgres().then(|| SECRET.to_owned()),
        connections_per_address: Some(CONNECTIONS_PER_ADDRESS),
        protection: Protection { trusted_proxy_header: Some(ProxyHeader::XForwardedFor), ..Protection::default() },
        ..Config::default()
    }
}
