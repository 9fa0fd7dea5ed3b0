//! One run that is computed again, and what is written of it.

use std::time::Instant;

use results::RunRecord;
use tokio::runtime::Handle;

use super::examination::{Examination, Found};
use super::judgement::{given_up, judge};
use super::{TAKEN_SECONDS, Tools};
use crate::metrics::Event;
use crate::storage::{Own, StorageError, Verification};

/// A run that has brought down so many verifications is left alone.
const MOST_ATTEMPTS: u32 = 3;

/// Computes again what can be had of a run, and writes what follows.
pub(super) fn verify(
    tools: &Tools,
    runtime: &Handle,
    of: &Verification,
    stops: &dyn Fn() -> bool,
) -> Result<(), StorageError> {
    let begin = Instant::now();
    let found = if of.attempts > MOST_ATTEMPTS { None } else { Some(examine(tools, runtime, of, stops)?) };
    if matches!(found, Some(Found::Interrupted)) {
        // The server releases it when it has stopped.
        return Ok(());
    }
    let conclude = |own: &Own, in_part| match &found {
        Some(found) => judge(own, found, in_part, &of.record),
        None => given_up(own, in_part),
    };
    let now = tools.clock.unix_seconds();
    let concluded = runtime.block_on(tools.storage.conclude_verification(of, now, conclude))?;
    if let Some(own) = concluded {
        let seconds = begin.elapsed().as_secs_f64();
        tracing::info!(run = of.run_id, tier = own.tier.name(), in_part = of.in_part, seconds, "verified");
        tools.metrics.count(Event::Verified(own.tier));
    }
    Ok(())
}

/// Computes this very run again, unless it does not wait or somebody else has it. Not for threads that answer requests.
pub(crate) fn verify_here(tools: &Tools, runtime: &Handle, run_id: &str) -> Result<(), StorageError> {
    let now = tools.clock.unix_seconds();
    let taken =
        runtime.block_on(tools.storage.take_verification_of(run_id, &tools.server, now, now + TAKEN_SECONDS))?;
    taken.map_or(Ok(()), |verification| verify(tools, runtime, &verification, &|| false))
}

fn examine(
    tools: &Tools,
    runtime: &Handle,
    of: &Verification,
    stops: &dyn Fn() -> bool,
) -> Result<Found, StorageError> {
    if let Some(reason) = of_another_suite(&of.record) {
        return Ok(Found::Nothing(reason));
    }
    // A few remaining states would prove nothing about the rest.
    let seen = if of.in_part { None } else { Some(runtime.block_on(tools.storage.seen(&of.run_id))?) };
    let state = |workload: &str, step| runtime.block_on(tools.storage.state(&of.run_id, workload, step));
    let seen = seen.as_deref();
    Examination { tools, run_id: &of.run_id, record: &of.record, seen, state: &state, stops }.perform()
}

/// Runs of other versions of a suite were other work.
fn of_another_suite(record: &RunRecord) -> Option<String> {
    let suite = &record.suite;
    let known = engine::suite(&suite.name)?;
    (known.version != suite.version).then(|| {
        format!(
            "This leaderboard computes version {} of the suite {}, and not version {}.",
            known.version, suite.name, suite.version
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_another_version_of_its_suite_is_not_held_to_the_work_of_this_one() {
        let mut record = crate::devices::testing::native("Example GPU 9000", "");
        record.suite = results::Suite { name: engine::SUITES[0].name.to_owned(), version: engine::SUITES[0].version };
        assert_eq!(of_another_suite(&record), None);
        record.suite.version += 1;
        assert!(of_another_suite(&record).unwrap().contains("and not version"));
    }
}
