//! What is installed on this machine, whether it trains, and what to do about what does not.

mod adapters;
mod cache;
mod child;
mod circumstances;
mod data;
mod energy;
mod files;
mod finding;
mod gpus;
mod leaderboard;
mod load;
mod memory;
mod nvidia;
mod platforms;
mod power;
mod privacy;
mod processor;
mod program;
mod render_nodes;
mod report;
mod show;
mod system;
mod traces;
mod verdict;
mod vulkan;

pub(crate) use adapters::list_for_the_doctor;
pub(crate) use circumstances::Circumstances;
use finding::{Finding, Severity};
pub(crate) use privacy::Privacy;
pub(crate) use report::Report;
pub(crate) use show::show;
pub(crate) use traces::{check_backends, trace_for_the_doctor};
use verdict::Verdict;

/// Where a finding stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
enum Chapter {
    Program,
    System,
    Graphics,
    Data,
    Leaderboard,
    Correctness,
}

impl Chapter {
    fn title(self) -> &'static str {
        match self {
            Self::Program => "Program",
            Self::System => "System",
            Self::Graphics => "Adapters and drivers",
            Self::Data => "Data",
            Self::Leaderboard => "Leaderboard",
            Self::Correctness => "Correctness",
        }
    }
}

/// One thing that is looked at.
struct Examination {
    chapter: Chapter,
    /// What a person reads while it is looked at.
    title: &'static str,
    /// Finds nothing where there is nothing to look at.
    examine: fn(&mut Circumstances<'_>) -> Vec<Finding>,
}

/// Everything that is looked at, in the order of the report. Whatever computes is last: it would press on what is measured.
const EXAMINATIONS: &[Examination] = &[
    program::EXAMINATION,
    system::EXAMINATION,
    processor::EXAMINATION,
    memory::EXAMINATION,
    load::EXAMINATION,
    power::EXAMINATION,
    energy::EXAMINATION,
    adapters::EXAMINATION,
    gpus::EXAMINATION,
    vulkan::EXAMINATION,
    render_nodes::EXAMINATION,
    nvidia::EXAMINATION,
    platforms::EXAMINATION,
    cache::EXAMINATION,
    data::EXAMINATION,
    leaderboard::EXAMINATION,
    traces::EXAMINATION,
];
