//! Format of a study file.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use engine::{BACKENDS, KNOWN_BACKENDS, WORKLOADS};
use results::kernels::KernelSuite;
use results::{InputMode, Layout, Length, Positive, Precision};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize};

use crate::arguments::ALL;
use crate::failure::{Failure, Result};
use crate::json_output::cannot_read;
use crate::program::NamedProgram;
use crate::study::cell::{CellSettings, KernelSettings, StudyCell};
use crate::text::did_you_mean;
use crate::workload_file::is_file_name;

/// A study: its question, and the runs that answer it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Definition")]
pub(crate) struct StudyDefinition {
    /// Title, one line.
    pub(crate) title: String,
    /// The question, and how the cells answer it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) description: String,
    /// Published table that the study repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) repeats: Option<String>,
    /// Differences from the repeated study.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) differs: Option<String>,
    /// Seed of the order of the cells.
    #[serde(default = "first_seed")]
    pub(crate) order_seed: u32,
    /// Commands of external programs by backend name (`docs/EXTERNAL.md`); an empty command for a bundled program.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) programs: BTreeMap<String, String>,
    /// Matrices of runs. The study has the cells of all of them, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) matrix: Vec<Matrix>,
    /// Matrices of kernel measurements, in a study without runs. The study has the cells of all of them, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) kernels: Vec<KernelMatrix>,
}

/// Matrix of runs: each combination of the listed values is a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Matrix {
    /// Built-in workloads, and files of user-defined networks.
    pub(crate) workloads: Vec<WorkloadName>,
    /// Backends. `all` includes every external program, and every backend of the running program except the plain
    /// reference.
    #[serde(default = "usual_backends")]
    #[schemars(schema_with = "backend_names")]
    pub(crate) backends: Vec<String>,
    /// Adapters, as in `--adapter` of a run.
    #[serde(default = "usual_adapters")]
    pub(crate) adapters: Vec<String>,
    /// Batch sizes. Default: the workload's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) batch_sizes: Vec<NonZero<u32>>,
    /// Learning rates. Default: the workload's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) learning_rates: Vec<Positive>,
    /// Lengths of runs. Default: the budget of the quick suite.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) limits: Vec<Length>,
    /// Threads of the backend `burn-flex`. Default: one per core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) threads: Option<Threads>,
    /// Numbers of devices of the backend `wgsl` that share each batch. Default: the devices of the adapter, usually
    /// one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) devices: Vec<NonZero<u8>>,
    /// Transfer of batches to the device, for `wgsl`. By default, the data set is stored on the device.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) inputs: Vec<InputMode>,
    /// Image layouts of external programs that support several. Default: the layout of each program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) layouts: Vec<Layout>,
    #[serde(default = "usual_precisions")]
    pub(crate) precisions: Vec<Precision>,
    #[serde(default = "usual_seeds")]
    pub(crate) seeds: Vec<u32>,
}

/// Numbers of threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "`threads` is a list of numbers from 1 to 1024, or \"1..all\"")]
pub(crate) enum Threads {
    Counts(Vec<NonZero<u16>>),
    UpTo(UpTo),
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum UpTo {
    /// 1, its doublings, and the number of cores of the machine.
    #[serde(rename = "1..all")]
    All,
}

const fn first_seed() -> u32 {
    1
}

fn usual_backends() -> Vec<String> {
    vec![BACKENDS[0].name.to_owned()]
}

fn usual_adapters() -> Vec<String> {
    vec!["any".to_owned()]
}

fn usual_precisions() -> Vec<Precision> {
    vec![Precision::F32]
}

fn usual_seeds() -> Vec<u32> {
    vec![1]
}

impl StudyDefinition {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    pub(crate) fn in_folder(mut self, folder: &Path) -> Self {
        let names = self.matrix.iter_mut().flat_map(|matrix| &mut matrix.workloads);
        for WorkloadName(name) in names.filter(|name| is_file_name(&name.0)) {
            *name = folder.join(&*name).display().to_string();
        }
        self
    }

    /// Replaces what is given by options; an empty list replaces nothing.
    pub(crate) fn with_options(
        mut self,
        files: &[PathBuf],
        backends: &[String],
        adapters: &[String],
        programs: &[NamedProgram],
    ) -> Self {
        fn replace<T: Clone>(values: &mut Vec<T>, given: &[T]) {
            if !given.is_empty() {
                *values = given.to_vec();
            }
        }

        let names: Vec<WorkloadName> = files.iter().map(|file| WorkloadName(file.display().to_string())).collect();
        for matrix in &mut self.matrix {
            replace(&mut matrix.workloads, &names);
            replace(&mut matrix.backends, backends);
            replace(&mut matrix.adapters, adapters);
        }
        self.kernels.iter_mut().for_each(|kernels| replace(&mut kernels.adapters, adapters));
        self.programs.extend(programs.iter().map(|program| (program.name.to_owned(), program.command_text())));
        self
    }

    pub(crate) fn named_programs(&self) -> Result<Vec<NamedProgram>, String> {
        let named = |(name, command): (&String, &String)| {
            let program = if command.is_empty() { name.parse() } else { NamedProgram::new(name, command) };
            program.map_err(|error| format!("[programs] {name}: {error}"))
        };
        self.programs.iter().map(named).collect()
    }

    pub(crate) fn check_backends(&self) -> Result<(), String> {
        let programs = self.programs.keys().map(String::as_str);
        let known: Vec<&str> = own_backends().into_iter().chain(programs).collect();
        for (number, matrix) in (1..).zip(&self.matrix) {
            if let Some(name) = matrix.backends.iter().find(|name| !known.contains(&name.as_str())) {
                let (known, hint) = (known.join(", "), did_you_mean(name, known.iter().copied()));
                return Err(format!(
                    "[[matrix]] {number}: there is no backend `{name}`; available: {known}. Add an external program \
                     with --program or [programs]{hint}"
                ));
            }
        }
        Ok(())
    }
}

/// Returns the short name and the text of a built-in study or a file.
pub(crate) fn load(name: &str) -> Result<(String, String)> {
    if let Some((name, text)) = STUDIES.iter().find(|(known, _)| *known == name) {
        return Ok(((*name).to_owned(), (*text).to_owned()));
    }
    let path = Path::new(name);
    if !path.exists() {
        let known: Vec<&str> = STUDIES.iter().map(|(name, _)| *name).collect();
        let (known, hint) = (known.join(", "), did_you_mean(name, known.iter().copied()));
        let text = format!("there is neither a file nor a built-in study named `{name}`; built in: {known}{hint}");
        return Err(Failure::Usage(text));
    }
    let text = fs::read(path)
        .and_then(|content| results::decode(&content).map(str::to_owned).map_err(io::Error::other))
        .map_err(|source| cannot_read(path, source))?;
    Ok((path.file_stem().map_or_else(|| name.to_owned(), |stem| stem.to_string_lossy().into_owned()), text))
}

/// Built-in workload, or the file of a user-defined network (`docs/WORKLOADS.md`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct WorkloadName(pub(crate) String);

impl WorkloadName {
    fn known() -> Vec<&'static str> {
        WORKLOADS.iter().map(|make| make().name).collect()
    }
}

impl<'de> Deserialize<'de> for WorkloadName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(NameOfWorkload)
    }
}

impl JsonSchema for WorkloadName {
    fn schema_name() -> Cow<'static, str> {
        "Workload".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "string", "enum": Self::known() },
                {
                    "type": "string",
                    "pattern": r"\.(toml|json)$",
                    "description": "a file that describes a network, from the folder of this file",
                },
            ]
        })
    }
}

/// Returns the names of backends that are known without a definition in the study.
fn own_backends() -> Vec<&'static str> {
    KNOWN_BACKENDS.iter().map(|backend| backend.name).chain([ALL]).collect()
}

/// The study names programs elsewhere, so names are checked once the whole file is read.
fn backend_names(_: &mut SchemaGenerator) -> Schema {
    let own = json_schema!({ "type": "string", "enum": own_backends() });
    let text = "an external program of [programs], or of --program";
    json_schema!({ "type": "array", "items": { "anyOf": [own, { "type": "string", "description": text }] } })
}

struct NameOfWorkload;

impl Visitor<'_> for NameOfWorkload {
    type Value = WorkloadName;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a workload, or of its file")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<WorkloadName, E> {
        let known = WorkloadName::known();
        if known.contains(&name) || is_file_name(name) {
            return Ok(WorkloadName(name.to_owned()));
        }
        let (known, hint) = (known.join(", "), did_you_mean(name, known.iter().copied()));
        let rule = "the name of a file must end in .toml or .json";
        Err(E::custom(format_args!("there is no workload named `{name}`; available: {known}; {rule}{hint}")))
    }
}

/// Matrix of kernel measurements: each suite on each adapter is a cell of `native-runner kernels`, which only measures
/// f32.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct KernelMatrix {
    pub(crate) suites: Vec<KernelSuite>,
    /// Adapters, as in `--adapter`.
    pub(crate) adapters: Vec<String>,
    /// Time limit for the repetitions of an entry.
    pub(crate) budget_seconds: Positive,
    /// Device memory limit of an entry, in mebibytes.
    pub(crate) budget_mib: NonZero<u32>,
}

impl Default for KernelMatrix {
    fn default() -> Self {
        let budget_mib = NonZero::new(1024).expect("it is not zero");
        let budget_seconds = Positive::new(2.0).expect("it is above zero");
        Self { suites: KernelSuite::ALL.to_vec(), adapters: usual_adapters(), budget_seconds, budget_mib }
    }
}

impl KernelMatrix {
    /// Returns the cells. `scale` multiplies the time limit of an entry.
    pub(crate) fn cells(&self, scale: f64) -> impl Iterator<Item = StudyCell> {
        let pairs = self.suites.iter().flat_map(|suite| self.adapters.iter().map(move |adapter| (*suite, adapter)));
        pairs.map(move |(suite, adapter)| {
            let (adapter, budget_seconds) = (adapter.clone(), self.budget_seconds.get() * scale);
            let settings = KernelSettings { suite, adapter, budget_seconds, budget_mib: self.budget_mib.get() };
            StudyCell::new(CellSettings::Kernels(settings), Some(Length::Seconds(self.budget_seconds)))
        })
    }
}

pub(crate) const STUDIES: &[(&str, &str)] = &[
    ("keras-backends", include_str!("../../studies/keras-backends.toml")),
    ("keras-five", include_str!("../../studies/keras-five.toml")),
    ("gtdl-baseline", include_str!("../../studies/gtdl-baseline.toml")),
    ("gtdl-epochs", include_str!("../../studies/gtdl-epochs.toml")),
    ("gtdl-batch-size", include_str!("../../studies/gtdl-batch-size.toml")),
    ("gtdl-learning-rate", include_str!("../../studies/gtdl-learning-rate.toml")),
    ("gtdl-combined", include_str!("../../studies/gtdl-combined.toml")),
    ("gtdl-threads", include_str!("../../studies/gtdl-threads.toml")),
    ("gtdl-devices", include_str!("../../studies/gtdl-devices.toml")),
    ("input-pipeline", include_str!("../../studies/input-pipeline.toml")),
    ("kernels", include_str!("../../studies/kernels.toml")),
    ("layouts", include_str!("../../studies/layouts.toml")),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use results::RunSpec;

    use super::*;
    use crate::study::folder::StudyPlan;
    use crate::study::matrix::Host;

    const SMALL: &str = "title = \"t\"\n[[matrix]]\nworkloads = [\"keras-mnist-mlp\"]\n";

    #[test]
    fn mistake_is_shown_with_its_place_and_valid_values() {
        let cases = [
            ("colour = 1", "line 4, column 1", "`batch_sizes`"),
            ("backends = [\"wgsl\", 7]", "line 4, column 21", "expected a string"),
            ("limits = [{ hours = 2 }]", "line 4, column 13", "`epochs`, `steps`, `seconds`"),
            ("limits = [{ steps = 0 }]", "line 4, column 21", "nonzero"),
            ("learning_rates = [-0.5]", "line 4, column 18", "-0.5 is not a number above 0"),
            ("threads = \"many\"", "line 4, column 11", "\"1..all\""),
            ("precisions = [\"f8\"]", "line 4, column 15", "`f16-matrix`"),
            ("seeds = [1", "line 4", "unclosed array"),
        ];
        for (line, place, part) in cases {
            let error = StudyDefinition::parse(&format!("{SMALL}{line}\n")).unwrap_err();
            assert!(error.contains(place) && error.contains(part), "{line}:\n{error}");
        }
        let error = StudyDefinition::parse(&SMALL.replace("keras-mnist-mlp", "no-such-net")).unwrap_err();
        assert!(error.contains("line 3, column 14") && error.contains("keras-mnist-mlp"), "{error}");
    }

    #[test]
    fn options_replace_the_studys_own_values() {
        let definition = StudyDefinition::parse(SMALL).unwrap();
        let Matrix { backends, seeds, .. } = &definition.matrix[0];
        assert_eq!((backends[0].as_str(), seeds.as_slice()), (BACKENDS[0].name, [1].as_slice()), "the defaults");
        assert_eq!(definition.clone().with_options(&[], &[], &[], &[]), definition);
        let files = ["a/mine.toml".into(), "other.json".into()];
        let other = definition.with_options(&files, &["burn-flex".to_owned()], &["cpu".to_owned()], &[]);
        let Matrix { workloads, backends, adapters, .. } = &other.matrix[0];
        assert_eq!((backends[0].as_str(), adapters[0].as_str()), ("burn-flex", "cpu"));
        assert!(workloads.iter().map(|name| name.0.as_str()).eq(["a/mine.toml", "other.json"]));
    }

    #[test]
    fn named_programs_are_back_ends() {
        let text = "title = \"t\"\n[programs]\nmine = \"python3 'my program.py'\"\npytorch = \"\"\n[[matrix]]\n\
                    workloads = [\"keras-mnist-mlp\"]\nbackends = [\"mine\", \"pytorch\", \"keras-jax\"]\n";
        let definition = StudyDefinition::parse(text).unwrap();
        assert!(definition.check_backends().unwrap_err().contains("no backend `keras-jax`"));
        let programs = ["keras-jax", "pytorch=other"].map(|program| program.parse().unwrap());
        let definition = definition.with_options(&[], &[], &[], &programs);
        definition.check_backends().unwrap();
        let named = definition.named_programs().unwrap();
        let texts: Vec<_> = named.iter().map(|program| (program.name, program.command_text())).collect();
        let expected = [("keras-jax", ""), ("mine", "python3 'my program.py'"), ("pytorch", "other")];
        assert_eq!(texts, expected.map(|(name, command)| (name, command.to_owned())));
        let wrong = StudyDefinition::parse(&text.replace("mine =", "wgsl =")).unwrap();
        assert!(wrong.named_programs().unwrap_err().contains("[programs] wgsl"));
    }

    #[test]
    fn kernels_have_a_cell_for_each_suite_and_adapter() {
        let cells = |lines: &str, scale| {
            let definition = StudyDefinition::parse(&format!("title = \"t\"\n[[kernels]]\n{lines}\n")).unwrap();
            definition.kernels[0].cells(scale).collect::<Vec<StudyCell>>()
        };
        let all = cells("suites = [\"gemm\", \"rnn\"]\nadapters = [\"cpu\", \"discrete\"]", 1.0);
        let texts: Vec<String> = all.iter().map(|cell| cell.settings.text()).collect();
        let expected = ["gemm · cpu", "gemm · discrete", "rnn · cpu", "rnn · discrete"];
        assert_eq!(texts, expected.map(|which| format!("kernels {which} · 2 s an entry · 1024 MiB an entry")));
        assert_eq!(cells("", 1.0).len(), KernelSuite::ALL.len());
        let short = &cells("suites = [\"gemm\"]\nbudget_seconds = 4", 0.1)[0];
        assert!(short.settings.text().contains("0.4 s an entry"), "{}", short.settings.text());
        assert_eq!(short.full_limit.map(|limit| limit.to_string()).as_deref(), Some("4 s of training"));
    }

    fn plan(name: &str) -> StudyPlan {
        let (_, text) = STUDIES.iter().find(|(known, _)| *known == name).unwrap();
        let definition = StudyDefinition::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(definition.repeats.is_some() && definition.differs.is_some(), "{name}");
        assert!(!definition.title.contains('\n') && !definition.description.is_empty(), "{name}");
        let machine = Host { cores: 4, has_remote: false };
        StudyPlan::new(name, definition, 1.0, machine).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    #[test]
    fn every_study_file_has_a_description_and_cells() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("studies");
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert_eq!(files.collect::<BTreeSet<_>>(), STUDIES.iter().map(|(name, _)| format!("{name}.toml")).collect());
        assert!(STUDIES.iter().all(|(name, _)| plan(name).cells.len() > 1));
        assert_eq!(plan("kernels").cells.len(), KernelSuite::ALL.len());
    }

    /// Batch sizes, learning rates, lengths and devices as in `published_results.json`.
    #[test]
    fn studies_have_the_rows_of_the_published_tables() {
        let cells = |study: &str| -> Vec<RunSpec> {
            plan(study).cells.iter().map(|cell| cell.settings.run().unwrap().spec.clone()).collect()
        };
        let of = |study: &str, workload: &str| {
            let mut specs = cells(study);
            specs.retain(|spec| spec.workloads == [workload]);
            specs
        };
        for (workload, rows) in [("tensorflow", 9), ("caffe", 9), ("torch", 9), ("theano", 7)] {
            assert_eq!(of("gtdl-combined", &format!("{workload}-mnist")).len(), rows, "{workload}");
        }
        let text = |spec: &RunSpec| {
            format!("{:?} {:?} {}", spec.batch_size.unwrap(), spec.learning_rate.unwrap(), spec.length.unwrap())
        };
        let texts: Vec<String> = cells("gtdl-combined").iter().map(text).collect();
        for row in ["5000 0.01 60000 steps", "6400 0.5 8000 steps", "100 0.45 72000 steps", "5000 0.25 800 epochs"] {
            assert!(texts.contains(&row.to_owned()), "{row} is missing in {texts:?}");
        }
        for (workload, sizes) in [
            ("tensorflow-mnist", &[50, 500, 5000, 50_000][..]),
            ("caffe-mnist", &[64, 640, 6400, 60_000]),
            ("torch-mnist", &[10, 100, 1000, 10_000]),
            ("theano-mnist", &[50, 500, 5000]),
        ] {
            let found: BTreeSet<u32> = of("gtdl-batch-size", workload).iter().filter_map(|of| of.batch_size).collect();
            assert!(found.iter().eq(sizes), "{workload}: {found:?}");
        }
        assert_eq!(cells("gtdl-batch-size").len(), 4 + 2 + 4 + 2 + 4 + 3);
        for (workload, batches) in [
            ("caffe-mnist", [(1, 64), (2, 64), (2, 128), (4, 64), (4, 256)]),
            ("caffe-cifar10", [(1, 100), (2, 100), (2, 200), (4, 100), (4, 400)]),
        ] {
            let found = of("gtdl-devices", workload).into_iter();
            let found = found.map(|of| (of.devices.unwrap().get(), of.batch_size.unwrap()));
            assert_eq!(found.collect::<BTreeSet<_>>(), BTreeSet::from(batches));
        }
        let mut modes: BTreeMap<(String, Option<u32>), BTreeSet<InputMode>> = BTreeMap::new();
        for spec in cells("input-pipeline") {
            modes.entry((spec.workloads[0].clone(), spec.batch_size)).or_default().extend(spec.input);
        }
        assert!(modes.len() == 3 && modes.values().all(|of| of.iter().eq(&InputMode::ALL)), "{modes:?}");
        // All defaults, and each combination of frameworks.
        let baseline = cells("gtdl-baseline");
        assert_eq!((baseline.len(), baseline.iter().filter(|spec| spec.batch_size.is_none()).count()), (16, 8));
    }
}
