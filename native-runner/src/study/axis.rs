//! Settings in which cells differ, and choosing some of the cells by them.

use std::str::FromStr;

use crate::study::cell::{KernelSettings, RunSettings, Settings};

/// One setting of a cell.
#[derive(Debug)]
pub(crate) struct Axis {
    /// As `--only` takes it.
    pub(crate) name: &'static str,
    /// Value of a run; `None` if it is left open or only kernels have it.
    of_run: fn(&RunSettings) -> Option<String>,
    of_kernels: fn(&KernelSettings) -> Option<String>,
    /// The value in words that can stand next to others.
    in_words: fn(&str) -> String,
    /// Value that needs no mention.
    default: Option<&'static str>,
    /// True for a setting that a back end is opened with.
    pub(crate) is_of_opening: bool,
}

/// Value of a setting that a cell leaves to the workload, the suite or the machine.
const OWN: &str = "own";

/// Settings in the order in which tables show them.
pub(crate) static AXES: [Axis; 15] = [
    Axis::of_kernels("suite", |of| Some(of.suite.name().to_owned()), |value| format!("kernels {value}")),
    Axis::new("workload", |of| Some(of.workload.clone()), str::to_owned),
    Axis::new("backend", |of| Some(of.backend.clone()), str::to_owned).of_opening(),
    Axis {
        of_kernels: |of| Some(of.adapter.clone()),
        default: Some("any"),
        ..Axis::new(
            "adapter",
            |of| Some(of.adapter.clone()),
            |value| {
                if value == "any" { "any adapter".to_owned() } else { value.to_owned() }
            },
        )
        .of_opening()
    },
    Axis {
        default: Some("f32"),
        ..Axis::new("precision", |of| Some(of.precision.name().to_owned()), str::to_owned).of_opening()
    },
    Axis::new("threads", |of| of.threads.map(|count| count.to_string()), |value| counted(value, "thread")).of_opening(),
    Axis::new("devices", |of| of.devices.map(|count| count.to_string()), |value| counted(value, "device")).of_opening(),
    Axis::new("input", |of| Some(of.input?.name().to_owned()), |value| format!("input {value}")).of_opening(),
    Axis::new(
        "layout",
        |of| Some(of.layout?.name().to_owned()),
        |value| {
            if value == OWN { "own layout".to_owned() } else { value.to_owned() }
        },
    )
    .of_opening(),
    Axis::new("batch-size", |of| of.batch_size.map(|size| size.to_string()), |value| format!("batch {value}")),
    Axis::new("learning-rate", |of| of.learning_rate.map(|rate| rate.to_string()), |value| format!("rate {value}")),
    Axis::new(
        "limit",
        |of| of.limit.map(|limit| limit.to_string()),
        |value| {
            if value == OWN { "suite's budget".to_owned() } else { value.to_owned() }
        },
    ),
    Axis::new("seed", |of| Some(of.seed.to_string()), |value| format!("seed {value}")),
    Axis::of_kernels("budget-seconds", |of| Some(of.budget_seconds.to_string()), |value| format!("{value} s an entry")),
    Axis::of_kernels("budget-mib", |of| Some(of.budget_mib.to_string()), |value| format!("{value} MiB an entry")),
];

fn counted(value: &str, what: &str) -> String {
    format!("{value} {what}{}", if value == "1" { "" } else { "s" })
}

impl Axis {
    const fn new(name: &'static str, of_run: fn(&RunSettings) -> Option<String>, in_words: fn(&str) -> String) -> Self {
        Self { name, of_run, of_kernels: |_| None, in_words, default: None, is_of_opening: false }
    }

    const fn of_kernels(
        name: &'static str,
        of_kernels: fn(&KernelSettings) -> Option<String>,
        in_words: fn(&str) -> String,
    ) -> Self {
        Self { of_kernels, ..Self::new(name, |_| None, in_words) }
    }

    const fn of_opening(self) -> Self {
        Self { is_of_opening: true, ..self }
    }

    fn value(&self, settings: &Settings) -> Option<String> {
        match settings {
            Settings::Run(run) => (self.of_run)(run),
            Settings::Kernels(kernels) => (self.of_kernels)(kernels),
        }
    }

    pub(crate) fn text(&self, settings: &Settings) -> String {
        (self.in_words)(self.value(settings).as_deref().unwrap_or(OWN))
    }

    /// Returns true for a value that is not the default.
    pub(crate) fn is_asked_for(&self, settings: &Settings) -> bool {
        self.value(settings).is_some_and(|value| self.default != Some(value.as_str()))
    }
}

/// Returns the settings in which these cells differ.
pub(crate) fn varying<'a>(cells: impl Iterator<Item = &'a Settings> + Clone) -> Vec<&'static Axis> {
    let differs = |axis: &&Axis| {
        let mut values = cells.clone().map(|settings| axis.value(settings));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    AXES.iter().filter(differs).collect()
}

/// `AXIS=VALUE,VALUE`: the cells that have one of the values.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    axis: &'static Axis,
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
        let known = || AXES.each_ref().map(|axis| axis.name).join(", ");
        let wrong = || format!("it must be AXIS=VALUE, with one of {} for AXIS", known());
        let (name, values) = text.split_once('=').ok_or_else(wrong)?;
        let axis = AXES.iter().find(|axis| axis.name == name.trim()).ok_or_else(wrong)?;
        Ok(Self { axis, values: values.split(',').map(|value| value.trim().to_owned()).collect() })
    }
}

#[cfg(test)]
mod tests {
    use results::kernels::Suite;

    use super::*;
    use crate::study::testing::{kernel_settings, run_settings};

    #[test]
    fn filter_keeps_cells_with_one_of_its_values() {
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
        let [rate] = varying(cells.iter())[..] else { panic!("one setting differs") };
        assert_eq!(cells.each_ref().map(|cell| rate.text(cell)), ["rate own", "rate 0.1"]);
        assert!(varying(cells[..1].iter()).is_empty());
        let suites = [Suite::Gemm, Suite::Conv].map(|suite| Settings::Kernels(kernel_settings(suite)));
        assert_eq!(varying(suites.iter())[0].name, "suite");
    }
}
