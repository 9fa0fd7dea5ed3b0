pub mod client;
pub mod process;
pub mod record;
pub mod server;

pub use client::{Answer, Client};
pub use process::ServerProcess;
pub use server::TestServer;
