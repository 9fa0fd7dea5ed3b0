//! Set-up: everything `run` and `test` need on a machine that has only Rust, git and a C compiler. Whatever is there
//! already is recognised by looking, which takes milliseconds, and left alone.

mod apt;
mod machine;
mod packages;
pub(crate) mod vulkan;
mod wasm;

use anyhow::Result;
use machine::Machine;
use packages::Need;
pub(crate) use wasm::wasm_target;

/// What the current command needs from the system.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted {
    /// An archive of a data set has to be downloaded.
    pub download: bool,
    /// The browsers that tests drive, and the driver that they steer Chromium by.
    pub browsers: bool,
    /// A Vulkan driver that works without a GPU.
    pub software_vulkan: bool,
    /// The programs of a PostgreSQL server, which the leaderboard's tests start themselves.
    pub postgres: bool,
}

/// Sees to it that the system has what is wanted; a C compiler always is, because SQLite is written in C.
///
/// # Errors
/// When something is missing that needs an administrator and we are none: the error holds the line to paste.
pub(crate) fn system(wanted: Wanted) -> Result<()> {
    let mut needs = vec![Need::CCompiler];
    needs.extend(wanted.download.then_some(Need::Download));
    if wanted.browsers {
        needs.extend([Need::Chromium, Need::Firefox]);
    }
    needs.extend((wanted.software_vulkan && cfg!(target_os = "linux")).then_some(Need::Vulkan));
    // On other systems the tests say that they are skipped.
    needs.extend((wanted.postgres && cfg!(target_os = "linux")).then_some(Need::Postgres));
    packages::ensure(&Machine::this_one(), &needs, Machine::this_one)
}
