use results::measured::Outcome;

use crate::error::EngineError;

/// What an error comes to, for whoever goes on with the next measurement.
pub(crate) fn refused<Figures, Difference>(error: &EngineError) -> Outcome<Figures, Difference> {
    match error {
        EngineError::DoesNotFit { what, needed_bytes, allowed_bytes } => {
            Outcome::DoesNotFit { what: what.clone(), needed_bytes: *needed_bytes, allowed_bytes: *allowed_bytes }
        }
        EngineError::InvalidSetting { .. } => Outcome::Skipped { reason: error.to_string() },
        other => Outcome::Failed { message: other.to_string() },
    }
}
