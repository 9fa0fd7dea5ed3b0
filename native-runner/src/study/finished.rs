//! Results of a cell, as its file holds them.

use results::kernels::KernelRecord;
use results::{Outcome, RunRecord, WorkloadRecord};
use serde::{Deserialize, Serialize};

use crate::child::{Ended, How, signal_name};
use crate::study::cell::{Cell, Length, Settings};
use crate::study::folder::SCHEMA_VERSION;
use crate::{figures, report};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Finished {
    pub(crate) schema_version: u32,
    pub(crate) id: String,
    /// Position in the order, from 1.
    pub(crate) number: usize,
    pub(crate) settings: Settings,
    /// Limit before scaling; for kernels, the seconds of an entry.
    pub(crate) full_limit: Option<Length>,
    pub(crate) scale: f64,
    pub(crate) arguments: Vec<String>,
    pub(crate) ending: Ending,
    pub(crate) reason: Option<String>,
    /// Absent if a signal ended the process.
    pub(crate) exit_status: Option<i32>,
    pub(crate) signal: Option<String>,
    /// Last lines of standard error, if there are no results.
    pub(crate) last_lines: Vec<String>,
    pub(crate) started_unix_seconds: f64,
    pub(crate) seconds: f64,
    /// Number of starts, including this one and killed ones.
    pub(crate) attempts: u32,
    /// Output of `--json`; absent if there was none.
    pub(crate) record: Option<Record>,
    pub(crate) uploads: Vec<Uploaded>,
}

/// Record of a process. In files, the fields alone distinguish the kinds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Record {
    Run(Box<RunRecord>),
    Kernels(Box<KernelRecord>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ending {
    Completed,
    /// The loss became infinite or huge: an answer about the settings.
    Diverged,
    /// The back end disagreed with the reference, so nothing was timed.
    Incorrect,
    /// The run could not train, or no kernel could be measured.
    NotTrained,
    /// The run ended without a record: refused, crashed, or killed.
    Failed,
    TimedOut,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Uploaded {
    pub(crate) leaderboard: String,
    pub(crate) run_id: String,
    pub(crate) permalink: String,
    /// Secret link that can delete the run.
    pub(crate) deletion_link: String,
}

impl Ending {
    pub(crate) fn is_failure(self) -> bool {
        matches!(self, Self::NotTrained | Self::Failed | Self::TimedOut)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    pub(crate) number: usize,
    pub(crate) scale: f64,
    pub(crate) started_unix_seconds: f64,
    pub(crate) attempts: u32,
}

impl Finished {
    pub(crate) fn of(cell: &Cell, arguments: Vec<String>, attempt: Attempt, ended: Ended) -> Self {
        let record = match cell.settings {
            Settings::Run(_) => serde_json::from_str(&ended.stdout).ok().map(Record::Run),
            Settings::Kernels(_) => serde_json::from_str(&ended.stdout).ok().map(Record::Kernels),
        };
        let said = match &record {
            Some(Record::Run(run)) => run.workloads.first().map(of_workload),
            Some(Record::Kernels(kernels)) => Some(of_kernels(kernels)),
            None => None,
        };
        let (ending, reason) = match (ended.how, said) {
            (How::TimedOut, _) => (Ending::TimedOut, Some(format!("took longer than {:.0} s", ended.seconds))),
            (How::Status { .. }, Some(said)) => said,
            (How::Status { .. }, None) => (Ending::Failed, Some(ended.reason())),
        };
        let (exit_status, signal) = match ended.how {
            How::Status { code, signal } => (code, signal.map(|number| signal_name(number).to_owned())),
            How::TimedOut => (None, None),
        };
        Self {
            schema_version: SCHEMA_VERSION,
            id: cell.id.clone(),
            number: attempt.number,
            settings: cell.settings.clone(),
            full_limit: cell.full_limit,
            scale: attempt.scale,
            arguments,
            ending,
            reason,
            exit_status,
            signal,
            last_lines: if ending == Ending::Completed { Vec::new() } else { ended.last_lines },
            started_unix_seconds: attempt.started_unix_seconds,
            seconds: ended.seconds,
            attempts: attempt.attempts,
            record,
            uploads: Vec::new(),
        }
    }

    pub(crate) fn run(&self) -> Option<&RunRecord> {
        if let Some(Record::Run(run)) = &self.record { Some(run) } else { None }
    }

    pub(crate) fn workload(&self) -> Option<&WorkloadRecord> {
        self.run()?.workloads.first()
    }

    pub(crate) fn kernels(&self) -> Option<&KernelRecord> {
        if let Some(Record::Kernels(kernels)) = &self.record { Some(kernels) } else { None }
    }
}

fn of_workload(workload: &WorkloadRecord) -> (Ending, Option<String>) {
    match &workload.outcome {
        Outcome::Completed => (Ending::Completed, None),
        Outcome::Diverged { step } => {
            let text =
                format!("diverged: the loss at step {step} was no finite number, or a thousand times the first one");
            (Ending::Diverged, Some(text))
        }
        Outcome::Incorrect => (Ending::Incorrect, report::wrong(workload)),
        Outcome::Failed { reason, .. } => (Ending::NotTrained, Some(reason.clone())),
        Outcome::Cancelled => (Ending::Failed, Some("somebody else asked the run to stop".to_owned())),
    }
}

/// Same for kernels. Entries that exceed their budgets are answers, if there is any result.
fn of_kernels(record: &KernelRecord) -> (Ending, Option<String>) {
    let report = &record.report;
    let wrong = figures::wrong(report);
    let is_measured =
        report.peaks.iter().next().is_some() || report.entries.iter().any(|of| of.outcome.measured().is_some());
    match (wrong.is_empty(), report.cancelled, is_measured) {
        (false, _, _) => (Ending::Incorrect, Some(wrong.join("; "))),
        (true, true, _) => (Ending::Failed, Some("somebody else asked it to stop".to_owned())),
        (true, false, false) => (Ending::NotTrained, Some("nothing could be measured".to_owned())),
        (true, false, true) => (Ending::Completed, None),
    }
}

#[cfg(test)]
mod tests {
    use results::kernels::Suite;

    use super::*;
    use crate::study::cell::tests::{kernel_settings, run_settings};

    fn finish(settings: Settings, how: How, stdout: &str, lines: &[&str]) -> Finished {
        let last_lines = lines.iter().map(|&line| line.to_owned()).collect();
        let ended = Ended { how, stdout: stdout.to_owned(), last_lines, seconds: 2.0 };
        let attempt = Attempt { number: 1, scale: 1.0, started_unix_seconds: 0.0, attempts: 1 };
        Finished::of(&Cell::new(settings, None), Vec::new(), attempt, ended)
    }

    #[test]
    fn run_without_a_record_has_the_reason_of_its_end() {
        let of = |how, lines: &[&str]| finish(Settings::Run(run_settings("caffe-mnist")), how, "half a rec", lines);
        let lines = ["device    Some GPU", "error: it needs 2 bytes, and", "this device allows 1"];
        let refused = of(How::Status { code: Some(4), signal: None }, &lines);
        assert_eq!((refused.ending, refused.exit_status), (Ending::Failed, Some(4)));
        assert_eq!(refused.reason.as_deref(), Some("it needs 2 bytes, and this device allows 1"));
        assert_eq!(refused.last_lines.len(), 3);
        let killed = of(How::Status { code: None, signal: Some(9) }, &["keras-mnist-mlp (1 of 1)"]);
        let reason = killed.reason.unwrap();
        assert!(reason.contains("SIGKILL") && reason.contains("memory"), "{reason}");
        assert_eq!(killed.signal.as_deref(), Some("SIGKILL"));
        let slow = of(How::TimedOut, &[]);
        assert_eq!((slow.ending, slow.reason.as_deref()), (Ending::TimedOut, Some("took longer than 2 s")));
        assert!(slow.ending.is_failure() && !Ending::Diverged.is_failure());
    }

    #[test]
    fn measured_kernels_complete_a_cell_and_wrong_ones_are_named() {
        let of = |entry: &str, cancelled: bool| {
            let stdout = format!(
                r#"{{"schema_version": 1, "adapter": {{"name": "a", "vendor": "", "architecture": "", "kind": "cpu",
                "api": "Vulkan", "driver": "", "software": true}}, "peaks": {{}}, "cancelled": {cancelled}, "entries": [
                {{"suite": "gemm", "size": "8 × 8 × 8", "pass": "forward", "flops": 1024, "bytes": 768,
                "kernels": ["dense_forward"], {entry}}}], "requested_adapter": "cpu", "budget_seconds": 2.0,
                "budget_bytes": 1024, "provenance": {{"engine_version": "1", "commit": "c", "started_unix_seconds": 0.0,
                "wall_seconds": 1.0, "client": {{"kind": "native", "name": "native-runner", "version": "1",
                "operating_system": "Linux", "logical_processors": 2}}}}}}"#
            );
            let how = How::Status { code: Some(0), signal: None };
            finish(Settings::Kernels(kernel_settings(Suite::Gemm)), how, &stdout, &[])
        };
        let measured = r#""outcome": "measured", "flops_per_second": 1e9, "peak_flops_per_second": null,
            "peak_share": null, "timing": {"seconds": 1.0, "seconds_lowest": 1.0, "seconds_highest": 1.0, "windows": []}"#;
        let finished = of(measured, false);
        assert_eq!((finished.ending, finished.kernels().is_some(), finished.run()), (Ending::Completed, true, None));
        let text = serde_json::to_string(&finished).unwrap();
        assert_eq!(serde_json::from_str::<Finished>(&text).unwrap(), finished);
        assert_eq!(of(measured, true).ending, Ending::Failed);
        assert_eq!(of(r#""outcome": "skipped", "reason": "why""#, false).ending, Ending::NotTrained);
        let wrong = of(r#""outcome": "wrong", "at": 3, "found": 1.5, "expected": 2.5"#, false);
        assert_eq!(wrong.ending, Ending::Incorrect);
        assert!(wrong.reason.as_deref().unwrap().contains("gemm 8 × 8 × 8, forward"), "{:?}", wrong.reason);
    }
}
