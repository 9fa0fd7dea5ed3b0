//! How the leaderboard bears a big board: fills a data base of its own, then asks and hands in over HTTP, and says how long
//! that took beside what is wanted. `cargo run --release --config profile.release.package.leaderboard.opt-level=3 -p leaderboard
//! --example load` runs it.

mod board;
mod handing_in;
mod measure;
mod reading;
mod server;

#[path = "../../tests/http/support"]
#[expect(dead_code, reason = "the tests use more of their support")]
mod support {
    pub(crate) mod database;
    pub(crate) mod postgres;
    pub(crate) mod record;
}

use clap::Parser;
use leaderboard::DatabaseAddress;
use leaderboard::load::Board;
use support::database::{TestDatabase, block_on};

use board::Runs;
use measure::Report;

/// Returns false for the tests' support code: this program chooses the kind of each database itself.
const fn on_postgres() -> bool {
    false
}

#[derive(Parser)]
#[command(
    about = "Fills a leaderboard and measures how it bears that",
    after_help = "Examples:
  load                                      a million results on SQLite and on PostgreSQL
  load --on sqlite --results 100000
  load --board board.sqlite                 keeps the board, and takes it the next time
  load --board postgres://postgres@localhost/board
                                            the same in an empty data base of a server of yours
  load --json > load.json                   one JSON document, to be compared with another"
)]
struct Arguments {
    /// Results on the board
    #[arg(long, default_value_t = 1_000_000, value_name = "N")]
    results: u64,
    /// Data bases, one after the other: sqlite, postgres
    #[arg(long, value_delimiter = ',', default_value = "sqlite,postgres", value_name = "LIST")]
    on: Vec<Kind>,
    /// Requests of each kind
    #[arg(long, default_value_t = 200, value_name = "N")]
    requests: u32,
    /// Who ask at the same time
    #[arg(long, default_value_t = 2, value_name = "N")]
    clients: u32,
    /// Runs that are handed in
    #[arg(long, default_value_t = 5000, value_name = "N")]
    hand_ins: u32,
    /// Where a board is kept, and taken where it is there, because making one takes ten minutes: an SQLite file, or an empty
    /// data base on a PostgreSQL server; it is the only one that is measured then
    #[arg(long, value_name = "FILE|ADDRESS", conflicts_with = "on")]
    board: Option<String>,
    /// Write figures as JSON to the standard output
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    Sqlite,
    Postgres,
}

fn main() {
    let arguments = Arguments::parse();
    let reports: Vec<Report> = match &arguments.board {
        Some(board) => vec![measure(&TestDatabase::at(board.clone()), &arguments)],
        None => arguments.on.iter().map(|kind| measure(&new_database(*kind), &arguments)).collect(),
    };
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&reports).expect("figures can be written as JSON"));
    }
    let missed = reports.iter().flat_map(|report| &report.figures).filter(|figure| figure.missed()).count();
    if missed > 0 {
        eprintln!("{missed} figures miss what is wanted");
    }
}

/// One that goes with this program.
fn new_database(kind: Kind) -> TestDatabase {
    match kind {
        Kind::Sqlite => TestDatabase::new(),
        Kind::Postgres => TestDatabase::at(support::postgres::Cluster::shared().new_schema()),
    }
}

fn measure(database: &TestDatabase, arguments: &Arguments) -> Report {
    let kind = if matches!(database.address(), DatabaseAddress::File(_)) { Kind::Sqlite } else { Kind::Postgres };
    let mut report = Report::new(kind, arguments.results);
    // Its tables are made.
    block_on(async { Board::open(&database.address()).await.expect("a data base").close().await });
    let is_empty = Runs::on(database).quick.is_empty();
    block_on(async {
        let board = Board::open(&database.address()).await.expect("a data base");
        if is_empty {
            board::fill(&board, arguments.results, &mut report).await;
        }
        board::check_plans(&board).await;
        board.close().await;
    });
    let runs = Runs::on(database);
    let server = server::Server::start(database);
    reading::measure(&server, &runs, arguments, &mut report);
    handing_in::measure(&server, arguments.hand_ins, &mut report);
    report
}
