//! What a file says of itself: types and meanings.

use std::sync::Arc;

use parquet::basic::{Compression, GzipLevel, LogicalType, Repetition, TimeUnit, Type as Stored};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::{ColumnPath, Type};
use results::SCHEMA_VERSION;
use results::open_data::ExportColumn;

use crate::column::Column;
use crate::values::Kind;

/// The columns with their types, in order.
pub(super) fn schema<R>(columns: &[Column<R>]) -> Result<Type, ParquetError> {
    let columns: Result<Vec<_>, _> = columns.iter().map(|column| field(column).map(Arc::new)).collect();
    Type::group_type_builder("results").with_fields(columns?).build()
}

fn field<R>(column: &Column<R>) -> Result<Type, ParquetError> {
    let (stored, meant) = match column.values.kind() {
        Kind::Text => (Stored::BYTE_ARRAY, Some(LogicalType::String)),
        Kind::Whole => (Stored::INT64, None),
        Kind::Number => (Stored::DOUBLE, None),
        Kind::Flag => (Stored::BOOLEAN, None),
        Kind::Moment => (Stored::INT64, Some(LogicalType::timestamp(true, TimeUnit::MICROS))),
    };
    let repetition = if column.values.may_be_absent() { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    Type::primitive_type_builder(column.name, stored).with_repetition(repetition).with_logical_type(meant).build()
}

/// How it is written. Only what every reader knows: the first version of the format, and gzip.
pub(super) fn properties<R>(columns: &[Column<R>], about: &[(&str, &str)]) -> Result<WriterProperties, ParquetError> {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::GZIP(GzipLevel::default()))
        // Groups are small enough to be skipped as a whole. An index of pages would be in memory until the end.
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_key_value_metadata(Some(metadata(columns, about)?));
    // Measurements hardly ever repeat.
    for column in columns.iter().filter(|column| column.values.kind() == Kind::Number) {
        properties = properties.set_column_dictionary_enabled(ColumnPath::from(column.name), false);
    }
    Ok(properties.build())
}

/// What somebody needs to know who has nothing but the file.
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
