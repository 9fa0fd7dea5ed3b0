use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use leaderboard::DatabaseAddress;
use leaderboard::load::{Board, PastRun};
use results::RunRecord;
use results::api::Tier;
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor};
use tempfile::TempDir;

/// Database of one test. A file is removed on drop; a schema is removed with its server.
pub(crate) struct TestDatabase {
    argument: String,
    folder: Option<TempDir>,
}

impl TestDatabase {
    /// Creates a database without tables, of the kind that this program tests. A file exists, because some tasks do not
    /// create it.
    pub(crate) fn new() -> Self {
        if crate::on_postgres() {
            return Self::at(Cluster::shared().new_schema());
        }
        let folder = tempfile::tempdir().unwrap();
        let argument = folder.path().join("leaderboard.sqlite").to_str().unwrap().to_owned();
        File::create(&argument).unwrap();
        Self { argument, folder: Some(folder) }
    }

    pub(crate) fn at(address: String) -> Self {
        Self { argument: address, folder: None }
    }

    pub(crate) fn argument(&self) -> &str {
        &self.argument
    }

    pub(crate) fn address(&self) -> DatabaseAddress {
        DatabaseAddress::parse(self.as_ref()).unwrap()
    }

    pub(crate) fn file(&self) -> Option<&Path> {
        self.folder.as_ref().map(|_folder| Path::new(&self.argument))
    }

    pub(crate) fn execute(&self, statements: &str) {
        execute(&self.url(), statements);
    }

    pub(crate) fn count(&self, query: &'static str) -> i64 {
        block_on(async { sqlx::query_scalar(query).fetch_one(&mut self.connect().await).await.unwrap() })
    }

    pub(crate) fn words(&self, query: &str) -> Vec<String> {
        block_on(async { sqlx::query_scalar(AssertSqlSafe(query)).fetch_all(&mut self.connect().await).await.unwrap() })
    }

    /// Stores these runs, and calls a function with the board and their ids.
    pub(crate) fn with_board<T>(&self, runs: Vec<PastRun>, check: impl AsyncFnOnce(&Board, Vec<String>) -> T) -> T {
        block_on(async {
            let board = Board::open(&self.address()).await.unwrap();
            let ids = board.store(runs).await.unwrap();
            let result = check(&board, ids).await;
            board.close().await;
            result
        })
    }

    fn url(&self) -> String {
        let scheme = if self.argument.contains("://") { "" } else { "sqlite:" };
        format!("{scheme}{}", self.argument)
    }

    pub(crate) async fn connect(&self) -> AnyConnection {
        connect(&self.url()).await
    }
}

impl AsRef<OsStr> for TestDatabase {
    fn as_ref(&self) -> &OsStr {
        self.argument().as_ref()
    }
}

/// Returns a run of a submitter who has no other.
pub(crate) fn past_run(record: RunRecord, tier: Tier, submitted_unix_seconds: f64) -> PastRun {
    let submitter = format!("{:016x}", record.requested.seed);
    PastRun { record, tier, submitted_unix_seconds, submitter }
}

async fn connect(url: &str) -> AnyConnection {
    sqlx::any::install_default_drivers();
    AnyConnection::connect(url).await.unwrap()
}

fn execute(url: &str, statements: &str) {
    block_on(async {
        let mut connection = connect(url).await;
        connection.execute(AssertSqlSafe(statements)).await.unwrap();
        connection.close().await.unwrap();
    });
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// User for PostgreSQL's programs, which refuse to run as root.
#[cfg(unix)]
const NOBODY: u32 = 65534;

/// Password of the unprivileged roles. It contains all characters with a special meaning in a URL.
pub(crate) const PASSWORD: &str = "a/b?c#d@e:f%g";
pub(crate) const PASSWORD_IN_ADDRESS: &str = "a%2Fb%3Fc%23d%40e%3Af%25g";

/// Script that creates and starts the server, reports it, and waits for the end of its own input. However the tests end,
/// the input ends with them; then the script stops the server and removes its folder. Only creating the data folder is
/// not synced to the disk; the server uses its normal settings. Its arguments are the programs' folder, the server's and
/// the port.
const KEEPER: &str = r#"
"$1/initdb" --auth-local trust --auth-host scram-sha-256 --username postgres \
    --encoding UTF8 --locale C --no-sync --pgdata data >log 2>&1 &&
printf "%s\n" "listen_addresses = '127.0.0.1'" "port = $3" "unix_socket_directories = '$2'" "max_connections = 400" \
    >>data/postgresql.conf &&
"$1/pg_ctl" start --silent --wait --pgdata data --log log && echo ready || exit
read -r _
"$1/pg_ctl" stop --silent --mode fast --pgdata data
cd / && rm -rf "$2"
"#;

pub(crate) struct Cluster {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
}

impl Cluster {
    pub(crate) fn shared() -> &'static Self {
        static SHARED: LazyLock<&'static Cluster> = LazyLock::new(Cluster::start);
        *SHARED
    }

    /// Starts a server. Panics if it cannot start, or if PostgreSQL is not installed although `REQUIRE_POSTGRES=1`.
    /// Without that variable the whole program is skipped, with one message.
    pub(crate) fn start() -> &'static Self {
        let Some(programs) = programs() else { skip_all("PostgreSQL is not installed") };
        // The keeper removes it.
        let folder = tempfile::Builder::new().prefix("gradmark-").tempdir().unwrap().keep();
        #[cfg(unix)]
        if is_root() {
            std::os::unix::fs::chown(&folder, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        // Another program may take the port meanwhile; the server reports that.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let cluster = Self { programs, folder, port };
        // Its input ends, and so the server stops, at the end of the program.
        Box::leak(Box::new(cluster.keep()));
        Box::leak(Box::new(cluster))
    }

    /// Returns the address of an empty schema, which is created much faster than a database. Its owner has no access to
    /// others.
    pub(crate) fn new_schema(&self) -> String {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        let role = format!("board_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        self.administrate(&format!(
            "CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}'; CREATE SCHEMA AUTHORIZATION {role}"
        ));
        format!("postgres://{role}:{PASSWORD_IN_ADDRESS}@127.0.0.1:{}/postgres", self.port)
    }

    pub(crate) fn administrate(&self, statement: &str) {
        let folder = self.folder.display();
        execute(&format!("postgres://postgres@localhost:{}/postgres?host={folder}", self.port), statement);
    }

    pub(crate) fn program(&self, name: &str) -> Command {
        self.unprivileged(self.programs.join(name))
    }

    fn unprivileged(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.folder);
        #[cfg(unix)]
        if is_root() {
            use std::os::unix::process::CommandExt;
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    fn keep(&self) -> Child {
        let mut keeper = self.unprivileged("sh");
        keeper.args(["-c", KEEPER, "sh"]).args([&self.programs, &self.folder]).arg(self.port.to_string());
        // Ctrl-C ends only the tests, and their end stops the keeper.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut keeper, 0);
        let mut keeper = keeper.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(keeper.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let log = || std::fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        assert_eq!(line, "ready\n", "PostgreSQL did not start: {}", log());
        keeper
    }
}

/// Returns true if the tests run as root, from the owner of a new file.
#[cfg(unix)]
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    static IS_ROOT: LazyLock<bool> = LazyLock::new(|| tempfile::tempfile().unwrap().metadata().unwrap().uid() == 0);
    *IS_ROOT
}

/// Returns the folder of PostgreSQL's programs, from the path or Debian's location.
fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<(u32, PathBuf)> = versions
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .collect();
    versions.sort();
    folders.extend(versions.into_iter().rev().map(|(_, folder)| folder));
    let all = ["initdb", "pg_ctl", "pg_dump", "pg_restore"];
    folders.into_iter().find(|folder| all.iter().all(|name| folder.join(name).is_file()))
}

/// Reports that nothing can be tested here and ends the program successfully, because every test needs the server.
fn skip_all(why: &str) -> ! {
    assert!(std::env::var("REQUIRE_POSTGRES").as_deref() != Ok("1"), "REQUIRE_POSTGRES=1, but {why}");
    if let Some(path) = std::env::var_os("GRADMARK_SKIPPED") {
        let mut file = File::options().append(true).open(path).unwrap();
        writeln!(file, "every test on PostgreSQL: {why}").unwrap();
    }
    std::process::exit(0);
}
