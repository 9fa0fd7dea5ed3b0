//! Whether rounding alone decides what a check compares.

use results::{Compared, Correctness, Precision};

use super::{FirstSteps, judge};
use crate::backends::reference::ReferenceBackend;
use crate::error::EngineError;
use crate::trainer::TrainingJob;
use crate::workload::Workload;

/// Share of what is allowed that rounding may use up.
const CONSIDERABLE: f64 = 0.25;

/// Whether rounding in `precision` moves what the first steps of `job` compute by a considerable share of what a check
/// allows. Then a device that is right may be off by as much, and the check has to be made with other samples. Such is a
/// window of a max-pool whose largest two values are closer to each other than single precision can tell: the gradient goes to
/// one or to the other.
///
/// The plain loops answer it alone, in single precision and, for f16, from weights that are rounded to it. A device has no part
/// in the answer, so that a wrong one gains nothing: it is compared in full with the other samples.
///
/// # Errors
/// Those of a model that cannot be put together.
pub(super) async fn decides(
    workload: &Workload,
    job: &TrainingJob,
    precision: Precision,
    reference: &FirstSteps,
) -> Result<bool, EngineError> {
    let rounded = match precision {
        Precision::F64 => return Ok(false),
        Precision::F32 => ReferenceBackend::<f32>::new(),
        Precision::F16 | Precision::F16Matrix => ReferenceBackend::<f32>::from_weights_in_f16(),
    };
    let found = FirstSteps::of(&rounded, job).await?;
    Ok(is_considerable(&judge(workload, job, precision, &found, reference)?))
}

/// Updates follow from the gradients, and contain the rounding of weights.
fn is_considerable(found: &Correctness) -> bool {
    let others = found.differences.iter().filter(|of| of.compared != Compared::Update);
    let differences = others.map(|of| (of.largest_difference, of.tolerance));
    differences
        .chain([(found.largest_difference, found.tolerance)])
        .any(|(difference, tolerance)| difference > CONSIDERABLE * tolerance)
}
