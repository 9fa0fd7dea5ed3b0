//! The comparison with the reference must follow from its own numbers.

use results::{Compared, Correctness, Disagreement, Outcome, Precision, Settings, WholeBatch, WorkloadRecord};

use super::bounds::{Checked, FieldPath};

const LOSSES: usize = 1000;
/// One of each kind at most.
const DIFFERENCES: usize = 8;
/// What every workload allows in f32 and f64; back ends that are right are off by 1e-6 at most.
const WIDEST_TOLERANCE: f64 = 1e-3;
/// What f16 may come to in a deep network, and is never ranked; a wider tolerance would compare nothing.
const WIDEST_TOLERANCE_OF_F16: f64 = 0.1;
/// Client and server compute the same few operations in double precision.
const ROUNDING: f64 = 1e-9;

/// `path` is the workload's.
pub(super) fn check(path: &FieldPath<'_>, record: &WorkloadRecord) -> Checked {
    let Some(correctness) = &record.correctness else { return Ok(()) };
    let field = path.field("correctness");
    check_numbers(&field, correctness, &record.settings)?;
    field.field("passed").holds(
        correctness.passed || record.outcome != Outcome::Completed,
        "The back end disagreed with the reference, so the workload cannot have been completed: wrong results get no \
         figure.",
    )?;
    path.field("outcome").holds(
        !(correctness.passed && record.outcome == Outcome::Incorrect),
        "The outcome says incorrect, and the comparison with the reference says that it passed.",
    )
}

fn check_numbers(path: &FieldPath<'_>, correctness: &Correctness, settings: &Settings) -> Checked {
    path.field("batch_size").whole(u64::from(correctness.batch_size), 1..=65_536)?;
    path.field("redraws").whole(u64::from(correctness.redraws), 0..=u64::from(Correctness::MOST_REDRAWS))?;
    let widest = match settings.precision {
        Precision::F16 | Precision::F16Matrix => WIDEST_TOLERANCE_OF_F16,
        Precision::F32 | Precision::F64 => WIDEST_TOLERANCE,
    };
    path.field("tolerance").number(correctness.tolerance, 0.0..=widest)?;
    path.field("largest_difference").number(correctness.largest_difference, 0.0..=f64::MAX)?;
    let (losses, references) = (&correctness.losses, &correctness.reference_losses);
    path.field("losses").list(losses.len(), LOSSES)?;
    path.field("reference_losses").holds(
        losses.len() == references.len() && !losses.is_empty(),
        "There must be one reference loss for each loss, and at least one.",
    )?;
    for (i, (&loss, &reference)) in losses.iter().zip(references).enumerate() {
        path.field("losses").item(i).finite(loss)?;
        path.field("reference_losses").item(i).finite(reference)?;
    }
    let largest = Correctness::largest_difference_of(losses, references);
    path.field("largest_difference").holds(
        (largest - correctness.largest_difference).abs() <= ROUNDING * largest.max(1e-6),
        "The largest difference does not follow from the losses.",
    )?;
    let differences = path.field("differences");
    differences.list(correctness.differences.len(), DIFFERENCES)?;
    for (i, difference) in correctness.differences.iter().enumerate() {
        check_difference(&differences.item(i), difference, settings.precision)?;
    }
    if let Some(whole) = &correctness.whole_batch {
        check_whole_batch(&path.field("whole_batch"), whole, correctness.tolerance, settings)?;
    }
    path.field("passed").holds(
        correctness.passed == correctness.disagreement().is_none(),
        "Whether the comparison passed does not follow from its differences and its tolerances.",
    )
}

fn check_difference(path: &FieldPath<'_>, found: &Disagreement, precision: Precision) -> Checked {
    path.field("largest_difference").number(found.largest_difference, 0.0..=f64::MAX)?;
    path.field("tolerance").number(found.tolerance, 0.0..=found.compared.widest_tolerance(precision))
}

/// `tolerance` is that of a loss.
fn check_whole_batch(path: &FieldPath<'_>, whole: &WholeBatch, tolerance: f64, settings: &Settings) -> Checked {
    path.field("batch_size").holds(
        whole.batch_size == settings.batch_size,
        "The batch that was compared with its parts must be one of the size that was timed.",
    )?;
    path.field("part_size").whole(u64::from(whole.part_size), 1..=u64::from(whole.batch_size))?;
    path.field("loss").finite(whole.loss)?;
    path.field("loss_of_parts").finite(whole.loss_of_parts)?;
    path.field("gradient_difference").number(whole.gradient_difference, 0.0..=f64::MAX)?;
    path.field("gradient_tolerance")
        .number(whole.gradient_tolerance, 0.0..=Compared::Gradient.widest_tolerance(settings.precision))?;
    path.field("passed").holds(
        whole.passed == whole.disagreement(tolerance).is_none(),
        "Whether the whole batch agrees with its parts does not follow from their differences and tolerances.",
    )
}
