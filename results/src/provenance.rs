use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Origin of a record: the program that made it, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// Version of the engine that trained.
    pub engine_version: String,
    /// Commit of the engine's sources; `unknown` if it was built outside a checkout.
    pub commit: String,
    /// Start of the run in seconds since 1970 UTC, by the clock of the client.
    pub started_unix_seconds: f64,
    /// Seconds that the whole run took.
    pub wall_seconds: f64,
    /// Program that ran the engine.
    pub client: Client,
}

/// The families of browsers that records name; whatever is none of them is [`UNKNOWN`].
pub const BROWSERS: [&str; 6] = ["Chrome", "Edge", "Firefox", "Opera", "Safari", "Samsung Internet"];
/// The families of operating systems, likewise.
pub const SYSTEMS: [&str; 5] = ["Android", "Linux", "Windows", "iOS", "macOS"];
/// The makers of GPUs that the leaderboard tells apart.
pub const VENDORS: [&str; 8] = ["AMD", "Apple", "Arm", "Imagination", "Intel", "NVIDIA", "Qualcomm", "Samsung"];
/// A browser or a system that is none of those that we know.
pub const UNKNOWN: &str = "unknown";

/// The program that ran the engine. A browser gives its family and major version only, never its user-agent string.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// Kind of program.
    pub kind: ClientKind,
    /// Name of the program: `native-runner`, or the browser's family, such as `Chrome` or `Firefox`.
    pub name: String,
    /// Version of the program; of a browser, the major version only.
    pub version: String,
    /// Operating system: `Linux`, `Windows`, `macOS`, `Android`, `iOS`, or `unknown`.
    pub operating_system: String,
    /// Number of logical processors; absent if the platform does not report it.
    pub logical_processors: Option<u32>,
}

impl Client {
    /// Returns the family of the browser, or `None` for a program that is not one.
    pub fn browser(&self) -> Option<&'static str> {
        (self.kind == ClientKind::Browser).then(|| known(&BROWSERS, &self.name).unwrap_or(UNKNOWN))
    }

    /// Returns the family of the operating system.
    pub fn system(&self) -> &'static str {
        known(&SYSTEMS, &self.operating_system).unwrap_or(UNKNOWN)
    }
}

/// The one of these words, in whatever case it is written.
fn known(words: &[&'static str], word: &str) -> Option<&'static str> {
    words.iter().copied().find(|known| known.eq_ignore_ascii_case(word.trim()))
}

/// Kind of program that runs the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClientKind {
    /// A page in a browser.
    Browser,
    /// A program outside a browser.
    Native,
}

impl ClientKind {
    /// Returns the name that addresses and records use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Browser => "browser",
            Self::Native => "native",
        }
    }

    /// Returns the kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Browser, Self::Native].into_iter().find(|kind| kind.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_known_and_versions_make_no_difference() {
        let mut client = Client {
            kind: ClientKind::Browser,
            name: "firefox".to_owned(),
            version: "142".to_owned(),
            operating_system: "Linux".to_owned(),
            logical_processors: None,
        };
        assert_eq!((client.browser(), client.system()), (Some("Firefox"), "Linux"));
        client.name = "Browser of the year".to_owned();
        client.operating_system = "Example OS".to_owned();
        assert_eq!((client.browser(), client.system()), (Some(UNKNOWN), UNKNOWN));
        client.kind = ClientKind::Native;
        assert_eq!(client.browser(), None);
    }
}
