//! Bounds on requests of a run while it trains, and on the segments of its record.

use std::collections::BTreeSet;

use results::api::{CommitSegment, OpenLap, ProvePart, SharedComparison};
use results::{RunRecord, WorkloadRecord};

use super::bounds::{Checked, FieldPath, Refusal};
use super::run::MAX_SECONDS;
use super::training::{MAX_STEPS, POINTS};
use super::{Origin, check_workloads, run, work};
use crate::proof::draws::MAX_HASHES;

const STRETCHES: usize = 100_000;
const NONCE: usize = 128;
const HASH_DIGITS: usize = 64;

pub(crate) fn check_lap(request: &OpenLap) -> Checked {
    let path = FieldPath::ROOT;
    check_training(&path, &request.nonce, &request.workload)?;
    check_number(&path.field("segment"), request.segment)?;
    check_hash(&path.field("state_sha256"), &request.state_sha256)
}

pub(crate) fn check_commitment(request: &CommitSegment) -> Checked {
    let path = FieldPath::ROOT;
    check_training(&path, &request.nonce, &request.workload)?;
    check_number(&path.field("segment"), request.segment)?;
    path.field("step").whole(request.step, 1..=MAX_STEPS)?;
    check_hash(&path.field("state_sha256"), &request.state_sha256)?;
    check_hash(&path.field("losses_sha256"), &request.losses_sha256)
}

pub(crate) fn check_proof(request: &ProvePart) -> Checked {
    let path = FieldPath::ROOT;
    check_training(&path, &request.nonce, &request.workload)?;
    path.field("tested_step").whole(request.tested_step, 1..=MAX_STEPS)?;
    path.field("target_step").whole(request.target_step.unwrap_or(1), 1..=MAX_STEPS)?;
    let Some(part) = &request.hashes else { return Ok(()) };
    let field = path.field("hashes");
    for &step in &part.steps {
        field.field("steps").whole(step, 0..=MAX_STEPS)?;
    }
    let losses = field.field("losses");
    losses.each(&part.losses, |path, &loss| path.finite(loss.into()))?;
    let hashes = field.field("state_sha256");
    hashes.list(part.state_sha256.len(), MAX_HASHES as usize)?;
    hashes.each(&part.state_sha256, |path, hash| check_hash(&path, hash))
}

fn check_training(path: &FieldPath<'_>, nonce: &str, workload: &str) -> Checked {
    path.field("nonce").text(nonce, NONCE)?;
    path.field("workload").name(workload)
}

fn check_number(path: &FieldPath<'_>, segment: u32) -> Checked {
    path.whole(u64::from(segment), 0..=POINTS as u64 - 1)
}

pub(super) fn check(path: &FieldPath<'_>, record: &WorkloadRecord) -> Checked {
    let timeline = path.field("timeline");
    timeline.list(record.timeline.len(), STRETCHES)?;
    timeline
        .each(&record.timeline, |path, stretch| path.field("seconds").number(stretch.seconds, 0.0..=MAX_SECONDS))?;
    let segments = path.field("segments");
    segments.holds(
        record.segments.len() <= record.windows.len(),
        "The record has more segments than windows, but each segment is a window.",
    )?;
    segments.each(&record.segments, |path, segment| check_hash(&path.field("state_sha256"), &segment.state_sha256))
}

fn check_hash(path: &FieldPath<'_>, text: &str) -> Checked {
    let fits = text.len() == HASH_DIGITS && text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'a'..=b'f'));
    if fits { Ok(()) } else { path.refuse("bad_hash", "A SHA-256 must have 64 lowercase hexadecimal digits.") }
}

/// Maximum number of records: eight backends with three seeds each.
const MAX_RECORDS: usize = 24;
const MAX_REFUSED: usize = 24;
/// Maximum length of a reason. Backends describe at length what they lack.
const MAX_REASON_LENGTH: usize = 2000;

pub(crate) fn check_comparison(shared: &SharedComparison) -> Checked {
    let (records, refused) = (FieldPath::ROOT.field("records"), FieldPath::ROOT.field("refused"));
    records.list(shared.records.len(), MAX_RECORDS)?;
    refused.list(shared.refused.len(), MAX_REFUSED)?;
    for (number, record) in shared.records.iter().enumerate() {
        let within = |refusal: Refusal| Refusal { field: format!("records[{number}].{}", refusal.field), ..refusal };
        check_record(record).map_err(within)?;
    }
    refused.each(&shared.refused, |path, of| {
        path.field("contender").field("backend").name(&of.contender.backend)?;
        path.field("reason").filled_text(&of.reason, MAX_REASON_LENGTH)
    })?;
    let trained = shared.records.iter().map(|record| record.device.backend.as_str());
    let refused = shared.refused.iter().map(|of| of.contender.backend.as_str());
    let backends: BTreeSet<&str> = trained.chain(refused).collect();
    if shared.records.is_empty() || backends.len() < 2 {
        return records.refuse("too_few", "A comparison must have at least two backends, and at least one record.");
    }
    Ok(())
}

fn check_record(record: &RunRecord) -> Checked {
    run::check(record)?;
    check_workloads(record)?;
    work::check_time(record, &Origin::Imported)?;
    work::check_work(record)
}

#[cfg(test)]
mod tests {
    use results::api::PartHashes;

    use super::*;

    #[test]
    fn losses_must_be_finite() {
        let code = |loss| {
            let hashes = PartHashes { draw: 0, steps: [0, 2], state_sha256: Vec::new(), losses: vec![1.0, loss] };
            let request = ProvePart {
                nonce: String::new(),
                workload: "keras-mnist-mlp".to_owned(),
                tested_step: 2,
                target_step: None,
                hashes: Some(hashes),
            };
            check_proof(&request).err().map(|refusal| (refusal.code, refusal.field))
        };
        assert_eq!(code(-0.5), None);
        for loss in [f32::INFINITY, f32::NAN] {
            assert_eq!(code(loss), Some(("not_finite", "hashes.losses[1]".to_owned())));
        }
    }
}
