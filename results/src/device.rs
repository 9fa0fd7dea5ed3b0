//! Device and program of a run, and their names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The device that was used. It fits the requested one: a mismatch is an error, so no record has one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// Back end that trained.
    pub backend: String,
    /// Adapter as the platform reports it.
    pub adapter: Adapter,
    /// Name of the device as a person entered it, for platforms that hide it; absent if none was entered.
    pub claimed_name: Option<String>,
}

impl Device {
    /// Returns the name that a person gave the device; `None` for software adapters, which are not GPUs.
    pub fn claimed(&self) -> Option<&str> {
        self.claimed_name.as_deref().filter(|_| !self.adapter.software)
    }
}

/// A device as the platform reports it. Browsers mask most of it; an unknown text is empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Adapter {
    /// Name of the device.
    pub name: String,
    /// Vendor of the device, by name or PCI number.
    pub vendor: String,
    /// Family of the device.
    pub architecture: String,
    /// Kind of device.
    pub kind: DeviceKind,
    /// Interface to the device: `Vulkan`, `Metal`, `DX12`, `WebGPU`, `CUDA`, `ROCm`, or `CPU` for back ends that
    /// compute on the processor; of an external program, its framework.
    pub api: String,
    /// Name and version of the driver; of an external program, the version of its framework.
    pub driver: String,
    /// True for a software adapter, which acts as a GPU but computes on the processor. Its results are shown but never
    /// ranked.
    pub software: bool,
    /// True for a device in WebGPU's compatibility mode, which older GPUs have instead of core WebGPU: its limits are
    /// lower. It is ranked as a separate device.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub compatibility: bool,
}

/// Kind of device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeviceKind {
    /// A separate GPU with its own memory.
    Discrete,
    /// A GPU that shares memory with the processor.
    Integrated,
    /// A GPU of a virtual machine.
    Virtual,
    /// The processor, directly or through a software adapter.
    Cpu,
    /// A device of a kind that the platform does not report.
    #[default]
    Unknown,
}

names!(DeviceKind { Discrete = "discrete", Integrated = "integrated", Virtual = "virtual", Cpu = "cpu", Unknown = "unknown" });

/// Number format of the arithmetic. Results in different formats are never ranked together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// 16-bit numbers for values that are stored and multiplied; f32 for sums and for the weights that are trained.
    F16,
    /// The same as `f16`, with products computed by the device's matrix units.
    #[serde(rename = "f16-matrix")]
    F16Matrix,
    /// 32-bit numbers.
    #[default]
    F32,
    /// 64-bit numbers, on the `reference` back end only.
    F64,
}

names!(Precision { F16 = "f16", F16Matrix = "f16-matrix", F32 = "f32", F64 = "f64" });

impl Precision {
    /// Returns true if values are stored in f16. Rounding, and therefore tolerances, depend only on this.
    pub fn stores_f16(self) -> bool {
        matches!(self, Self::F16 | Self::F16Matrix)
    }
}

/// Origin of a record: the program that made it, and when.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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

/// Browser families that records name; others are [`UNKNOWN`].
pub const BROWSERS: [&str; 6] = ["Chrome", "Edge", "Firefox", "Opera", "Safari", "Samsung Internet"];
/// Operating-system families that records name; others are [`UNKNOWN`].
pub const SYSTEMS: [&str; 5] = ["Android", "Linux", "Windows", "iOS", "macOS"];
/// GPU vendors that the leaderboard distinguishes.
pub const VENDORS: [&str; 8] = ["AMD", "Apple", "Arm", "Imagination", "Intel", "NVIDIA", "Qualcomm", "Samsung"];
/// Family of other browsers and systems.
pub const UNKNOWN: &str = "unknown";

/// The program that ran the engine. A browser gives its family and major version only, never its user-agent string.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// True if the machine has a battery. A browser reports only a battery that is charging or not full, since many
    /// report a full one for machines without; absent if the platform does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_battery: Option<bool>,
}

impl Client {
    /// Returns the browser family, or `None` for a program that is not a browser.
    pub fn browser(&self) -> Option<&'static str> {
        (self.kind == ClientKind::Browser).then(|| known(&BROWSERS, &self.name).unwrap_or(UNKNOWN))
    }

    /// Returns the operating-system family.
    pub fn system(&self) -> &'static str {
        known(&SYSTEMS, &self.operating_system).unwrap_or(UNKNOWN)
    }
}

/// Returns the known spelling of `word`, ignoring case.
fn known(words: &[&'static str], word: &str) -> Option<&'static str> {
    words.iter().copied().find(|known| known.eq_ignore_ascii_case(word.trim()))
}

/// Kind of program that runs the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClientKind {
    /// A page in a browser.
    Browser,
    /// A program outside a browser.
    #[default]
    Native,
}

names!(ClientKind { Browser = "browser", Native = "native" });

/// Name shown for adapters without one; many browsers hide it.
pub const UNNAMED_ADAPTER: &str = "unnamed adapter";

/// Name on the leaderboard of a software adapter whose name the browser hides. Pages in other languages translate it.
pub const HIDDEN_SOFTWARE: &str = "A software adapter";

/// End of the leaderboard name of a device in WebGPU's compatibility mode. Pages in other languages translate it.
pub const IN_COMPATIBILITY_MODE: &str = ", compatibility mode";

const HIDDEN: &str = "A GPU that its browser hides";
const HIDDEN_SUFFIX: &str = " (the browser hides which)";

/// Returns the leaderboard name of a device that its browser hides, given its vendor and architecture, such as
/// `NVIDIA, ampere`; empty if the browser hides them as well. Pages in other languages translate the name.
pub fn hidden_device(told: &str) -> String {
    if told.is_empty() { HIDDEN.to_owned() } else { format!("{told}{HIDDEN_SUFFIX}") }
}

/// Returns the vendor and architecture in a name from [`hidden_device`]; `None` if `name` is of a known device.
pub fn told_of_hidden_device(name: &str) -> Option<&str> {
    if name == HIDDEN { Some("") } else { name.strip_suffix(HIDDEN_SUFFIX) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_recognized_in_any_case() {
        let text = str::to_owned;
        let (name, operating_system) = (text("firefox"), text("Linux"));
        let mut client = Client { kind: ClientKind::Browser, name, operating_system, ..Client::default() };
        assert_eq!((client.browser(), client.system()), (Some("Firefox"), "Linux"));
        client.name = text("Browser of the year");
        client.operating_system = text("Example OS");
        assert_eq!((client.browser(), client.system()), (Some(UNKNOWN), UNKNOWN));
        client.kind = ClientKind::Native;
        assert_eq!(client.browser(), None);
    }
}
