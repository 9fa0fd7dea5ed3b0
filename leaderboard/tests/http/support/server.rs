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

use super::{Client, TestDatabase, record};

/// What stops a server, and its thread.
type Running = (oneshot::Sender<()>, JoinHandle<()>);

/// The moment at which every test begins.
pub(crate) const BEGINNING: f64 = 1_800_000_000.0;

/// The server in a thread of this process, with a clock that stands still until it is moved.
pub(crate) struct TestServer {
    client: Client,
    metrics: Option<Client>,
    now: Arc<Mutex<f64>>,
    database: Arc<TestDatabase>,
    /// With the page and the data sets.
    folder: TempDir,
    running: Option<Running>,
    setting: Setting,
}

/// How a server is started, but for its database.
#[derive(Clone)]
struct Setting {
    listen: String,
    page: Option<PathBuf>,
    data: Option<PathBuf>,
    snapshots: Option<PathBuf>,
    seed: Option<u32>,
    verifiers: usize,
    protection: Protection,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:0".to_owned(),
            page: None,
            data: None,
            snapshots: None,
            seed: None,
            verifiers: 1,
            protection: Protection::default(),
        }
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
        Self::on(TestDatabase::new())
    }

    /// One on a database that is there.
    pub(crate) fn on(database: TestDatabase) -> Self {
        let now = Arc::new(Mutex::new(BEGINNING));
        Self::beside(Arc::new(database), now, tempfile::tempdir().unwrap(), Setting::default())
    }

    /// A second server on the same database, whose clock goes with this one's.
    pub(crate) fn another(&self) -> Self {
        let (database, now) = (Arc::clone(&self.database), Arc::clone(&self.now));
        Self::beside(database, now, tempfile::tempdir().unwrap(), self.setting.clone())
    }

    /// The same, with so many threads that verify.
    pub(crate) fn another_with_verifiers(&self, verifiers: usize) -> Self {
        let (database, now) = (Arc::clone(&self.database), Arc::clone(&self.now));
        let setting = Setting { verifiers, ..self.setting.clone() };
        Self::beside(database, now, tempfile::tempdir().unwrap(), setting)
    }

    /// One with limits and budgets of its own.
    pub(crate) fn protected_by(protection: Protection) -> Self {
        Self::open(tempfile::tempdir().unwrap(), Setting { protection, ..Setting::default() })
    }

    /// `page` and `data` are names of folders inside `folder`.
    pub(crate) fn with_folders(folder: TempDir, page: Option<&str>, data: Option<&str>) -> Self {
        let inside = |name: &str| folder.path().join(name);
        let (page, data) = (page.map(inside), data.map(inside));
        Self::open(folder, Setting { page, data, ..Setting::default() })
    }

    /// The page in a folder inside `folder`, with limits and budgets of its own.
    pub(crate) fn with_page_and_protection(folder: TempDir, page: &str, protection: Protection) -> Self {
        let page = Some(folder.path().join(page));
        Self::open(folder, Setting { page, protection, ..Setting::default() })
    }

    /// A server that writes what it has into the folder `snapshots` inside `folder`, which it makes.
    pub(crate) fn with_snapshots(folder: TempDir) -> Self {
        let snapshots = Some(folder.path().join("snapshots"));
        Self::open(folder, Setting { snapshots, ..Setting::default() })
    }

    /// A server that gives every run the same seed and has the data sets of this folder.
    pub(crate) fn of_rehearsals(seed: u32, data: PathBuf) -> Self {
        Self::of_rehearsals_protected_by(seed, data, Protection::default())
    }

    /// Returns [`Self::of_rehearsals`] with these limits and budgets.
    pub(crate) fn of_rehearsals_protected_by(seed: u32, data: PathBuf, protection: Protection) -> Self {
        let setting = Setting { data: Some(data), seed: Some(seed), protection, ..Setting::default() };
        Self::open(tempfile::tempdir().unwrap(), setting)
    }

    fn open(folder: TempDir, setting: Setting) -> Self {
        Self::beside(Arc::new(TestDatabase::new()), Arc::new(Mutex::new(BEGINNING)), folder, setting)
    }

    fn beside(database: Arc<TestDatabase>, now: Arc<Mutex<f64>>, folder: TempDir, setting: Setting) -> Self {
        let (client, metrics, running) = launch(&database, &now, setting.clone());
        Self { client, metrics, now, database, folder, running: Some(running), setting }
    }

    /// Starts it again with so many threads that verify.
    pub(crate) fn restart_with_verifiers(&mut self, verifiers: usize) {
        self.setting.verifiers = verifiers;
        self.restart();
    }

    /// Starts it again at the same address, as if it had been killed while it verified all runs that wait.
    pub(crate) fn restart_as_if_killed(&mut self) {
        self.stop();
        let address = self.client.address;
        self.database.execute(&format!(
            "UPDATE verifications SET taken_by = '{address}', taken_until_unix_seconds = 1e12, attempts = attempts + 1"
        ));
        self.setting.listen = address.to_string();
        self.restart_with_verifiers(1);
    }

    /// Stops the server and starts another one on the same database, at the same moment.
    pub(crate) fn restart(&mut self) {
        self.stop();
        let (client, metrics, running) = launch(&self.database, &self.now, self.setting.clone());
        (self.client, self.metrics, self.running) = (client, metrics, Some(running));
    }

    /// Reads what monitoring reads.
    pub(crate) fn metrics(&self) -> &Client {
        self.metrics.as_ref().expect("started with an address for metrics")
    }

    pub(crate) fn pass(&self, seconds: f64) {
        *self.now.lock().unwrap() += seconds;
    }

    /// Time of the pretended clock.
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

    /// An announced run and a record that fits it; the time that it takes has passed.
    pub(crate) fn honest_run(&self) -> (StartedRun, RunRecord) {
        let started = self.begin();
        let record = record::for_run(&started);
        self.pass(record.provenance.wall_seconds);
        (started, record)
    }

    /// An honest run, changed by `change` (its summaries follow), uploaded and accepted.
    pub(crate) fn accepted(&self, change: impl FnOnce(&mut RunRecord)) -> AcceptedRun {
        let (started, mut record) = self.honest_run();
        change(&mut record);
        record::summarise(&mut record);
        let answer = self.upload(&started.run_id, &record);
        assert_eq!(answer.status, 201, "{}", answer.text());
        answer.parse()
    }

    /// An accepted run that was proven, as far as the leaderboard knows.
    pub(crate) fn proven(&self, change: impl FnOnce(&mut RunRecord)) -> AcceptedRun {
        let run = self.accepted(change);
        self.set_tier(&run.run_id, Tier::Proven);
        AcceptedRun { tier: Tier::Proven, ..run }
    }

    /// What `leaderboard set-tier` does.
    pub(crate) fn set_tier(&self, run_id: &str, tier: Tier) {
        let database = ExistingDatabase { address: self.database.address() };
        let task = Task::SetTier { run_id: run_id.to_owned(), tier, reason: None, database };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(upkeep::perform(task)).unwrap();
    }

    /// Makes every run that was submitted a proven one.
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

/// What servers share that have no file beside which to keep it.
pub(crate) const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// Enough for whatever the tests do at once from one address.
pub(crate) const CONNECTIONS_PER_ADDRESS: usize = 64;

fn launch(database: &TestDatabase, now: &Arc<Mutex<f64>>, setting: Setting) -> (Client, Option<Client>, Running) {
    let clock = Arc::clone(now);
    let config = Config {
        listen: setting.listen,
        database: database.address(),
        page: setting.page,
        data: setting.data,
        snapshots: setting.snapshots,
        secret_file: None,
        // Where there is a file, it lies beside it.
        secret: crate::on_postgres().then(|| SECRET.to_owned()),
        verifiers: setting.verifiers,
        run_lifetime_seconds: 6.0 * 3600.0,
        seed: setting.seed,
        connections_per_address: Some(CONNECTIONS_PER_ADDRESS),
        protection: setting.protection,
        clock: Clock::from_fn(move || *clock.lock().unwrap()),
    };
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
    /// `database` is what `--database` takes.
    pub(crate) fn start(database: impl AsRef<OsStr>) -> Self {
        let mut quiet = command();
        quiet.args(["--log", "error"]);
        Self::start_as(quiet, database)
    }

    /// The same, with more words on its command line.
    pub(crate) fn start_as(mut command: Command, database: impl AsRef<OsStr>) -> Self {
        command.args(["--listen", "127.0.0.1:0", "--database"]).arg(database);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("listening on http://").expect("one line with the address");
        let client = Client::new(address.parse().unwrap());
        Self { child, client }
    }

    /// Ends the process in the middle of whatever it does (SIGKILL on Unix).
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// The most memory that the process has had so far.
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
        // Already ended in most tests; an error then says just that.
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

/// The same where it may have so many files and connections open.
#[cfg(target_os = "linux")]
pub(crate) fn command_with_descriptors(most: u32) -> Command {
    let program = command();
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("ulimit -n {most} && exec \"$0\" \"$@\"")]).arg(program.get_program());
    limited.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    limited
}
