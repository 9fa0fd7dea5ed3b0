use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};
use std::{env, io, thread};

use results::{Client, ClientKind, Provenance};
use serde::Serialize;
use starship_battery::units::ratio::percent;
use starship_battery::{Manager, State};
use sysinfo::{CpuRefreshKind, System};

pub(crate) fn provenance() -> Provenance {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    Provenance {
        // The engine and this program share the version of the workspace.
        engine_version: version.clone(),
        commit: env!("GRADMARK_COMMIT").to_owned(),
        // A clock before 1970 is useless; the server records its own time anyway.
        started_unix_seconds: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64()),
        wall_seconds: 0.0,
        client: Client {
            kind: ClientKind::Native,
            name: "native-runner".to_owned(),
            version,
            operating_system: operating_system().to_owned(),
            logical_processors: thread::available_parallelism().ok().and_then(|count| u32::try_from(count.get()).ok()),
            has_battery: Some(!all().is_empty()),
        },
    }
}

pub(crate) fn operating_system() -> &'static str {
    match std::env::consts::OS {
        "linux" => "Linux",
        "windows" => "Windows",
        "macos" => "macOS",
        "android" => "Android",
        "ios" => "iOS",
        _ => "unknown",
    }
}

/// Bound on a processor's name, which a virtual machine chooses freely.
const MAX_NAME_LENGTH: usize = 100;

/// Returns the processor's brand, such as `AMD EPYC 9B14`; `None` where the platform does not report it.
pub(crate) fn name() -> Option<String> {
    static NAME: OnceLock<Option<String>> = OnceLock::new();

    NAME.get_or_init(|| {
        let mut system = System::new().ok()?;
        system.refresh_cpu_list(CpuRefreshKind::nothing());
        clean_brand(system.cpus().first()?.brand())
    })
    .clone()
}

fn clean_brand(brand: &str) -> Option<String> {
    let words: Vec<_> = brand.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    let name: String = words.join(" ").chars().take(MAX_NAME_LENGTH).collect();
    Some(name).filter(|name| !name.is_empty())
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Battery {
    pub(crate) is_discharging: bool,
    pub(crate) charge_percent: f32,
}

pub(crate) fn all() -> Vec<Battery> {
    let batteries = Manager::new().and_then(|manager| manager.batteries());
    let found = batteries.into_iter().flatten().filter_map(Result::ok);
    found
        .map(|battery| Battery {
            is_discharging: battery.state() == State::Discharging,
            charge_percent: battery.state_of_charge().get::<percent>(),
        })
        .collect()
}

/// Returns true if a battery is discharging. A laptop may have two batteries and drain them one after the other.
pub(crate) fn is_discharging() -> bool {
    all().iter().any(|battery| battery.is_discharging)
}

/// Returns Gradmark's folder in the user's cache, which `cargo xtask` uses too.
pub(crate) fn cache() -> Option<PathBuf> {
    Some(dirs::cache_dir()?.join("gradmark"))
}

/// Returns a command that runs this executable, even if its file has been replaced since.
pub(crate) fn this_program() -> io::Result<Command> {
    let place = if cfg!(target_os = "linux") { "/proc/self/exe".into() } else { env::current_exe()? };
    Ok(Command::new(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_short_line_or_none() {
        assert_eq!(clean_brand(" Intel(R)  Core(TM) i7 \u{0}").as_deref(), Some("Intel(R) Core(TM) i7"));
        assert_eq!(clean_brand("  "), None);
        assert_eq!(clean_brand(&"x".repeat(500)).map(|name| name.len()), Some(MAX_NAME_LENGTH));
    }
}
