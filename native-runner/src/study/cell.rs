//! A cell: what one process is asked to do.

use std::fmt;
use std::num::NonZero;
use std::path::PathBuf;

use engine::{BatchPlan, KNOWN_BACKENDS, SuiteDefinition, Workload};
use results::kernels::Suite;
use results::{InputMode, Layout, Precision};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::study::axis::{AXES, Axis};
use crate::study::definition::Positive;
use crate::workload_file;

/// Settings of one process. In files, the fields alone distinguish the kinds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Settings {
    Run(RunSettings),
    Kernels(KernelSettings),
}

impl Settings {
    pub(crate) fn arguments(&self) -> Vec<String> {
        match self {
            Self::Run(run) => run.arguments(),
            Self::Kernels(kernels) => kernels.arguments(),
        }
    }

    pub(crate) fn run(&self) -> Option<&RunSettings> {
        if let Self::Run(run) = self { Some(run) } else { None }
    }

    /// Returns the same settings for every seed, as one line of a table.
    pub(crate) fn without_seed(&self) -> Self {
        match self {
            Self::Run(run) => Self::Run(RunSettings { seed: 0, ..run.clone() }),
            Self::Kernels(_) => self.clone(),
        }
    }

    /// Describes the settings that are not defaults.
    pub(crate) fn text(&self) -> String {
        let is_run = self.run().is_some();
        let is_said = |axis: &&Axis| axis.is_asked_for(self) || is_run && axis.name == "limit";
        AXES.iter().filter(is_said).map(|axis| axis.text(self)).collect::<Vec<_>>().join(" · ")
    }

    /// Returns a unique file name: the workload or suite, and a digest of all settings.
    fn id(&self) -> String {
        let json = serde_json::to_vec(self).expect("text and numbers are always JSON");
        let digest: String = Sha256::digest(json).iter().take(5).map(|byte| format!("{byte:02x}")).collect();
        match self {
            Self::Run(run) => format!("{}-{}-{digest}", run.workload, run.backend),
            Self::Kernels(kernels) => format!("kernels-{}-{digest}", kernels.suite.name()),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cell {
    pub(crate) id: String,
    pub(crate) settings: Settings,
    /// Limit before scaling; for kernels, the seconds of an entry.
    pub(crate) full_limit: Option<Length>,
    /// Position in the definition, from 0, which is the order of tables.
    pub(crate) place: usize,
}

impl Cell {
    pub(crate) fn new(settings: Settings, full_limit: Option<Length>) -> Self {
        Self { id: settings.id(), settings, full_limit, place: 0 }
    }
}

/// File of a user's network, and its digest when the study was planned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkloadFile {
    pub(crate) path: PathBuf,
    pub(crate) sha256: String,
}

/// Settings of one run. Absent ones are left to the workload, the suite or the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunSettings {
    pub(crate) workload: String,
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

    pub(crate) fn is_of_external_program(&self) -> bool {
        KNOWN_BACKENDS.iter().all(|known| known.name != self.backend)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KernelSettings {
    pub(crate) suite: Suite,
    pub(crate) adapter: String,
    pub(crate) budget_seconds: f64,
    pub(crate) budget_mib: u32,
}

impl KernelSettings {
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

/// Length of a cell's training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Length {
    /// Passes over the training set; windows that measure the throughput may follow.
    Epochs(NonZero<u32>),
    Steps(NonZero<u64>),
    /// Seconds of training.
    Seconds(Positive),
}

impl Length {
    pub(crate) fn seconds(seconds: NonZero<u32>) -> Self {
        Self::Seconds(Positive(f64::from(seconds.get())))
    }

    /// Returns the same, `scale` times as long: whole epochs if at least one is left, otherwise at least one step.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a number that fits")]
    pub(crate) fn scaled(self, scale: f64, batches: &BatchPlan) -> Self {
        let steps = |steps: u64| {
            Self::Steps(NonZero::new((steps as f64 * scale).round() as u64).unwrap_or(NonZero::<u64>::MIN))
        };
        match self {
            _ if scale >= 1.0 => self,
            Self::Epochs(epochs) if f64::from(epochs.get()) * scale >= 1.0 => {
                let epochs = (f64::from(epochs.get()) * scale).round() as u32;
                Self::Epochs(NonZero::new(epochs).unwrap_or(NonZero::<u32>::MIN))
            }
            Self::Epochs(epochs) => steps(batches.steps_of_epochs(epochs.get())),
            Self::Steps(full) => steps(full.get()),
            Self::Seconds(full) => Self::Seconds(Positive(full.0 * scale)),
        }
    }

    /// Scales a suite's own budget. Of its two limits, epochs and seconds, only one can be requested, so the seconds
    /// are.
    pub(crate) fn scaled_of_suite(suite: &SuiteDefinition, scale: f64) -> Option<Self> {
        (scale < 1.0).then_some(Self::Seconds(Positive(suite.training_seconds * scale)))
    }

    pub(crate) fn arguments(self) -> [String; 2] {
        match self {
            Self::Epochs(epochs) => ["--epochs".to_owned(), epochs.to_string()],
            Self::Steps(steps) => ["--steps".to_owned(), steps.to_string()],
            Self::Seconds(seconds) => ["--seconds".to_owned(), seconds.0.to_string()],
        }
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, what) = match self {
            Self::Epochs(epochs) => (u64::from(epochs.get()), "epoch"),
            Self::Steps(steps) => (steps.get(), "step"),
            Self::Seconds(seconds) => return write!(f, "{} s", seconds.0),
        };
        write!(f, "{count} {what}{}", if count == 1 { "" } else { "s" })
    }
}

#[cfg(test)]
mod tests {
    use engine::{Batching, SampleOrder};
    use results::kernels::Suite;

    use super::*;
    use crate::study::testing::{kernel_settings, run_settings, unusual_run_settings};

    fn id(settings: Settings) -> String {
        Cell::new(settings, None).id
    }

    #[test]
    fn cell_name_depends_on_every_setting_and_nothing_else() {
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

    #[test]
    fn run_arguments_are_the_settings_of_the_cell() {
        let plain = run_settings("caffe-mnist").arguments().join(" ");
        assert_eq!(plain, "--workload caffe-mnist --backend burn-flex --adapter any --precision f32 --seed 1");
        let cell = unusual_run_settings("caffe-mnist");
        let line = cell.arguments().join(" ");
        let options = "--threads 2 --input stream --layout nchw --batch-size 500 --learning-rate 0.0001 --steps 20000 \
                       --seed 1";
        assert!(line.ends_with(options), "{line}");
    }

    #[test]
    fn the_command_is_asked_for_what_the_cell_says() {
        let cell = KernelSettings { budget_seconds: 0.05, ..kernel_settings(Suite::Launch) };
        let line = cell.arguments().join(" ");
        assert_eq!(line, "kernels --suite launch --adapter any --budget-seconds 0.05 --budget-mib 1024");
    }

    fn scaled(length: Length, scale: f64) -> Length {
        let order = SampleOrder::File;
        let batching = Batching::ShortLast;
        length.scaled(scale, &BatchPlan { first: 0, samples: 1000, batch_size: 10, order, batching, seed: 1 })
    }

    fn epochs(count: u32) -> Length {
        Length::Epochs(NonZero::new(count).unwrap())
    }

    fn steps(count: u64) -> Length {
        Length::Steps(NonZero::new(count).unwrap())
    }

    #[test]
    fn epochs_stay_whole_and_become_steps_below_one() {
        assert_eq!(scaled(epochs(12), 1.0), epochs(12));
        assert_eq!(scaled(epochs(12), 0.3), epochs(4));
        assert_eq!(scaled(epochs(12), 0.01), steps(12));
        assert_eq!(scaled(epochs(1), 1e-9), steps(1));
    }

    #[test]
    fn steps_and_seconds_are_shortened_in_proportion() {
        assert_eq!(scaled(steps(20_000), 0.01), steps(200));
        assert_eq!(scaled(steps(20), 0.001), steps(1));
        assert_eq!(scaled(Length::Seconds(Positive(30.0)), 0.1), Length::Seconds(Positive(3.0)));
        assert_eq!(scaled(Length::Seconds(Positive(30.0)), 0.1).to_string(), "3 s");
    }

    #[test]
    fn length_has_an_option_and_a_text() {
        assert_eq!(epochs(2).arguments(), ["--epochs", "2"]);
        assert_eq!((epochs(1).to_string(), steps(2).to_string()), ("1 epoch".to_owned(), "2 steps".to_owned()));
    }
}
