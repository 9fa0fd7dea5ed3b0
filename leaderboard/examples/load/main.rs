//! Load test of the leaderboard: fills a new database, sends queries and submissions over HTTP, and prints how long
//! they took next to the target. Run it with
//! `cargo run --release --config profile.release.package.leaderboard.opt-level=3 -p leaderboard --example load`.

mod board;

use std::time::{Duration, Instant};

use clap::Parser;
use engine::SUITES;
use leaderboard::load::Board;
use leaderboard::{Config, DatabaseAddress};
use results::api::{AcceptedRun, RunList, StartedRun};
use serde::Serialize;

use board::{Random, Runs};
use support::client::TestClient;
use support::database::{Cluster, TestDatabase, block_on};
use support::server::TestServer;
use support::{record, server};

#[path = "../../tests/http/support"]
#[expect(dead_code, reason = "the tests use more of their support")]
mod support {
    pub(crate) mod client;
    pub(crate) mod database;
    pub(crate) mod record;
    pub(crate) mod server;

    pub(crate) use client::TestClient;
    pub(crate) use database::TestDatabase;
}

/// Returns false for the tests' support code: this program chooses the kind of each database itself.
const fn on_postgres() -> bool {
    false
}

#[derive(Parser)]
#[command(
    about = "Measures a leaderboard under load",
    after_help = "Examples:
  load                                      a million results on SQLite and on PostgreSQL
  load --on sqlite --results 100000
  load --board board.sqlite                 stores the board and reuses it the next time
  load --board postgres://postgres@localhost/board
                                            the same in an empty database of your own server
  load --json > load.json                   one JSON document, to compare with another"
)]
struct LoadArguments {
    /// Number of results on the board
    #[arg(long, default_value_t = 1_000_000, value_name = "N")]
    results: u64,
    /// Databases to measure in turn: sqlite, postgres
    #[arg(long, value_delimiter = ',', default_value = "sqlite,postgres", value_name = "LIST")]
    on: Vec<DatabaseKind>,
    /// Number of requests of each kind
    #[arg(long, default_value_t = 200, value_name = "N")]
    requests: u32,
    /// Number of concurrent clients
    #[arg(long, default_value_t = 2, value_name = "N")]
    clients: u32,
    /// Number of runs to upload
    #[arg(long, default_value_t = 5000, value_name = "N")]
    uploads: u32,
    /// Database to measure alone: an SQLite file, or an empty database on a PostgreSQL server. The board is stored in
    /// it and reused, because creating one takes ten minutes
    #[arg(long, value_name = "FILE|ADDRESS", conflicts_with = "on")]
    board: Option<String>,
    /// Print the metrics as JSON to the standard output
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum DatabaseKind {
    Sqlite,
    Postgres,
}

fn main() {
    let arguments = LoadArguments::parse();
    let reports: Vec<LoadReport> = match &arguments.board {
        Some(board) => vec![measure(TestDatabase::at(board.clone()), &arguments)],
        None => {
            let database = |kind: &DatabaseKind| match kind {
                DatabaseKind::Sqlite => TestDatabase::new(),
                DatabaseKind::Postgres => TestDatabase::at(Cluster::shared().new_schema()),
            };
            arguments.on.iter().map(|kind| measure(database(kind), &arguments)).collect()
        }
    };
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&reports).expect("figures can be written as JSON"));
    }
    let missed = reports.iter().flat_map(|report| &report.figures).filter(|figure| figure.missed()).count();
    if missed > 0 {
        eprintln!("{missed} metrics miss their targets");
    }
}

fn measure(database: TestDatabase, arguments: &LoadArguments) -> LoadReport {
    let kind = if matches!(database.address(), DatabaseAddress::File(_)) {
        DatabaseKind::Sqlite
    } else {
        DatabaseKind::Postgres
    };
    let mut report = LoadReport::new(kind, arguments.results);
    // Creates the tables.
    block_on(async { Board::open(&database.address()).await.expect("a data base").close().await });
    let is_empty = Runs::on(&database).quick.is_empty();
    block_on(async {
        let board = Board::open(&database.address()).await.expect("a data base");
        if is_empty {
            board::fill(&board, arguments.results, &mut report).await;
        }
        board::check_plans(&board).await;
        board.close().await;
    });
    let runs = Runs::on(&database);
    let secret = Some(server::SECRET.to_owned());
    let mut settings = Config { secret, verifiers: 0, connections_per_address: None, ..server::settings() };
    server::unlimited(&mut settings.protection);
    let server = TestServer::on(database, settings);
    measure_reading(&server, &runs, arguments, &mut report);
    measure_uploads(&server, arguments.uploads, &mut report);
    report
}

#[derive(Serialize)]
pub(crate) struct LoadReport {
    database: String,
    results: u64,
    figures: Vec<LoadFigure>,
}

#[derive(Serialize)]
struct LoadFigure {
    name: String,
    value: f64,
    unit: &'static str,
    /// Maximum of a duration, or minimum of a rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    wanted: Option<f64>,
}

impl LoadFigure {
    fn missed(&self) -> bool {
        let Some(wanted) = self.wanted else { return false };
        if self.unit == "ms" { self.value > wanted } else { self.value < wanted }
    }
}

impl LoadReport {
    fn new(kind: DatabaseKind, results: u64) -> Self {
        let database = format!("{kind:?}");
        eprintln!("{database}, {results} results");
        Self { database, results, figures: Vec::new() }
    }

    pub(crate) fn add(&mut self, name: &str, value: f64, unit: &'static str, wanted: Option<f64>) {
        let figure = LoadFigure { name: name.to_owned(), value, unit, wanted };
        let target = match wanted {
            None => String::new(),
            Some(wanted) => format!("   wanted {wanted} {}", if figure.missed() { "MISSED" } else { "met" }),
        };
        eprintln!("  {name:<58} {value:>10.1} {unit:<9}{target}");
        self.figures.push(figure);
    }

    /// Adds the 95th percentile of durations, and their median without a target.
    fn add_durations(&mut self, name: &str, mut durations: Vec<Duration>, wanted_milliseconds: f64) {
        durations.sort_unstable();
        let at = |share: usize| durations[(durations.len() * share / 100).min(durations.len() - 1)].as_secs_f64() * 1e3;
        self.add(&format!("{name}, p95"), at(95), "ms", Some(wanted_milliseconds));
        self.add(&format!("{name}, median"), at(50), "ms", None);
    }
}

/// Performs `number` requests on `clients` threads and returns the duration and the answer of each.
fn together<T: Send>(clients: u32, number: u32, ask: impl Fn(u32) -> T + Sync) -> (Vec<Duration>, Vec<T>) {
    let timed = |i| {
        let begin = Instant::now();
        let answer = ask(i);
        (begin.elapsed(), answer)
    };
    std::thread::scope(|scope| {
        let work = |client: u32| (client..number).step_by(clients as usize).map(&timed).collect::<Vec<_>>();
        let threads: Vec<_> = (0..clients).map(|client| scope.spawn(move || work(client))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a client ends well")).unzip()
    })
}

/// Number of clients that upload at the same time.
const CLIENTS: u32 = 16;

fn client_of(server: &TestServer) -> TestClient {
    TestClient::with_idle_connections(server.address, CLIENTS as usize)
}

fn measure_uploads(server: &TestServer, number: u32, report: &mut LoadReport) {
    let client = client_of(server);
    let begin = Instant::now();
    let (_, started) = together(CLIENTS, number, |_| client.begin());
    let announcing = begin.elapsed().as_secs_f64();
    report.add("runs announced", f64::from(number) / announcing, "a second", None);
    // The client's own work is not measured.
    let record = |(i, run): (usize, &StartedRun)| {
        let mut record = record::for_run(run);
        // Real runs never take equally long. Without this, runs with equal seeds would be one record, and a deleted
        // record is not accepted again.
        record.provenance.wall_seconds += 1e-6 * i as f64;
        (run.run_id.clone(), serde_json::to_vec(&record).expect("JSON"))
    };
    let records: Vec<(String, Vec<u8>)> = started.iter().enumerate().map(record).collect();
    server.pass(30.0);
    let begin = Instant::now();
    let (durations, accepted) = together(CLIENTS, number, |i| {
        let (run_id, body) = &records[i as usize];
        let headers = [("content-type", "application/json")];
        client.send("PUT", &format!("/api/v1/runs/{run_id}"), &headers, body).with_status(201).parse()
    });
    let seconds = begin.elapsed().as_secs_f64();
    report.add("uploads accepted", f64::from(number) / seconds, "a second", Some(500.0));
    report.add("runs announced and uploaded", f64::from(number) / (announcing + seconds), "a second", None);
    report.add_durations("an upload of 16 at once", durations, 1000.0);
    delete_runs(&client, &accepted, report);
}

fn delete_runs(client: &TestClient, runs: &[AcceptedRun], report: &mut LoadReport) {
    let number = u32::try_from(runs.len()).expect("it was one before");
    let begin = Instant::now();
    together(CLIENTS, number, |i| {
        let run = &runs[i as usize];
        client.delete(&run.run_id, &run.deletion_secret).with_status(204);
    });
    report.add("runs deleted", f64::from(number) / begin.elapsed().as_secs_f64(), "a second", None);
}

/// Maximum milliseconds of a list, a filter or a distribution, and of a page made of several.
const LIST: f64 = 50.0;
const PAGE: f64 = 100.0;

/// Filter for a fortnight with a hundredth of all runs.
const FORTNIGHT: &str = "&since=2026-03-01&until=2026-03-14";

/// Filters to measure alone, common and rare.
const FILTERS: [(&str, &str); 14] = [
    ("a backend", "&backend=burn-wgpu"),
    ("a rare backend", "&backend=burn-cuda"),
    ("f16", "&precision=f16"),
    ("a suite", "&suite=complete"),
    ("a vendor", "&vendor=NVIDIA"),
    ("a vendor of few devices", "&vendor=Imagination"),
    ("a browser", "&browser=Firefox"),
    ("a rare browser", "&browser=Opera"),
    ("a system", "&system=macOS"),
    ("browsers", "&client=browser"),
    ("a tier", "&tier=checked"),
    ("a rare tier", "&tier=flagged"),
    ("ranked", "&ranked=true"),
    ("a fortnight", FORTNIGHT),
];

const PAIRS: [(&str, &str); 10] = [
    ("a backend and a vendor", "&backend=burn-wgpu&vendor=AMD"),
    ("a browser and a system", "&browser=Safari&system=macOS"),
    ("a tier and f16", "&tier=flagged&precision=f16"),
    ("a suite and a vendor", "&suite=complete&vendor=Intel"),
    ("a browser and a fortnight", "&browser=Firefox&since=2026-03-01&until=2026-03-14"),
    ("programs and a tier", "&client=native&tier=unverified"),
    ("a rare browser and a rare backend", "&browser=Opera&backend=burn-cuda"),
    ("a rare browser and a fortnight", "&browser=Opera&since=2026-03-01&until=2026-03-14"),
    ("a system, most accurate", "&system=macOS&sort=accuracy"),
    ("a vendor, soonest accurate", "&vendor=AMD&sort=time_to_accuracy"),
];

fn cursors(server: &TestServer) -> Vec<String> {
    let client = client_of(server);
    let path = format!("/api/v1/runs?workload={}&limit=100", SUITES[0].workloads[0]);
    let mut cursors: Vec<String> = Vec::new();
    for _ in 0..100 {
        let from = cursors.last().map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
        let page: RunList = client.read(&format!("{path}{from}"));
        let Some(next) = page.next else { break };
        cursors.push(next);
    }
    cursors
}

/// Requests with their maximum milliseconds. [`fill`] replaces the words in braces.
const REQUESTS: &[(&str, f64, &str)] = &[
    ("newest results", LIST, "/api/v1/runs"),
    ("newest ranked results", LIST, "/api/v1/runs?ranked=true"),
    ("fastest of a network", LIST, "/api/v1/runs?workload={workload}"),
    ("fastest of a network, 500", LIST, "/api/v1/runs?workload={workload}&limit=500"),
    ("fastest of a network, far down", LIST, "/api/v1/runs?workload={workload}&offset=10000"),
    ("fastest of a backend", LIST, "/api/v1/runs?workload={workload}&backend=burn-wgpu"),
    ("fastest in f16", LIST, "/api/v1/runs?workload={workload}&precision=f16"),
    ("fastest of a backend in f16", LIST, "/api/v1/runs?workload={workload}&backend=burn-wgpu&precision=f16"),
    ("fastest of a backend without results", LIST, "/api/v1/runs?workload={workload}&backend=burn-cuda"),
    ("ranking of a network", LIST, "/api/v1/runs?workload={workload}&ranked=true"),
    ("ranking of a backend in f16", LIST, "/api/v1/runs?workload={workload}&ranked=true&backend=wgsl&precision=f16"),
    ("newest of the most common device", LIST, "/api/v1/runs?device={common device}"),
    ("fastest of it", LIST, "/api/v1/runs?workload={workload}&device={common device}"),
    ("most accurate of it", LIST, "/api/v1/runs?workload={workload}&device={common device}&sort=accuracy"),
    ("fastest of it, a rare browser", LIST, "/api/v1/runs?workload={workload}&device={common device}&browser=Opera"),
    ("newest of any device", LIST, "/api/v1/runs?device={device}"),
    // Worst case: filters with more matches than are read at once, too rarely matched together to fill a page within
    // the scan limit.
    ("the worst: f16 in a fortnight, fastest", LIST, "/api/v1/runs?workload={first}&precision=f16{fortnight}"),
    ("the worst, most accurate", LIST, "/api/v1/runs?workload={first}&precision=f16&sort=accuracy{fortnight}"),
    ("the worst, from place 10,000", LIST, "/api/v1/runs?workload={first}&precision=f16{fortnight}&offset=10000"),
    ("a page far down by cursor", LIST, "/api/v1/runs?workload={first}&limit=100&cursor={cursor}"),
    ("two runs compared", PAGE, "/api/v1/compare?runs={quick run},{complete run}"),
    ("two devices compared", PAGE, "/api/v1/compare?devices={common device},{second device}"),
    ("history of the most common device", PAGE, "/api/v1/devices/{common device}/history"),
    ("history of a device", PAGE, "/api/v1/devices/{device}/history"),
    ("places, quick suite (the start page)", LIST, "/api/v1/standings?suite=quick"),
    ("places, complete suite", LIST, "/api/v1/standings?suite=complete"),
    ("places, quick suite, browsers", LIST, "/api/v1/standings?suite=quick&client=browser"),
    ("places, quick suite, f16 of a backend", LIST, "/api/v1/standings?suite=quick&precision=f16&backend=burn-wgpu"),
    ("places, quick suite, 500 lines", LIST, "/api/v1/standings?suite=quick&limit=500"),
    ("distribution of a network, quick suite", LIST, "/api/v1/distribution?suite=quick&workload={quick workload}"),
    ("distribution of a network, complete suite", LIST, "/api/v1/distribution?suite=complete&workload={workload}"),
    ("a run", LIST, "/api/v1/runs/{quick run}"),
    ("where a quick run stands", PAGE, "/api/v1/runs/{quick run}/standing"),
    ("where a complete run stands", PAGE, "/api/v1/runs/{complete run}/standing"),
    ("the most common device", PAGE, "/api/v1/devices/{common device}"),
    ("a device", PAGE, "/api/v1/devices/{device}"),
];

fn fill(template: &str, runs: &Runs, cursors: &[String], random: &mut Random) -> String {
    let words: [(&str, &str); 10] = [
        ("{workload}", one_of(SUITES[1].workloads, random)),
        ("{quick workload}", one_of(SUITES[0].workloads, random)),
        ("{first}", SUITES[0].workloads[0]),
        ("{fortnight}", FORTNIGHT),
        ("{common device}", &runs.devices[0]),
        ("{second device}", &runs.devices[1]),
        ("{device}", one_of(&runs.devices, random)),
        ("{quick run}", one_of(&runs.quick, random)),
        ("{complete run}", one_of(&runs.complete, random)),
        ("{cursor}", one_of(cursors, random)),
    ];
    words.iter().fold(template.to_owned(), |path, (word, value)| path.replace(word, value))
}

fn measure_reading(server: &TestServer, runs: &Runs, arguments: &LoadArguments, report: &mut LoadReport) {
    let client = client_of(server);
    let cursors = cursors(server);
    let mut ask = |name: &str, wanted: f64, template: &str| {
        let request = |i: u32| {
            let path = fill(template, runs, &cursors, &mut Random(u64::from(i)));
            client.get_with(&path, "accept-encoding", "gzip").with_status(200);
        };
        // The first requests read from the disk and are not measured.
        together(arguments.clients, arguments.requests / 10, request);
        report.add_durations(name, together(arguments.clients, arguments.requests, request).0, wanted);
    };
    for (name, wanted, template) in REQUESTS {
        ask(name, *wanted, template);
    }
    for (name, rest) in FILTERS {
        ask(&format!("fastest, {name}"), LIST, &format!("/api/v1/runs?workload={{workload}}{rest}"));
        ask(&format!("newest, {name}"), LIST, &format!("/api/v1/runs?{}", &rest[1..]));
    }
    for (name, rest) in PAIRS {
        ask(&format!("fastest, {name}"), LIST, &format!("/api/v1/runs?workload={{workload}}{rest}"));
    }
}

fn one_of<'a>(list: &'a [impl AsRef<str>], random: &mut Random) -> &'a str {
    list[random.below(list.len())].as_ref()
}
