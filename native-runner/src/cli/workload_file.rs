//! Which workloads: by name, or from files that describe networks of one's own.

use std::path::{Path, PathBuf};

use clap::Args;
use engine::Workload;

use super::find_workloads;
use crate::failure::Failure;
use crate::workload_file;

/// Networks of one's own, wherever several workloads are named.
#[derive(Debug, Args)]
pub(crate) struct WorkloadFileArgs {
    /// Train the network that a TOML or JSON file describes: layers, optimiser, schedule, data set (docs/WORKLOADS.md).
    /// Can be given several times; never ranked
    #[arg(long = "workload-file", value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl WorkloadFileArgs {
    pub(crate) fn first(&self) -> Option<&Path> {
        self.files.first().map(PathBuf::as_path)
    }

    /// The workloads with these names, and then those of the files, each once.
    ///
    /// # Errors
    /// A name that is not in the registry, a file that describes no network, and two networks of one name.
    pub(crate) fn and_named<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<Vec<Workload>, Failure> {
        let mut found = find_workloads(names)?;
        for (number, file) in self.files.iter().enumerate() {
            if self.files[..number].contains(file) {
                continue;
            }
            let workload = workload_file::load(file)?;
            if found.iter().any(|other| other.name == workload.name) {
                let text = format!("{}: another file describes a network called `{}`", file.display(), workload.name);
                return Err(Failure::Usage(text));
            }
            found.push(workload);
        }
        Ok(found)
    }
}

/// One workload, of either kind.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct OneWorkloadArgs {
    /// Workload to train; `native-runner workloads` lists them
    #[arg(long = "workload", value_name = "NAME")]
    name: Option<String>,
    /// File that describes the network to train, instead (docs/WORKLOADS.md)
    #[arg(long = "workload-file", value_name = "FILE")]
    file: Option<PathBuf>,
}

impl OneWorkloadArgs {
    /// It, alone in a list.
    ///
    /// # Errors
    /// A name that is not in the registry, and a file that describes no network.
    pub(crate) fn find(&self) -> Result<Vec<Workload>, Failure> {
        match &self.file {
            Some(file) => Ok(vec![workload_file::load(file)?]),
            None => find_workloads(self.name.as_deref().map(str::trim)),
        }
    }
}

const WORKLOADS_EXAMPLES: &str = "\
Examples:
  native-runner workloads                          those that are built in
  native-runner workloads --workload-file my_network.toml
                                                   is there a mistake in the file, and how large is its network?
  native-runner workloads --schema > workload.schema.json
                                                   what editors check such a file with";

#[derive(Debug, Args)]
#[command(after_help = WORKLOADS_EXAMPLES)]
pub(crate) struct WorkloadsArgs {
    /// Show the network that a TOML or JSON file describes, instead (docs/WORKLOADS.md). Can be given several times
    #[arg(long = "workload-file", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Print the JSON Schema of such a file
    #[arg(long, conflicts_with_all = ["files", "json"])]
    pub(crate) schema: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
