//! What is trained, as the arguments say it.

use engine::{EngineError, SUITES, SuiteDefinition, Workload};

use crate::cli::{BenchmarkArgs, find_workloads};
use crate::failure::Failure;

pub(crate) fn find_suite(name: &str) -> Result<&'static SuiteDefinition, EngineError> {
    let known = || SUITES.iter().map(|suite| suite.name.to_owned()).collect();
    engine::suite(name).ok_or_else(|| EngineError::UnknownSuite { name: name.to_owned(), known: known() })
}

/// Returns the named workloads and those of files; the suite's without any.
pub(crate) fn workloads(arguments: &BenchmarkArgs, suite: &SuiteDefinition) -> Result<Vec<Workload>, Failure> {
    let (asked, files) = (&arguments.training.workloads, &arguments.training.files);
    if asked.is_empty() && files.first().is_none() {
        find_workloads(suite.workloads.iter().copied())
    } else {
        files.and_named(asked.iter().map(|name| name.trim()))
    }
}
