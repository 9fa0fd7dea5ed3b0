//! Cells of a column that wait until their group of rows is full.

use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedColumnWriter;

use crate::values::{Cell, Kind, Values};

/// The values that are there and, where some may be absent, which ones are: 1, and 0 for those that are not.
pub(super) struct Buffer {
    values: Waiting,
    present: Option<Vec<i16>>,
}

enum Waiting {
    Texts(Vec<ByteArray>),
    Wholes(Vec<i64>),
    Numbers(Vec<f64>),
    Flags(Vec<bool>),
    /// Microseconds since 1970 UTC.
    Moments(Vec<i64>),
}

impl Buffer {
    pub(super) fn new<R>(values: &Values<R>) -> Self {
        let waiting = match values.kind() {
            Kind::Text => Waiting::Texts(Vec::new()),
            Kind::Whole => Waiting::Wholes(Vec::new()),
            Kind::Number => Waiting::Numbers(Vec::new()),
            Kind::Flag => Waiting::Flags(Vec::new()),
            Kind::Moment => Waiting::Moments(Vec::new()),
        };
        Self { values: waiting, present: values.may_be_absent().then(Vec::new) }
    }

    pub(super) fn push(&mut self, cell: Cell) -> Result<(), ParquetError> {
        match (&mut self.values, cell) {
            (_, Cell::Empty) if self.present.is_some() => {}
            (Waiting::Texts(values), Cell::Text(text)) => values.push(text.into()),
            (Waiting::Wholes(values), Cell::Whole(whole)) => values.push(signed(whole)),
            (Waiting::Numbers(values), Cell::Number(number)) => values.push(number),
            (Waiting::Flags(values), Cell::Flag(flag)) => values.push(flag),
            (Waiting::Moments(values), Cell::Moment(unix_seconds)) => values.push(microseconds(unix_seconds)),
            (_, cell) => return Err(ParquetError::General(format!("{cell:?} is not of its column's type"))),
        }
        if let Some(present) = &mut self.present {
            present.push(i16::from(cell != Cell::Empty));
        }
        Ok(())
    }

    /// Writes all of them, compressed, and is empty again.
    pub(super) fn write(&mut self, mut column: SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let present = self.present.as_deref();
        match &mut self.values {
            Waiting::Texts(values) => {
                column.typed::<ByteArrayType>().write_batch(values, present, None)?;
                values.clear();
            }
            Waiting::Wholes(values) | Waiting::Moments(values) => {
                column.typed::<Int64Type>().write_batch(values, present, None)?;
                values.clear();
            }
            Waiting::Numbers(values) => {
                column.typed::<DoubleType>().write_batch(values, present, None)?;
                values.clear();
            }
            Waiting::Flags(values) => {
                column.typed::<BoolType>().write_batch(values, present, None)?;
                values.clear();
            }
        }
        if let Some(present) = &mut self.present {
            present.clear();
        }
        column.close()
    }
}

/// Validation lets nothing in that comes near the limit; what a host's own import has must not break everybody's file.
fn signed(whole: u64) -> i64 {
    i64::try_from(whole).unwrap_or(i64::MAX)
}

fn microseconds(unix_seconds: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "whole numbers, and the cast keeps within what fits")]
    let whole = (unix_seconds * 1e6).round() as i64;
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_kept_to_the_microsecond_and_no_number_breaks_a_file() {
        assert_eq!(microseconds(1_800_000_000.123_456), 1_800_000_000_123_456);
        assert_eq!(microseconds(-0.000_001_4), -1);
        assert_eq!(microseconds(f64::MAX), i64::MAX);
        assert_eq!((signed(7), signed(u64::MAX)), (7, i64::MAX));
    }

    #[test]
    fn a_cell_of_another_type_is_refused_and_so_is_nothing_where_something_must_be() {
        let mut always = Buffer::new(&Values::<()>::Whole(|_, _| 1));
        assert!(always.push(Cell::Whole(1)).is_ok());
        assert!(always.push(Cell::Number(1.0)).is_err());
        assert!(always.push(Cell::Empty).is_err());
        let mut perhaps = Buffer::new(&Values::<()>::OptionalNumber(|_, _| None));
        assert!(perhaps.push(Cell::Empty).is_ok());
        assert!(perhaps.push(Cell::Number(1.0)).is_ok());
        assert_eq!(perhaps.present.as_deref(), Some(&[0, 1][..]));
    }
}
