//! The page in real browsers, with the real server.

mod absent;
mod accessible;
mod burn;
mod documents;
mod firefox;
mod frameworks;
mod german;
mod kernels;
mod leaderboard;
mod light;
mod offline;
mod robust;
mod running;
mod start;
mod visitor;
