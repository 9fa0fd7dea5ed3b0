//! The comparison with the reference must follow from its own numbers.

use results::{Correctness, Outcome, Precision, WorkloadRecord};

use super::bounds::{Checked, Place};

const LOSSES: usize = 1000;
/// What every workload allows in f32 and f64; back ends that are right are off by 1e-6 at most.
const WIDEST_TOLERANCE: f64 = 1e-3;
/// What f16 may come to in a deep network, and is never ranked; a wider tolerance would compare nothing.
const WIDEST_TOLERANCE_OF_F16: f64 = 0.1;
/// Client and server compute the same few operations in double precision.
const ROUNDING: f64 = 1e-9;

/// `place` is the workload's.
pub(super) fn check(place: &Place<'_>, record: &WorkloadRecord) -> Checked {
    let Some(correctness) = &record.correctness else { return Ok(()) };
    let field = place.field("correctness");
    check_numbers(&field, correctness, record.settings.precision)?;
    field.field("passed").holds(
        correctness.passed || record.outcome != Outcome::Completed,
        "The back end disagreed with the reference, so the workload cannot have been completed: wrong results get no \
         figure.",
    )?;
    place.field("outcome").holds(
        !(correctness.passed && record.outcome == Outcome::Incorrect),
        "The outcome says incorrect, and the comparison with the reference says that it passed.",
    )
}

fn check_numbers(place: &Place<'_>, correctness: &Correctness, precision: Precision) -> Checked {
    place.field("batch_size").whole(u64::from(correctness.batch_size), 1..=65_536)?;
    let widest = match precision {
        Precision::F16 => WIDEST_TOLERANCE_OF_F16,
        Precision::F32 | Precision::F64 => WIDEST_TOLERANCE,
    };
    place.field("tolerance").number(correctness.tolerance, 0.0..=widest)?;
    place.field("largest_difference").number(correctness.largest_difference, 0.0..=f64::MAX)?;
    let (losses, references) = (&correctness.losses, &correctness.reference_losses);
    place.field("losses").list(losses.len(), LOSSES)?;
    place.field("reference_losses").holds(
        losses.len() == references.len() && !losses.is_empty(),
        "There must be one reference loss for each loss, and at least one.",
    )?;
    for (i, (&loss, &reference)) in losses.iter().zip(references).enumerate() {
        place.field("losses").item(i).finite(loss)?;
        place.field("reference_losses").item(i).finite(reference)?;
    }
    let largest = losses.iter().zip(references).map(|(l, r)| relative_difference(*l, *r)).fold(0.0, f64::max);
    place.field("largest_difference").holds(
        (largest - correctness.largest_difference).abs() <= ROUNDING * largest.max(1e-6),
        "The largest difference does not follow from the losses.",
    )?;
    // The largest number there is stands for what JSON cannot write: two such losses do not agree, they are no losses.
    let finite = losses.iter().chain(references).all(|loss| loss.abs() < f64::MAX);
    place.field("passed").holds(
        finite || !correctness.passed,
        "A loss is infinite or not a number, so the comparison cannot have passed.",
    )?;
    place.field("passed").holds(
        correctness.passed == (correctness.largest_difference <= correctness.tolerance),
        "Whether the comparison passed does not follow from its largest difference and its tolerance.",
    )
}

/// `|loss - reference| / |reference|`, and the largest number where that is none, as the engine has it.
fn relative_difference(loss: f64, reference: f64) -> f64 {
    let difference = (loss - reference).abs() / reference.abs();
    if difference.is_finite() { difference } else { f64::MAX }
}
