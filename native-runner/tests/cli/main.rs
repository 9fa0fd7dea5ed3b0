//! The program as a person or a script meets it: the real binary, its output and its exit status.

mod agreement;
mod archives;
mod bad_input;
mod benchmark;
mod compare;
mod compare_records;
mod devices;
mod doctor;
mod export;
mod external;
mod input;
mod installation;
mod javascript;
mod kernels;
mod leaderboard;
mod lists;
mod logs;
mod profile;
#[cfg(all(unix, feature = "burn-flex", feature = "burn-remote"))]
mod remote;
mod report;
mod screen;
mod steps;
mod study;
mod support;
#[cfg(feature = "burn-flex")]
mod threads;
mod trace;
mod upload;
mod workload_file;
