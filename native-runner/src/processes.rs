//! Processes that this program starts.

use std::process::Command;
use std::{env, io};

/// A call of this very program, also where its file has been replaced by a newer one since.
///
/// # Errors
/// The system does not tell where it is.
pub(crate) fn this_program() -> io::Result<Command> {
    let place = if cfg!(target_os = "linux") { "/proc/self/exe".into() } else { env::current_exe()? };
    Ok(Command::new(place))
}
