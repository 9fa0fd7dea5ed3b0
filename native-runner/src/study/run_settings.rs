//! What a cell is asked for that trains a network.

use std::path::PathBuf;

use engine::{KNOWN_BACKENDS, Workload};
use results::{InputMode, Layout, Precision};
use serde::{Deserialize, Serialize};

use super::length::Length;
use crate::workload_file;

/// The file of a network of one's own, and what it said when the study was planned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkloadFile {
    pub(crate) path: PathBuf,
    pub(crate) sha256: String,
}

/// Everything that one run is asked for. What is absent is left to the workload, the suite or the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunSettings {
    pub(crate) workload: String,
    /// Where the workload is not built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<WorkloadFile>,
    pub(crate) backend: String,
    pub(crate) adapter: String,
    pub(crate) precision: Precision,
    pub(crate) threads: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) devices: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) input: Option<InputMode>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) layout: Option<Layout>,
    pub(crate) batch_size: Option<u32>,
    pub(crate) learning_rate: Option<f64>,
    pub(crate) limit: Option<Length>,
    pub(crate) seed: u32,
}

impl RunSettings {
    /// The arguments of the run.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let option = |name: &str, value: Option<String>| value.map(|value| [format!("--{name}"), value]);
        let options = [
            match &self.file {
                Some(file) => option("workload-file", Some(file.path.display().to_string())),
                None => option("workload", Some(self.workload.clone())),
            },
            option("backend", Some(self.backend.clone())),
            option("adapter", Some(self.adapter.clone())),
            option("precision", Some(self.precision.name().to_owned())),
            option("threads", self.threads.map(|count| count.to_string())),
            option("devices", self.devices.map(|count| count.to_string())),
            option("input", self.input.map(|mode| mode.name().to_owned())),
            option("layout", self.layout.map(|layout| layout.name().to_owned())),
            option("batch-size", self.batch_size.map(|size| size.to_string())),
            option("learning-rate", self.learning_rate.map(|rate| rate.to_string())),
            self.limit.map(Length::arguments),
            option("seed", Some(self.seed.to_string())),
        ];
        options.into_iter().flatten().flatten().collect()
    }

    /// What is trained.
    ///
    /// # Errors
    /// There is no such network; or its file is not what it was.
    pub(crate) fn network(&self) -> Result<Workload, String> {
        let Some(file) = &self.file else {
            return engine::workload(&self.workload).ok_or_else(|| format!("there is no workload `{}`", self.workload));
        };
        let (workload, sha256) = workload_file::load_with_digest(&file.path).map_err(|failure| failure.to_string())?;
        if sha256 == file.sha256 {
            return Ok(workload);
        }
        Err(format!(
            "{} has changed since the study was planned; what it says now is another study",
            file.path.display()
        ))
    }

    /// Whether another program than this one trains it.
    pub(crate) fn is_of_external_program(&self) -> bool {
        KNOWN_BACKENDS.iter().all(|known| known.name != self.backend)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{run_settings, unusual_run_settings};

    #[test]
    fn a_run_is_asked_for_what_the_cell_says_and_for_nothing_else() {
        let plain = run_settings("caffe-mnist").arguments().join(" ");
        assert_eq!(plain, "--workload caffe-mnist --backend burn-flex --adapter any --precision f32 --seed 1");
        let cell = unusual_run_settings("caffe-mnist");
        let line = cell.arguments().join(" ");
        let options = "--threads 2 --input stream --layout nchw --batch-size 500 --learning-rate 0.0001 --steps 20000 \
                       --seed 1";
        assert!(line.ends_with(options), "{line}");
    }
}
