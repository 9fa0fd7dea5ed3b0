//! Interface of a browser that tests drive.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use base64::Engine;
use serde_json::Value;

use crate::{Page, PageServer, Setup};

/// Life cycle of a browser.
pub(crate) trait Driven: Page + Sized {
    /// Message for machines on which [`Self::find`] finds nothing.
    const MISSING: &'static str;

    fn find() -> Option<PathBuf>;

    async fn start(program: &Path, server: &PageServer, setup: Setup) -> Result<Self>;

    /// Fails if the console has an error or a violation of the content security policy, or if the page sent a request
    /// to another server.
    async fn assert_well_behaved(&self);

    /// Returns new lines that the page has logged, each with its level.
    async fn console(&self) -> Vec<String>;

    async fn describe(&self) -> String {
        let text = self.text("body").await.unwrap_or_default();
        format!("--- the page says:\n{text}\n--- the console says:\n{}", self.console().await.join("\n"))
    }

    async fn close(self);
}

/// Decodes the image in a response.
pub(crate) fn decode_image(response: &Value) -> Result<Vec<u8>> {
    let text = response["data"].as_str().context("an image")?;
    Ok(base64::engine::general_purpose::STANDARD.decode(text)?)
}

/// Finds the first of these programs that is on the PATH.
pub(crate) fn find_on_path(names: &[&str]) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let mut programs = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    programs.find(|program| program.is_file())
}

/// Fails if the page sent a request to another server, or if none of its requests was logged.
pub(crate) fn assert_same_origin(addresses: &[String], origin: &str) {
    let addresses = addresses.iter().filter(|address| address.starts_with("http"));
    let (own, foreign): (Vec<_>, Vec<_>) = addresses.partition(|address| address.starts_with(origin));
    assert!(!own.is_empty(), "the network log is empty, so requests to other servers would go unnoticed");
    assert!(foreign.is_empty(), "the page sent requests to other servers: {foreign:#?}");
}
