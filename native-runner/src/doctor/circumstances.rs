use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::adapters::Listing;
use super::traces::Trial;
use crate::cli::DoctorArgs;
use crate::screen::Screen;

/// What examinations look at, and what they leave for others.
pub(crate) struct Circumstances<'a> {
    pub(super) arguments: &'a DoctorArgs,
    /// Where the system's files are; tests have a tree of their own.
    pub(super) root: PathBuf,
    variable: fn(&str) -> Option<String>,
    pub(super) listing: Listing,
    /// What was tried, or would be.
    pub(super) trials: Vec<Trial>,
    /// Says what goes on, on a terminal alone.
    spinner: ProgressBar,
}

impl<'a> Circumstances<'a> {
    /// Of this machine. The adapters are listed by another process, because drivers may crash.
    pub(crate) fn of_this_machine(arguments: &'a DoctorArgs) -> Self {
        let mut circumstances = Self {
            arguments,
            root: PathBuf::from("/"),
            variable: |name| std::env::var(name).ok().filter(|value| !value.is_empty()),
            listing: Listing::default(),
            trials: Vec::new(),
            spinner: spinner(),
        };
        circumstances.say("adapters");
        circumstances.listing = Listing::by_another_process();
        circumstances
    }

    #[cfg(test)]
    pub(super) fn of_a_test(
        arguments: &'a DoctorArgs,
        root: &Path,
        listing: Listing,
        variable: fn(&str) -> Option<String>,
    ) -> Self {
        let root = root.to_owned();
        Self { arguments, root, variable, listing, trials: Vec::new(), spinner: ProgressBar::hidden() }
    }

    /// A file of the system; the path is without its first slash.
    pub(super) fn file(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.join(path)
    }

    /// A variable of the environment that says something.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        (self.variable)(name)
    }

    /// How long a back end may take to show that it computes rightly.
    pub(super) fn patience(&self) -> Duration {
        Duration::from_secs_f64(self.arguments.trace_seconds)
    }

    /// Says on a terminal what goes on.
    pub(super) fn say(&self, what: &str) {
        self.spinner.set_message(format!("looking at {what}"));
    }

    /// Nothing goes on any more; the line that said what is wiped away.
    pub(super) fn finish(&self) {
        self.spinner.finish_and_clear();
    }
}

fn spinner() -> ProgressBar {
    if !Screen::Error.is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}").expect("the template is constant");
    let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style);
    spinner.enable_steady_tick(Duration::from_millis(120));
    spinner
}
