//! Parquet export: typed columns in row groups, each written once it is full.

use std::sync::Arc;

use parquet::basic::{Compression, GzipLevel, LogicalType, Repetition, TimeUnit, Type as Stored};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type};
use results::SCHEMA_VERSION;
use results::open_data::ExportColumn;

use crate::table::{Column, HasRecord, SheetCell, Values};

/// Rows per group. A group stays in memory until it is written, which takes about twenty megabytes.
pub const ROWS_IN_GROUP: usize = 10_000;

pub struct ParquetFile<R> {
    columns: Vec<Column<R>>,
    writer: SerializedFileWriter<Vec<u8>>,
    /// Cells of each column, until the row group is full.
    cells: Vec<Vec<SheetCell>>,
}

impl<R: HasRecord> ParquetFile<R> {
    /// Creates a file with these columns. Its metadata contains `about` and, as JSON, the column descriptions.
    ///
    /// # Errors
    /// If the format does not support the columns, such as two with the same name.
    pub fn new(columns: Vec<Column<R>>, about: &[(&str, &str)]) -> Result<Self, ParquetError> {
        let properties = Arc::new(properties(&columns, about)?);
        let writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema(&columns)?), properties)?;
        let cells = columns.iter().map(|_| Vec::new()).collect();
        Ok(Self { columns, writer, cells })
    }

    /// Adds one row per workload.
    ///
    /// # Errors
    /// If a row group cannot be compressed.
    pub fn write_run(&mut self, run: &R) -> Result<(), ParquetError> {
        for workload in &run.record().workloads {
            for (cells, column) in self.cells.iter_mut().zip(&self.columns) {
                cells.push(column.values.cell(run, workload));
            }
            if self.rows() == ROWS_IN_GROUP {
                self.write_group()?;
            }
        }
        Ok(())
    }

    fn rows(&self) -> usize {
        self.cells.first().map_or(0, Vec::len)
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for (column, cells) in self.columns.iter().zip(&mut self.cells) {
            let writer = group.next_column()?.ok_or_else(|| ParquetError::General("a column is missing".to_owned()))?;
            write_column(&column.values, std::mem::take(cells), writer)?;
        }
        group.close().map(|_metadata| ())
    }

    /// Writes the remaining rows and the file footer.
    ///
    /// # Errors
    /// Same as [`ParquetFile::write_run`].
    pub fn end(&mut self) -> Result<(), ParquetError> {
        if self.rows() > 0 {
            self.write_group()?;
        }
        self.writer.finish().map(|_metadata| ())
    }

    /// Takes the bytes written since the last call.
    ///
    /// # Errors
    /// Never in practice, because the file is in memory.
    pub fn take(&mut self) -> Result<Vec<u8>, ParquetError> {
        self.writer.flush()?;
        // Safe because the writer only counts bytes and never reads them back.
        Ok(std::mem::take(self.writer.inner_mut()))
    }
}

fn write_column<R>(
    values: &Values<R>,
    cells: Vec<SheetCell>,
    mut writer: SerializedColumnWriter<'_>,
) -> Result<(), ParquetError> {
    // 1 for each present value and 0 for each absent one; `None` if every value is present.
    let present = |cell: &SheetCell| i16::from(*cell != SheetCell::Empty);
    let present: Option<Vec<i16>> = values.may_be_absent().then(|| cells.iter().map(present).collect());
    let (mut texts, mut wholes, mut numbers, mut flags) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for cell in cells {
        match cell {
            SheetCell::Empty => {}
            SheetCell::Text(text) => texts.push(ByteArray::from(text.into_bytes())),
            SheetCell::Whole(whole) => wholes.push(saturate_to_i64(whole)),
            SheetCell::Number(number) => numbers.push(number),
            SheetCell::Flag(flag) => flags.push(flag),
            SheetCell::Moment(unix_seconds) => wholes.push(to_microseconds(unix_seconds)),
        }
    }
    let present = present.as_deref();
    match stored(values).0 {
        Stored::BYTE_ARRAY => writer.typed::<ByteArrayType>().write_batch(&texts, present, None)?,
        Stored::INT64 => writer.typed::<Int64Type>().write_batch(&wholes, present, None)?,
        Stored::DOUBLE => writer.typed::<DoubleType>().write_batch(&numbers, present, None)?,
        _ => writer.typed::<BoolType>().write_batch(&flags, present, None)?,
    };
    writer.close()
}

/// Converts to a signed number, saturating at the maximum.
///
/// Validation rejects numbers near the limit, but an import by the host must not break the file.
fn saturate_to_i64(whole: u64) -> i64 {
    i64::try_from(whole).unwrap_or(i64::MAX)
}

fn to_microseconds(unix_seconds: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "whole numbers; out of range it saturates")]
    let whole = (unix_seconds * 1e6).round() as i64;
    whole
}

fn schema<R>(columns: &[Column<R>]) -> Result<Type, ParquetError> {
    let columns: Result<Vec<_>, _> = columns.iter().map(|column| field(column).map(Arc::new)).collect();
    Type::group_type_builder("results").with_fields(columns?).build()
}

fn stored<R>(values: &Values<R>) -> (Stored, Option<LogicalType>) {
    match values {
        Values::Text(_) | Values::OptionalText(_) => (Stored::BYTE_ARRAY, Some(LogicalType::String)),
        Values::Whole(_) | Values::OptionalWhole(_) => (Stored::INT64, None),
        Values::Number(_) | Values::OptionalNumber(_) => (Stored::DOUBLE, None),
        Values::Flag(_) | Values::OptionalFlag(_) => (Stored::BOOLEAN, None),
        Values::Moment(_) => (Stored::INT64, Some(LogicalType::timestamp(true, TimeUnit::MICROS))),
    }
}

fn field<R>(column: &Column<R>) -> Result<Type, ParquetError> {
    let (stored, logical) = stored(&column.values);
    let repetition = if column.values.may_be_absent() { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    Type::primitive_type_builder(column.name, stored).with_repetition(repetition).with_logical_type(logical).build()
}

/// Returns file properties that every reader supports: the first version of the format, and gzip.
fn properties<R>(columns: &[Column<R>], about: &[(&str, &str)]) -> Result<WriterProperties, ParquetError> {
    let is_number = |column: &&Column<R>| matches!(column.values, Values::Number(_) | Values::OptionalNumber(_));
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::GZIP(GzipLevel::default()))
        // Chunk statistics let readers skip whole groups. A page index would stay in memory until the end.
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_key_value_metadata(Some(metadata(columns, about)?));
    // Measurements rarely repeat, so a dictionary would not help.
    for column in columns.iter().filter(is_number) {
        properties = properties.set_column_dictionary_enabled(ColumnPath::from(column.name), false);
    }
    Ok(properties.build())
}

/// Returns the metadata: `about`, versions and column descriptions.
fn metadata<R>(columns: &[Column<R>], about: &[(&str, &str)]) -> Result<Vec<KeyValue>, ParquetError> {
    let described: Vec<ExportColumn> = columns.iter().map(Column::described).collect();
    let described = serde_json::to_string(&described).map_err(|cause| ParquetError::External(Box::new(cause)))?;
    let layout = SCHEMA_VERSION.to_string();
    let own = [
        ("schema_version", layout.as_str()),
        ("gradmark_version", env!("CARGO_PKG_VERSION")),
        ("columns", described.as_str()),
    ];
    let pairs = about.iter().chain(&own);
    Ok(pairs.map(|(key, value)| KeyValue::new((*key).to_owned(), (*value).to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_in_microseconds_and_numbers_saturate() {
        assert_eq!(to_microseconds(1_800_000_000.123_456), 1_800_000_000_123_456);
        assert_eq!(to_microseconds(-0.000_001_4), -1);
        assert_eq!(to_microseconds(f64::MAX), i64::MAX);
        assert_eq!((saturate_to_i64(7), saturate_to_i64(u64::MAX)), (7, i64::MAX));
    }
}
