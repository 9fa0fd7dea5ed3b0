//! Cells of a study: the settings of one process each, and filters by setting.

use std::num::NonZero;
use std::path::PathBuf;
use std::str::FromStr;

use data_sets::files::sha256_hex;
use engine::{BatchPlan, KNOWN_BACKENDS, SUITES, Workload};
use results::kernels::KernelSuite;
use results::{Length, Positive, RunSpec, SeedSource};
use serde::{Deserialize, Serialize};
use view::text::counted;

use crate::workload_file;

/// Adapter of a backend without a choice of devices.
pub(crate) const ANY: &str = "any";

/// Settings of one process. In files, the fields alone distinguish the kinds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum CellSettings {
    Run(Box<RunSettings>),
    Kernels(KernelSettings),
}

impl CellSettings {
    /// Returns the command's arguments. Options have the names of the axes.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let command = if self.run().is_none() { Some("kernels".to_owned()) } else { None };
        let options = AXES.iter().filter_map(|axis| Some((axis.name, axis.value(self)?)));
        let words = options.flat_map(|(name, value)| {
            let (name, value) = match (name, self.run()) {
                ("workload", Some(RunSettings { file: Some(file), .. })) => {
                    ("workload-file", file.path.display().to_string())
                }
                ("limit", Some(RunSettings { spec: RunSpec { length: Some(length), .. }, .. })) => match length {
                    Length::Epochs(epochs) => ("epochs", epochs.to_string()),
                    Length::Steps(steps) => ("steps", steps.to_string()),
                    Length::Seconds(seconds) => ("seconds", seconds.to_string()),
                },
                _ => (name, value),
            };
            [format!("--{name}"), value]
        });
        command.into_iter().chain(words).collect()
    }

    pub(crate) fn run(&self) -> Option<&RunSettings> {
        if let Self::Run(run) = self { Some(run) } else { None }
    }

    /// Returns the same settings for every seed.
    pub(crate) fn without_seed(&self) -> Self {
        let mut settings = self.clone();
        if let Self::Run(run) = &mut settings {
            run.spec.seed = 0;
        }
        settings
    }

    /// Describes the settings that are not defaults.
    pub(crate) fn text(&self) -> String {
        let is_said = |axis: &&Axis| axis.is_asked_for(self) || self.run().is_some() && axis.name == "limit";
        AXES.iter().filter(is_said).map(|axis| axis.text(self)).collect::<Vec<_>>().join(" · ")
    }

    fn id(&self) -> String {
        let json = serde_json::to_vec(self).expect("text and numbers are always JSON");
        let digest = &sha256_hex(&json)[..10];
        match self {
            Self::Run(run) => format!("{}-{}-{digest}", run.workload(), run.spec.backend),
            Self::Kernels(kernels) => format!("kernels-{}-{digest}", kernels.suite.name()),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StudyCell {
    pub(crate) id: String,
    pub(crate) settings: CellSettings,
    /// Limit before scaling; for kernels, the seconds of an entry.
    pub(crate) full_limit: Option<Length>,
    /// Position in the definition, from 0, which determines the order of tables.
    pub(crate) place: usize,
}

impl StudyCell {
    pub(crate) fn new(settings: CellSettings, full_limit: Option<Length>) -> Self {
        Self { id: settings.id(), settings, full_limit, place: 0 }
    }
}

/// File of a user-defined network, and its digest when the study was planned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkloadFile {
    pub(crate) path: PathBuf,
    pub(crate) sha256: String,
}

/// A run of one workload, which may be described by a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunSettings {
    pub(crate) spec: RunSpec,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<WorkloadFile>,
}

impl RunSettings {
    pub(crate) fn new(workload: String, file: Option<WorkloadFile>) -> Self {
        let (suite, workloads, adapter) = (SUITES[0].name.to_owned(), vec![workload], ANY.to_owned());
        let spec = RunSpec { suite, workloads, adapter, seed_source: SeedSource::Chosen, ..RunSpec::default() };
        Self { spec, file }
    }

    pub(crate) fn workload(&self) -> &str {
        &self.spec.workloads[0]
    }

    pub(crate) fn network(&self) -> Result<Workload, String> {
        let Some(WorkloadFile { path, sha256 }) = &self.file else {
            let name = self.workload();
            return engine::workload(name).ok_or_else(|| format!("there is no workload named `{name}`"));
        };
        let (workload, found) = workload_file::load_with_digest(path).map_err(|failure| failure.to_string())?;
        let has_changed =
            || format!("{} has changed since the study was planned, so it is a different study now", path.display());
        (found == *sha256).then_some(workload).ok_or_else(has_changed)
    }

    pub(crate) fn is_of_external_program(&self) -> bool {
        KNOWN_BACKENDS.iter().all(|known| known.name != self.spec.backend)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KernelSettings {
    pub(crate) suite: KernelSuite,
    pub(crate) adapter: String,
    pub(crate) budget_seconds: f64,
    pub(crate) budget_mib: u32,
}

/// Returns a length `scale` times as long: whole epochs if at least one remains, otherwise at least one step.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a number that fits")]
pub(crate) fn scale_length(length: Length, scale: f64, batches: &BatchPlan) -> Length {
    let steps =
        |steps: u64| Length::Steps(NonZero::new((steps as f64 * scale).round() as u64).unwrap_or(NonZero::<u64>::MIN));
    match length {
        _ if scale >= 1.0 => length,
        Length::Epochs(epochs) if f64::from(epochs.get()) * scale >= 1.0 => {
            let epochs = (f64::from(epochs.get()) * scale).round() as u32;
            Length::Epochs(NonZero::new(epochs).unwrap_or(NonZero::<u32>::MIN))
        }
        Length::Epochs(epochs) => steps(batches.steps_of_epochs(epochs.get())),
        Length::Steps(full) => steps(full.get()),
        Length::Seconds(full) => Positive::new(full.get() * scale).map_or(length, Length::Seconds),
    }
}

type KernelValue = fn(&KernelSettings) -> Option<String>;

#[derive(Debug)]
pub(crate) struct Axis {
    /// Name in `--only`.
    pub(crate) name: &'static str,
    /// Value of a run; `None` if it is left open or only applies to kernels.
    of_run: fn(&RunSpec) -> Option<String>,
    of_kernels: KernelValue,
    /// Formats the value as words that can stand next to others.
    in_words: fn(&str) -> String,
    /// Value that is not shown.
    default: Option<&'static str>,
    /// True for a setting that is needed to open a backend.
    pub(crate) is_of_opening: bool,
}

/// Value of a setting that a cell leaves to the workload, the suite or the machine.
const OWN: &str = "own";

pub(crate) static AXES: [Axis; 15] = [
    Axis::of_kernels("suite", |of| Some(of.suite.name().to_owned()), |value| format!("kernels {value}")),
    Axis::new("workload", |of| of.workloads.first().cloned(), str::to_owned),
    Axis::new("backend", |of| Some(of.backend.clone()), str::to_owned).of_opening(),
    Axis {
        of_kernels: |of| Some(of.adapter.clone()),
        default: Some(ANY),
        in_words: |value| if value == ANY { "any adapter".to_owned() } else { value.to_owned() },
        ..Axis::new("adapter", |of| Some(of.adapter.clone()), str::to_owned).of_opening()
    },
    Axis {
        default: Some("f32"),
        ..Axis::new("precision", |of| Some(of.precision.name().to_owned()), str::to_owned).of_opening()
    },
    Axis::new("threads", |of| of.threads.map(|count| count.to_string()), |value| counted(value, "thread")).of_opening(),
    Axis::new("devices", |of| of.devices.map(|count| count.to_string()), |value| counted(value, "device")).of_opening(),
    Axis::new("input", |of| Some(of.input?.name().to_owned()), |value| format!("input {value}")).of_opening(),
    Axis {
        in_words: |value| if value == OWN { "own layout".to_owned() } else { value.to_owned() },
        ..Axis::new("layout", |of| Some(of.layout?.name().to_owned()), str::to_owned).of_opening()
    },
    Axis::new("batch-size", |of| of.batch_size.map(|size| size.to_string()), |value| format!("batch {value}")),
    Axis::new("learning-rate", |of| of.learning_rate.map(|rate| rate.to_string()), |value| format!("rate {value}")),
    Axis {
        in_words: |value| if value == OWN { "suite's budget".to_owned() } else { value.to_owned() },
        ..Axis::new("limit", |of| of.length.map(|length| length.to_string()), str::to_owned)
    },
    Axis::new("seed", |of| Some(of.seed.to_string()), |value| format!("seed {value}")),
    Axis::of_kernels("budget-seconds", |of| Some(of.budget_seconds.to_string()), |value| format!("{value} s an entry")),
    Axis::of_kernels("budget-mib", |of| Some(of.budget_mib.to_string()), |value| format!("{value} MiB an entry")),
];

impl Axis {
    const fn new(name: &'static str, of_run: fn(&RunSpec) -> Option<String>, in_words: fn(&str) -> String) -> Self {
        Self { name, of_run, of_kernels: |_| None, in_words, default: None, is_of_opening: false }
    }

    const fn of_kernels(name: &'static str, of_kernels: KernelValue, in_words: fn(&str) -> String) -> Self {
        Self { of_kernels, ..Self::new(name, |_| None, in_words) }
    }

    const fn of_opening(self) -> Self {
        Self { is_of_opening: true, ..self }
    }

    fn value(&self, settings: &CellSettings) -> Option<String> {
        match settings {
            CellSettings::Run(run) => (self.of_run)(&run.spec),
            CellSettings::Kernels(kernels) => (self.of_kernels)(kernels),
        }
    }

    pub(crate) fn text(&self, settings: &CellSettings) -> String {
        (self.in_words)(self.value(settings).as_deref().unwrap_or(OWN))
    }

    pub(crate) fn is_asked_for(&self, settings: &CellSettings) -> bool {
        self.value(settings).is_some_and(|value| self.default != Some(value.as_str()))
    }
}

pub(crate) fn varying<'a>(cells: impl Iterator<Item = &'a CellSettings> + Clone) -> Vec<&'static Axis> {
    let differs = |axis: &&Axis| {
        let mut values = cells.clone().map(|settings| axis.value(settings));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    AXES.iter().filter(differs).collect()
}

/// Filter `AXIS=VALUE,VALUE`, which selects the cells with one of the values.
#[derive(Clone, Debug)]
pub(crate) struct CellFilter {
    axis: &'static Axis,
    values: Vec<String>,
}

impl CellFilter {
    pub(crate) fn allows(&self, settings: &CellSettings) -> bool {
        self.values.contains(&self.axis.value(settings).unwrap_or_else(|| OWN.to_owned()))
    }
}

impl FromStr for CellFilter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = AXES.each_ref().map(|axis| axis.name).join(", ");
        let wrong = || format!("it must be AXIS=VALUE, with one of {known} for AXIS");
        let (name, values) = text.split_once('=').ok_or_else(wrong)?;
        let axis = AXES.iter().find(|axis| axis.name == name.trim()).ok_or_else(wrong)?;
        Ok(Self { axis, values: values.split(',').map(|value| value.trim().to_owned()).collect() })
    }
}

#[cfg(test)]
mod tests {
    use engine::{Batching, SampleOrder};
    use results::{InputMode, Layout};

    use super::*;

    fn run_settings(workload: &str) -> RunSettings {
        let mut settings = RunSettings::new(workload.to_owned(), None);
        settings.spec.backend = "burn-flex".to_owned();
        settings.spec.seed = 1;
        settings
    }

    fn kernel_settings(suite: KernelSuite) -> KernelSettings {
        KernelSettings { suite, adapter: ANY.to_owned(), budget_seconds: 2.0, budget_mib: 1024 }
    }

    #[test]
    fn cell_name_depends_on_every_setting_and_nothing_else() {
        let with = |change: &dyn Fn(&mut RunSettings)| {
            let mut settings = run_settings("caffe-mnist");
            change(&mut settings);
            CellSettings::Run(Box::new(settings)).id()
        };
        let plain = with(&|_| {});
        assert_eq!(plain, with(&|_| {}));
        assert!(plain.starts_with("caffe-mnist-burn-flex-"), "{plain}");
        assert_ne!(plain, with(&|settings| settings.spec.seed = 2));
        let other = with(&|settings| settings.spec.adapter = "a/b".to_owned());
        assert!(plain != other && !other.contains('/'), "{other}");
        let gemm = kernel_settings(KernelSuite::Gemm);
        let slower = CellSettings::Kernels(KernelSettings { budget_seconds: 3.0, ..gemm.clone() }).id();
        let gemm = CellSettings::Kernels(gemm).id();
        assert!(gemm.starts_with("kernels-gemm-") && gemm != slower, "{gemm}");
    }

    #[test]
    fn settings_have_words_arguments_and_a_form_in_files() {
        let mut unusual = run_settings("caffe-mnist");
        let (threads, input, layout) = (NonZero::new(2), Some(InputMode::Stream), Some(Layout::Nchw));
        let (batch_size, learning_rate) = (Some(500), Some(1e-4));
        let length = NonZero::new(20_000).map(Length::Steps);
        unusual.spec = RunSpec { threads, input, layout, batch_size, learning_rate, length, ..unusual.spec };
        let kernels =
            KernelSettings { adapter: "cpu".to_owned(), budget_seconds: 0.05, ..kernel_settings(KernelSuite::Gemm) };
        let cases = [
            (
                CellSettings::Run(Box::new(run_settings("caffe-mnist"))),
                "caffe-mnist · burn-flex · suite's budget · seed 1",
                "--workload caffe-mnist --backend burn-flex --adapter any --precision f32 --seed 1",
            ),
            (
                CellSettings::Run(Box::new(unusual)),
                "caffe-mnist · burn-flex · 2 threads · input stream · nchw · batch 500 · rate 0.0001 · 20000 steps · seed 1",
                "--workload caffe-mnist --backend burn-flex --adapter any --precision f32 --threads 2 --input stream \
                 --layout nchw --batch-size 500 --learning-rate 0.0001 --steps 20000 --seed 1",
            ),
            (
                CellSettings::Kernels(kernels),
                "kernels gemm · cpu · 0.05 s an entry · 1024 MiB an entry",
                "kernels --suite gemm --adapter cpu --budget-seconds 0.05 --budget-mib 1024",
            ),
        ];
        for (settings, words, arguments) in cases {
            assert_eq!((settings.text().as_str(), settings.arguments().join(" ").as_str()), (words, arguments));
            let text = serde_json::to_string(&settings).unwrap();
            assert_eq!(serde_json::from_str::<CellSettings>(&text).unwrap(), settings, "{text}");
        }
    }

    #[test]
    fn scaled_length_is_whole_epochs_or_at_least_one_step() {
        let epochs = |count| Length::Epochs(NonZero::new(count).unwrap());
        let steps = |count| Length::Steps(NonZero::new(count).unwrap());
        let seconds = |seconds| Length::Seconds(Positive::new(seconds).unwrap());
        let (order, batching) = (SampleOrder::File, Batching::ShortLast);
        let plan = BatchPlan { first: 0, samples: 1000, batch_size: 10, order, batching };
        for (full, scale, scaled, text) in [
            (epochs(12), 1.0, epochs(12), "12 epochs"),
            (epochs(12), 0.3, epochs(4), "4 epochs"),
            (epochs(12), 0.01, steps(12), "12 steps"),
            (epochs(1), 1e-9, steps(1), "1 step"),
            (steps(20_000), 0.01, steps(200), "200 steps"),
            (steps(20), 0.001, steps(1), "1 step"),
            (seconds(30.0), 0.1, seconds(3.0), "3 s of training"),
        ] {
            assert_eq!((scale_length(full, scale, &plan), scaled.to_string().as_str()), (scaled, text));
        }
    }

    #[test]
    fn filter_keeps_cells_with_one_of_its_values() {
        let mut settings = run_settings("caffe-mnist");
        settings.spec.batch_size = Some(500);
        let cell = CellSettings::Run(Box::new(settings));
        let kernels = CellSettings::Kernels(kernel_settings(KernelSuite::Gemm));
        let allows = |settings: &CellSettings, text: &str| text.parse::<CellFilter>().unwrap().allows(settings);
        for text in ["batch-size=50, 500", "workload=caffe-mnist", "learning-rate=own"] {
            assert!(allows(&cell, text), "{text}");
        }
        assert!(!["batch-size=50", "seed=2", "suite=gemm"].iter().any(|text| allows(&cell, text)));
        assert!(allows(&kernels, "suite=conv,gemm") && allows(&kernels, "adapter=any"));
        assert!(!allows(&kernels, "suite=conv"));
        for wrong in ["batch-size", "batch=5", "=5"] {
            assert!(wrong.parse::<CellFilter>().unwrap_err().contains("learning-rate"), "{wrong}");
        }
    }
}
