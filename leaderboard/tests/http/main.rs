//! The server over real HTTP on loopback, with a real SQLite file, and as a real process.

mod data_sets;
mod durability;
mod forgeries;
mod lifecycle;
mod limits;
mod listing;
mod pages;
mod proof;
mod refusals;
mod registration;
mod support;
mod upkeep;
