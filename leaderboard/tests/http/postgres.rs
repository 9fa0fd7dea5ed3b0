//! The same tests as in `main.rs`, on a real PostgreSQL server, and some about that server.

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
mod postgres_server;
mod proof;
mod protection;
mod refusals;
mod registration;
mod replays;
mod restoring;
mod snapshots;
mod standings;
mod support;
mod trouble;
mod two_servers;
mod upkeep;

/// Whether the servers of these tests keep their runs on a PostgreSQL server.
const ON_POSTGRES: bool = true;
