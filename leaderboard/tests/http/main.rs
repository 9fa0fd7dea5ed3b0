//! The server over real HTTP on loopback, with a real SQLite file, and as a real process.

mod data_sets;
mod durability;
mod etags;
mod forgeries;
mod fuzzing;
mod lifecycle;
mod limits;
mod listing;
mod metrics;
mod pages;
mod proof;
mod protection;
mod refusals;
mod registration;
mod support;
mod upkeep;
