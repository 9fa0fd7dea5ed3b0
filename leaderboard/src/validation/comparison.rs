//! What a comparison must be before it is kept. Its records are bounded and recomputed as those of runs are, and held to the
//! engine's registry; but their back ends may be of any name, and nobody computes them again: they stand in their
//! comparison only, and rank nowhere.

use std::collections::BTreeSet;

use results::RunRecord;
use results::api::SharedComparison;

use super::bounds::{Checked, FieldPath, Refusal};
use super::{Origin, check_one_device, check_resident_input, run, segments, summary, time, work, workload};

/// Eight back ends from three seeds each.
const MOST_RECORDS: usize = 24;
const MOST_REFUSED: usize = 24;
/// Back ends tell at length what they lack.
const LONGEST_REASON: usize = 2000;

/// Holds a comparison to every rule.
///
/// # Errors
/// The first rule that it breaks, with the path of the field.
pub(crate) fn check_comparison(shared: &SharedComparison) -> Checked {
    let (records, refused) = (FieldPath::ROOT.field("records"), FieldPath::ROOT.field("refused"));
    records.list(shared.records.len(), MOST_RECORDS)?;
    refused.list(shared.refused.len(), MOST_REFUSED)?;
    for (number, record) in shared.records.iter().enumerate() {
        let within = |refusal: Refusal| Refusal { field: format!("records[{number}].{}", refusal.field), ..refusal };
        check_record(record).map_err(within)?;
    }
    for (number, of) in shared.refused.iter().enumerate() {
        let path = refused.item(number);
        path.field("contender").field("backend").name(&of.contender.backend)?;
        path.field("reason").filled_text(&of.reason, LONGEST_REASON)?;
    }
    let trained = shared.records.iter().map(|record| record.device.backend.as_str());
    let refused = shared.refused.iter().map(|of| of.contender.backend.as_str());
    let backends: BTreeSet<&str> = trained.chain(refused).collect();
    if shared.records.is_empty() || backends.len() < 2 {
        return records.refuse("too_few", "A comparison has two back ends or more, of which one trained.");
    }
    Ok(())
}

fn check_record(record: &RunRecord) -> Checked {
    run::check(record)?;
    let workloads = FieldPath::ROOT.field("workloads");
    for (number, of) in record.workloads.iter().enumerate() {
        let path = workloads.item(number);
        workload::check(&path, of)?;
        check_one_device(&path, of)?;
        check_resident_input(&path, of)?;
        segments::check(&path, of)?;
        summary::check(&path.field("summary"), of)?;
    }
    time::check(record, &Origin::Imported)?;
    work::check_work(record)
}
