use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a record comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// Version of the engine.
    pub engine_version: String,
    /// Commit of the sources, `unknown` when built outside a checkout.
    pub commit: String,
    /// Start of the run, seconds since 1970 UTC, as the client's clock told it.
    pub started_unix_seconds: f64,
    /// Whole run, seconds.
    pub wall_seconds: f64,
    pub client: Client,
}

/// The program that ran the engine. No user-agent string: family and major version only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Client {
    pub kind: ClientKind,
    /// `native-runner`, or the browser's family such as `Chrome` or `Firefox`.
    pub name: String,
    /// Version; a browser's major version only.
    pub version: String,
    /// `Linux`, `Windows`, `macOS`, `Android`, `iOS`, or `unknown`.
    pub operating_system: String,
    /// Logical processors, where offered.
    pub logical_processors: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClientKind {
    Browser,
    Native,
}

impl ClientKind {
    /// As it is written in addresses and in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Browser => "browser",
            Self::Native => "native",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Browser, Self::Native].into_iter().find(|kind| kind.name() == name)
    }
}
