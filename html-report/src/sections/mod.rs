//! What a report is made of, from the first section to the last.

mod costs;
mod curves;
mod groups;
mod inputs;
mod kernels;
mod machines;
mod method;
mod published;
mod runs;
mod scatter;
mod sweeps;
mod troubles;
mod workload;

use crate::findings::{Finding, Kind};
use crate::gathered::Gathered;
use crate::kernels::suites;
use crate::report::{Block, Section};
use crate::text;

/// What the report is about.
pub(crate) fn lead(gathered: &Gathered<'_>) -> Vec<String> {
    let workloads = gathered.workloads();
    let names: Vec<String> = workloads.iter().map(|&name| name.to_owned()).collect();
    let mut lead = Vec::new();
    for study in &gathered.input.studies {
        lead.extend([study.description.trim().to_owned()].into_iter().filter(|text| !text.is_empty()));
        lead.extend(study.repeats.as_ref().map(|repeats| format!("What it repeats: {}", repeats.trim())));
        lead.extend(study.differs.as_ref().map(|differs| format!("What differs: {}", differs.trim())));
    }
    if !gathered.kernels.is_empty() {
        let devices: Vec<String> = gathered.kernels.iter().map(|device| device.name.clone()).collect();
        let suites: Vec<String> = suites(&gathered.kernels).iter().map(|suite| suite.title().to_lowercase()).collect();
        let of = if suites.is_empty() {
            String::new()
        } else {
            format!(", and kernels by themselves: {}", text::listed(&suites))
        };
        lead.push(format!("Peaks of {}{of}.", text::listed(&devices)));
    }
    if !names.is_empty() {
        lead.push(format!(
            "{} of {} in {}, told apart by everything but their seed.",
            text::counted(gathered.runs().count(), "run"),
            text::listed(&names),
            text::counted(gathered.groups.len(), "group")
        ));
    }
    lead
}

/// Every section, in order.
pub(crate) fn all(gathered: &Gathered<'_>, findings: &[Finding]) -> Vec<Section> {
    let workloads = gathered.workloads().into_iter().map(|name| workload::section(gathered, name));
    let first = first(findings).into_iter().chain([found(findings)]);
    let last = [
        troubles::section(gathered),
        machines::section(gathered),
        Some(method::section(gathered, findings)),
        runs::section(gathered),
    ];
    first.chain(kernels::sections(gathered)).chain(workloads).chain(last.into_iter().flatten()).collect()
}

fn first(findings: &[Finding]) -> Option<Section> {
    let cautions: Vec<Finding> = findings.iter().filter(|found| found.kind == Kind::Caution).cloned().collect();
    let section = Section { title: "Know this first".to_owned(), blocks: vec![Block::Findings(cautions.clone())] };
    (!cautions.is_empty()).then_some(section)
}

fn found(findings: &[Finding]) -> Section {
    let found: Vec<Finding> = findings.iter().filter(|found| found.kind != Kind::Caution).cloned().collect();
    let block = if found.is_empty() {
        Block::Text(
            "No rule found anything to say: there is nothing here that differs in one thing and has figures on both sides."
                .to_owned(),
        )
    } else {
        Block::Findings(found)
    };
    Section { title: "Findings".to_owned(), blocks: vec![block] }
}
