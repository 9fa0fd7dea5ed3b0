//! Bounds of what is told while a run trains, and of what its record says of that.

use results::WorkloadRecord;
use results::api::TellCheckpoint;

use super::bounds::{Checked, FieldPath};
use super::run::LONGEST_SECONDS;
use super::training::MOST_STEPS;

/// No suite looks at a test set so often.
const CHECKPOINTS: usize = 1000;
const STRETCHES: usize = 100_000;
const NONCE: usize = 128;
const DIGITS_OF_HASH: usize = 64;

/// Bounds what a client tells of a checkpoint.
pub(crate) fn check_checkpoint(request: &TellCheckpoint) -> Checked {
    let path = FieldPath::ROOT;
    path.field("nonce").text(&request.nonce, NONCE)?;
    path.field("workload").name(&request.workload)?;
    path.field("number").whole(u64::from(request.number), 0..=CHECKPOINTS as u64)?;
    path.field("step").whole(request.step, 0..=MOST_STEPS)?;
    hash(&path.field("weights_sha256"), &request.weights_sha256)?;
    hash(&path.field("measured_sha256"), &request.measured_sha256)
}

/// `path` is the workload's.
pub(super) fn check(path: &FieldPath<'_>, record: &WorkloadRecord) -> Checked {
    let timeline = path.field("timeline");
    timeline.list(record.timeline.len(), STRETCHES)?;
    for (i, stretch) in record.timeline.iter().enumerate() {
        timeline.item(i).field("seconds").number(stretch.seconds, 0.0..=LONGEST_SECONDS)?;
    }
    let checkpoints = path.field("checkpoints");
    checkpoints.list(record.checkpoints.len(), CHECKPOINTS)?;
    for (i, checkpoint) in record.checkpoints.iter().enumerate() {
        let item = checkpoints.item(i);
        item.field("step").whole(checkpoint.step, 0..=MOST_STEPS)?;
        hash(&item.field("weights_sha256"), &checkpoint.weights_sha256)?;
        hash(&item.field("measured_sha256"), &checkpoint.measured_sha256)?;
        item.field("next_loss").optional_number(checkpoint.next_loss, f64::MIN..=f64::MAX)?;
    }
    Ok(())
}

fn hash(path: &FieldPath<'_>, text: &str) -> Checked {
    let fits = text.len() == DIGITS_OF_HASH && text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'a'..=b'f'));
    if fits { Ok(()) } else { path.refuse("bad_hash", "A SHA-256 is written as 64 digits from 0 to f.") }
}
