//! What cells differ in, and choosing some of them by it.

use std::str::FromStr;

use results::Precision;

use crate::study::cell::{KernelSettings, RunSettings, Settings};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    Suite,
    Workload,
    Backend,
    Adapter,
    Precision,
    Threads,
    Devices,
    Input,
    Layout,
    BatchSize,
    LearningRate,
    Limit,
    Seed,
    BudgetSeconds,
    BudgetMib,
}

/// Value of a setting that a cell leaves to the workload, the suite or the machine.
const OWN: &str = "own";

impl Axis {
    pub(crate) const ALL: [Self; 15] = [
        Self::Suite,
        Self::Workload,
        Self::Backend,
        Self::Adapter,
        Self::Precision,
        Self::Threads,
        Self::Devices,
        Self::Input,
        Self::Layout,
        Self::BatchSize,
        Self::LearningRate,
        Self::Limit,
        Self::Seed,
        Self::BudgetSeconds,
        Self::BudgetMib,
    ];

    /// Settings that a back end is opened with.
    pub(crate) const OF_OPENING: [Self; 7] =
        [Self::Backend, Self::Adapter, Self::Precision, Self::Threads, Self::Devices, Self::Input, Self::Layout];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Suite => "suite",
            Self::Workload => "workload",
            Self::Backend => "backend",
            Self::Adapter => "adapter",
            Self::Precision => "precision",
            Self::Threads => "threads",
            Self::Devices => "devices",
            Self::Input => "input",
            Self::Layout => "layout",
            Self::BatchSize => "batch-size",
            Self::LearningRate => "learning-rate",
            Self::Limit => "limit",
            Self::Seed => "seed",
            Self::BudgetSeconds => "budget-seconds",
            Self::BudgetMib => "budget-mib",
        }
    }

    /// Returns a cell's value; `None` if it is left open or does not exist for its kind.
    fn value(self, settings: &Settings) -> Option<String> {
        match settings {
            Settings::Run(run) => self.of_run(run),
            Settings::Kernels(kernels) => self.of_kernels(kernels),
        }
    }

    fn of_kernels(self, settings: &KernelSettings) -> Option<String> {
        match self {
            Self::Suite => Some(settings.suite.name().to_owned()),
            Self::Adapter => Some(settings.adapter.clone()),
            Self::BudgetSeconds => Some(settings.budget_seconds.to_string()),
            Self::BudgetMib => Some(settings.budget_mib.to_string()),
            _ => None,
        }
    }

    fn of_run(self, settings: &RunSettings) -> Option<String> {
        match self {
            Self::Workload => Some(settings.workload.clone()),
            Self::Backend => Some(settings.backend.clone()),
            Self::Adapter => Some(settings.adapter.clone()),
            Self::Precision => Some(settings.precision.name().to_owned()),
            Self::Threads => settings.threads.map(|count| count.to_string()),
            Self::Devices => settings.devices.map(|count| count.to_string()),
            Self::Input => settings.input.map(|mode| mode.name().to_owned()),
            Self::Layout => settings.layout.map(|layout| layout.name().to_owned()),
            Self::BatchSize => settings.batch_size.map(|size| size.to_string()),
            Self::LearningRate => settings.learning_rate.map(|rate| rate.to_string()),
            Self::Limit => settings.limit.map(|limit| limit.to_string()),
            Self::Seed => Some(settings.seed.to_string()),
            Self::Suite | Self::BudgetSeconds | Self::BudgetMib => None,
        }
    }

    /// Returns a cell's value in words that can stand next to others.
    pub(crate) fn text(self, settings: &Settings) -> String {
        let value = self.value(settings).unwrap_or_else(|| OWN.to_owned());
        match self {
            Self::Workload | Self::Backend | Self::Precision | Self::Limit if value != OWN => value,
            Self::Adapter if value == "any" => "any adapter".to_owned(),
            Self::Adapter => value,
            Self::Threads if value == "1" => "1 thread".to_owned(),
            Self::Threads => format!("{value} threads"),
            Self::Devices if value == "1" => "1 device".to_owned(),
            Self::Devices => format!("{value} devices"),
            Self::Input => format!("input {value}"),
            Self::Layout if value == OWN => "own layout".to_owned(),
            Self::BatchSize => format!("batch {value}"),
            Self::LearningRate => format!("rate {value}"),
            Self::Limit => "suite's budget".to_owned(),
            Self::Seed => format!("seed {value}"),
            Self::Suite => format!("kernels {value}"),
            Self::BudgetSeconds => format!("{value} s an entry"),
            Self::BudgetMib => format!("{value} MiB an entry"),
            Self::Workload | Self::Backend | Self::Precision | Self::Layout => value,
        }
    }

    /// Returns true for a setting that is not the default.
    pub(crate) fn is_asked_for(self, settings: &Settings) -> bool {
        let usual = match self {
            Self::Adapter => Some("any"),
            Self::Precision => Some(Precision::F32.name()),
            _ => None,
        };
        self.value(settings).is_some_and(|value| usual != Some(value.as_str()))
    }

    /// Returns the settings in which these cells differ.
    pub(crate) fn varying<'a>(cells: impl Iterator<Item = &'a Settings> + Clone) -> Vec<Self> {
        let differs = |axis: &Self| {
            let mut values = cells.clone().map(|settings| axis.value(settings));
            let first = values.next();
            values.any(|value| Some(value) != first)
        };
        Self::ALL.into_iter().filter(differs).collect()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Filter {
    axis: Axis,
    values: Vec<String>,
}

impl Filter {
    pub(crate) fn allows(&self, settings: &Settings) -> bool {
        let value = self.axis.value(settings).unwrap_or_else(|| OWN.to_owned());
        self.values.contains(&value)
    }
}

impl FromStr for Filter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = || Axis::ALL.map(Axis::name).join(", ");
        let wrong = || format!("it must be AXIS=VALUE, with one of {} for AXIS", known());
        let (name, values) = text.split_once('=').ok_or_else(wrong)?;
        let axis = Axis::ALL.into_iter().find(|axis| axis.name() == name.trim()).ok_or_else(wrong)?;
        Ok(Self { axis, values: values.split(',').map(|value| value.trim().to_owned()).collect() })
    }
}

#[cfg(test)]
mod tests {
    use results::kernels::Suite;

    use super::*;
    use crate::study::testing::{kernel_settings, run_settings};

    #[test]
    fn a_filter_keeps_the_cells_that_have_one_of_its_values() {
        let cell = Settings::Run(RunSettings { batch_size: Some(500), ..run_settings("caffe-mnist") });
        let allows = |text: &str| text.parse::<Filter>().unwrap().allows(&cell);
        assert!(allows("batch-size=50, 500") && allows("workload=caffe-mnist") && allows("learning-rate=own"));
        assert!(!allows("batch-size=50") && !allows("seed=2") && !allows("suite=gemm"));
        for wrong in ["batch-size", "batch=5", "=5"] {
            assert!(wrong.parse::<Filter>().unwrap_err().contains("learning-rate"), "{wrong}");
        }
        let kernels = Settings::Kernels(kernel_settings(Suite::Gemm));
        let allows = |text: &str| text.parse::<Filter>().unwrap().allows(&kernels);
        assert!(allows("suite=conv,gemm") && allows("adapter=any") && !allows("suite=conv"));
    }

    #[test]
    fn only_what_differs_varies() {
        let plain = run_settings("caffe-mnist");
        let cells = [plain.clone(), RunSettings { learning_rate: Some(0.1), ..plain }].map(Settings::Run);
        assert_eq!(Axis::varying(cells.iter()), [Axis::LearningRate]);
        assert_eq!(cells.each_ref().map(|cell| Axis::LearningRate.text(cell)), ["rate own", "rate 0.1"]);
        assert!(Axis::varying(cells[..1].iter()).is_empty());
        let suites = [Suite::Gemm, Suite::Conv].map(|suite| Settings::Kernels(kernel_settings(suite)));
        assert_eq!(Axis::varying(suites.iter()), [Axis::Suite]);
    }
}
