use std::env;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::{Server, Setup};

/// A browser from its start to its end.
pub(crate) trait Driven: Sized {
    /// What is missing where [`Self::find`] finds nothing, and how to get it.
    const MISSING: &'static str;

    /// The program to start.
    fn find() -> Option<PathBuf>;

    /// Starts the browser with a profile of its own, and one tab.
    async fn start(program: &Path, server: &Server, setup: Setup) -> Result<Self>;

    /// # Panics
    /// The console has an error or reports a broken content security policy; the page asked another server.
    async fn assert_well_behaved(&self);

    /// What a person would look at after a failure.
    async fn describe(&self) -> String;

    /// Ends the browser and whatever was started for it.
    async fn close(self);
}

/// The first of these programs that is on the PATH.
pub(crate) fn on_the_path(names: &[&str]) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let mut programs = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    programs.find(|program| program.is_file())
}

/// # Panics
/// An address that the page asked for is another server's than its own; or it asked for none, so that nothing is known.
pub(crate) fn assert_own(addresses: &[String], origin: &str) {
    let addresses = addresses.iter().filter(|address| address.starts_with("http"));
    let (own, foreign): (Vec<_>, Vec<_>) = addresses.partition(|address| address.starts_with(origin));
    assert!(!own.is_empty(), "the network's log is empty, so nothing is known about the page's requests");
    assert!(foreign.is_empty(), "the page asked other servers: {foreign:#?}");
}
