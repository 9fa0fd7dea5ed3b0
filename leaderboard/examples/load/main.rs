//! How the leaderboard bears a big board: fills a data base of its own, then asks and hands in over HTTP, and says how long
//! that took beside what is wanted. `cargo xtask load` runs it.

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

use std::path::PathBuf;

use clap::Parser;
use leaderboard::load::Board;
use support::database::{TestDatabase, block_on};

use board::Runs;
use measure::Report;

/// Data bases on PostgreSQL are made one by one here, and not because of what kind of test program this is.
const ON_POSTGRES: bool = false;

#[derive(Parser)]
#[command(
    about = "Fills a leaderboard and measures how it bears that",
    after_help = "Examples:
  load                                      a million results on SQLite and on PostgreSQL
  load --on sqlite --results 100000
  load --on sqlite --board board.sqlite     keeps the board, and takes it the next time
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
    /// File of an SQLite board to make, or to take where it is there: making one takes ten minutes
    #[arg(long, value_name = "FILE")]
    board: Option<PathBuf>,
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
    let reports: Vec<Report> = arguments.on.iter().map(|kind| measure(*kind, &arguments)).collect();
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&reports).expect("figures can be written as JSON"));
    }
    let missed = reports.iter().flat_map(|report| &report.figures).filter(|figure| figure.missed()).count();
    if missed > 0 {
        eprintln!("{missed} figures miss what is wanted");
    }
}

fn measure(kind: Kind, arguments: &Arguments) -> Report {
    let (database, is_there) = match (kind, &arguments.board) {
        (Kind::Sqlite, Some(file)) => {
            (TestDatabase::at(file.to_str().expect("its name is text").to_owned()), file.exists())
        }
        (Kind::Sqlite, None) => (TestDatabase::new(), false),
        (Kind::Postgres, _) => (TestDatabase::at(support::postgres::Cluster::shared().new_schema()), false),
    };
    let mut report = Report::new(kind, arguments.results);
    block_on(async {
        let board = Board::open(&database.address()).await.expect("a data base");
        if !is_there {
            board::fill(&board, arguments.results, &mut report).await;
        }
        board::check_plans(&board).await;
        board.close().await;
    });
    let runs = Runs::on(&database);
    let server = server::Server::start(&database);
    reading::measure(&server, &runs, arguments, &mut report);
    handing_in::measure(&server, arguments.hand_ins, &mut report);
    report
}
