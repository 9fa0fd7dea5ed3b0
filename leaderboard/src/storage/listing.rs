//! What lists and histories go by: columns of a result that follow from its record.

use results::{RunRecord, Summary};
use sqlx::Any;
use sqlx::any::AnyArguments;
use sqlx::query::Query;

use super::values::OptionalNumber;

/// The columns in the order in which [`bind_listing`] binds them.
macro_rules! listing_columns {
    () => {
        "kind, descending_rate, descending_accuracy, seconds_to_target, engine_version, driver"
    };
}
pub(super) use listing_columns;

/// Binds six parameters more.
pub(super) fn bind_listing<'q>(
    statement: Query<'q, Any, AnyArguments>,
    record: &RunRecord,
    summary: &Summary,
    kind: i64,
) -> Query<'q, Any, AnyArguments> {
    statement
        .bind(kind)
        .bind(descending(summary.samples_per_second))
        .bind(descending(summary.accuracy))
        .bind(OptionalNumber(summary.seconds_to_target))
        .bind(record.provenance.engine_version.clone())
        .bind(record.device.adapter.driver.clone())
}

/// The largest first; 0, which is last, for nothing. Never the negative zero, which would be another place in a page's
/// cursor.
pub(super) fn descending(figure: Option<f64>) -> f64 {
    figure.filter(|figure| *figure > 0.0).map_or(0.0, |figure| -figure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_comes_first_and_nothing_last() {
        let mut figures = [None, Some(2.0), Some(0.0), Some(3.0)].map(descending);
        figures.sort_by(f64::total_cmp);
        assert_eq!(figures, [-3.0, -2.0, 0.0, 0.0]);
        assert!(figures[2].is_sign_positive());
    }
}
