//! What a cell is asked for that measures kernels.

use results::kernels::Suite;
use serde::{Deserialize, Serialize};

/// A suite of kernels on an adapter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KernelSettings {
    pub(crate) suite: Suite,
    pub(crate) adapter: String,
    /// What an entry may take for its few repetitions.
    pub(crate) budget_seconds: f64,
    /// What an entry may use on the device.
    pub(crate) budget_mib: u32,
}

impl KernelSettings {
    /// The command and its arguments.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let Self { suite, adapter, budget_seconds, budget_mib } = self;
        let options = [
            ("--suite", suite.name().to_owned()),
            ("--adapter", adapter.clone()),
            ("--budget-seconds", budget_seconds.to_string()),
            ("--budget-mib", budget_mib.to_string()),
        ];
        let words = options.into_iter().flat_map(|(name, value)| [name.to_owned(), value]);
        ["kernels".to_owned()].into_iter().chain(words).collect()
    }

    pub(crate) fn budget_bytes(&self) -> u64 {
        u64::from(self.budget_mib) << 20
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::kernel_settings;
    use super::*;

    #[test]
    fn the_command_is_asked_for_what_the_cell_says() {
        let cell = KernelSettings { budget_seconds: 0.05, ..kernel_settings(Suite::Launch) };
        let line = cell.arguments().join(" ");
        assert_eq!(line, "kernels --suite launch --adapter any --budget-seconds 0.05 --budget-mib 1024");
    }
}
