//! What all clients together may leave behind, so that no number of addresses can fill the disk.

use std::time::Duration;

use crate::Protection;
use crate::error::ApiError;
use axum::http::StatusCode;

const SECONDS_OF_A_DAY: f64 = 86_400.0;
/// Divisor of the budget for states: the runs of one /24 or /48 may fill this part of it.
pub(crate) const WEIGHTS_SHARE_OF_PREFIX: u64 = 8;

/// Absent where there is no limit.
#[derive(Clone, Copy)]
pub(crate) struct Budgets {
    /// Announced runs that are neither used nor expired.
    pub(crate) open_runs: Option<u32>,
    /// Bytes of imported records in a day.
    pub(crate) import_bytes_per_day: Option<u64>,
    /// Bytes of states waiting for verification.
    pub(crate) weights_bytes: Option<u64>,
}

impl Budgets {
    pub(crate) fn new(protection: &Protection) -> Self {
        Self {
            open_runs: Some(protection.open_runs).filter(|&runs| runs > 0),
            import_bytes_per_day: Some(protection.import_bytes_per_day).filter(|&bytes| bytes > 0),
            weights_bytes: Some(protection.weights_bytes).filter(|&bytes| bytes > 0),
        }
    }
}

/// Days since 1970, UTC.
#[expect(clippy::cast_possible_truncation, reason = "no clock gets there")]
pub(crate) fn day_of(unix_seconds: f64) -> i64 {
    (unix_seconds / SECONDS_OF_A_DAY).floor() as i64
}

impl ApiError {
    pub(crate) fn too_many_open_runs() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "too_many_open_runs",
            "More runs are announced and not yet uploaded than this leaderboard keeps. Try again in some minutes, or \
             run without announcing and import the record.",
        )
        .retry_after(Duration::from_secs(600))
        .refused_by("open_runs")
    }

    pub(crate) fn too_many_weights() -> Self {
        Self::busy().refused_by("weights")
    }

    /// For a day that is used up, until the next one begins.
    pub(crate) fn too_many_imports(unix_seconds: f64) -> Self {
        let rest = SECONDS_OF_A_DAY - unix_seconds.rem_euclid(SECONDS_OF_A_DAY);
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "too_many_imports",
            "This leaderboard has imported as much as it takes in a day. Keep the record and import it tomorrow (UTC); \
             announced runs can still be uploaded.",
        )
        .retry_after(Duration::from_secs_f64(rest))
        .refused_by("import_bytes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_ends_at_midnight_utc() {
        assert_eq!((day_of(0.0), day_of(86_399.9), day_of(86_400.0)), (0, 0, 1));
    }
}
