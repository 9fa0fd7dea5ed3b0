use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use results::{Client, ClientKind, Provenance};

/// Who runs this, and since when; the engine adds how long it took.
pub(crate) fn provenance() -> Provenance {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    Provenance {
        // The engine has the version of the workspace, as this program has.
        engine_version: version.clone(),
        commit: env!("GRADMARK_COMMIT").to_owned(),
        // A clock set before 1970 tells nothing; the server notes its own time anyway.
        started_unix_seconds: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64()),
        wall_seconds: 0.0,
        client: Client {
            kind: ClientKind::Native,
            name: "native-runner".to_owned(),
            version,
            operating_system: operating_system().to_owned(),
            logical_processors: thread::available_parallelism().ok().and_then(|count| u32::try_from(count.get()).ok()),
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
