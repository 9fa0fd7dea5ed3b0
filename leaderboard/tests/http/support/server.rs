use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use leaderboard::{Clock, Config, ExistingDatabase, Protection, Server, Task, upkeep};
use results::RunRecord;
use results::api::{AcceptedRun, StartedRun, Tier};
use tempfile::TempDir;
use tokio::sync::oneshot;

use super::database::block_on;
use super::{Client, TestDatabase, record};

/// Signal that stops a server, and its thread.
type Running = (oneshot::Sender<()>, JoinHandle<()>);

/// Start time of every test.
pub(crate) const BEGINNING: f64 = 1_800_000_000.0;

/// The server in a thread of this process, with a clock that advances only on request.
pub(crate) struct TestServer {
    client: Client,
    metrics: Option<Client>,
    now: Arc<Mutex<f64>>,
    database: Arc<TestDatabase>,
    folder: TempDir,
    running: Option<Running>,
    settings: Config,
}

/// Returns the settings of most tests, except for the database and the clock.
fn settings() -> Config {
    Config {
        listen: "127.0.0.1:0".to_owned(),
        // A server with a file stores its secret next to it.
        secret: crate::on_postgres().then(|| SECRET.to_owned()),
        connections_per_address: Some(CONNECTIONS_PER_ADDRESS),
        ..Config::default()
    }
}

impl Deref for TestServer {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl TestServer {
    pub(crate) fn start() -> Self {
        Self::protected_by(Protection::default())
    }

    pub(crate) fn on(database: TestDatabase) -> Self {
        let now = Arc::new(Mutex::new(BEGINNING));
        Self::beside(Arc::new(database), now, tempfile::tempdir().unwrap(), settings())
    }

    pub(crate) fn another(&self) -> Self {
        self.another_with_verifiers(self.settings.verifiers)
    }

    pub(crate) fn another_with_verifiers(&self, verifiers: u8) -> Self {
        let (database, now) = (Arc::clone(&self.database), Arc::clone(&self.now));
        let settings = Config { verifiers, ..self.settings.clone() };
        Self::beside(database, now, tempfile::tempdir().unwrap(), settings)
    }

    /// Starts a server with these limits and budgets.
    pub(crate) fn protected_by(protection: Protection) -> Self {
        Self::open(tempfile::tempdir().unwrap(), Config { protection, ..settings() })
    }

    /// Starts a server with the folders `page` and `data` inside `folder`.
    pub(crate) fn with_folders(folder: TempDir, page: Option<&str>, data: Option<&str>) -> Self {
        let inside = |name: &str| folder.path().join(name);
        let (page, data) = (page.map(inside), data.map(inside));
        Self::open(folder, Config { page, data, ..settings() })
    }

    /// Starts a server with the page in a folder inside `folder`, and these limits and budgets.
    pub(crate) fn with_page_and_protection(folder: TempDir, page: &str, protection: Protection) -> Self {
        let page = Some(folder.path().join(page));
        Self::open(folder, Config { page, protection, ..settings() })
    }

    /// Starts a server that writes its snapshots into the folder `snapshots` inside `folder`, which the server creates.
    pub(crate) fn with_snapshots(folder: TempDir) -> Self {
        let snapshots = Some(folder.path().join("snapshots"));
        Self::open(folder, Config { snapshots, ..settings() })
    }

    /// Starts a server that gives every run the same seed and has the data sets of this folder.
    pub(crate) fn of_rehearsals(seed: u32, data: PathBuf) -> Self {
        Self::of_rehearsals_protected_by(seed, data, Protection::default())
    }

    /// Returns [`Self::of_rehearsals`] with these limits and budgets.
    pub(crate) fn of_rehearsals_protected_by(seed: u32, data: PathBuf, protection: Protection) -> Self {
        let settings = Config { data: Some(data), seed: Some(seed), protection, ..settings() };
        Self::open(tempfile::tempdir().unwrap(), settings)
    }

    fn open(folder: TempDir, settings: Config) -> Self {
        Self::beside(Arc::new(TestDatabase::new()), Arc::new(Mutex::new(BEGINNING)), folder, settings)
    }

    fn beside(database: Arc<TestDatabase>, now: Arc<Mutex<f64>>, folder: TempDir, settings: Config) -> Self {
        let (client, metrics, running) = launch(&database, &now, settings.clone());
        Self { client, metrics, now, database, folder, running: Some(running), settings }
    }

    /// Restarts it with this number of verifying threads.
    pub(crate) fn restart_with_verifiers(&mut self, verifiers: u8) {
        self.settings.verifiers = verifiers;
        self.restart();
    }

    /// Restarts it at the same address, as if it had been killed while it verified all waiting runs.
    pub(crate) fn restart_as_if_killed(&mut self) {
        self.stop();
        let address = self.client.address;
        self.database.execute(&format!(
            "UPDATE verifications SET taken_by = '{address}', taken_until_unix_seconds = 1e12, attempts = attempts + 1"
        ));
        self.settings.listen = address.to_string();
        self.restart_with_verifiers(1);
    }

    /// Stops the server and starts another one on the same database, at the same moment.
    pub(crate) fn restart(&mut self) {
        self.stop();
        let (client, metrics, running) = launch(&self.database, &self.now, self.settings.clone());
        (self.client, self.metrics, self.running) = (client, metrics, Some(running));
    }

    pub(crate) fn metrics(&self) -> &Client {
        self.metrics.as_ref().expect("started with an address for metrics")
    }

    pub(crate) fn pass(&self, seconds: f64) {
        *self.now.lock().unwrap() += seconds;
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn now(&self) -> f64 {
        *self.now.lock().unwrap()
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
        let (started, mut record) = self.honest_run();
        change(&mut record);
        record::summarise(&mut record);
        record::declare(&mut record);
        self.upload(&started.run_id, &record).with_status(201).parse()
    }

    /// Uploads a run like [`Self::accepted`], and makes it proven.
    pub(crate) fn proven(&self, change: impl FnOnce(&mut RunRecord)) -> AcceptedRun {
        let run = self.accepted(change);
        self.set_tier(&run.run_id, Tier::Proven);
        AcceptedRun { tier: Tier::Proven, ..run }
    }

    pub(crate) fn set_tier(&self, run_id: &str, tier: Tier) {
        let database = ExistingDatabase { address: self.database.address() };
        let task = Task::SetTier { run_id: run_id.to_owned(), tier, reason: None, database };
        block_on(upkeep::perform(task)).unwrap();
    }

    pub(crate) fn prove_all(&self) {
        for run_id in self.database.words("SELECT run_id FROM runs") {
            self.set_tier(&run_id, Tier::Proven);
        }
    }

    fn stop(&mut self) {
        if let Some((stop, thread)) = self.running.take() {
            stop.send(()).unwrap();
            thread.join().unwrap();
        }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Secret of servers without a file.
pub(crate) const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// Number of connections for all simultaneous requests of the tests from one address.
pub(crate) const CONNECTIONS_PER_ADDRESS: u16 = 64;

fn launch(database: &TestDatabase, now: &Arc<Mutex<f64>>, settings: Config) -> (Client, Option<Client>, Running) {
    let now = Arc::clone(now);
    let clock = Clock::from_fn(move || *now.lock().unwrap());
    let config = Config { database: database.address(), clock, ..settings };
    let (stop, stopped) = oneshot::channel::<()>();
    let (tell_address, address) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let server = Server::bind(config).await.unwrap();
            tell_address.send((server.address(), server.metrics_address())).unwrap();
            server.run(async { stopped.await.unwrap() }).await;
        });
    });
    let (address, metrics) = address.recv().unwrap();
    (Client::new(address), metrics.map(Client::new), (stop, thread))
}

/// The real binary as a child process, killed when dropped.
pub(crate) struct ServerProcess {
    child: Child,
    client: Client,
}

impl Deref for ServerProcess {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl ServerProcess {
    /// Starts the binary. `database` is the value of `--database`.
    pub(crate) fn start(database: impl AsRef<OsStr>) -> Self {
        let mut quiet = command();
        quiet.args(["--log", "error"]);
        Self::start_as(quiet, database)
    }

    /// Starts `command`, which may have further arguments.
    pub(crate) fn start_as(mut command: Command, database: impl AsRef<OsStr>) -> Self {
        command.args(["--listen", "127.0.0.1:0", "--database"]).arg(database);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("listening on http://").expect("one line with the address");
        let client = Client::new(address.parse().unwrap());
        Self { child, client }
    }

    /// Ends the process at once (SIGKILL on Unix).
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Returns the peak of the process's memory so far.
    #[cfg(target_os = "linux")]
    pub(crate) fn peak_memory_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        1024 * line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap()
    }

    /// Sends a signal by name and waits for the end.
    #[cfg(unix)]
    pub(crate) fn signal(mut self, name: &str) -> ExitStatus {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        self.child.wait().unwrap()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // In most tests the process has already ended, and the error only reports that.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leaderboard"));
    if crate::on_postgres() {
        command.env("GRADMARK_SECRET", SECRET);
    }
    command
}

/// Returns [`command`] with a limit of open files and connections.
#[cfg(target_os = "linux")]
pub(crate) fn command_with_descriptors(most: u32) -> Command {
    let program = command();
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("ulimit -n {most} && exec \"$0\" \"$@\"")]).arg(program.get_program());
    limited.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    limited
}
