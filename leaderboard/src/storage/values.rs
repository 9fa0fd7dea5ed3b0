//! Queries and values that the common driver of both databases lacks.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json, json};
use sqlx::any::{AnyArguments, AnyRow, AnyTypeInfoKind};
use sqlx::query::Query;
use sqlx::{Any, AssertSqlSafe, Column, Row, ValueRef};

use super::{Database, Result};

/// Selects a condition as 0 or 1: the driver refuses SQLite's BOOLEAN columns.
macro_rules! as_flag {
    ($condition:expr, $name:literal) => {
        concat!("CASE WHEN ", $condition, " THEN 1 ELSE 0 END AS ", $name, "_flag")
    };
}
pub(super) use as_flag;

/// Selects whether a run is queued for or in verification, apart from verifications in part.
macro_rules! being_verified {
    () => {
        $crate::storage::values::as_flag!(
            "EXISTS (SELECT 1 FROM verifications WHERE verifications.run_id = runs.run_id AND in_part = FALSE)",
            "being_verified"
        )
    };
}
pub(super) use being_verified;

macro_rules! sql {
    ($sql:expr, [$($value:expr),+ $(,)?]) => { sqlx::query($sql)$(.bind($value))+ };
}
pub(super) use sql;

/// A query whose rows are the values of the only column.
macro_rules! scalar {
    ($sql:expr, [$($value:expr),+ $(,)?]) => { sqlx::query_scalar($sql)$(.bind($value))+ };
}
pub(super) use scalar;

/// A query whose rows are tuples.
macro_rules! tuple {
    ($sql:expr, [$($value:expr),+ $(,)?]) => { sqlx::query_as($sql)$(.bind($value))+ };
}
pub(super) use tuple;

macro_rules! execute {
    ($connection:expr, $sql:expr, $values:tt) => {
        $crate::storage::values::sql!($sql, $values).execute(&mut *$connection).await
    };
}
pub(super) use execute;

/// Reads a row into a type with one field for each column. Columns are named `NAME_json` if they contain JSON and
/// `NAME_flag` if they were selected with [`as_flag`]. Names that begin with an underscore are no fields.
pub(super) fn read<T: DeserializeOwned>(row: &AnyRow) -> Result<T> {
    Ok(serde_json::from_value(Json::Object(fields(row)?))?)
}

pub(super) fn fields(row: &AnyRow) -> Result<Map<String, Json>> {
    let mut fields = Map::new();
    for column in row.columns().iter().filter(|column| !column.name().starts_with('_')) {
        let (name, place) = (column.name(), column.ordinal());
        let raw = row.try_get_raw(place)?;
        let (name, value) = if raw.is_null() {
            (name.strip_suffix("_json").unwrap_or(name), Json::Null)
        } else if let Some(name) = name.strip_suffix("_json") {
            (name, serde_json::from_str(row.try_get(place)?)?)
        } else if let Some(name) = name.strip_suffix("_flag") {
            (name, (row.try_get::<i64, _>(place)? != 0).into())
        } else {
            let value = match raw.type_info().kind() {
                AnyTypeInfoKind::Text => row.try_get::<&str, _>(place)?.into(),
                AnyTypeInfoKind::Real | AnyTypeInfoKind::Double => row.try_get::<f64, _>(place)?.into(),
                _ => row.try_get::<i64, _>(place)?.into(),
            };
            (name, value)
        };
        fields.insert(name.to_owned(), value);
    }
    if let (Some(name), Some(version)) = (fields.remove("suite_name"), fields.remove("suite_version")) {
        fields.insert("suite".to_owned(), json!({ "name": name, "version": version }));
    }
    Ok(fields)
}

impl Database {
    /// Reads the first row of a query, as [`read`] does.
    pub(super) async fn row<T: DeserializeOwned>(&self, query: AnyQuery<'_>) -> Result<Option<T>> {
        query.fetch_optional(&self.pool).await?.as_ref().map(read).transpose()
    }

    pub(super) async fn rows<T: DeserializeOwned>(&self, query: AnyQuery<'_>) -> Result<Vec<T>> {
        query.fetch_all(&self.pool).await?.iter().map(read).collect()
    }
}

pub(super) type AnyQuery<'q> = Query<'q, Any, AnyArguments>;

/// Returns a statement that inserts a row with a column for each field of an object, as [`insert_all`] does.
pub(super) fn insert(table: &str, row: &Json, if_it_exists: &str) -> AnyQuery<'static> {
    insert_all(table, std::slice::from_ref(row), if_it_exists)
}

/// Returns a statement that inserts rows with a column for each field of the objects. A suite has two columns, as in
/// [`read`]; other lists and objects become JSON. `null` is no parameter: the driver tells PostgreSQL that an absent
/// `f64` is a single-precision number. A column that is `null` in all rows gets its default.
pub(super) fn insert_all(table: &str, rows: &[Json], if_it_exists: &str) -> AnyQuery<'static> {
    let rows: Vec<BTreeMap<&str, &Json>> = rows.iter().map(columns_of).collect();
    let columns: Vec<&str> =
        rows.iter().flat_map(BTreeMap::keys).copied().collect::<BTreeSet<_>>().into_iter().collect();
    let (mut values, mut lists) = (Vec::new(), Vec::new());
    for row in &rows {
        let mut place = |column| match row.get(column) {
            None => "NULL".to_owned(),
            Some(&value) => {
                values.push(value);
                format!("${}", values.len())
            }
        };
        let places: Vec<String> = columns.iter().map(&mut place).collect();
        lists.push(format!("({})", places.join(", ")));
    }
    let (columns, lists) = (columns.join(", "), lists.join(", "));
    let query = sqlx::query(AssertSqlSafe(format!("INSERT INTO {table} ({columns}) VALUES {lists} {if_it_exists}")));
    values.into_iter().fold(query, bind)
}

/// Returns the values of a row that are not `null`, by column.
fn columns_of(row: &Json) -> BTreeMap<&str, &Json> {
    let suite = [("suite_name", &row["suite"]["name"]), ("suite_version", &row["suite"]["version"])];
    let fields = row.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value));
    let fields = fields.filter(|(name, _)| *name != "suite").chain(suite);
    fields.filter(|(_, value)| !value.is_null()).collect()
}

/// Binds a value. An absent one is a text.
fn bind(query: AnyQuery<'static>, value: &Json) -> AnyQuery<'static> {
    match value {
        Json::Null => query.bind(None::<String>),
        Json::Bool(flag) => query.bind(*flag),
        Json::String(text) => query.bind(text.clone()),
        Json::Number(number) if number.is_f64() => query.bind(number.as_f64()),
        Json::Number(number) => query.bind(number.as_i64()),
        value => query.bind(value.to_string()),
    }
}

pub(super) const KEEP: &str = "ON CONFLICT DO NOTHING";

/// A statement that is built at run time, with the values of its parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Statement {
    pub(super) sql: String,
    parameters: Vec<Json>,
}

impl Statement {
    /// Adds a parameter and returns its place.
    pub(super) fn value(&mut self, value: impl Into<Json>) -> String {
        self.parameters.push(value.into());
        format!("${}", self.parameters.len())
    }

    /// Returns the query. It is not cached as a prepared statement, because there are too many different ones.
    pub(super) fn query(&self) -> AnyQuery<'static> {
        self.parameters.iter().fold(sqlx::query(AssertSqlSafe(self.sql.clone())).persistent(false), bind)
    }

    /// Returns the SQL, and the parameters as SQL literals, for a check of the plan.
    pub(super) fn written(self) -> (String, Vec<String>) {
        let literal = |parameter: Json| match parameter.as_str() {
            Some(text) => format!("'{}'", text.replace('\'', "''")),
            None => parameter.to_string(),
        };
        (self.sql, self.parameters.into_iter().map(literal).collect())
    }
}
