//! Tests of the page in real browsers with a real server.

mod absent;
mod accessible;
mod backends;
mod compatibility;
mod firefox;
mod german;
mod leaderboard;
mod loading;
mod robust;
mod run;
mod visitor;
