//! `cargo xtask bench`: steps per second of every network on every back end.

use crate::setup::vulkan::{self, Driver};
use crate::setup::{self, Wanted};
use crate::{build, data, say, workspace};
use anyhow::Result;
use clap::Args;
use data_sets::Trust;
use std::path::Path;
use std::process::Command;

/// Whom our kernels stand beside: the one other framework that every machine runs.
const FEATURES: &[&str] = &["burn-flex"];

#[derive(Args)]
pub(crate) struct Options {
    /// What `native-runner steps` is given; without an adapter, a machine without a GPU is measured on its software
    /// adapter
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(top: &Path, options: &Options) -> Result<()> {
    let store = data::store(top, None)?;
    let root = Path::new("/");
    let chosen = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].iter().any(|name| std::env::var_os(name).is_some());
    let software_vulkan = !chosen && !vulkan::shows_gpu(root);
    setup::system(Wanted { software_vulkan, ..Wanted::default() })?;
    data::prepare(&store, Trust::Stamped)?;
    say::step("Building", "native-runner with Burn (minutes at first, nothing to do when it is up to date)");
    let program = build::program_with(top, "native-runner", FEATURES)?;
    let mut command = Command::new(program);
    command.arg("steps").env("GRADMARK_DATA", store.folder());
    let mut software = false;
    if let Driver::Software(icd) = vulkan::choose(root, chosen) {
        say::step("Vulkan", format!("llvmpipe, because no GPU shows itself: VK_DRIVER_FILES={}", icd.display()));
        command.env("VK_DRIVER_FILES", icd);
        software = true;
    }
    command.args(arguments(&options.arguments, software));
    say::step("Measuring", "steps per second");
    workspace::run(&mut command, "the measurement")
}

/// The arguments as they were given, and the software adapter where nothing else can be meant.
fn arguments(given: &[String], software: bool) -> Vec<String> {
    let mut arguments = given.to_vec();
    let names_adapter = given.iter().any(|word| word == "--adapter" || word.starts_with("--adapter="));
    if software && !names_adapter {
        arguments.extend(["--adapter", "cpu"].map(str::to_owned));
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_software_adapter_is_chosen_only_where_there_is_no_other_and_none_was_named() {
        let given = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        assert_eq!(arguments(&given(&["--json"]), false), ["--json"]);
        assert_eq!(arguments(&given(&["--json"]), true), ["--json", "--adapter", "cpu"]);
        assert_eq!(arguments(&given(&["--adapter", "1"]), true), ["--adapter", "1"]);
        assert_eq!(arguments(&given(&["--adapter=1"]), true), ["--adapter=1"]);
    }
}
