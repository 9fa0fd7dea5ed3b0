//! A cell: what one process is asked to do.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::axis::Axis;
use super::kernel_settings::KernelSettings;
use super::length::Length;
use super::run_settings::RunSettings;

/// Everything that one process is asked for. In files the fields alone tell the kinds apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Settings {
    /// A network is trained.
    Run(RunSettings),
    /// A suite of kernels is measured.
    Kernels(KernelSettings),
}

impl Settings {
    /// The arguments of the process.
    pub(crate) fn arguments(&self) -> Vec<String> {
        match self {
            Self::Run(run) => run.arguments(),
            Self::Kernels(kernels) => kernels.arguments(),
        }
    }

    /// Those of a run; absent where nothing is trained.
    pub(crate) fn run(&self) -> Option<&RunSettings> {
        if let Self::Run(run) = self { Some(run) } else { None }
    }

    /// The same but for the seed, in which cells of one line of a table may differ.
    pub(crate) fn without_seed(&self) -> Self {
        match self {
            Self::Run(run) => Self::Run(RunSettings { seed: 0, ..run.clone() }),
            Self::Kernels(_) => self.clone(),
        }
    }

    /// In words: the workload and the back end, or the suite of kernels, and what else was asked for.
    pub(crate) fn text(&self) -> String {
        let is_run = self.run().is_some();
        let is_said = |axis: &Axis| axis.is_asked_for(self) || is_run && *axis == Axis::Limit;
        Axis::ALL.into_iter().filter(is_said).map(|axis| axis.text(self)).collect::<Vec<_>>().join(" · ")
    }

    /// A short name that no other settings have, for a file: what is measured, and a digest of all settings.
    fn id(&self) -> String {
        let json = serde_json::to_vec(self).expect("text and numbers are always JSON");
        let digest: String = Sha256::digest(json).iter().take(5).map(|byte| format!("{byte:02x}")).collect();
        match self {
            Self::Run(run) => format!("{}-{}-{digest}", run.workload, run.backend),
            Self::Kernels(kernels) => format!("kernels-{}-{digest}", kernels.suite.name()),
        }
    }
}

/// A cell that may have been run or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cell {
    pub(crate) id: String,
    pub(crate) settings: Settings,
    /// The limit before the study was scaled; of kernels, the seconds of an entry.
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
    use results::kernels::Suite;

    use super::super::testing::{kernel_settings, run_settings, unusual_run_settings};
    use super::*;

    fn id(settings: Settings) -> String {
        Cell::new(settings, None).id
    }

    #[test]
    fn a_cells_name_depends_on_every_setting_and_is_the_same_each_time() {
        let with = |change: &dyn Fn(&mut RunSettings)| {
            let mut settings = run_settings("caffe-mnist");
            change(&mut settings);
            id(Settings::Run(settings))
        };
        let plain = with(&|_| {});
        assert_eq!(plain, with(&|_| {}));
        assert!(plain.starts_with("caffe-mnist-burn-flex-"), "{plain}");
        assert_ne!(plain, with(&|settings| settings.seed = 2));
        let other = with(&|settings| settings.adapter = "a/b".to_owned());
        assert!(plain != other && !other.contains('/'), "{other}");
        let gemm = kernel_settings(Suite::Gemm);
        let slower = KernelSettings { budget_seconds: 3.0, ..gemm.clone() };
        let (gemm, slower) = (id(Settings::Kernels(gemm)), id(Settings::Kernels(slower)));
        assert!(gemm.starts_with("kernels-gemm-") && gemm != slower, "{gemm}");
    }

    #[test]
    fn words_say_what_was_asked_for() {
        let run = unusual_run_settings("caffe-mnist");
        let text = "caffe-mnist · burn-flex · 2 threads · input stream · nchw · batch 500 · rate 0.0001 · 20000 steps · seed 1";
        assert_eq!(Settings::Run(run).text(), text);
        let kernels = KernelSettings { adapter: "cpu".to_owned(), ..kernel_settings(Suite::Gemm) };
        assert_eq!(Settings::Kernels(kernels).text(), "kernels gemm · cpu · 2 s an entry · 1024 MiB an entry");
    }

    #[test]
    fn the_fields_of_a_file_tell_both_kinds_apart() {
        for settings in [Settings::Run(run_settings("caffe-mnist")), Settings::Kernels(kernel_settings(Suite::Rnn))] {
            let text = serde_json::to_string(&settings).unwrap();
            assert_eq!(serde_json::from_str::<Settings>(&text).unwrap(), settings, "{text}");
        }
    }
}
