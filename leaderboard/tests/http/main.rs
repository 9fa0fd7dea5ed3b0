//! The server over real HTTP on loopback, with a real SQLite file, and as a real process. `postgres.rs` runs the
//! same tests on PostgreSQL.

mod badges;
mod cards;
mod checkpoints;
mod comparing;
mod comparisons;
mod data_sets;
mod devices;
mod durability;
mod etags;
mod export;
mod export_parquet;
mod failed_workload;
mod fingerprints;
mod forgeries;
mod fuzzing;
mod lifecycle;
mod limits;
mod listing;
mod metrics;
mod moderation;
mod openapi;
mod pages;
mod pages_of_lists;
mod plans;
mod programs;
mod proof;
mod protection;
mod refusals;
mod registration;
mod replays;
mod restoring;
mod snapshots;
mod sqlite_file;
mod standings;
mod support;
mod trouble;
mod two_servers;
mod upgrade;
mod upkeep;

/// Whether the servers of these tests keep their runs on a PostgreSQL server.
const ON_POSTGRES: bool = false;
