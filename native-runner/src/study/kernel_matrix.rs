//! The part of a study's file that measures kernels.

use std::num::NonZero;

use results::kernels::Suite;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cell::{Cell, Settings};
use super::definition::usual_adapters;
use super::kernel_settings::KernelSettings;
use super::length::Length;
use super::names::Positive;

/// Every suite on every adapter is a cell: `native-runner kernels`, in f32, which is all that it measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KernelMatrix {
    #[serde(default = "all_suites")]
    pub(crate) suites: Vec<Suite>,
    /// As `--adapter` takes them.
    #[serde(default = "usual_adapters")]
    pub(crate) adapters: Vec<String>,
    /// What an entry may take for its few repetitions.
    #[serde(default = "usual_seconds")]
    pub(crate) budget_seconds: Positive,
    /// Mebibytes that an entry may use on the device.
    #[serde(default = "usual_mebibytes")]
    pub(crate) budget_mib: NonZero<u32>,
}

fn all_suites() -> Vec<Suite> {
    Suite::ALL.to_vec()
}

fn usual_seconds() -> Positive {
    Positive(2.0)
}

fn usual_mebibytes() -> NonZero<u32> {
    NonZero::new(1024).expect("it is not zero")
}

impl KernelMatrix {
    /// Its cells, each entry with this share of its seconds.
    pub(super) fn cells(&self, scale: f64) -> impl Iterator<Item = Cell> {
        let pairs = self.suites.iter().flat_map(|suite| self.adapters.iter().map(move |adapter| (*suite, adapter)));
        pairs.map(move |(suite, adapter)| {
            let settings = KernelSettings {
                suite,
                adapter: adapter.clone(),
                budget_seconds: self.budget_seconds.0 * scale,
                budget_mib: self.budget_mib.get(),
            };
            Cell::new(Settings::Kernels(settings), Some(Length::Seconds(self.budget_seconds)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Definition;
    use super::*;

    fn parse(lines: &str) -> Result<Definition, String> {
        Definition::parse(&format!("title = \"t\"\n[[kernels]]\n{lines}\n"))
    }

    fn cells(lines: &str, scale: f64) -> Vec<Cell> {
        parse(lines).unwrap().kernels[0].cells(scale).collect()
    }

    #[test]
    fn every_suite_on_every_adapter_is_a_cell() {
        let cells = cells("suites = [\"gemm\", \"rnn\"]\nadapters = [\"cpu\", \"discrete\"]", 1.0);
        let texts: Vec<String> = cells.iter().map(|cell| cell.settings.text()).collect();
        let expected = ["gemm · cpu", "gemm · discrete", "rnn · cpu", "rnn · discrete"];
        assert_eq!(texts, expected.map(|which| format!("kernels {which} · 2 s an entry · 1024 MiB an entry")));
    }

    #[test]
    fn a_line_that_says_nothing_is_every_suite_on_the_best_adapter() {
        let suites: Vec<Settings> = cells("", 1.0).into_iter().map(|cell| cell.settings).collect();
        assert_eq!(suites.len(), Suite::ALL.len());
    }

    #[test]
    fn a_scale_shortens_the_seconds_of_an_entry_and_the_full_ones_are_remembered() {
        let cells = cells("suites = [\"gemm\"]\nbudget_seconds = 4", 0.1);
        assert!(cells[0].settings.text().contains("0.4 s an entry"), "{}", cells[0].settings.text());
        assert_eq!(cells[0].full_limit.map(|limit| limit.to_string()).as_deref(), Some("4 s"));
    }

    #[test]
    fn what_kernels_have_no_axis_for_is_refused_with_its_place_and_with_what_there_is() {
        for axis in ["workloads = [\"caffe-mnist\"]", "batch_sizes = [1]", "precisions = [\"f16\"]", "seeds = [1]"] {
            let error = parse(axis).unwrap_err();
            let name = axis.split(' ').next().unwrap();
            for part in ["line 3, column 1", &format!("unknown field `{name}`"), "`suites`", "`budget_mib`"] {
                assert!(error.contains(part), "{part} is missing in {error}");
            }
        }
        let error = parse("suites = [\"gru\"]").unwrap_err();
        assert!(error.contains("line 3, column 11") && error.contains("`launch`"), "{error}");
        let error = parse("budget_seconds = 0").unwrap_err();
        assert!(error.contains("line 3, column 18") && error.contains("above 0"), "{error}");
    }
}
