//! What a comparison's runs brought, and how the command ends.

use results::comparison::{self, Comparison, Contender, Refused};
use results::{FailureCause, Outcome, RunRecord, WorkloadRecord};

use crate::failure::Failure;
use crate::report;

/// What the runs brought.
#[derive(Default)]
pub(super) struct Findings {
    /// Each with a single workload.
    pub(super) records: Vec<RunRecord>,
    given_up: Vec<GivenUp>,
    pub(super) cancelled: bool,
}

/// A workload that a back end cannot train, so that further seeds are not tried.
struct GivenUp {
    workload: &'static str,
    refused: Refused,
    /// Absent where the reason is that of a workload before.
    failure: Option<Failure>,
}

impl Findings {
    pub(super) fn add(&mut self, record: RunRecord) {
        self.cancelled |= report::was_cancelled(&record);
        self.records.push(record);
    }

    /// Notes that `contender` trains none of the workloads, because of what happened with the first of them.
    pub(super) fn give_up(
        &mut self,
        workloads: impl Iterator<Item = &'static str>,
        contender: &Contender,
        failure: impl Into<Failure>,
    ) {
        let failure = failure.into();
        let reason = failure.to_string();
        let mut failure = Some(failure);
        self.given_up.extend(workloads.map(|workload| GivenUp {
            workload,
            refused: Refused { contender: contender.clone(), reason: reason.clone() },
            failure: failure.take(),
        }));
    }

    pub(super) fn refused(&self, workload: &str, contender: &Contender) -> Option<&Refused> {
        let given_up = self.given_up.iter().filter(|given_up| given_up.workload == workload);
        given_up.map(|given_up| &given_up.refused).find(|refused| refused.contender == *contender)
    }

    /// Whether it computed something else than the reference, so that no figure of it would count.
    pub(super) fn is_wrong(&self, workload: &str, contender: &Contender) -> bool {
        let own = self.records.iter().filter(|record| record.device.backend == contender.backend);
        let mut runs = own.flat_map(|record| &record.workloads);
        runs.any(|run| {
            let same = run.workload == workload && run.settings.precision == contender.precision;
            same && run.outcome == Outcome::Incorrect
        })
    }

    pub(super) fn workloads<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a WorkloadRecord> {
        self.records.iter().flat_map(|record| &record.workloads).filter(move |workload| workload.workload == name)
    }

    pub(super) fn comparison(&self, workload: &str) -> Comparison {
        let given_up = self.given_up.iter().filter(|given_up| given_up.workload == workload);
        let refused: Vec<Refused> = given_up.map(|given_up| given_up.refused.clone()).collect();
        comparison::compare(workload, &self.records, &refused)
    }

    /// Why there is no record at all.
    pub(super) fn into_failure(self) -> Failure {
        let failure = self.given_up.into_iter().find_map(|given_up| given_up.failure);
        failure.unwrap_or(Failure::Cancelled { kept: false })
    }

    /// # Errors
    /// Something wrong, cancelled or failed. What does not fit is an answer.
    pub(super) fn conclude(&self, kept: bool) -> Result<(), Failure> {
        let wrong: Vec<String> = self.records.iter().filter_map(wrong).collect();
        if !wrong.is_empty() {
            return Err(Failure::WrongResults(wrong.join("; ")));
        }
        if self.cancelled {
            return Err(Failure::Cancelled { kept });
        }
        let failed = |given_up: &GivenUp| {
            let failure = given_up.failure.as_ref()?;
            let is_answer = matches!(failure, Failure::NotTrained { cause: FailureCause::DoesNotFit, .. });
            (!is_answer).then(|| format!("{} on {}: {failure}", given_up.workload, given_up.refused.contender))
        };
        let failed: Vec<String> = self.given_up.iter().filter_map(failed).collect();
        if failed.is_empty() { Ok(()) } else { Err(Failure::NotMeasured(failed.join("; "))) }
    }
}

/// What went wrong in a run, and on which back end.
fn wrong(record: &RunRecord) -> Option<String> {
    let sentence = record.workloads.iter().find_map(report::wrong)?;
    Some(format!("{}, seed {}: {sentence}", record.device.backend, record.seed))
}

#[cfg(test)]
mod tests {
    use engine::EngineError;
    use results::Precision;

    use super::*;

    fn wgsl() -> Contender {
        Contender { backend: "wgsl".to_owned(), precision: Precision::F32 }
    }

    #[test]
    fn a_lost_device_is_given_up_for_all_later_workloads_and_fails_the_command_once() {
        let mut findings = Findings::default();
        let lost = EngineError::DeviceLost { message: "gone".to_owned() };
        findings.give_up(["one", "two"].into_iter(), &wgsl(), lost);
        assert!(findings.refused("two", &wgsl()).is_some_and(|refused| refused.reason.contains("gone")));
        assert!(findings.refused("zero", &wgsl()).is_none());
        let failure = findings.conclude(true).unwrap_err();
        assert_eq!((failure.exit_code(), failure.to_string().matches("gone").count()), (1, 1));
        assert_eq!(findings.into_failure().exit_code(), 4);
    }

    #[test]
    fn what_does_not_fit_is_an_answer_unless_it_is_the_only_one() {
        let mut findings = Findings::default();
        let sentence = "it needs 2 bytes, and this device allows 1".to_owned();
        let failure = Failure::NotTrained { cause: FailureCause::DoesNotFit, sentence };
        findings.give_up(["one"].into_iter(), &wgsl(), failure);
        assert!(findings.conclude(true).is_ok());
        assert_eq!(findings.comparison("one").rows.len(), 1);
        assert_eq!(findings.into_failure().exit_code(), 4);
    }
}
