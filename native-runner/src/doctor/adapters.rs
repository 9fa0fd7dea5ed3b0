use std::convert::Infallible;
use std::io;
use std::process::Command;
use std::time::Duration;

use engine::backends::wgsl::{self, Details, Limits};
use engine::{AdapterChoice, EngineError};
use results::Adapter;
use serde_json::json;

use super::{Chapter, Circumstances, Examination, Finding, child};
use crate::device::describe;
use crate::failure::Failure;
use crate::figures::mebibytes;
use crate::json_output::{JsonTarget, to_json};
use crate::processes;

/// Drivers that take longer to say what there is hang.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) const EXAMINATION: Examination = Examination { chapter: Chapter::Graphics, title: "adapters", examine };

/// The adapters of this machine, and what kept them from being listed.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) adapters: Vec<Details>,
    pub(super) trouble: Option<String>,
}

/// A call of this very program.
pub(super) fn this_program() -> io::Result<Command> {
    let mut command = processes::this_program()?;
    command.arg("doctor");
    Ok(command)
}

/// What the other process writes.
///
/// # Errors
/// Standard output is closed.
pub(crate) fn list_for_the_doctor() -> Result<(), Failure> {
    JsonTarget::StandardOutput.write(&to_json(&pollster::block_on(wgsl::details()))?)
}

impl Listing {
    /// Drivers are loaded to list adapters, and some crash in it.
    pub(super) fn by_another_process() -> Self {
        let output = this_program().map_err(|error| error.to_string()).and_then(|mut command| {
            command.args(["--part", "adapters"]);
            child::run(command, PATIENCE).output()
        });
        let read = output.and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()));
        match read {
            Ok(adapters) => Self { adapters, trouble: None },
            Err(trouble) => Self { adapters: Vec::new(), trouble: Some(trouble) },
        }
    }

    /// As the engine describes them.
    pub(super) fn described(&self) -> Vec<Adapter> {
        self.adapters.iter().map(|details| details.adapter.clone()).collect()
    }

    /// The adapter that a run takes where nothing is asked for.
    pub(super) fn used_by_default(&self) -> Option<usize> {
        AdapterChoice::Any.choose(&self.described()).ok()
    }

    /// The one that was asked for, or all.
    pub(super) fn chosen(&self, asked: Option<&str>) -> Result<Vec<usize>, EngineError> {
        match asked {
            None => Ok((0..self.adapters.len()).collect()),
            Some(text) => {
                let choice: AdapterChoice = text.parse().unwrap_or_else(|never: Infallible| match never {});
                choice.choose(&self.described()).map(|index| vec![index])
            }
        }
    }
}

fn examine(circumstances: &mut Circumstances<'_>) -> Vec<Finding> {
    let listing = &circumstances.listing;
    let mut findings: Vec<Finding> = Vec::new();
    let all = listing.adapters.iter().enumerate();
    findings.extend(all.map(|(index, details)| of_adapter(index, details, listing.used_by_default() == Some(index))));
    findings.extend(of_listing(listing));
    findings.extend(listing.chosen(circumstances.arguments.adapter.as_deref()).err().map(|error| {
        Finding::problem("adapter_asked_for", format!("{error}."))
            .with_advice("`--adapter` takes an index or a part of a name above, `discrete`, `integrated` or `cpu`.")
    }));
    findings
}

/// What is wrong with all of them together.
fn of_listing(listing: &Listing) -> Option<Finding> {
    if let Some(trouble) = &listing.trouble {
        let sentence = format!("The drivers cannot be asked which adapters there are: {trouble}.");
        let advice = "One of the drivers is broken: VK_DRIVER_FILES names the ones to load, so that each can be tried by \
                      itself. A newer driver may help.";
        return Some(Finding::problem("adapter_list", sentence).with_advice(advice));
    }
    if listing.adapters.is_empty() {
        let advice = "Install the GPU's driver with Vulkan, Metal or DX12. Without a GPU, Mesa's llvmpipe (Debian, \
                      Ubuntu: `mesa-vulkan-drivers`) acts as one, slowly: `--adapter cpu`.";
        return Some(
            Finding::problem("adapter_list", "No driver offers an adapter to this program.").with_advice(advice),
        );
    }
    listing.adapters.iter().all(|details| details.adapter.software).then(|| {
        let advice = "If this machine has a GPU, its driver with Vulkan is missing or must not be used by this user; what \
                      follows may say why. On the software adapter a run needs `--adapter cpu`.";
        Finding::warning("adapter_list", "There are only software adapters, which the processor acts for.")
            .with_advice(advice)
    })
}

fn of_adapter(index: usize, details: &Details, default: bool) -> Finding {
    let Details { adapter, features, limits, .. } = details;
    let mut facts = vec![format!("{index}: {}", describe(adapter))];
    facts.push(if features.f16 { "f16" } else { "no f16" }.to_owned());
    facts.push(match features.subgroup_lanes {
        0 => "no subgroups".to_owned(),
        lanes => format!("subgroups of {lanes} lanes or more"),
    });
    facts.push(if features.timestamps { "timestamp queries" } else { "no timestamp queries" }.to_owned());
    facts.push(match features.matrix_side {
        0 => "no cooperative matrices".to_owned(),
        side => format!("cooperative matrices of {side} × {side}"),
    });
    facts.push(format!(
        "buffers of {}, {} of one in a kernel",
        mebibytes(limits.buffer_bytes),
        mebibytes(limits.binding_bytes)
    ));
    if default {
        facts.push("used by default".to_owned());
    }
    let sentence = format!("{}.", facts.join(" · "));
    let too_small = too_small(limits, &Limits::needed());
    let finding = if !too_small.is_empty() {
        Finding::problem(
            "adapter",
            format!("{sentence} It is below what every WebGPU device grants: {}.", too_small.join(", ")),
        )
        .with_advice("This program cannot open it; a newer driver may grant more.")
    } else if adapter.software {
        Finding::note(
            "adapter",
            format!("{sentence} It is software: used only with `--adapter cpu`, and never ranked."),
        )
    } else {
        Finding::fine("adapter", sentence)
    };
    finding.with_details(json!({ "index": index, "default": default, "adapter": details }))
}

/// What the kernels need and the adapter does not have.
fn too_small(limits: &Limits, needed: &Limits) -> Vec<String> {
    let pairs = [
        ("storage buffers", u64::from(limits.storage_buffers), u64::from(needed.storage_buffers)),
        (
            "invocations in a workgroup",
            u64::from(limits.workgroup_invocations),
            u64::from(needed.workgroup_invocations),
        ),
        (
            "bytes of workgroup memory",
            u64::from(limits.workgroup_memory_bytes),
            u64::from(needed.workgroup_memory_bytes),
        ),
    ];
    let lacking = pairs.into_iter().filter(|(_, has, needs)| has < needs);
    lacking.map(|(what, has, needs)| format!("{has} {what} of {needs}")).collect()
}

impl Listing {
    #[cfg(test)]
    pub(super) fn of_a_test(adapters: &[(&str, bool)]) -> Self {
        Self {
            adapters: adapters.iter().map(|&(name, software)| tests::details(name, software)).collect(),
            trouble: None,
        }
    }
}

/// What tests of whole examinations compare.
#[cfg(test)]
pub(super) fn severities(findings: &[Finding]) -> Vec<(&'static str, super::Severity)> {
    findings.iter().map(|finding| (finding.name, finding.severity)).collect()
}

#[cfg(test)]
mod tests {
    use engine::backends::wgsl::{Features, Identity};
    use results::DeviceKind;

    use super::super::Severity;
    use super::*;

    pub(super) fn details(name: &str, software: bool) -> Details {
        Details {
            adapter: Adapter {
                name: name.to_owned(),
                vendor: String::new(),
                architecture: String::new(),
                kind: if software { DeviceKind::Cpu } else { DeviceKind::Discrete },
                api: "Vulkan".to_owned(),
                driver: String::new(),
                software,
            },
            identity: Identity { vendor: 0x10de, device: 0x2330, pci_bus_id: None },
            features: Features { f16: true, subgroup_lanes: 32, timestamps: true, matrix_side: 0 },
            limits: Limits::needed(),
        }
    }

    #[test]
    fn a_listing_without_a_gpu_says_what_is_missing() {
        let severity = |listing: &Listing| of_listing(listing).map(|finding| finding.severity);
        assert_eq!(severity(&Listing::of_a_test(&[("H100", false), ("llvmpipe", true)])), None);
        assert_eq!(severity(&Listing::of_a_test(&[("llvmpipe", true)])), Some(Severity::Warning));
        assert_eq!(severity(&Listing::default()), Some(Severity::Problem));
        let crashed = Listing { trouble: Some("it crashed".to_owned()), ..Listing::default() };
        assert!(of_listing(&crashed).is_some_and(|finding| finding.sentence.ends_with("there are: it crashed.")));
    }

    #[test]
    fn an_adapter_that_cannot_be_opened_says_which_limit_is_too_low() {
        let mut small = details("Tiny", false);
        assert_eq!(of_adapter(0, &small, true).severity, Severity::Fine);
        small.limits.storage_buffers = 4;
        let found = of_adapter(0, &small, true);
        assert_eq!(found.severity, Severity::Problem);
        assert!(found.sentence.contains("4 storage buffers of 8"), "{}", found.sentence);
        assert_eq!(of_adapter(1, &details("llvmpipe", true), false).severity, Severity::Note);
    }

    #[test]
    fn all_adapters_are_looked_at_unless_one_is_asked_for() {
        let listing = Listing::of_a_test(&[("llvmpipe", true), ("H100", false)]);
        assert_eq!(listing.chosen(None).unwrap(), [0, 1]);
        assert_eq!(listing.chosen(Some("h1")).unwrap(), [1]);
        assert_eq!(listing.chosen(Some("cpu")).unwrap(), [0]);
        assert!(listing.chosen(Some("radeon")).is_err());
        assert_eq!(listing.used_by_default(), Some(1));
    }
}
