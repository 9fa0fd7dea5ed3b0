//! The server over real HTTP on loopback, and as a real process, with a real SQLite file. With
//! `GRADMARK_TEST_DATABASE=postgres`, the same tests run on a real PostgreSQL server.

mod badges;
mod cheats;
mod comparisons;
mod durability;
mod export;
#[cfg(target_os = "linux")]
mod full_disk;
mod fuzzing;
mod language;
mod lifecycle;
mod limits;
mod listing;
mod moderation;
mod open;
mod pages;
mod postgres_server;
mod proof;
mod protection;
mod refusals;
mod replays;
mod segments;
mod snapshots;
mod speedrun;
mod sqlite_file;
mod standings;
mod support;
mod two_servers;
mod upkeep;

use engine::{DataSet, data_set};

fn on_postgres() -> bool {
    std::env::var("GRADMARK_TEST_DATABASE").is_ok_and(|name| name == "postgres")
}
