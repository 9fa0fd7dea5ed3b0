//! A cell: what one run is asked to do.

use std::path::PathBuf;

use engine::{KNOWN_BACKENDS, Workload};
use results::{InputMode, Layout, Precision};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::axis::Axis;
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
pub(crate) struct Settings {
    pub(crate) workload: String,
    /// Where the workload is not built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<WorkloadFile>,
    pub(crate) backend: String,
    pub(crate) adapter: String,
    pub(crate) precision: Precision,
    pub(crate) threads: Option<u16>,
    /// Cells of earlier versions had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) devices: Option<u32>,
    /// The same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) input: Option<InputMode>,
    /// The same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) layout: Option<Layout>,
    pub(crate) batch_size: Option<u32>,
    pub(crate) learning_rate: Option<f64>,
    pub(crate) limit: Option<Length>,
    pub(crate) seed: u32,
}

impl Settings {
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

    /// In words: the workload, the back end, and what else was asked for.
    pub(crate) fn text(&self) -> String {
        let said = Axis::ALL.into_iter().filter(|axis| *axis == Axis::Limit || axis.is_asked_for(self));
        said.map(|axis| axis.text(self)).collect::<Vec<_>>().join(" · ")
    }

    /// A short name that no other settings have, for a file: the network, the back end and a digest of all settings.
    fn id(&self) -> String {
        let json = serde_json::to_vec(self).expect("text and numbers are always JSON");
        let digest: String = Sha256::digest(json).iter().take(5).map(|byte| format!("{byte:02x}")).collect();
        format!("{}-{}-{digest}", self.workload, self.backend)
    }
}

/// A cell that may have been run or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cell {
    pub(crate) id: String,
    pub(crate) settings: Settings,
    /// The limit before the study was scaled.
    pub(crate) full_limit: Option<Length>,
    /// Place in the definition, from 0, which is the order of tables.
    pub(crate) place: usize,
}

impl Cell {
    pub(crate) fn new(settings: Settings, full_limit: Option<Length>) -> Self {
        Self { id: settings.id(), settings, full_limit, place: 0 }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use super::super::testing::settings;
    use super::*;

    #[test]
    fn a_run_is_asked_for_what_the_cell_says_and_for_nothing_else() {
        let plain = settings("caffe-mnist").arguments().join(" ");
        assert_eq!(plain, "--workload caffe-mnist --backend burn-flex --adapter any --precision f32 --seed 1");
        let cell = Settings {
            threads: Some(2),
            input: Some(InputMode::Stream),
            layout: Some(Layout::Nchw),
            batch_size: Some(500),
            learning_rate: Some(1e-4),
            limit: NonZero::new(20_000).map(Length::Steps),
            ..settings("caffe-mnist")
        };
        let line = cell.arguments().join(" ");
        let options = "--threads 2 --input stream --layout nchw --batch-size 500 --learning-rate 0.0001 --steps 20000 \
                       --seed 1";
        assert!(line.ends_with(options), "{line}");
        let text = "caffe-mnist · burn-flex · 2 threads · input stream · nchw · batch 500 · rate 0.0001 · 20000 steps · seed 1";
        assert_eq!(cell.text(), text);
    }

    #[test]
    fn a_cells_name_depends_on_every_setting_and_is_the_same_each_time() {
        let id = |settings: Settings| Cell::new(settings, None).id;
        let plain = id(settings("caffe-mnist"));
        assert_eq!(plain, id(settings("caffe-mnist")));
        assert!(plain.starts_with("caffe-mnist-burn-flex-"), "{plain}");
        assert_ne!(plain, id(Settings { seed: 2, ..settings("caffe-mnist") }));
        assert_ne!(plain, id(Settings { adapter: "a/b".to_owned(), ..settings("caffe-mnist") }));
        assert!(!id(Settings { adapter: "a/b".to_owned(), ..settings("caffe-mnist") }).contains('/'));
    }
}
